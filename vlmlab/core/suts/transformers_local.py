"""A checkpoint on this machine, asked in fixed batches so that a row's answer has no neighbours."""

import ctypes
import gc
import hashlib
import io
import json
import logging
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import torch
import transformers
from PIL import Image

from vlmlab.core.seeding import derive_seed
from vlmlab.core.suts.base import SutInfo, SutReply, SutRequest
from vlmlab.core.suts.checkpoint import CheckpointReport, content_digest
from vlmlab.core.suts.local_loading import LoadedCheckpoint, load_checkpoint
from vlmlab.core.suts.local_params import TransformersLocalParams

logger = logging.getLogger(__name__)

ADAPTER_VERSION = "1"
PAD_MULTIPLE = 64
_NO_MEMORY = "The device has too little memory for one row. Use a shorter prompt or a larger worker."
# What a forward pass or a processor raises for a request it cannot take.
_BATCH_ERRORS = (
    RuntimeError,
    ValueError,
    IndexError,
    TypeError,
    KeyError,
    AttributeError,
    NotImplementedError,
    OSError,
)


class TransformersLocalSut:
    """Answers with ``generate`` of a loaded checkpoint.

    Every forward pass has the same number of rows (short batches repeat their last row) and a
    padded length that depends on the row alone (rows of unlike length go into different passes), so
    what else is asked at the same time does not change an answer.

    Args:
        loaded: the checkpoint in memory.
        report: what the folder holds.
        params: the settings it was loaded with.
        clock: seconds that only grow.
    """

    def __init__(
        self,
        loaded: LoadedCheckpoint,
        report: CheckpointReport,
        params: TransformersLocalParams,
        *,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._loaded: LoadedCheckpoint | None = loaded
        self._params = params
        self._clock = clock
        self._batch_size = 1 if params.temperature is not None else params.batch_size
        self._content = content_digest(report)
        self._image_tokens: dict[tuple[int, int], int] = {}
        self._details = _details_of(loaded, report, params)

    @property
    def info(self) -> SutInfo:
        """Identity and limits; a batch halved for lack of memory shows here as another identity."""
        loaded = self._require_loaded()
        parts = {
            "adapter": ADAPTER_VERSION,
            "content": self._content,
            "dtype": str(loaded.dtype),
            "device": loaded.device.type,
            "image_backend": loaded.image_backend,
            "batch_size": self._batch_size,
            "pad_multiple": PAD_MULTIPLE,
            "max_new_tokens": self._params.max_new_tokens,
            "temperature": self._params.temperature,
            "system_prompt": self._params.system_prompt,
            "libraries": [torch.__version__, transformers.__version__],
        }
        identity = json.dumps(parts, sort_keys=True).encode()
        return SutInfo(
            "transformers_local", hashlib.sha256(identity).hexdigest(), self._batch_size, dict(self._details)
        )

    def generate(self, requests: Sequence[SutRequest]) -> list[SutReply]:
        """Answer every request, in order; a request that cannot be answered becomes a call error."""
        self._require_loaded()
        replies: dict[int, SutReply] = {}
        by_length: dict[int, list[int]] = {}
        for index, request in enumerate(requests):
            try:
                by_length.setdefault(self._padded_length(request), []).append(index)
            except _BATCH_ERRORS as error:
                logger.warning("a request could not be prepared", exc_info=True)
                replies[index] = _failed(error)
        for length, indices in by_length.items():
            answers = self._answer([requests[index] for index in indices], length)
            replies.update(zip(indices, answers, strict=True))
        return [replies[index] for index in range(len(requests))]

    def describe_request(self, request: SutRequest) -> str:
        """Return the text that the checkpoint's chat template makes of a request."""
        return str(
            self._require_loaded().processor.apply_chat_template(
                self._conversation(request, picture=None), add_generation_prompt=True, tokenize=False
            )
        )

    def close(self) -> None:
        """Free the weights and give the memory back to the system."""
        self._loaded = None
        gc.collect()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
        if sys.platform == "linux":
            ctypes.CDLL(None).malloc_trim(0)

    def _require_loaded(self) -> LoadedCheckpoint:
        if self._loaded is None:
            raise ValueError("the system under test was closed and cannot be used")
        return self._loaded

    def _answer(self, rows: list[SutRequest], length: int) -> list[SutReply]:
        """Answer rows of one padded length; without memory go on with half the batch."""
        replies: list[SutReply] = []
        while len(replies) < len(rows):
            taken = rows[len(replies) : len(replies) + self._batch_size]
            try:
                replies += self._forward(taken, length)
            except _BATCH_ERRORS as error:
                if not _is_out_of_memory(error):
                    replies += self._one_by_one(taken, length, error)
                elif self._batch_size > 1:
                    self._halve()
                else:
                    replies.append(SutReply("", "other", call_error=_NO_MEMORY))
        return replies

    def _one_by_one(self, rows: list[SutRequest], length: int, error: Exception) -> list[SutReply]:
        """Ask the rows of a failed pass apart, so that one bad row fails alone."""
        if len(rows) == 1:
            logger.warning("a forward pass failed", exc_info=error)
            return [_failed(error)]
        return [self._answer([row], length)[0] for row in rows]

    def _halve(self) -> None:
        """Continue with half the rows a pass, and say so."""
        was, self._batch_size = self._batch_size, max(1, self._batch_size // 2)
        self._details["batch size"] = (
            f"{self._batch_size} (lowered from {was}: the device ran out of memory; "
            "answers from here on belong to another fingerprint)"
        )
        logger.warning("out of memory: batch size %s -> %s", was, self._batch_size)
        gc.collect()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()

    def _forward(self, rows: list[SutRequest], length: int) -> list[SutReply]:
        """Run one pass over exactly the fixed number of rows."""
        loaded = self._require_loaded()
        start = self._clock()
        full = rows + [rows[-1]] * (self._batch_size - len(rows))
        inputs = self._inputs(full, {"padding": "max_length", "max_length": length, "truncation": False})
        inputs = inputs.to(loaded.device, dtype=loaded.dtype)
        with torch.inference_mode():
            if self._params.temperature is None:
                output = loaded.model.generate(**inputs)
            else:
                output = self._sample(inputs, rows[0])
        new_ids = output[: len(rows), inputs["input_ids"].shape[1] :].tolist()
        used = inputs["attention_mask"].sum(dim=1).tolist()
        milliseconds = (self._clock() - start) * 1000 / len(rows)
        return [self._reply(ids, tokens, milliseconds) for ids, tokens in zip(new_ids, used, strict=False)]

    def _sample(self, inputs: Any, row: SutRequest) -> Any:
        """Sample one row from a seed of its own, so that a repeated call can be told apart and redone."""
        picture = hashlib.sha256(row.image_png).hexdigest()
        devices = [torch.cuda.current_device()] if torch.cuda.is_available() else []
        with torch.random.fork_rng(devices=devices):
            torch.manual_seed(derive_seed(row.repeat_number, "sampling", picture, row.prompt))
            return self._require_loaded().model.generate(**inputs)

    def _reply(self, new_ids: list[int], input_tokens: int, milliseconds: float) -> SutReply:
        """Return the text up to the first stop token; other special tokens stay (boxes may be some)."""
        loaded = self._require_loaded()
        end = next((place for place, token in enumerate(new_ids) if token in loaded.stop_ids), None)
        kept = new_ids[:end]
        text = loaded.processor.tokenizer.decode(
            kept, skip_special_tokens=False, clean_up_tokenization_spaces=False
        )
        return SutReply(
            text=text,
            finish_reason="length" if end is None else "stop",
            latency_ms=milliseconds,
            input_tokens=int(input_tokens),
            output_tokens=len(kept),
        )

    def _inputs(self, rows: list[SutRequest], text_options: dict[str, Any]) -> Any:
        """Return the tensors of rows through the checkpoint's own chat template."""
        return self._require_loaded().processor.apply_chat_template(
            [self._conversation(row, picture=_opened(row)) for row in rows],
            add_generation_prompt=True,
            tokenize=True,
            return_dict=True,
            return_tensors="pt",
            processor_kwargs=text_options,
        )

    def _conversation(self, row: SutRequest, *, picture: Image.Image | None) -> list[dict[str, Any]]:
        image: dict[str, Any] = {"type": "image"} if picture is None else {"type": "image", "image": picture}
        user = {"role": "user", "content": [image, {"type": "text", "text": row.prompt}]}
        if not self._params.system_prompt:
            return [user]
        system = {"role": "system", "content": [{"type": "text", "text": self._params.system_prompt}]}
        return [system, user]

    def _padded_length(self, row: SutRequest) -> int:
        """Return the row's length in tokens, picture included, rounded up to ``PAD_MULTIPLE``."""
        loaded = self._require_loaded()
        text = loaded.processor.apply_chat_template(
            self._conversation(row, picture=None), add_generation_prompt=True, tokenize=False
        )
        tokens = len(loaded.processor.tokenizer(text, add_special_tokens=True)["input_ids"])
        size = _opened(row).size
        if size not in self._image_tokens:
            alone = self._inputs([row], {"padding": False})
            self._image_tokens[size] = int(alone["input_ids"].shape[1]) - tokens
        tokens += self._image_tokens[size]
        if loaded.max_length is not None and tokens + self._params.max_new_tokens > loaded.max_length:
            raise ValueError(
                f"prompt and picture take {tokens} tokens; with {self._params.max_new_tokens} for the reply "
                f"that is more than the {loaded.max_length} this checkpoint can read"
            )
        return -(-tokens // PAD_MULTIPLE) * PAD_MULTIPLE


def _opened(row: SutRequest) -> Image.Image:
    """Return the canonical picture of a row, not yet decoded."""
    return Image.open(io.BytesIO(row.image_png), formats=("PNG",))


def _is_out_of_memory(error: Exception) -> bool:
    """Whether memory is gone; the CPU allocator says so with a plain RuntimeError."""
    return isinstance(error, torch.OutOfMemoryError) or "allocate memory" in str(error)


def _failed(error: Exception) -> SutReply:
    first_line = (str(error).strip().splitlines() or ["no details"])[0][:200].rstrip(".")
    return SutReply(
        "",
        "other",
        call_error=f"The checkpoint could not answer this request ({type(error).__name__}: {first_line}). "
        "Shorten the prompt or choose other settings.",
    )


def _details_of(
    loaded: LoadedCheckpoint, report: CheckpointReport, params: TransformersLocalParams
) -> dict[str, str]:
    """Return what people want to know of a loaded checkpoint."""
    return {
        "checkpoint": params.checkpoint,
        "architecture": type(loaded.model).__name__,
        "parameters": f"{report.parameters:,}",
        "weights": f"{report.weight_bytes / 1e6:.1f} MB in {len(report.weight_files)} file(s)",
        "number format": str(loaded.dtype).removeprefix("torch."),
        "device": loaded.device.type,
        "processor": type(loaded.processor).__name__,
        "image backend": loaded.image_backend,
        "batch size": str(1 if params.temperature is not None else params.batch_size),
        "decoding": "greedy"
        if params.temperature is None
        else f"sampled at temperature {params.temperature}",
        "libraries": f"transformers {transformers.__version__}, torch {torch.__version__}",
    }


def load_transformers_local(
    params: TransformersLocalParams, report: CheckpointReport
) -> TransformersLocalSut:
    """Load a checkpoint that ``inspect_checkpoint`` accepted.

    Args:
        params: how to load and ask it.
        report: what the inspection found.

    Raises:
        SutError: it is not complete, of an unknown family, or does not fit.
    """
    if params.threads is not None:
        torch.set_num_threads(params.threads)
    return TransformersLocalSut(load_checkpoint(report, params), report, params)
