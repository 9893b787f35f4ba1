"""What was changed in a prompt: words and letters that were put in and taken out, for people to see."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal, NamedTuple

PartKind = Literal["same", "insert", "delete"]

LEAST_LIKENESS = 0.6
"""Share of letters that two words must have in common, in one order, to be compared letter by letter."""

_TOKEN = re.compile(r"\w+|\s+|[^\w\s]")


@dataclass(frozen=True)
class DiffPart:
    """A piece of text that both prompts have, or only one of them."""

    kind: PartKind
    text: str


@dataclass(frozen=True)
class PromptDiff:
    """Two prompts side by side.

    Attributes:
        parts: in reading order, without those taken out they are the prompt after, without those put in the
            prompt before; a part that was replaced is taken out first.
    """

    parts: tuple[DiffPart, ...]

    @property
    def is_same(self) -> bool:
        """Whether nothing was changed."""
        return all(part.kind == "same" for part in self.parts)

    @property
    def before(self) -> str:
        """The prompt before."""
        return "".join(part.text for part in self.parts if part.kind != "insert")

    @property
    def after(self) -> str:
        """The prompt after."""
        return "".join(part.text for part in self.parts if part.kind != "delete")

    @property
    def sentence(self) -> str:
        """How much was changed, in words."""
        counts = {kind: sum(len(p.text) for p in self.parts if p.kind == kind) for kind in _SAID}
        said = [f"{_characters(number)} {_SAID[kind]}" for kind, number in counts.items() if number]
        return " and ".join(said) if said else "unchanged"


_SAID: dict[PartKind, str] = {"insert": "put in", "delete": "taken out"}


def prompt_diff(before: str, after: str) -> PromptDiff:
    """Compare two prompts word by word, and words that are much alike letter by letter.

    Texts of 10,000 characters take a fraction of a second, whatever stands in them.
    """
    pieces: list[DiffPart] = []
    for gap in _gaps(_TOKEN.findall(before), _TOKEN.findall(after)):
        pieces += _changed("".join(gap.taken), "".join(gap.put))
        pieces.append(DiffPart("same", "".join(gap.shared)))
    return PromptDiff(tuple(_joined(_without_lone_blanks([one for one in pieces if one.text]))))


class _Gap(NamedTuple):
    """What stands in one sequence only, in the other only, and then in both."""

    taken: list[str]
    put: list[str]
    shared: list[str]


def _changed(taken: str, put: str) -> list[DiffPart]:
    whole = [DiffPart("delete", taken), DiffPart("insert", put)]
    if not taken or not put:
        return whole
    letters = list(_gaps(taken, put))
    shared = sum(len(gap.shared) for gap in letters)
    if 2 * shared < LEAST_LIKENESS * (len(taken) + len(put)):
        return whole
    return [
        part
        for gap in letters
        for part in (
            DiffPart("delete", "".join(gap.taken)),
            DiffPart("insert", "".join(gap.put)),
            DiffPart("same", "".join(gap.shared)),
        )
    ]


def _without_lone_blanks(parts: Sequence[DiffPart]) -> Iterator[DiffPart]:
    """Count blanks between two changes as changed, so that a replaced phrase reads as one."""
    for number, part in enumerate(parts):
        is_between = 0 < number < len(parts) - 1 and "same" not in (
            parts[number - 1].kind,
            parts[number + 1].kind,
        )
        if part.kind == "same" and part.text.isspace() and is_between:
            yield DiffPart("delete", part.text)
            yield DiffPart("insert", part.text)
        else:
            yield part


def _joined(parts: Iterator[DiffPart]) -> Iterator[DiffPart]:
    """Put neighbours of a kind together: between two shared parts one that is taken out, then one put in."""
    for is_same, run in groupby(parts, key=lambda part: part.kind == "same"):
        some = list(run)
        kinds: tuple[PartKind, ...] = ("same",) if is_same else ("delete", "insert")
        for kind in kinds:
            text = "".join(part.text for part in some if part.kind == kind)
            if text:
                yield DiffPart(kind, text)


def _gaps(first: Sequence[str], second: Sequence[str]) -> Iterator[_Gap]:
    """Return the differences of two sequences around a longest common subsequence of them."""
    gap = _Gap([], [], [])
    for kind, item in _steps(first, second):
        if gap.shared and kind != "same":
            yield gap
            gap = _Gap([], [], [])
        {"delete": gap.taken, "insert": gap.put, "same": gap.shared}[kind].append(item)
    yield gap


def _steps(first: Sequence[str], second: Sequence[str]) -> list[tuple[PartKind, str]]:
    """Return each item of both sequences, shared ones once, in an order that reads as both.

    The table of the longest common subsequence is kept as bits, one row an item of ``second`` (Hyyrö 2004):
    a cleared bit is where the subsequence grows with that item of ``first``.
    """
    places: dict[str, int] = {}
    for number, item in enumerate(first):
        places[item] = places.get(item, 0) | 1 << number
    everything = (1 << len(first)) - 1
    row, rows = everything, []
    for item in second:
        shared = row & places.get(item, 0)
        row = ((row + shared) | (row - shared)) & everything
        rows.append(row)
    steps: list[tuple[PartKind, str]] = []
    at, other = len(first), len(second)
    while at and other:
        if rows[other - 1] >> (at - 1) & 1:
            at -= 1
            steps.append(("delete", first[at]))
            continue
        other -= 1
        if other and not rows[other - 1] >> (at - 1) & 1:
            steps.append(("insert", second[other]))
        else:
            at -= 1
            steps.append(("same", first[at]))
    steps += [("insert", second[number]) for number in range(other - 1, -1, -1)]
    steps += [("delete", first[number]) for number in range(at - 1, -1, -1)]
    return steps[::-1]


def _characters(number: int) -> str:
    return f"{number:,} character{'' if number == 1 else 's'}"
