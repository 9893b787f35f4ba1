"""Turns annotated pictures of any known format into seed pictures; the one entrance for sites and shells."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from vlmlab.core.seed_images.checking import PictureChecker
from vlmlab.core.seed_images.coco import read_coco
from vlmlab.core.seed_images.faults import FaultError, SeedImportError
from vlmlab.core.seed_images.files import SourceFiles, fault_of_name
from vlmlab.core.seed_images.guessing import guess_format
from vlmlab.core.seed_images.pictures import NotedPicture, SeedPicture
from vlmlab.core.seed_images.reading import Reading
from vlmlab.core.seed_images.report import ImportReport, Place
from vlmlab.core.seed_images.settings import ImportLimits, ImportSettings
from vlmlab.core.seed_images.strata import StrataBook
from vlmlab.core.seed_images.table import read_tables
from vlmlab.core.seed_images.udacity import read_udacity
from vlmlab.core.seed_images.voc import read_ilsvrc, read_voc
from vlmlab.core.seed_images.yolo import read_yolo


@dataclass(frozen=True)
class LookedAt:
    """What an earlier part of the same import has done, so that this one goes on behind it.

    Attributes:
        n_described: pictures that files describe and that were looked at, taken or refused.
        taken: digest of each picture that was taken -> its path.
    """

    n_described: int = 0
    taken: Mapping[str, str] = field(default_factory=dict)


NOTHING_YET = LookedAt()


@dataclass(frozen=True)
class PictureFormat:
    """A format: its title for people, what it looks like, and its reader."""

    title: str
    description: str
    read: Callable[[Reading], Iterator[NotedPicture]]


FORMATS: Mapping[str, PictureFormat] = {
    "coco": PictureFormat("COCO", "JSON files with images, annotations and categories.", read_coco),
    "voc": PictureFormat("Pascal VOC", "An XML file for each picture.", read_voc),
    "yolo": PictureFormat("YOLO", "A text file for each picture, and data.yaml or classes.txt.", read_yolo),
    "ilsvrc": PictureFormat(
        "ILSVRC-DET", "An XML file for each picture with synset ids, and map_det.txt.", read_ilsvrc
    ),
    "udacity": PictureFormat("Udacity driving", "CrowdAI's or Autti's labels.csv.", read_udacity),
    "table": PictureFormat(
        "Folder with a table", "CSV with the columns file, label, x_min, y_min, x_max, y_max.", read_tables
    ),
}
"""Plug point: what can be imported."""


def import_pictures(
    files: SourceFiles,
    settings: ImportSettings | None = None,
    *,
    report: ImportReport,
    limits: ImportLimits | None = None,
) -> Iterator[SeedPicture]:
    """Give the sound pictures of a source one after the other; only one is in memory at a time.

    The same source gives the same pictures in the same order. The report is complete once the last one was
    taken.

    Args:
        files: a folder, an archive, an upload.
        settings: how to read it; as it looks where None.
        report: is told everything that is refused.
        limits: how much is taken.

    Raises:
        SeedImportError: settings are wrong, the format cannot be told, or the source is too large; the last
            also while pictures are taken.
    """
    steps = import_steps(files, settings, report=report, limits=limits)
    return (one for one in steps if one is not None)


def import_steps(
    files: SourceFiles,
    settings: ImportSettings | None = None,
    *,
    report: ImportReport,
    limits: ImportLimits | None = None,
    before: LookedAt = NOTHING_YET,
) -> Iterator[SeedPicture | None]:
    """Look at one described picture a step, so that long imports can be cut and go on.

    Args:
        files: a folder, an archive, an upload.
        settings: how to read it; as it looks where None.
        report: is told everything that is refused.
        limits: how much is taken.
        before: what earlier parts have done; their pictures are not opened again, and what they refused
            must stand in the report already: it is not told twice.

    Yields:
        The picture, or None where it was refused.

    Raises:
        SeedImportError: as ``import_pictures``.
    """
    settings, limits = settings or ImportSettings(), limits or ImportLimits()
    report.is_replaying = before.n_described > 0
    if len(files.names) > limits.max_files:
        raise SeedImportError(
            f"The source has more than {limits.max_files:,} files.", hint="Import it in parts."
        )
    for skipped in files.skipped:
        report.refuse("file", Place(skipped.name), FaultError("name", skipped.reason))
    reading = Reading(files, _usable(files, report), settings=settings, limits=limits, report=report)
    if settings.annotation_file and settings.annotation_file not in reading.names:
        raise SeedImportError(
            "The annotation file is not in the source.",
            hint="Give its path with its folders.",
            field="annotation_file",
        )
    strata = StrataBook(reading)
    name = guess_format(reading) if settings.format == "auto" else settings.format
    report.read_as = name
    return _steps(reading, FORMATS[name], strata, before=before)


def _steps(
    reading: Reading, read_as: PictureFormat, strata: StrataBook, *, before: LookedAt
) -> Iterator[SeedPicture | None]:
    report = reading.report
    checker = PictureChecker(
        reading.files, reading.settings, limits=reading.limits, report=report, seen=before.taken
    )
    for number, noted in enumerate(read_as.read(reading), start=1):
        if number > before.n_described:
            yield _looked_at(noted, reading, strata, checker)
        reading.handed_out(noted)
        report.is_replaying = number < before.n_described
    for name in reading.finder.pictures:
        if name not in reading.claimed:
            report.refuse(
                "picture", Place(name), FaultError("not_named", "is described by no file"), picture=name
            )


def _looked_at(
    noted: NotedPicture, reading: Reading, strata: StrataBook, checker: PictureChecker
) -> SeedPicture | None:
    try:
        stratum = strata.stratum_of(noted)
    except FaultError as fault:
        reading.report.refuse("picture", noted.place, fault, picture=noted.file)
        return None
    return checker.check(noted, stratum=stratum)


def _usable(files: SourceFiles, report: ImportReport) -> list[str]:
    names = []
    for name in sorted(files.names):
        reason = fault_of_name(name)
        if reason:
            report.refuse("file", Place(name), FaultError("name", reason))
        else:
            names.append(name)
    return names
