"""Pictures from a diffusers pipeline on this machine: only safetensors, no code from the folder."""

import importlib.util
import io
import json
import threading
from pathlib import Path
from typing import Any

from vlmlab.core.errors import GenerationError, SutError
from vlmlab.core.scenes.prompts_for_pictures import PicturePrompt
from vlmlab.core.scenes.render.backend_kinds import BackendContext
from vlmlab.core.scenes.render.image_api_params import ImageApiParams
from vlmlab.core.scenes.render.image_providers import MadePicture, asked_size, refused
from vlmlab.core.suts.checkpoint import check_weights, checked_files, folder_digest, resolve_checkpoint
from vlmlab.core.suts.provider import CallFailure

PACKAGE = "diffusers"
_INDEX = "model_index.json"
# A part names the library that its class is imported from; diffusers would import any module.
_LIBRARIES = ("diffusers", "transformers", "stable_diffusion")
_PIXELS = 512 * 512
_MOST_SEED = 2**63


class DiffusersImages:
    """A text-to-image pipeline in a folder; loaded at the first picture, one picture at a time.

    Args:
        params: settings of the source.
        context: the folder below which pipelines lie.

    Raises:
        SutError: diffusers is not installed, or the folder is none that may be loaded.
    """

    most_characters: int | None = None

    def __init__(self, params: ImageApiParams, context: BackendContext) -> None:
        check_diffusers(params, context)
        self._params = params
        self._folder = _folder_of(params, context)
        self._pipeline: Any = None
        self._lock = threading.Lock()

    def make(self, prompt: PicturePrompt, *, width: int, height: int, seed: int) -> MadePicture:
        """Draw a picture; a pipeline's own safety checker refuses as a provider does."""
        with self._lock:
            if self._pipeline is None:
                self._pipeline = _load(self._folder, self._params.device)
            size = asked_size(self._params, width=width, height=height, pixels=_PIXELS)
            picture = _drawn(self._pipeline, prompt, self._params, size=size, seed=seed % _MOST_SEED)
        buffer = io.BytesIO()
        picture.convert("RGB").save(buffer, "PNG", compress_level=1)
        return MadePicture(buffer.getvalue(), model=self._folder.name)

    def close(self) -> None:
        """Free the pipeline's memory."""
        with self._lock:
            self._pipeline = None


def check_diffusers(params: ImageApiParams, context: BackendContext, *, package: str = PACKAGE) -> None:
    """Check the package and the folder without importing or loading anything.

    Raises:
        SutError: what is missing or refused, and what to do.
    """
    if importlib.util.find_spec(package) is None:
        raise SutError(
            f"The package {package} is not installed on this machine.",
            hint="Install it for the workers: pip install diffusers==0.42.1",
            field="provider",
        )
    folder = _folder_of(params, context)
    names = checked_files(folder)
    for name in names:
        if name.endswith(".safetensors"):
            check_weights(folder / name)
    if not any(name.endswith(".safetensors") for name in names):
        raise _refusal("The folder has no safetensors weights.", "Save the pipeline with safe_serialization.")
    _check_index(folder)


def pipeline_digest(params: ImageApiParams, context: BackendContext) -> str:
    """Return the SHA-256 over everything in the pipeline's folder that can change a picture."""
    return folder_digest(_folder_of(params, context))


def _folder_of(params: ImageApiParams, context: BackendContext) -> Path:
    if context.model_root is None:
        raise _refusal("No model directory is set on this machine.", "Set VLMLAB_MODEL_DIR.")
    return resolve_checkpoint(context.model_root, params.model)


