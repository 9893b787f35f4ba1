"""What an import gives: pictures with their things, and what is noted of one before it is opened."""

from dataclasses import dataclass, field
from typing import Literal

from vlmlab.core.images import CanonicalImage
from vlmlab.core.seed_images.report import Place

Corners = tuple[float, float, float, float]
"""x_min, y_min, x_max, y_max."""

Frame = Literal["by_size", "upright", "stored"]
"""Which picture boxes were drawn on where EXIF data turn it: the upright one, the one as it is stored, or
whichever has the size that the row claims."""


@dataclass(frozen=True)
class SeedThing:
    """One annotated thing.

    Attributes:
        label: what it is called.
        box: x_min, y_min, x_max, y_max in pixels of the canonical picture; edges of pixels, inside it.
        mask: compressed COCO run-length string of the canonical picture's size, "" where unknown.
        flags: words of the source about it, sorted, such as ``occluded`` or ``truncated``.
    """

    label: str
    box: Corners
    mask: str = ""
    flags: tuple[str, ...] = ()


@dataclass(frozen=True)
class SeedPicture:
    """One annotated picture that a search can start from.

    Attributes:
        file: its path in the source.
        stratum: kind of scene.
        image: the canonical picture.
        things: in the order of the source.
        unsure_labels: labels whose things are not all known with their boxes, sorted; "locate X" has no
            right answer for them.
    """

    file: str
    stratum: str
    image: CanonicalImage
    things: tuple[SeedThing, ...]
    unsure_labels: tuple[str, ...] = ()

    @property
    def asked_labels(self) -> tuple[str, ...]:
        """The labels that can be asked for, sorted."""
        return tuple(sorted({one.label for one in self.things} - set(self.unsure_labels)))

    def boxes_of(self, label: str) -> tuple[Corners, ...]:
        """Return the boxes of all things of a label."""
        return tuple(one.box for one in self.things if one.label == label)


@dataclass(frozen=True, slots=True)
class NotedThing:
    """One thing as a file tells it, not checked against the picture yet.

    Attributes:
        place: where it stands.
        label: cleaned and mapped.
        box: corners in the unit of the picture's notes; None where only an outline or a mask is told.
        outline: JSON text of a COCO segmentation, in pixels or shares like the box; b"" without.
        flags: words about it, sorted.
        is_sure: whether everybody would draw this box; False for what the source itself calls difficult.
    """

    place: Place
    label: str
    box: Corners | None
    outline: bytes = b""
    flags: tuple[str, ...] = ()
    is_sure: bool = True


@dataclass
class NotedPicture:
    """All that files tell of one picture.

    Attributes:
        file: its path in the source.
        place: the first row that names it.
        frame: which picture its boxes were drawn on.
        size: claimed width and height; None where nothing is claimed.
        is_relative: whether boxes are shares of width and height instead of pixels.
        stratum: as a row tells it, "" where none does.
        things: in the order of the rows.
        unsure_labels: labels of things that were refused or that nobody can box.
        hole: why the picture cannot be used at all, None where it can.
    """

    file: str
    place: Place
    frame: Frame = "by_size"
    size: tuple[int, int] | None = None
    is_relative: bool = False
    stratum: str = ""
    things: list[NotedThing] = field(default_factory=list)
    unsure_labels: set[str] = field(default_factory=set)
    hole: str | None = None
