"""Counts with exact intervals: what the evaluation of the pocket VLM reports."""

from collections.abc import Iterable
from dataclasses import dataclass

from vlmlab.core.stats import clopper_pearson

LEVEL = 0.95
RIGHT_IOU = 0.5
LEAST_SIDE = 16.0
"""Of objects that goals are about: square root of the area in pixels of the model's input."""


@dataclass(frozen=True)
class Judged:
    """One judgement of an evaluation: of a reply, or of a part of one.

    Attributes:
        task: ``driving answer``, ``indoor several objects``, ``driving statement``, ...
        group: what the task is broken down by, such as the expected answer.
        key: the concept set of the scene.
        is_right: whether the reply is right.
        is_malformed: whether it could not be read at all.
        expected: what was right, where it is an answer.
        answered: what was answered, "invalid" where nothing could be read.
        iou: of boxes, else None.
        pooled: a line of its own in the summary, over both domains.
        is_reply: False for one statement or one object of a reply.
    """

    task: str
    group: str
    key: tuple[str, ...]
    is_right: bool
    is_malformed: bool = False
    expected: str = ""
    answered: str = ""
    iou: float | None = None
    pooled: str = ""
    is_reply: bool = True


@dataclass(frozen=True)
class Share:
    """A count with its exact 95 % interval (Clopper and Pearson 1934)."""

    right: int
    asked: int
    low: float
    high: float

    @property
    def rate(self) -> float:
        """Return right / asked."""
        return self.right / max(1, self.asked)

    def __str__(self) -> str:
        percent = f"{100 * self.rate:.1f} % [{100 * self.low:.1f}, {100 * self.high:.1f}]"
        return f"{self.right}/{self.asked} = {percent}"


def share_of(flags: Iterable[bool]) -> Share:
    """Return the share of true flags with its interval."""
    values = list(flags)
    interval = clopper_pearson(sum(values), len(values), LEVEL)
    return Share(sum(values), len(values), interval.low, interval.high)


def summarised(rows: Iterable[Judged]) -> dict[str, Share]:
    """Return ``task``, ``task: group`` and ``pooled`` -> share of right rows, by name."""
    found: dict[str, list[bool]] = {}
    for row in rows:
        names = {row.task, f"{row.task}: {row.group}" if row.group else "", row.pooled} - {""}
        for name in names:
            found.setdefault(name, []).append(row.is_right)
    return {name: share_of(flags) for name, flags in sorted(found.items())}


def malformed(rows: Iterable[Judged]) -> dict[str, Share]:
    """Return the share of replies that could not be read: of all (``""``) and of each task."""
    found: dict[str, list[bool]] = {"": []}
    for row in rows:
        if row.is_reply:
            found[""].append(row.is_malformed)
            found.setdefault(row.task, []).append(row.is_malformed)
    return {name: share_of(flags) for name, flags in found.items()}


def confusion(rows: Iterable[Judged]) -> dict[str, dict[str, int]]:
    """Return expected -> answered -> count over rows that expect an answer."""
    table: dict[str, dict[str, int]] = {}
    for row in rows:
        if row.expected:
            line = table.setdefault(row.expected, {})
            line[row.answered] = line.get(row.answered, 0) + 1
    return table


def weakest(rows: Iterable[Judged], *, at_least: int = 20) -> list[tuple[str, Share]]:
    """Return concepts with the share of right replies about scenes that have them, the worst first."""
    found: dict[str, list[bool]] = {}
    for row in rows:
        for name in row.key:
            found.setdefault(name, []).append(row.is_right)
    shares = [(name, share_of(flags)) for name, flags in found.items() if len(flags) >= at_least]
    return sorted(shares, key=lambda pair: (pair[1].rate, pair[0]))
