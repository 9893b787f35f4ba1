"""Do failure modes carry over: the top sets of one system asked of others, equally often."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from vlmlab.core.stats import RatioInterval, ratio_of_means
from vlmlab.core.verdicts.regimes import MeanRate, mean_failure_rate


@dataclass(frozen=True)
class SetCounts:
    """Fresh answers of a target to one set.

    Attributes:
        source: the system whose search suggested the set; "" for one chosen at random.
        target: the system that was asked.
        fails, samples: wrong answers and answers.
    """

    source: str
    target: str
    fails: int
    samples: int


@dataclass(frozen=True)
class TransferCell:
    """The sets of one source on one target.

    Attributes:
        rate: mean failure rate over the sets.
        random: the same of sets chosen at random, of this target.
        ratio: ``rate`` over ``random`` with an interval; None where one of them is missing.
        is_own: source and target are the same: measured again, not taken from the search.
    """

    source: str
    target: str
    rate: MeanRate
    random: MeanRate
    ratio: RatioInterval | None
    is_own: bool


@dataclass(frozen=True)
class TransferMatrix:
    """Every source on every target.

    Attributes:
        sources, targets: in the order given.
        cells: (source, target) -> cell; only pairs that were asked.
        samples_per_set: how often each set was asked; None where that differs, and then cells do not compare.
    """

    sources: tuple[str, ...]
    targets: tuple[str, ...]
    cells: Mapping[tuple[str, str], TransferCell]
    samples_per_set: int | None


def transfer_matrix(counts: Iterable[SetCounts], *, level: float = 0.95) -> TransferMatrix:
    """Return the matrix of failure rates.

    Intervals take the set as the unit, so they speak of other top sets of the source too.

    Args:
        counts: fresh answers, one entry for each set and target; never those of a search.
        level: of the intervals.
    """
    rows = [row for row in counts if row.samples]
    sources = tuple(dict.fromkeys(row.source for row in rows if row.source))
    targets = tuple(dict.fromkeys(row.target for row in rows))
    random = {target: _rate(rows, source="", target=target) for target in targets}
    cells = {}
    for source in sources:
        for target in targets:
            rate = _rate(rows, source=source, target=target)
            if rate.value is None:
                continue
            ratio = ratio_between(rate, random[target], level=level)
            cells[source, target] = TransferCell(
                source, target, rate, random[target], ratio, is_own=source == target
            )
    sizes = {row.samples for row in rows}
    return TransferMatrix(sources, targets, cells, sizes.pop() if len(sizes) == 1 else None)


def ratio_between(rate: MeanRate, other: MeanRate, *, level: float = 0.95) -> RatioInterval | None:
    """Return one mean failure rate over another with an interval; None where one has no sets."""
    if rate.value is None or other.value is None:
        return None
    return ratio_of_means(rate.value, rate.sets, other.value, other.sets, level=level)


def _rate(rows: Sequence[SetCounts], *, source: str, target: str) -> MeanRate:
    return mean_failure_rate(
        (row.fails, row.samples) for row in rows if row.source == source and row.target == target
    )
