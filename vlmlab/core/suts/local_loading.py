"""Loading a checked checkpoint with torch and transformers: processor, weights, decoding settings."""

import logging
import sys
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import torch
import transformers
from safetensors import SafetensorError
from transformers.models.auto.processing_auto import PROCESSOR_MAPPING

from vlmlab.core.errors import SutError
from vlmlab.core.suts.checkpoint import CheckpointReport
from vlmlab.core.suts.local_params import TransformersLocalParams
from vlmlab.core.suts.local_pictures import SplitPictures

logger = logging.getLogger(__name__)

# What loading an unfit or damaged checkpoint raises inside transformers, safetensors and tokenizers.
LOAD_ERRORS = (
    OSError,
    ValueError,
    KeyError,
    TypeError,
    AttributeError,
    RuntimeError,
    ImportError,
    IndexError,
    SafetensorError,
)
# The library's own annotations do not cover these calls.
_MODELS: Any = transformers.AutoModelForImageTextToText
_PROCESSORS: Any = transformers.AutoProcessor
_GENERATION_CONFIG: Any = transformers.GenerationConfig
_LIBRARY_LOGGING: Any = transformers.utils.logging
_ABSENT = object()
_DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}


@dataclass(frozen=True)
class LoadedCheckpoint:
    """Everything that answering needs.

    Attributes:
        model: the network in evaluation mode on its device, with its own generation settings.
        processor: prepares pictures and text; pads on the left.
        device: where the network runs.
        dtype: number format of the network.
        image_backend: library that scales pictures, as the processor reports it.
        stop_ids: token ids that end a reply.
        max_length: longest input and reply together in tokens, None when unknown.
        is_image_only: whether the processor was loaded without its video part.
    """

    model: Any
    processor: Any
    device: torch.device
    dtype: torch.dtype
    image_backend: str
    stop_ids: frozenset[int]
    max_length: int | None
    is_image_only: bool


def choose_device(wanted: str) -> torch.device:
    """Return the device for a setting.

    Raises:
        SutError: a GPU was asked for and there is none.
    """
    has_gpu = torch.cuda.is_available()
    if wanted == "cuda" and not has_gpu:
        raise SutError(
            "This worker has no CUDA device.", hint="Choose device 'auto' or a GPU queue.", field="device"
        )
    return torch.device("cuda" if has_gpu and wanted != "cpu" else "cpu")


def load_checkpoint(report: CheckpointReport, params: TransformersLocalParams) -> LoadedCheckpoint:
    """Load a folder that ``inspect_checkpoint`` accepted.

    The weights are read once, straight into the wanted number format, and moved once; no ``.to()``
    follows a forward pass because some towers cache tensors then.

    Raises:
        SutError: transformers does not know the model, or it does not fit.
    """
    _LIBRARY_LOGGING.disable_progress_bar()
    device = choose_device(params.device)
    dtype = _DTYPES.get(params.dtype, torch.bfloat16 if device.type == "cuda" else torch.float32)
    common = {"trust_remote_code": False, "local_files_only": True}
    try:
        processor = _load_processor(report, params.image_backend, common)
        model, info = _MODELS.from_pretrained(
            report.folder, dtype=dtype, use_safetensors=True, output_loading_info=True, **common
        )
        _refuse_missing_weights(info)
        model = model.to(device).eval()
        _refuse_damaged_weights(model)
    except torch.OutOfMemoryError as error:
        raise SutError(
            f"The checkpoint '{report.folder.name}' does not fit into the memory of the device.",
            hint="Choose a smaller checkpoint, dtype bfloat16, or a larger worker.",
            field="checkpoint",
        ) from error
    except LOAD_ERRORS as error:
        logger.exception("loading %s failed", report.folder)
        first_line = (str(error).strip().splitlines() or [""])[0]
        raise SutError(
            f"transformers {transformers.__version__} cannot load '{report.folder.name}' "
            f"({report.model_type}): {type(error).__name__} {first_line[:200]}",
            hint="Check that the checkpoint is complete and of a family this version knows.",
            field="checkpoint",
        ) from error
    return _finish(model, processor, params, device, dtype)


def _refuse_missing_weights(info: dict[str, Any]) -> None:
    """Refuse a checkpoint whose weights would be left random."""
    missing = sorted(str(key) for key in info.get("missing_keys", ()))
    mismatched = sorted(str(key) for key in info.get("mismatched_keys", ()))
    if missing or mismatched:
        raise SutError(
            f"The weights lack {len(missing) + len(mismatched)} tensors, for example "
            f"'{(missing + mismatched)[0][:120]}'.",
            hint="Copy every weight file, and the config.json that belongs to them.",
            field="checkpoint",
        )


