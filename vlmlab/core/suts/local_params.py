"""Settings of a checkpoint that runs on this machine, and where its folder lies."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from vlmlab.core.errors import SutError
from vlmlab.core.suts.asking import AskingParams
from vlmlab.core.suts.checkpoint import CheckpointRoots, resolve_checkpoint

SHIPPED_PREFIX = "shipped:"
SHIPPED_FOLDER = Path(__file__).resolve().parents[2] / "assets"
_HUB_FILES = ("*.json", "*.safetensors", "*.txt", "*.model", "*.jinja")


class TransformersLocalParams(BaseModel):
    """How a checkpoint is found, loaded and asked."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    checkpoint: str = Field(
        min_length=1,
        max_length=300,
        description="Folder below the model directory, 'shipped:pocket', or a hub id for the hub.",
    )
    source: Literal["folder", "hub"] = Field(default="folder", description="Where the checkpoint lies.")
    revision: str = Field(
        default="",
        max_length=100,
        pattern=r"^[A-Za-z0-9._/-]*$",
        description="Hub revision; a commit is best.",
    )
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = Field(
        default="auto", description="Number format; auto is float32 on CPU and bfloat16 on a GPU."
    )
    device: Literal["auto", "cpu", "cuda"] = Field(default="auto", description="Where it runs.")
    batch_size: int = Field(
        default=8, ge=1, le=256, description="Rows of one forward pass; another size may answer differently."
    )
    max_new_tokens: int = Field(default=128, ge=1, le=8192, description="Longest reply in tokens.")
    temperature: float | None = Field(
        default=None, gt=0, le=5, description="Empty: the most likely token each time (greedy)."
    )
    system_prompt: str = Field(
        default="", max_length=10_000, description="Text of a system turn; empty: none."
    )
    image_backend: Literal["auto", "pil", "torchvision"] = Field(
        default="auto", description="Library that scales pictures; auto takes PIL."
    )
    asking: AskingParams = Field(default_factory=AskingParams, description="How it is asked and read.")
    threads: int | None = Field(
        default=None, ge=1, le=256, description="CPU threads; empty: the library's choice."
    )

    @field_validator("revision")
    @classmethod
    def _leads_nowhere(cls, value: str) -> str:
        if value.startswith("/") or ".." in value.split("/"):
            raise ValueError("write a branch, tag or commit, without '..' and without a '/' in front")
        return value


@dataclass(frozen=True)
class LocatedCheckpoint:
    """A checkpoint folder on disk.

    Attributes:
        folder: the folder to load.
        links_may_reach: folder that symbolic links inside may point into (the hub's file store).
    """

    folder: Path
    links_may_reach: Path


def locate_checkpoint(params: TransformersLocalParams, roots: CheckpointRoots) -> LocatedCheckpoint:
    """Return the folder of a checkpoint; only the hub source may open a connection.

    Raises:
        SutError: it lies outside the allowed folders, or is not there.
    """
    if params.source == "hub":
        return _from_hub(params, roots)
    name = params.checkpoint
    if name.startswith(SHIPPED_PREFIX):
        folder = resolve_checkpoint(SHIPPED_FOLDER, name.removeprefix(SHIPPED_PREFIX))
    elif roots.allow_any_folder and Path(name).is_absolute():
        folder = Path(name).resolve()
    elif roots.model_dir is None:
        raise SutError(
            "No model directory is set, so no checkpoint folder can be chosen.",
            hint="Set VLMLAB_MODEL_DIR and put the checkpoint below it.",
            field="checkpoint",
        )
    else:
        folder = resolve_checkpoint(roots.model_dir, name)
    return LocatedCheckpoint(folder, folder)


def _from_hub(params: TransformersLocalParams, roots: CheckpointRoots) -> LocatedCheckpoint:
    """Return the snapshot folder of a hub id; downloads only when the roots allow it."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

    try:
        snapshot = Path(
            snapshot_download(
                params.checkpoint,
                revision=params.revision or None,
                allow_patterns=list(_HUB_FILES),
                local_files_only=not roots.allow_download,
            )
        )
    except LocalEntryNotFoundError as error:
        raise SutError(
            f"The checkpoint '{params.checkpoint}' is not on this machine.",
            hint="Download it with 'hf download' on the worker, or check the network and the id.",
            field="checkpoint",
        ) from error
    except (HFValidationError, HfHubHTTPError, OSError) as error:
        raise SutError(
            f"The hub did not give the checkpoint '{params.checkpoint}'.",
            hint="Check the id, the revision and that this machine may read it.",
            field="checkpoint",
        ) from error
    return LocatedCheckpoint(snapshot, snapshot.parent.parent)
