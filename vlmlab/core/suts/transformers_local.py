"""A checkpoint on this machine, asked in fixed batches so that a row's answer has no neighbours."""

import hashlib
import json
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import jinja2
import torch
import transformers

from vlmlab.core.errors import SutError
from vlmlab.core.seeding import derive_seed
from vlmlab.core.suts.base import SutInfo, SutReply, SutRequest
from vlmlab.core.suts.checkpoint import CheckpointReport, content_digest
from vlmlab.core.suts.local_inputs import PAD_MULTIPLE, PassShape, RowInputs
from vlmlab.core.suts.local_loading import LoadedCheckpoint, load_checkpoint
from vlmlab.core.suts.local_memory import (
    free_device_memory,
    is_out_of_memory,
    keep_freed_memory,
    release_memory,
)
from vlmlab.core.suts.local_params import TransformersLocalParams
from vlmlab.core.suts.local_pictures import SplitPictures, seen_sizes

logger = logging.getLogger(__name__)

ADAPTER_VERSION = "1"
_NO_MEMORY = "The device has too little memory for one row. Use a shorter prompt or a larger worker."
_NO_VIDEO = "left out: that part of the processor needs torchvision; pictures are not affected"
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
    MemoryError,
    OverflowError,
    jinja2.TemplateError,  # a chat template that refuses the conversation, or tries what it may not
)


class TransformersLocalSut:
    """Answers with ``generate`` of a loaded checkpoint.

    Every forward pass has the same number of rows (short batches repeat their last row), and its
    padded length and the shape of its pictures depend on the row alone (rows that are unlike go into
    different passes), so what else is asked at the same time does not change an answer.

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
        self._inputs = RowInputs(loaded, params)
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
        passes: dict[PassShape, list[int]] = {}
        for index, request in enumerate(requests):
            try:
                passes.setdefault(self._inputs.shape(request), []).append(index)
            except _BATCH_ERRORS as error:
                logger.warning("a request could not be prepared", exc_info=True)
                replies[index] = _failed(error)
        for shape, indices in passes.items():
            answers = self._answer([requests[index] for index in indices], shape.length)
            replies.update(zip(indices, answers, strict=True))
        return [replies[index] for index in range(len(requests))]

    def describe_request(self, request: SutRequest) -> str:
        """Return the text that the checkpoint's chat template makes of a request.

        Raises:
            SutError: the template refuses the conversation.
        """
        self._require_loaded()
        try:
            return self._inputs.rendered(request)
        except (jinja2.TemplateError, OverflowError, TypeError, ValueError) as error:
            raise SutError(
                f"The checkpoint's chat template refuses the conversation: {_first_line(error)}.",
                hint="Remove the system prompt if there is one, or choose another checkpoint.",
                field="checkpoint",
            ) from error

    def close(self) -> None:
        """Free the weights and give the memory back to the system."""
        if self._loaded is not None and isinstance(self._loaded.processor.image_processor, SplitPictures):
            self._loaded.processor.image_processor.close()
        self._loaded = None
        release_memory()

    def _require_loaded(self) -> LoadedCheckpoint:
        if self._loaded is None:
            raise ValueError("the system under test was closed and cannot be used")
        return self._loaded

    def _answer(self, rows: list[SutRequest], length: int) -> list[SutReply]:
        """Answer rows of one padded length; without memory go on with half the batch."""
        replies: list[SutReply] = []
        while len(replies) < len(rows):
            taken = rows[len(replies) : len(replies) + self._batch_size]
            answers = self._try(taken, length)
            if answers is not None:
                replies += answers
            elif self._batch_size > 1:
                self._halve()
            else:
                replies.append(SutReply("", "other", call_error=_NO_MEMORY))
                free_device_memory()
        return replies

    def _try(self, rows: list[SutRequest], length: int) -> list[SutReply] | None:
        """Answer rows in one pass, or apart when one of them is bad; None when memory ran out.

        The error is forgotten when this returns: while it is known, its frames hold the tensors of the
        failed pass, and the memory that half a batch needs is not free.
        """
        try:
            return self._forward(rows, length)
        except _BATCH_ERRORS as error:
            if is_out_of_memory(error):
                return None
            if len(rows) == 1:
                logger.warning("a forward pass failed", exc_info=True)
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
        free_device_memory()

    def _forward(self, rows: list[SutRequest], length: int) -> list[SutReply]:
        """Run one pass over exactly the fixed number of rows."""
        loaded = self._require_loaded()
        start = self._clock()
        full = rows + [rows[-1]] * (self._batch_size - len(rows))
        inputs = self._inputs.tensors(
            full, {"padding": "max_length", "max_length": length, "truncation": False}
        )
        seen = seen_sizes(inputs, loaded.processor.image_processor, rows=len(full))
        inputs = inputs.to(loaded.device, dtype=loaded.dtype)
        with torch.inference_mode():
            if self._params.temperature is None:
                output = loaded.model.generate(**inputs)
            else:
                output = self._sample(inputs, rows[0])
        new_ids = output[: len(rows), inputs["input_ids"].shape[1] :].tolist()
        used = inputs["attention_mask"].sum(dim=1).tolist()
        milliseconds = (self._clock() - start) * 1000 / len(rows)
        return [
            replace(self._reply(ids), input_tokens=tokens, seen_size=size, latency_ms=milliseconds)
            for ids, tokens, size in zip(new_ids, used[: len(rows)], seen[: len(rows)], strict=True)
        ]

    def _sample(self, inputs: Any, row: SutRequest) -> Any:
        """Sample one row from a seed of its own, so that a repeated call can be told apart and redone."""
        picture = hashlib.sha256(row.image_png).hexdigest()
        devices = [torch.cuda.current_device()] if torch.cuda.is_available() else []
        with torch.random.fork_rng(devices=devices):
            torch.manual_seed(derive_seed(row.repeat_number, "sampling", picture, row.prompt))
            return self._require_loaded().model.generate(**inputs)

    def _reply(self, new_ids: list[int]) -> SutReply:
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
            output_tokens=len(kept),
        )


def _failed(error: Exception) -> SutReply:
    if is_out_of_memory(error):
        return SutReply("", "other", call_error=_NO_MEMORY)
    return SutReply(
        "",
        "other",
        call_error="The checkpoint could not answer this request "
        f"({type(error).__name__}: {_first_line(error)}). Shorten the prompt or choose other settings.",
    )


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or ["no details"])[0][:200].rstrip(".")


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
        **({"video": _NO_VIDEO} if loaded.is_image_only else {}),
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
        SutError: it is not complete, of an unknown family, does not fit, or its chat template refuses
            the conversation (some refuse a system prompt).
    """
    if params.threads is not None:
        torch.set_num_threads(params.threads)
    loaded = load_checkpoint(report, params)
    keep_freed_memory()
    sut = TransformersLocalSut(loaded, report, params)
    sut.describe_request(SutRequest(b"", "?"))
    return sut
