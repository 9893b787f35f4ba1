"""Which checkpoint folders a person can choose from: shipped ones, and those below the model directory."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from vlmlab.core.suts.local_params import SHIPPED_FOLDER, SHIPPED_PREFIX

DEEPEST = 3
MOST_FOLDERS = 500


@dataclass(frozen=True)
class CheckpointChoice:
    """A folder that looks like a checkpoint; what is in it is checked when it is registered."""

    value: str
    label: str
    is_shipped: bool


def known_checkpoints() -> list[CheckpointChoice]:
    """Return every folder that holds a ``config.json``: the shipped ones first."""
    shipped = [
        CheckpointChoice(f"{SHIPPED_PREFIX}{name}", f"{name}, shipped with VLM Lab", is_shipped=True)
        for name in _folders_with_config(SHIPPED_FOLDER)
    ]
    own = [
        CheckpointChoice(name, name, is_shipped=False)
        for name in _folders_with_config(Path(settings.MODEL_DIR))
    ]
    return shipped + own


def _folders_with_config(root: Path) -> list[str]:
    return sorted(folder.relative_to(root).as_posix() for folder in _candidates(root, depth=0))[:MOST_FOLDERS]


def _candidates(folder: Path, *, depth: int) -> Iterator[Path]:
    if depth and (folder / "config.json").is_file():
        yield folder
        return
    if depth >= DEEPEST or not folder.is_dir():
        return
    for child in folder.iterdir():
        if child.is_dir() and not child.is_symlink() and not child.name.startswith("."):
            yield from _candidates(child, depth=depth + 1)
