"""How many fresh samples settle a suspect: exact chances for an assumed failure rate, before any is asked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from vlmlab.core.checks import check_count, check_share
from vlmlab.core.stats import fails_to_cross, log_bar, passes_to_cross
from vlmlab.core.verdicts.config import ConfirmConfig
from vlmlab.core.verdicts.settling import family_level, suspect_share
from vlmlab.core.verdicts.stopping import stopping_table

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
POWERS = (0.5, 0.8, 0.9, 0.95)
MOST_PLANNED_SAMPLES = 1000


@dataclass(frozen=True)
class Prospect:
    """How a suspect with an assumed rate ends under the settings, with what chances.

    Attributes:
        confirmed, refuted: decided.
        given_up: too little chance left of being decided.
        capped: all samples taken without a decision.
        expected_samples: mean number of samples taken.
    """

    confirmed: float
    refuted: float
    given_up: float
    capped: float
    expected_samples: float


@dataclass(frozen=True)
class SettlingPlan:
    """What settles one suspect of an assumed failure rate.

    Attributes:
        rate: the assumed true failure rate.
        confirmed_by: ``(most + 1,)`` chance that it is confirmed within n samples, when nothing is given up.
        refuted_by: the same for refuted.
        samples_for: chance wanted -> least n that reaches it, for the decision that would be right at this
            rate (confirmed above the threshold, refuted below it); None where even the most does not.
        prospect: how it ends under the settings as they are.
    """

    rate: float
    confirmed_by: FloatArray
    refuted_by: FloatArray
    samples_for: Mapping[float, int | None]
    prospect: Prospect


def plan_settling(
    rate: float,
    config: ConfirmConfig,
    *,
    others: int = 0,
    place: int | None = None,
    most: int = MOST_PLANNED_SAMPLES,
) -> SettlingPlan:
    """Return the plan of one suspect, counted exactly over all courses of its samples.

    Args:
        rate: the failure rate that is assumed, in [0, 1].
        config: threshold, levels, family size, most samples and futility.
        others: suspects of the family that are counted on to be confirmed as well; each lowers the bar.
        place: place in the line of later suspects; None for the family.
        most: samples up to which the chances are counted.

    Raises:
        ValueError: a value is out of range.
    """
    if not 0.0 <= rate <= 1.0:
        raise ValueError(f"rate must lie in [0, 1], got {rate}")
    check_count("most", most, low=1)
    confirm_bar, refute_bar = _bars(config, others=others, place=place)
    threshold = config.failure_rate_threshold
    n = np.arange(most + 1)
    confirm_at = fails_to_cross(most, threshold=threshold, log_needed=confirm_bar)
    lowest_open = np.maximum(0, n - passes_to_cross(most, threshold=threshold, log_needed=refute_bar) + 1)
    never = [np.zeros(0, dtype=np.bool_)] * (most + 1)
    course = _course(rate, confirm_at, lowest_open, given_up=never)
    confirmed_by, refuted_by = np.cumsum(course.confirmed), np.cumsum(course.refuted)
    right = confirmed_by if rate > threshold else refuted_by
    return SettlingPlan(
        rate,
        confirmed_by,
        refuted_by,
        {power: _first_reaching(right, power) for power in POWERS},
        _prospect(rate, config, confirm_bar=confirm_bar, refute_bar=refute_bar),
    )


def affordable_suspects(budget: int, config: ConfirmConfig, *, rate: float = 0.8, runs: int = 1) -> int:
    """Return how many suspects a number of fresh samples settles, so that a family can be cut to it.

    A family that is larger than its budget raises the bar for suspects that are asked by ones that never
    will be. Cutting it is harmless when it is done before the first fresh sample, by whatever is known from
    the search.

    Args:
        budget: fresh samples for the suspects of one run.
        config: threshold, levels, most samples and futility; its family size is not used.
        rate: the failure rate that is assumed of every suspect; 0.8 costs more than most others.
        runs: runs that each have as many suspects and such a budget, all in one family.

    Returns:
        Suspects of one run, at least 1.
    """
    check_count("budget", budget)
    check_count("runs", runs, low=1)
    fits, too_many = 1, budget + 1
    while too_many - fits > 1:
        size = (fits + too_many) // 2
        plan = _bars(config.model_copy(update={"family_size": size * runs}), others=0, place=None)
        prospect = _prospect(rate, config, confirm_bar=plan[0], refute_bar=plan[1])
        fits, too_many = (size, too_many) if size * prospect.expected_samples <= budget else (fits, size)
    return fits


@dataclass(frozen=True)
class _Course:
    """Chances of ending at each number of samples, and of still being open at the end."""

    confirmed: FloatArray
    refuted: FloatArray
    given_up: FloatArray
    capped: float

    def expected_samples(self) -> float:
        """Return the mean number of samples."""
        n = np.arange(len(self.confirmed))
        ended = self.confirmed + self.refuted + self.given_up
        return float(n @ ended) + (len(n) - 1) * self.capped


def _course(
    rate: float, confirm_at: IntArray, lowest_open: IntArray, *, given_up: Sequence[BoolArray]
) -> _Course:
    """Follow the chance of each number of fails from sample to sample.

    Args:
        rate: true failure rate.
        confirm_at: as in ``StoppingTable``.
        lowest_open: as in ``StoppingTable``.
        given_up: for each n, whether a count in ``lowest_open <= fails < confirm_at`` is given up; shorter
            rows end with counts that are not.
    """
    most = len(confirm_at) - 1
    ends = np.zeros((3, most + 1))
    low, chances = 0, np.ones(1)  # of ``low``, ``low + 1``, ... fails
    for n in range(most + 1):
        if n:
            chances = np.append(chances * (1.0 - rate), 0.0) + np.append(0.0, chances * rate)
        first, last = max(low, int(lowest_open[n])), min(low + len(chances), int(confirm_at[n]))
        ends[0, n] = chances[max(0, last - low) :].sum()
        ends[1, n] = chances[: first - low].sum()
        chances, low = chances[first - low : last - low], first
        row = given_up[n][low - int(lowest_open[n]) :][: len(chances)]
        ends[2, n] = chances[: len(row)][row].sum()
        chances[: len(row)][row] = 0.0
        if not len(chances):
            break
    return _Course(ends[0], ends[1], ends[2], float(chances.sum()))


def _prospect(rate: float, config: ConfirmConfig, *, confirm_bar: float, refute_bar: float) -> Prospect:
    table = stopping_table(
        config.failure_rate_threshold, config.max_samples, confirm_bar=confirm_bar, refute_bar=refute_bar
    )
    given_up = [(row < config.futility) | (row == 0.0) for row in table.chances]
    given_up[-1] = np.zeros_like(given_up[-1])
    course = _course(rate, table.confirm_at, table.lowest_open, given_up=given_up)
    return Prospect(
        float(course.confirmed.sum()),
        float(course.refuted.sum()),
        float(course.given_up.sum()),
        course.capped,
        course.expected_samples(),
    )


def _bars(config: ConfirmConfig, *, others: int, place: int | None) -> tuple[float, float]:
    """Return the log e-values that confirm and that refute."""
    if (place is None) != (config.later_index is None):
        raise ValueError("a place is for later suspects, and they need one")
    check_count("others", others)
    share, level = suspect_share(config, place), family_level(config)
    before = config.later_discoveries
    return (
        log_bar(share, level=level, rejected=others + before + 1),
        log_bar(share, level=level, rejected=1),
    )


def _first_reaching(chances: FloatArray, power: float) -> int | None:
    check_share("power", power)
    reached = np.flatnonzero(chances >= power)
    return int(reached[0]) if len(reached) else None
