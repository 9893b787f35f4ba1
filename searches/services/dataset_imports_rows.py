"""What is read of a foreign dataset before its pictures are opened, and the checks of a single row."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from vlmlab.core.errors import ConceptError, ConfigError, VlmLabError
from vlmlab.core.scenes.concepts import Domain

Box = tuple[float, float, float, float]

SLACK_PIXELS = 2.0
SLACK_SHARE = 0.01
NO_CONCEPT = frozenset({"", "-", "none"})
MOST_LABEL_CHARACTERS = 100
MOST_NAMES_KEPT = 10_000
MOST_REFUSALS_SHOWN = 200
MOST_REFUSAL_CHARACTERS = 400


class ImportRefusedError(VlmLabError):
    """Nothing of an upload was stored."""


class RowError(ValueError):
    """A row is wrong; the message is the end of a sentence."""


def printable(text: str) -> str:
    """Return a foreign text as every page, table and database can hold it: what has no look becomes “?”."""
    return text if text.isprintable() else "".join(sign if sign.isprintable() else "?" for sign in text)


def _cut(text: str) -> str:
    is_short = len(text) <= MOST_REFUSAL_CHARACTERS
    return printable(text if is_short else f"{text[:MOST_REFUSAL_CHARACTERS]}…")


@dataclass(frozen=True)
class Refusal:
    """Something that was left out: where it stands, and why; both printable and short."""

    where: str
    reason: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "where", _cut(self.where))
        object.__setattr__(self, "reason", _cut(self.reason))

    def __str__(self) -> str:
        """Return it as one sentence."""
        return f"{self.where}: {self.reason}"


@dataclass(frozen=True)
class NotedThing:
    """One thing that a file says is in a picture; not checked against the picture yet.

    Attributes:
        where: file and row, for people.
        label: what the file calls it.
        concept: canonical id, "" for what is no concept of the domain.
        box: x_min, y_min, x_max, y_max in pixels; None where only a mask is given.
        segmentation: as a COCO file writes it; None without.
    """

    where: str
    label: str
    concept: str
    box: Box | None
    segmentation: object = None


@dataclass
class NotedPicture:
    """All that files say of one picture.

    Attributes:
        file: its path in the upload.
        where: the first row that names it.
        size: width and height that a file claims; None where none does.
        concepts: canonical ids of all that it shows.
        things: what can be pointed at.
        faults: rows of it that are wrong; such a picture is left out, its truth would have holes.
    """

    file: str
    where: str
    size: tuple[int, int] | None = None
    concepts: set[str] = field(default_factory=set)
    things: list[NotedThing] = field(default_factory=list)
    faults: list[Refusal] = field(default_factory=list)


@dataclass
class Notes:
    """Everything that the files of an upload say.

    Attributes:
        pictures: path -> what is said of it, in the order of the files.
        refused: rows that belong to no picture, with the reason.
        remarks: what a person should know although nothing was refused for it.
    """

    pictures: dict[str, NotedPicture] = field(default_factory=dict)
    refused: list[Refusal] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    def picture(self, file: str, where: str) -> NotedPicture:
        """Return the notes of a picture, new ones at its first row."""
        return self.pictures.setdefault(file, NotedPicture(file, where))


class ConceptNames:
    """Finds the concept that a foreign name means.

    Args:
        domain: whose concepts are meant.
        mapping: foreign name -> id of a concept, or ``-`` for none.

    Raises:
        ConfigError: the mapping names a concept that the domain does not have.
    """

    def __init__(self, domain: Domain, mapping: Mapping[str, str]) -> None:
        self._domain = domain
        self._labels = {_plain(concept.label): concept.id for concept in domain.concepts}
        self._mapped: dict[str, str] = {}
        self._found: dict[str, str | None] = {}  # a file names few categories in very many rows
        for name, concept in mapping.items():
            self._mapped[_plain(name)] = (
                "" if concept.strip() in NO_CONCEPT else self._mapped_id(name, concept)
            )

    def find(self, name: str) -> str | None:
        """Return the canonical id of a foreign name, "" where it is mapped to none, None when unknown."""
        if name not in self._found:
            if len(self._found) >= MOST_NAMES_KEPT:
                self._found.clear()
            self._found[name] = self._look_up(name)
        return self._found[name]

    def _look_up(self, name: str) -> str | None:
        plain = _plain(name)
        if plain in self._mapped:
            return self._mapped[plain]
        for candidate in (name.strip(), plain):
            if len(candidate) > MOST_LABEL_CHARACTERS:
                continue  # no concept is called so, and the search for names that are near would take long
            try:
                return self._domain.canonical([candidate])[0]
            except ConceptError:
                continue
        return self._labels.get(plain)

    def _mapped_id(self, name: str, concept: str) -> str:
        try:
            return self._domain.canonical([concept])[0]
        except ConceptError as error:
            raise ConfigError(
                f"The mapping of “{name}”: {error.message}", hint=error.hint, field="mapping"
            ) from error


class PictureFinder:
    """Finds the file that a row names among the files of an upload.

    Args:
        names: paths of all files.
    """

    def __init__(self, names: tuple[str, ...]) -> None:
        self._names = frozenset(names)
        self._by_last: dict[str, list[str]] = {}
        for name in names:
            self._by_last.setdefault(name.rpartition("/")[2], []).append(name)

    def find(self, name: str, *, beside: str) -> str:
        """Return the path of a file.

        Args:
            name: as a row writes it.
            beside: path of the file that the row stands in.

        Raises:
            RowError: there is none, or several could be meant.
        """
        folder = beside.rpartition("/")[0]
        wanted = name.strip().replace("\\", "/").removeprefix("./")
        for path in (f"{folder}/{wanted}" if folder else wanted, wanted):
            if path in self._names:
                return path
        found = self._by_last.get(wanted.rpartition("/")[2], [])
        if not wanted or not found:
            raise RowError(f"the file “{name[:80]}” is not there")
        if len(found) > 1:
            raise RowError(f"“{name[:80]}” could be {found[0]} or {found[1]}")
        return found[0]


def checked_box(box: Box, *, width: int, height: int) -> Box:
    """Return a box inside its picture; what reaches a little beyond is cut.

    Args:
        box: x_min, y_min, x_max, y_max in pixels.
        width: of the picture.
        height: of the picture.

    Raises:
        RowError: it is empty or reaches farther beyond.
    """
    if not all(math.isfinite(value) for value in box):
        raise RowError("the box has a side that is no number")
    x_min, y_min, x_max, y_max = box
    slack_x, slack_y = (max(SLACK_PIXELS, SLACK_SHARE * side) for side in (width, height))
    if x_min < -slack_x or y_min < -slack_y or x_max > width + slack_x or y_max > height + slack_y:
        raise RowError(f"the box {_shown(box)} reaches beyond the picture of {width} x {height} pixels")
    inside = (max(x_min, 0.0), max(y_min, 0.0), min(x_max, float(width)), min(y_max, float(height)))
    if inside[2] - inside[0] <= 0 or inside[3] - inside[1] <= 0:
        raise RowError(f"the box {_shown(box)} is empty")
    return inside


def number_in(value: Any) -> float:
    """Return a number of a foreign file.

    Raises:
        RowError: it is none.
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise RowError("a side of the box is no number")
    try:
        return float(value)
    except (ValueError, OverflowError) as error:
        raise RowError(f"“{str(value)[:20]}” is no number") from error


def _shown(box: Box) -> str:
    return ", ".join(f"{value:.10g}" for value in box)


def _plain(name: str) -> str:
    return re.sub(r"[^0-9a-z]+", "_", name.casefold()).strip("_")
