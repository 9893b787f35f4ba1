"""Intervals for numbers of a study: people and cases are both a sample, so both are drawn again."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from vlmlab.core.checks import check_share
from vlmlab.core.stats import Interval
from vlmlab.core.studies.judgements import Judgement

FloatArray = npt.NDArray[np.float64]
DRAWS = 2_000
MOST_AT_ONCE = 2_000_000
"""Weights in memory at a time: 16 MB."""


@dataclass(frozen=True)
class Weighed:
    """What a statistic may read: judgements with the weight that each has in each draw.

    Attributes:
        weights: ``(draws, judgements)``, at least 0; how often the pair of person and case was drawn.
        case_weights: ``(draws, cases)``, at least 0; how often the case was drawn.
        by_case: ``(judgements,)``, the judgements sorted by case.
        first: ``(cases,)``, where each case begins among them; every case has a judgement.
    """

    weights: FloatArray
    case_weights: FloatArray
    by_case: npt.NDArray[np.intp]
    first: npt.NDArray[np.intp]

    def case_sums(self, values: FloatArray) -> FloatArray:
        """Return ``(draws, cases)``: sums of ``values`` ``(judgements,)`` by case, people as often as drawn.

        The weight of the case itself is not in it.
        """
        sums = np.add.reduceat((self.weights * values)[:, self.by_case], self.first, axis=1)
        return np.asarray(sums, dtype=np.float64)


Statistic = Callable[[Weighed], FloatArray]
"""Gives ``(draws,)`` values; NaN where a draw leaves nothing to count."""


def two_way_interval(
    judgements: Sequence[Judgement],
    statistic: Statistic,
    *,
    rng: np.random.Generator,
    level: float = 0.95,
    draws: int = DRAWS,
) -> Interval | None:
    """Return the percentile interval of a statistic over participants crossed with cases.

    Participants and cases are drawn with replacement, independently of each other, and a judgement counts as
    often as the product (the pigeonhole bootstrap, Owen 2007; Owen and Eckles 2012). An interval that takes
    the answers as independent, such as Wilson's, is too short: the same person answers many cases, and many
    people the same case.

    Args:
        judgements: of people on cases; not all pairs need be there.
        statistic: from weights to values.
        rng: source of the draws.
        level: share of draws inside.
        draws: resamples; those that leave nothing to count are left out.

    Returns:
        The interval, or None where fewer than half of the draws can be counted, and where there are not two
        people and two cases: one alone, drawn again, says nothing of how much others would differ.
    """
    check_share("level", level)
    people, who = np.unique([one.participant for one in judgements], return_inverse=True)
    cases, which = np.unique([one.case for one in judgements], return_inverse=True)
    if min(len(people), len(cases)) < 2:
        return None
    by_case = np.argsort(which, kind="stable")
    first = np.searchsorted(which[by_case], np.arange(len(cases)))
    at_once = max(1, MOST_AT_ONCE // len(judgements))
    values: list[FloatArray] = []
    for start in range(0, draws, at_once):
        size = min(at_once, draws - start)
        person_weights = rng.multinomial(len(people), np.full(len(people), 1 / len(people)), size=size)
        case_weights = rng.multinomial(len(cases), np.full(len(cases), 1 / len(cases)), size=size)
        weighed = Weighed(
            weights=person_weights[:, who].astype(np.float64),
            case_weights=case_weights.astype(np.float64),
            by_case=by_case,
            first=first,
        )
        values.append(statistic(weighed))
    counted = np.concatenate(values)
    counted = counted[np.isfinite(counted)]
    if len(counted) < draws / 2:
        return None
    low, high = np.quantile(counted, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(low), float(high), level)


def share_of(flags: FloatArray) -> Statistic:
    """Return the statistic "weighted share of judgements with a flag".

    Args:
        flags: ``(judgements,)`` of 0 and 1, in the order of the judgements.
    """

    def share(weighed: Weighed) -> FloatArray:
        cases = weighed.case_weights
        flagged = (cases * weighed.case_sums(flags)).sum(axis=1)
        return _divided(flagged, (cases * weighed.case_sums(np.ones_like(flags))).sum(axis=1))

    return share


def mean_of_cases(values: FloatArray, counted: FloatArray) -> Statistic:
    """Return the statistic "mean over cases of the mean of counted judgements".

    Args:
        values: ``(judgements,)`` numbers.
        counted: ``(judgements,)`` of 0 and 1: which of them count.
    """

    def mean(weighed: Weighed) -> FloatArray:
        numbers = weighed.case_sums(counted)
        sums = weighed.case_sums(values * counted)
        means = np.divide(sums, numbers, out=np.zeros_like(sums), where=numbers > 0)
        weights = weighed.case_weights * (numbers > 0)
        return _divided((weights * means).sum(axis=1), weights.sum(axis=1))

    return mean


def _divided(upper: FloatArray, lower: FloatArray) -> FloatArray:
    return np.divide(upper, lower, out=np.full_like(upper, np.nan), where=lower > 0)
