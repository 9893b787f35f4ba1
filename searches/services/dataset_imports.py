"""Datasets from outside: photographs with a COCO file, a table of concepts, or both; all of it or nothing."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from django.db import transaction

from searches.enums import DatasetOrigin, DatasetState
from searches.models import Dataset, DatasetPicture, User
from searches.services.archives import ArchiveLimits, shown
from searches.services.audit import record
from searches.services.blobs import touch_blob
from searches.services.dataset_imports_coco import CocoReader, coco_content
from searches.services.dataset_imports_files import FolderFiles, UploadFiles, ZipFiles
from searches.services.dataset_imports_pictures import PictureGathering
from searches.services.dataset_imports_rows import (
    MOST_REFUSALS_SHOWN,
    ConceptNames,
    ImportRefusedError,
    Notes,
    PictureFinder,
    Refusal,
    printable,
)
from searches.services.dataset_imports_table import read_table, table_rows
from searches.services.datasets import free_slug, store_dataset
from searches.services.domain_store import current_domain
from vlmlab.core.errors import ConfigError
from vlmlab.core.scenes.concepts import Domain
from vlmlab.web.numbers import write_many

PICTURE_ENDINGS = (".png", ".jpg", ".jpeg", ".webp", ".bmp", ".gif")
NOTHING_THERE = (
    "Add a COCO instances file (.json), or a table (.csv) with the columns file and concepts, beside the "
    "pictures."
)


@dataclass(frozen=True)
class ImportLimits:
    """How much one import takes.

    Attributes:
        max_pictures: of pictures that files name.
        max_pixels: of all pictures together; None for no limit.
        max_note_bytes: of one COCO file or table.
        archive: of the archive or folder.
    """

    max_pictures: int = 20_000
    max_pixels: int | None = None
    max_note_bytes: int = 300_000_000
    archive: ArchiveLimits = field(
        default_factory=lambda: ArchiveLimits(max_members=50_000, max_bytes=40_000_000_000)
    )


SHELL_LIMITS = ImportLimits()
WEB_LIMITS = ImportLimits(
    max_pictures=500,
    max_pixels=100_000_000,
    max_note_bytes=30_000_000,
    archive=ArchiveLimits(max_members=2_000, max_bytes=400_000_000),
)


@dataclass(frozen=True)
class ImportWish:
    """What an upload shall become.

    Attributes:
        title: of the dataset.
        domain: slug of the domain whose concepts it is tagged with.
        mapping: name of a category -> id of a concept, or ``-`` for none.
        slug: short name, made from the title where empty.
        description, licence, credits: for people; they travel with every export.
        is_strict: whether anything that is refused refuses all.
        is_sample: whether it comes with the lab.
    """

    title: str
    domain: str
    mapping: Mapping[str, str] = field(default_factory=dict)
    slug: str = ""
    description: str = ""
    licence: str = ""
    credits: str = ""
    is_strict: bool = False
    is_sample: bool = False


@dataclass(frozen=True)
class ImportReport:
    """What an import brought."""

    dataset: Dataset
    n_pictures: int
    refused: tuple[Refusal, ...]
    remarks: tuple[str, ...]


def _nobody_asks(_done: int, _total: int) -> None:
    return None


def import_zip(
    file: BinaryIO,
    wish: ImportWish,
    *,
    name: str,
    by: User | None,
    limits: ImportLimits = SHELL_LIMITS,
    on_progress: Callable[[int, int], None] = _nobody_asks,
) -> ImportReport:
    """Store the pictures of a ZIP archive as a dataset.

    Raises:
        ArchiveError: the archive is refused.
        VlmLabError: see ``import_folder``.
    """
    return _import(ZipFiles(file, limits.archive), wish, name=name, by=by, limits=limits, tell=on_progress)


def import_folder(
    folder: Path,
    wish: ImportWish,
    *,
    by: User | None = None,
    limits: ImportLimits = SHELL_LIMITS,
    on_progress: Callable[[int, int], None] = _nobody_asks,
) -> ImportReport:
    """Store the pictures of a folder as a dataset: all that is sound of them, in one transaction.

    Args:
        folder: with pictures and a COCO file, a table of concepts, or both.
        wish: what it shall become.
        by: who imports it.
        limits: how much is taken.
        on_progress: called with the pictures looked at and their number.

    Raises:
        ImportRefusedError: no picture is sound, no file says what the pictures show, or, of a strict import,
            anything was refused.
        ConfigError: title, short name, domain or mapping are wrong.
        StorageError: the disk is full.
    """
    files = FolderFiles(folder, limits.archive)
    return _import(files, wish, name=folder.name, by=by, limits=limits, tell=on_progress)


def _import(
    files: UploadFiles,
    wish: ImportWish,
    *,
    name: str,
    by: User | None,
    limits: ImportLimits,
    tell: Callable[[int, int], None],
) -> ImportReport:
    if not wish.title.strip():
        raise ConfigError("Give the dataset a title.", field="title")
    domain = current_domain(wish.domain)
    free_slug(wish.title, wish.slug)  # one that is taken is told before the work
    notes = read_notes(files, domain, wish.mapping, limits=limits)
    gathering = PictureGathering(files, domain, max_pixels=limits.max_pixels)
    for done, picture in enumerate(notes.pictures.values(), start=1):
        gathering.take(picture)
        tell(done, len(notes.pictures))
    refused = (*notes.refused, *gathering.refused)
    if not gathering.rows or (wish.is_strict and refused):
        raise _all_refused(refused, is_strict=wish.is_strict)
    recipe = {
        "upload": printable(name[:200]),
        "n_refused": len(refused),
        "refused": [{"where": one.where, "reason": one.reason} for one in refused[:MOST_REFUSALS_SHOWN]],
        "remarks": notes.remarks[:MOST_REFUSALS_SHOWN],
        "mapping": dict(wish.mapping),
    }
    dataset = _stored(gathering.rows, wish, domain=domain, recipe=recipe, by=by)
    return ImportReport(dataset, len(gathering.rows), refused, tuple(notes.remarks))


def read_notes(
    files: UploadFiles, domain: Domain, mapping: Mapping[str, str], *, limits: ImportLimits
) -> Notes:
    """Return all that COCO files and tables of an upload say.

    Raises:
        ImportRefusedError: there are none, several COCO files, or too many pictures.
        ConfigError: the mapping names an unknown concept.
    """
    notes, names = Notes(), ConceptNames(domain, mapping)
    pictures = tuple(name for name in files.names if name.lower().endswith(PICTURE_ENDINGS))
    finder, found = PictureFinder(pictures), []
    for name in (name for name in files.names if name.lower().endswith(".json")):
        content = coco_content(files.read(name, max_bytes=limits.max_note_bytes), name=shown(name))
        if content is not None:
            found.append(name)
            CocoReader(notes, file=name, domain=domain, names=names, finder=finder).read(content)
    if len(found) > 1:
        raise ImportRefusedError(
            f"{shown(found[0])} and {shown(found[1])} are both COCO files.",
            hint="Keep one, or import them apart.",
        )
    for name in (name for name in files.names if name.lower().endswith(".csv")):
        rows = table_rows(files.read(name, max_bytes=limits.max_note_bytes), name=shown(name))
        if rows is not None:
            found.append(name)
            read_table(rows, notes, file=name, domain=domain, names=names, finder=finder)
    if not found:
        raise ImportRefusedError("No file says what the pictures show.", hint=NOTHING_THERE)
    if len(notes.pictures) > limits.max_pictures:
        raise ImportRefusedError(
            f"The upload has {len(notes.pictures):,} pictures; at most {limits.max_pictures:,} are taken "
            "here.",
            hint="Import larger ones with `manage.py import_dataset`, or in parts.",
        )
    unnamed = [name for name in pictures if name not in notes.pictures]
    if unnamed:
        several = f" and {len(unnamed) - 1:,} more are" if len(unnamed) > 1 else " is"
        notes.remarks.append(f"{shown(unnamed[0])}{several} named in no file and left out.")
    return notes


@transaction.atomic
def _stored(
    rows: list[DatasetPicture],
    wish: ImportWish,
    *,
    domain: Domain,
    recipe: dict[str, Any],
    by: User | None,
) -> Dataset:
    dataset = store_dataset(
        wish.title,
        wish.slug,
        description=wish.description.strip(),
        origin=DatasetOrigin.SAMPLE if wish.is_sample else DatasetOrigin.UPLOAD,
        state=DatasetState.READY,
        domain=domain.slug,
        domain_version=domain.version,
        recipe=recipe,
        credits=wish.credits.strip(),
        licence=wish.licence.strip()[:120],
        n_pictures=len(rows),
        is_sample=wish.is_sample,
        created_by=by,
    )
    for row in rows:
        row.dataset = dataset
        touch_blob(row.image_sha256)  # a long import may have outlived the grace of collection
    DatasetPicture.objects.bulk_create(rows, batch_size=200)
    record(
        by,
        "imported",
        dataset,
        after={"upload": recipe["upload"], "pictures": len(rows), "refused": recipe["n_refused"]},
    )
    return dataset


def _all_refused(refused: tuple[Refusal, ...], *, is_strict: bool) -> ImportRefusedError:
    first = " ".join(str(one) for one in refused[:3]) or "No file names a picture."
    more = f" {len(refused) - 3:,} more." if len(refused) > 3 else ""
    if is_strict:
        return ImportRefusedError(
            f"Nothing was stored: {write_many(len(refused), 'refusal')}. {first}{more}",
            hint="Correct them, or import what is sound.",
        )
    return ImportRefusedError(
        f"No picture can be used. {first}{more}", hint="Correct the files and try again."
    )
