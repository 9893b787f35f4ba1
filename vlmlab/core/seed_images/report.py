"""The report of an import: everything that was refused, with its place, the reason and what to do."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from vlmlab.core.seed_images.faults import FaultError

Scope = Literal["file", "picture", "thing", "mask"]

MOST_CHARACTERS = 300
MOST_KEPT = 10_000


@dataclass(frozen=True)
class Place:
    """Where something stands.

    Attributes:
        file: path in the source.
        row: which row of it, such as ``annotation 12``; "" for the whole file.
    """

    file: str
    row: str = ""

    def __str__(self) -> str:
        """Return file and row as one text."""
        return f"{self.file}, {self.row}" if self.row else self.file


@dataclass(frozen=True)
class Refusal:
    """One thing that was left out; every text is printable and short.

    Attributes:
        scope: what was lost: a file, a picture, a thing in a picture, or only its mask.
        kind: one of ``faults.KINDS``.
        file: path in the source.
        row: which row of the file; "" for all of it.
        reason: the end of a sentence whose subject is the place.
        hint: what to do.
        picture: path of the picture it belongs to, "" where there is none.
    """

    scope: Scope
    kind: str
    file: str
    row: str
    reason: str
    hint: str
    picture: str = ""

    def __str__(self) -> str:
        """Return it as sentences."""
        return f"{Place(self.file, self.row)}: {self.reason}. {self.hint}".strip()


@dataclass
class ImportReport:
    """What an import took and what it refused; complete once the last picture was handed out.

    Attributes:
        on_refusal: is told every refusal, also those that are not kept here.
        max_kept: how many refusals are kept with all their words.
        refusals: the first ``max_kept``, in the order found.
        counts: (scope, kind) -> number of all refusals.
        remarks: text -> how often: what was changed or assumed although nothing was refused for it.
        n_pictures: taken.
        n_things: taken, in all pictures.
        strata: kind of scene -> number of pictures.
        read_as: name of the format that the files are read as, "" before they are.
        is_replaying: what an earlier part of the import has told already is told again, and not noted twice.
    """

    on_refusal: Callable[[Refusal], None] | None = None
    max_kept: int = MOST_KEPT
    refusals: list[Refusal] = field(default_factory=list)
    counts: Counter[tuple[Scope, str]] = field(default_factory=Counter)
    remarks: Counter[str] = field(default_factory=Counter)
    n_pictures: int = 0
    n_things: int = 0
    strata: Counter[str] = field(default_factory=Counter)
    read_as: str = ""
    is_replaying: bool = False

    def refuse(self, scope: Scope, place: Place, fault: FaultError, *, picture: str = "") -> None:
        """Note that something was left out."""
        if self.is_replaying:
            return
        one = Refusal(
            scope,
            fault.kind,
            shown(place.file),
            shown(place.row),
            shown(fault.reason),
            fault.hint,
            shown(picture),
        )
        self.counts[one.scope, one.kind] += 1
        if len(self.refusals) < self.max_kept:
            self.refusals.append(one)
        if self.on_refusal is not None:
            self.on_refusal(one)

    def remark(self, text: str, *, times: int = 1) -> None:
        """Note what was changed or assumed; equal remarks are counted."""
        if times and not self.is_replaying:
            self.remarks[shown(text)] += times

    @property
    def n_refused(self) -> int:
        """The number of all refusals, those included whose words were not kept."""
        return sum(self.counts.values())

    def lost(self, scope: Scope) -> int:
        """Return how many refusals of a scope there are."""
        return sum(count for (one, _), count in self.counts.items() if one == scope)


def shown(text: str) -> str:
    """Return a foreign text as a sentence can hold it: printable, on one line, and short.

    Joiners inside words of some scripts are kept; other signs without a look become “?”.
    """
    short = text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]}…"
    if short.isprintable():
        return short
    return "".join(sign if sign.isprintable() or sign in "\u200c\u200d" else "?" for sign in short)
