"""What ``manage.py import_dataset --kind seeds`` does: its options, made of the settings, and its report."""

from argparse import ArgumentParser, BooleanOptionalAction
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from pydantic import ValidationError

from searches.models import Dataset
from searches.services.archives import ArchiveLimits
from searches.services.seed_import_files import ZipSource
from searches.services.seed_import_report import kept_refusals, refusals_csv, seed_import_of
from searches.services.seed_imports import SHELL_LIMITS, SeedWish, import_now
from searches.services.sut_settings import Leaf, leaves
from vlmlab.core.complaints import config_errors
from vlmlab.core.errors import ConfigError
from vlmlab.core.seed_images.files import FolderSource
from vlmlab.core.seed_images.settings import ImportSettings
from vlmlab.web.numbers import write_many

SHOWN_REFUSALS = 20
SHOWN_REMARKS = 20
LABELS = "labels"


def add_seed_options(parser: ArgumentParser) -> None:
    """Declare an option for each setting of an import of seed images."""
    group = parser.add_argument_group("seed images (--kind seeds)")
    for leaf in leaves(ImportSettings):
        if leaf.path != LABELS:
            group.add_argument(_option(leaf.path), default=None, help=_help(leaf), **_kind(leaf))
    group.add_argument(
        "--label",
        action="append",
        default=[],
        metavar="CLASS=LABEL",
        help="the label that a class means, such as person=pedestrian; =- leaves its things out",
    )
    group.add_argument(
        "--refused", type=Path, metavar="FILE", help="where to write all refusals as a table (CSV)"
    )


def seed_settings(options: Mapping[str, Any]) -> ImportSettings:
    """Return the settings that options ask for.

    Raises:
        ConfigError: one of them is out of range.
    """
    told = {leaf.path: options[leaf.path] for leaf in leaves(ImportSettings) if leaf.path != LABELS}
    values = {name: value for name, value in told.items() if value is not None}
    try:
        return ImportSettings.model_validate(values | {LABELS: dict(map(_read_label, options["label"]))})
    except ValidationError as error:
        raise config_errors(error, ImportSettings)[0] from error


def import_seeds(path: Path, wish: SeedWish, *, tell: Callable[[int, int], None]) -> Dataset:
    """Import a folder or an archive.

    Raises:
        VlmLabError: nothing was stored; the message says why.
    """
    if path.is_dir():
        return import_now(FolderSource(path), wish, name=path.name, on_progress=tell)
    try:
        file = path.open("rb")
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}.") from error
    with file:
        limits: ArchiveLimits = SHELL_LIMITS.archive
        return import_now(ZipSource(file, limits), wish, name=path.name, on_progress=tell)


def seed_lines(dataset: Dataset) -> Iterator[str]:
    """Return what an import brought, as lines."""
    seeds = seed_import_of(dataset)
    assert seeds is not None
    yield (
        f"{write_many(dataset.n_pictures, 'picture')} with {write_many(seeds.n_things, 'thing')} stored as "
        f"the dataset {dataset.slug}, digest {seeds.digest}."
    )
    if seeds.n_refused:
        yield f"{write_many(seeds.n_refused, 'refusal')}:"
        for count in seeds.refused:
            yield f"  {count.count:,} {count.title.lower()}. {count.hint}"
        shown = kept_refusals(seeds)[:SHOWN_REFUSALS]
        yield f"The first {len(shown)}:" if seeds.n_refused > len(shown) else "One by one:"
        yield from (f"  {one}" for one in shown)
    for text, times in list(seeds.remarks.items())[:SHOWN_REMARKS]:
        yield f"{text} ({times:,} times)" if times > 1 else text


def write_refusals(dataset: Dataset, path: Path) -> None:
    """Write the refusals of an import as a table.

    Raises:
        ConfigError: the file cannot be written.
    """
    seeds = seed_import_of(dataset)
    assert seeds is not None
    try:
        with path.open("w", encoding="utf-8", newline="") as file:
            file.writelines(refusals_csv(seeds))
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {error.strerror}.", field="refused") from error


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _help(leaf: Leaf) -> str:
    words = (leaf.info.description or "").rstrip(".")
    default = "no" if leaf.default is False else leaf.default or "none"
    return f"{words[:1].lower()}{words[1:]} (default: {default})".replace("%", "%%")


def _kind(leaf: Leaf) -> dict[str, Any]:
    if get_origin(leaf.info.annotation) is Literal:
        return {"choices": get_args(leaf.info.annotation)}
    if leaf.info.annotation is bool:
        return {"action": BooleanOptionalAction}
    return {"type": int if leaf.info.annotation is int else str}


def _read_label(text: str) -> tuple[str, str]:
    name, sign, label = text.rpartition("=")
    if not sign or not name.strip() or not label.strip():
        raise ConfigError(f"--label needs CLASS=LABEL, got “{text}”.", field="labels")
    return name.strip(), label.strip()
