"""What is kept of an import of seed images: settings, how far it is, and what was refused, with reasons."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from searches.models import Dataset
from searches.services.blobs import blob_path, store_blob
from searches.services.exports import csv_lines
from vlmlab.core.errors import VlmLabError
from vlmlab.core.seed_images.faults import KINDS
from vlmlab.core.seed_images.importing import FORMATS
from vlmlab.core.seed_images.report import ImportReport, Refusal, Scope
from vlmlab.core.seed_images.settings import ImportSettings

RECIPE_KEY = "seeds"
JSON_TYPE = "application/json"
MOST_SHOWN = 50
MOST_REMARKS = 50
COLUMNS = ("what", "kind", "file", "row", "picture", "reason", "hint")
SCOPES: Mapping[Scope, str] = {
    "file": "File",
    "picture": "Picture",
    "thing": "Thing",
    "mask": "Mask",
}
KIND_TITLES: Mapping[str, str] = {
    "name": "name of a file",
    "file": "file cannot be read",
    "format": "format",
    "row": "row",
    "label": "label",
    "class_name": "class without a name",
    "stratum": "kind of scene",
    "missing_picture": "picture is not there",
    "ambiguous_picture": "several pictures could be meant",
    "named_twice": "described twice",
    "not_named": "described by no file",
    "crowd": "crowd region",
    "box": "box",
    "outside": "box outside of the picture",
    "no_area": "box without an area",
    "mask": "mask",
    "picture": "picture cannot be used",
    "too_small": "too small",
    "size": "size differs",
    "rotation": "turned, and nobody knows whether its boxes are",
    "same_picture": "the same picture again",
    "hole": "a row of it cannot be read",
    "nothing_to_ask": "nothing to ask for",
}


class RefusalCount(BaseModel):
    """How often something was refused for one kind of reason."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    scope: Scope
    kind: str
    count: int

    @property
    def title(self) -> str:
        """What was refused, and for what, in words."""
        return f"{SCOPES[self.scope]}: {KIND_TITLES.get(self.kind, self.kind)}"

    @property
    def hint(self) -> str:
        """What to do about it."""
        return KINDS.get(self.kind, "")


class SeedImport(BaseModel):
    """An import of seed images, as its dataset keeps it.

    Attributes:
        archive: name of the upload or folder.
        settings: how it is read.
        n_files: pictures in the source.
        n_described: described pictures that were looked at so far.
        n_pixels, n_things: of the pictures taken so far.
        refused: how often, by what was lost and why.
        n_kept: refusals that are kept with all their words.
        report_sha256: where they are kept.
        remarks: what was changed or assumed -> how often.
        read_as: name of the format that the files are read as; "" before the first picture was looked at.
        digest: of all pictures and annotations, once it is complete.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    archive: str
    settings: ImportSettings = Field(default_factory=ImportSettings)
    n_files: int = 0
    n_described: int = 0
    n_pixels: int = 0
    n_things: int = 0
    refused: tuple[RefusalCount, ...] = ()
    n_kept: int = 0
    report_sha256: str = ""
    remarks: dict[str, int] = {}
    read_as: str = ""
    digest: str = ""

    @property
    def n_refused(self) -> int:
        """The number of all refusals."""
        return sum(one.count for one in self.refused)

    @property
    def told(self) -> tuple[tuple[str, str], ...]:
        """The settings that a person changed, by their titles; the format stands apart."""
        changed = self.settings.model_dump(exclude_defaults=True, exclude={"format"})
        return tuple((_title(name), _value(value)) for name, value in changed.items())

    @property
    def format_title(self) -> str:
        """How the files were read, for people."""
        known = FORMATS.get(self.read_as or self.settings.format)
        return known.title if known is not None else "as the files look"


def _title(name: str) -> str:
    return ImportSettings.model_fields[name].title or name


def _value(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{one} = {label}" for one, label in value.items())
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)


@dataclass(frozen=True)
class RefusalPage:
    """The refusals that the page of a dataset shows; ``n_more`` are only in the table, or only counted."""

    counts: tuple[RefusalCount, ...]
    first: tuple[Refusal, ...]
    n_refused: int
    n_kept: int
    remarks: tuple[tuple[str, int], ...]

    @property
    def n_lost(self) -> int:
        """How many were counted and their words not kept."""
        return self.n_refused - self.n_kept


def seed_import_of(dataset: Dataset) -> SeedImport | None:
    """Return the import that a dataset comes from; None where it is none, or cannot be read."""
    if RECIPE_KEY not in dataset.recipe:
        return None
    try:
        return SeedImport.model_validate(dataset.recipe[RECIPE_KEY])
    except ValidationError:
        return None


def noted(before: SeedImport, report: ImportReport, *, n_described: int, n_pixels: int) -> SeedImport:
    """Return an import with what its report says now; the words of the refusals are stored as a file.

    Raises:
        StorageError: the disk is full or the folder cannot be written.
    """
    sha256 = before.report_sha256
    if len(report.refusals) != before.n_kept:
        rows = [asdict(one) for one in report.refusals]
        sha256 = store_blob(json.dumps(rows, ensure_ascii=False).encode(), JSON_TYPE)
    remarks = dict(report.remarks.most_common(MOST_REMARKS))
    counts = sorted(report.counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return before.model_copy(
        update={
            "n_described": n_described,
            "n_pixels": n_pixels,
            "n_things": report.n_things,
            "refused": tuple(RefusalCount(scope=scope, kind=kind, count=n) for (scope, kind), n in counts),
            "n_kept": len(report.refusals),
            "report_sha256": sha256,
            "remarks": remarks,
            "read_as": report.read_as,
        }
    )


def report_so_far(before: SeedImport, *, n_pictures: int) -> ImportReport:
    """Return the report of an import that goes on.

    Raises:
        VlmLabError: what was kept of it is gone.
    """
    return ImportReport(
        refusals=list(kept_refusals(before)),
        counts=Counter({(one.scope, one.kind): one.count for one in before.refused}),
        remarks=Counter(before.remarks),
        n_pictures=n_pictures,
        n_things=before.n_things,
    )


def kept_refusals(seeds: SeedImport) -> tuple[Refusal, ...]:
    """Return the refusals that are kept with their words, in the order found.

    Raises:
        VlmLabError: the file is gone or damaged.
    """
    if not seeds.report_sha256:
        return ()
    try:
        rows = json.loads(blob_path(seeds.report_sha256, JSON_TYPE).read_bytes())
        return tuple(Refusal(**row) for row in rows)
    except (OSError, ValueError, TypeError) as error:
        raise VlmLabError(
            "The list of what was refused is not kept any more.",
            hint="Restore the folder in VLMLAB_BLOB_DIR from a backup, or import the files again.",
        ) from error


def refusal_page(seeds: SeedImport) -> RefusalPage:
    """Return what the page of a dataset shows of its refusals."""
    try:
        first = kept_refusals(seeds)[:MOST_SHOWN]
    except VlmLabError:
        first = ()
    return RefusalPage(seeds.refused, first, seeds.n_refused, seeds.n_kept, tuple(seeds.remarks.items()))


def refusals_csv(seeds: SeedImport) -> Iterator[str]:
    """Return the kept refusals as CSV lines.

    Raises:
        VlmLabError: the file is gone or damaged.
    """
    rows = kept_refusals(seeds)
    return csv_lines(
        COLUMNS,
        ((one.scope, one.kind, one.file, one.row, one.picture, one.reason, one.hint) for one in rows),
    )
