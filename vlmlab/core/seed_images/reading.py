"""What all readers of formats share: the source, the labels, the report, and what is held in memory."""

from collections.abc import Iterable

from vlmlab.core.seed_images.faults import FaultError, SeedImportError
from vlmlab.core.seed_images.files import SourceFiles
from vlmlab.core.seed_images.finding import PictureFinder
from vlmlab.core.seed_images.labels import LabelBook
from vlmlab.core.seed_images.pictures import NotedPicture, NotedThing
from vlmlab.core.seed_images.report import ImportReport, Place
from vlmlab.core.seed_images.settings import ImportLimits, ImportSettings


class Reading:
    """One import while its files are read.

    Args:
        files: of the source.
        names: paths that may be used, sorted.
        settings: how to read them.
        limits: how much is taken.
        report: is told what is refused.
    """

    def __init__(
        self,
        files: SourceFiles,
        names: Iterable[str],
        *,
        settings: ImportSettings,
        limits: ImportLimits,
        report: ImportReport,
    ) -> None:
        self.files, self.settings, self.limits, self.report = files, settings, limits, report
        self.names = tuple(names)
        self.finder = PictureFinder(self.names)
        self.labels = LabelBook(settings.labels, max_labels=limits.max_labels)
        self._claimed: dict[str, str] = {}
        self._n_things = self._n_bytes = 0

    def files_named(self, *endings: str) -> list[str]:
        """Return the files with one of these endings; only the chosen one, where the settings name it."""
        chosen = self.settings.annotation_file
        return [
            name for name in self.names if name.lower().endswith(endings) and (not chosen or name == chosen)
        ]

    def claim(self, picture: str, *, by: str) -> None:
        """Note that a file describes a picture.

        Raises:
            FaultError: another file does already.
            SeedImportError: there are too many pictures.
        """
        first = self._claimed.setdefault(picture, by)
        if first != by:
            raise FaultError("named_twice", f"describes {picture}, which {first} describes already")
        if len(self._claimed) > self.limits.max_pictures:
            raise SeedImportError(
                f"The files describe more than {self.limits.max_pictures:,} pictures.",
                hint="Import them in parts.",
            )

    @property
    def claimed(self) -> frozenset[str]:
        """The pictures that some file describes."""
        return frozenset(self._claimed)

    def note(self, picture: NotedPicture, thing: NotedThing) -> None:
        """Add a thing to a picture.

        Raises:
            SeedImportError: there are too many things, or their outlines are too large together.
        """
        self._n_things += 1
        self._n_bytes += len(thing.outline)
        if self._n_things > self.limits.max_things or self._n_bytes > self.limits.max_held_bytes:
            raise SeedImportError(
                f"The files describe more than {self.limits.max_things:,} things, or their outlines have "
                f"more than {self.limits.max_held_bytes / 1e6:,.0f} MB.",
                hint="Import them in parts.",
            )
        picture.things.append(thing)

    def handed_out(self, picture: NotedPicture) -> None:
        """Note that a picture is done, so that its outlines are held no longer."""
        self._n_bytes -= sum(len(thing.outline) for thing in picture.things)
        picture.things = []

    def refuse_thing(
        self, picture: NotedPicture, place: Place, fault: FaultError, *, label: str | None = None
    ) -> None:
        """Note that a thing was refused, and what is not certain any more.

        Args:
            picture: it is in.
            place: of its row.
            fault: what is wrong.
            label: of the thing; without one it could be anything, so the picture cannot be used.
        """
        self.report.refuse("thing", place, fault, picture=picture.file)
        if label is not None:
            picture.unsure_labels.add(label)
        elif picture.hole is None:
            picture.hole = f"of {place} nobody knows what it describes: it {fault.reason}"

    def refuse_class(self, picture: NotedPicture, place: Place, fault: FaultError) -> None:
        """Note that a thing of a class without a name was refused; it is none of the other labels."""
        self.report.refuse("thing", place, fault, picture=picture.file)

    def left_out(self, name: str) -> None:
        """Note that a thing was left out because the settings say so."""
        self.report.remark(f"A thing of the class “{name}” was left out, as the settings say.")