def _check_index(folder: Path) -> None:
    """Refuse a pipeline whose class or parts come from elsewhere than the libraries themselves."""
    try:
        index = json.loads((folder / _INDEX).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        index = None
    if not isinstance(index, dict) or not isinstance(index.get("_class_name"), str):
        raise _refusal(
            f"The folder has no {_INDEX} that names a pipeline of diffusers.",
            "Choose a folder that save_pretrained of a pipeline has written.",
        )
    for name, part in index.items():
        if name.startswith("_") or not isinstance(part, list):
            continue
        if len(part) != 2 or part[0] not in (None, *_LIBRARIES):
            raise _refusal(
                f"The part {name[:60]} of the pipeline comes from {str(part[:1])[:80]}, which is not loaded.",
                "Use a pipeline whose parts are classes of diffusers and transformers.",
            )


def _load(folder: Path, wanted_device: str) -> Any:
    import diffusers
    import torch

    from vlmlab.core.suts.local_loading import LOAD_ERRORS

    has_gpu = torch.cuda.is_available()
    if wanted_device == "cuda" and not has_gpu:
        raise _failed("This worker has no CUDA device. Choose device auto, or a worker with a GPU.")
    device = "cuda" if has_gpu and wanted_device != "cpu" else "cpu"
    diffusers.utils.logging.disable_progress_bar()
    try:
        pipeline = diffusers.AutoPipelineForText2Image.from_pretrained(
            folder,
            use_safetensors=True,
            local_files_only=True,
            trust_remote_code=False,
            dtype=torch.float16 if device == "cuda" else torch.float32,
        ).to(device)
    except torch.OutOfMemoryError:
        raise _failed(f"The pipeline {folder.name} does not fit into the device's memory.") from None
    except LOAD_ERRORS as error:
        first = (str(error).strip().splitlines() or [""])[0][:200]
        raise _failed(
            f"diffusers {diffusers.__version__} cannot load {folder.name}: {type(error).__name__} {first}"
        ) from error
    pipeline.set_progress_bar_config(disable=True)
    return pipeline


def _drawn(
    pipeline: Any, prompt: PicturePrompt, params: ImageApiParams, *, size: tuple[int, int], seed: int
) -> Any:
    """Return the Pillow image that a pipeline draws; the noise is made on the CPU, alike on every device."""
    import inspect

    import torch

    takes = inspect.signature(pipeline.__call__).parameters
    takes_negative = "negative_prompt" in takes and bool(prompt.avoid)
    options = {"negative_prompt": ", ".join(prompt.avoid)} if takes_negative else {}
    most_tokens = takes["max_sequence_length"].default if "max_sequence_length" in takes else None
    words = _readable(pipeline, prompt.text if takes_negative else prompt.whole, prompt, most_tokens)
    try:
        drawn = pipeline(
            prompt=words,
            width=size[0],
            height=size[1],
            num_inference_steps=params.steps,
            guidance_scale=params.guidance,
            generator=torch.Generator("cpu").manual_seed(seed),
            **options,
        )
    except torch.OutOfMemoryError:
        raise _failed("The picture does not fit into the device's memory. Ask for a smaller size.") from None
    except (ValueError, TypeError, RuntimeError) as error:
        raise _failed(f"The pipeline cannot draw with these settings: {str(error)[:200]}") from error
    if any(getattr(drawn, "nsfw_content_detected", None) or ()):
        raise refused("the pipeline's own safety checker")
    return drawn.images[0]


def _readable(pipeline: Any, wanted: str, prompt: PicturePrompt, most_tokens: object) -> str:
    """Return the words of a prompt that a pipeline reads to their end.

    CLIP reads 77 tokens and drops the rest without a word, which would lose concepts. So a prompt that is
    too long gives way to its short form, and that to an error. Of several encoders the widest counts.
    """
    found = (getattr(pipeline, name, None) for name in ("tokenizer", "tokenizer_2", "tokenizer_3"))
    tokenizers = [one for one in found if one is not None]
    if not tokenizers:
        return wanted
    widest = max(tokenizers, key=lambda one: int(one.model_max_length))
    most = min(int(widest.model_max_length), most_tokens if isinstance(most_tokens, int) else 100_000)
    for words in (wanted, prompt.text, prompt.short):
        if words and len(widest(words).input_ids) <= most:
            return words
    raise GenerationError(
        f"The pipeline reads {most} tokens, too few for the words of this set.",
        hint="Use fewer concepts at once, or a pipeline with a T5 encoder.",
    )


def _failed(message: str) -> CallFailure:
    return CallFailure("request", message, is_retryable=False)


def _refusal(message: str, hint: str) -> SutError:
    return SutError(message, hint=hint, field="model")