def _refuse_damaged_weights(model: Any) -> None:
    """Refuse weights with infinite or missing values: their answers would be noise, not failures."""
    for name, weights in model.named_parameters():
        if weights.is_floating_point() and weights.numel():
            low, high = torch.aminmax(weights.detach())  # takes no memory beside the weights
            if not (torch.isfinite(low) and torch.isfinite(high)):
                raise SutError(
                    f"The weights are damaged: '{name[:120]}' holds values that are not numbers.",
                    hint="Copy the weight files again from their source.",
                    field="checkpoint",
                )


def _load_processor(report: CheckpointReport, backend: str, common: dict[str, bool]) -> Any:
    """Return the processor; where video needs torchvision, the same processor without its video part."""
    chosen = "pil" if backend == "auto" else backend
    try:
        processor = _PROCESSORS.from_pretrained(report.folder, backend=chosen, **common)
    except (ImportError, ValueError) as error:
        if not _takes_videos(report, common):
            raise
        logger.info("%s: loading the processor without its video part: %s", report.folder.name, error)
        processor = _image_only_processor(report, chosen, common)
    if not hasattr(processor, "image_processor") or not hasattr(processor, "tokenizer"):
        raise SutError(
            f"The processor of '{report.folder.name}' prepares no pictures.",
            hint="Copy preprocessor_config.json and processor_config.json from the model's source.",
            field="checkpoint",
        )
    if getattr(processor, "chat_template", None) is None:
        processor.chat_template = getattr(processor.tokenizer, "chat_template", None)
    if processor.chat_template is None:
        raise SutError(
            f"The checkpoint '{report.folder.name}' has no chat template.",
            hint="Choose the instruction-tuned version of the model.",
            field="checkpoint",
        )
    return processor


class ImageOnlyProcessor:
    """Marks a processor that was loaded without its video part."""

    video_processor = SimpleNamespace(num_frames=None, fps=None)  # SmolVLM asks for both, videos or not


def _processor_class(report: CheckpointReport, common: dict[str, bool]) -> Any:
    config = transformers.AutoConfig.from_pretrained(report.folder, **common)
    return PROCESSOR_MAPPING[type(config)]


def _takes_videos(report: CheckpointReport, common: dict[str, bool]) -> bool:
    return "video_processor" in _processor_class(report, common).get_attributes()


def _image_only_processor(report: CheckpointReport, backend: str, common: dict[str, bool]) -> Any:
    """Return the family's processor class without the attribute that would need torchvision."""
    base: Any = _processor_class(report, common)

    class ImageOnly(ImageOnlyProcessor, base):  # type: ignore[misc]  # the base is only known at run time
        @classmethod
        def get_attributes(cls) -> list[str]:
            return [name for name in base.get_attributes() if name != "video_processor"]

        @classmethod
        def _get_arguments_from_pretrained(cls, *args: Any, **kwargs: Any) -> list[Any]:
            # Some families (SmolVLM) cannot be made without the argument; none of it is used for pictures.
            parts = list(super()._get_arguments_from_pretrained(*args, **kwargs))
            parts.insert(base.get_attributes().index("video_processor"), None)
            return parts

    # SmolVLM refuses to start without a library that spells the number of frames of a video.
    module = sys.modules[base.__module__]
    if getattr(module, "num2words", _ABSENT) is None:
        setattr(module, "num2words", str)  # noqa: B010 - the name exists only in this family's module
    ImageOnly.__name__ = ImageOnly.__qualname__ = base.__name__
    return ImageOnly.from_pretrained(report.folder, backend=backend, **common)


def _finish(
    model: Any, processor: Any, params: TransformersLocalParams, device: torch.device, dtype: torch.dtype
) -> LoadedCheckpoint:
    """Set left padding and replace the generation settings that came with the checkpoint."""
    tokenizer = processor.tokenizer
    tokenizer.padding_side = "left"
    shipped = model.generation_config.eos_token_id
    stop_ids = {*(shipped if isinstance(shipped, list | tuple) else [shipped]), tokenizer.eos_token_id} - {
        None
    }
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    pad_id = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else min(stop_ids, default=0)
    # The shipped settings hold repetition penalties and sampling that would decide answers unseen.
    model.generation_config = _GENERATION_CONFIG(
        max_new_tokens=params.max_new_tokens,
        do_sample=params.temperature is not None,
        temperature=params.temperature,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=sorted(stop_ids) or None,
        pad_token_id=pad_id,
    )
    backend = str(getattr(processor.image_processor, "backend", "unknown"))
    if backend == "pil":  # the other backend prepares many pictures at a time by itself
        processor.image_processor = SplitPictures(processor.image_processor, threads=torch.get_num_threads())
    text_config = model.config.get_text_config()
    limit = getattr(text_config, "max_position_embeddings", None)
    return LoadedCheckpoint(
        model=model,
        processor=processor,
        device=device,
        dtype=dtype,
        image_backend=backend,
        stop_ids=frozenset(stop_ids),
        max_length=limit if isinstance(limit, int) and limit > 0 else None,
        is_image_only=isinstance(processor, ImageOnlyProcessor),
    )
