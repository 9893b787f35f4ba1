"""The designed four-cell test: do two concepts together fail more, or less, than their parts add up to.

Each scene shows all four cells. With failure rates p of neither, first, second and both:

- on the scale of probabilities the interaction is ``p_both - p_first - p_second + p_neither``;
- on the scale of log-odds it is the same sum of logits.

Both are zero where the concepts act apart from each other, each on its own scale; where one scale says yes
and the other no, the interaction is a matter of the scale, and that is said.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log, sqrt
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from vlmlab.core.stats import PairedCounts, normal_quantile, paired_difference, sign_flip_p_value
from vlmlab.core.verdicts.cells import CELLS
from vlmlab.core.verdicts.fixed import PASSED, FixedDesignSearch
from vlmlab.core.verdicts.queries import ItemResult, ItemSpec

InteractionVerdict = Literal["synergy", "interference", "none_shown"]
INTERACTION_WORDS: Mapping[InteractionVerdict, str] = {
    "synergy": "More than they add up to",
    "interference": "Less than they add up to",
    "none_shown": "No interaction shown",
}
_SIGNS = {"both": 1, "neither": 1, "first": -1, "second": -1}
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Estimate:
    """A number with its interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class InteractionReading:
    """What four cells on the same scenes say.

    Attributes:
        fails: of each cell, by name.
        n: scenes.
        additive: interaction of the probabilities, in [-2, 2].
        log_odds: interaction of the logits, half a fail and half a pass added to each cell.
        p_value: two-sided sign-flip test of the scenes' own interactions.
        verdict: synergy or interference where the test is significant and the additive interval excludes 0.
        depends_on_scale: a verdict that the interval of the log-odds does not share.
        level: of the intervals.
    """

    fails: Mapping[str, int]
    n: int
    additive: Estimate
    log_odds: Estimate
    p_value: float
    verdict: InteractionVerdict
    depends_on_scale: bool
    level: float


def judge_interaction(cells: Mapping[str, Sequence[bool]], *, level: float = 0.05) -> InteractionReading:
    """Return the interaction of two concepts.

    The additive interval joins the score intervals of the two paired differences (both - first, second -
    neither) by the method of variance estimates recovery (Zou and Donner 2008, Statistics in Medicine 27),
    with the correlation of the scenes' differences. The log-odds interval is the delta method with the scene
    as the unit. The p-value counts all signs of the scenes' own interactions (+2 .. -2): exact where scenes
    without interaction are as likely to be off one way as the other, and close to exact for many scenes.

    Args:
        cells: whether each scene failed, by the names in ``CELLS``; all of the same length.
        level: chance of a false verdict; intervals are at ``1 - level``.

    Raises:
        ValueError: a cell is missing, or lengths differ, or there is no scene.
    """
    failed = {name: np.asarray(cells[name], dtype=np.bool_) for name in CELLS if name in cells}
    lengths = {len(flags) for flags in failed.values()}
    if len(failed) != len(CELLS) or len(lengths) != 1 or lengths == {0}:
        raise ValueError(f"cells must hold {', '.join(CELLS)}, equally long and not empty")
    own = sum(_SIGNS[name] * failed[name].astype(np.int64) for name in CELLS)
    p_value = sign_flip_p_value([int(value) for value in np.asarray(own)])
    additive = _additive(failed, 1.0 - level)
    log_odds = _log_odds(failed, 1.0 - level)
    verdict: InteractionVerdict = "none_shown"
    if p_value <= level and additive.low > 0.0:
        verdict = "synergy"
    elif p_value <= level and additive.high < 0.0:
        verdict = "interference"
    shared = log_odds.low > 0.0 if verdict == "synergy" else log_odds.high < 0.0
    return InteractionReading(
        {name: int(failed[name].sum()) for name in CELLS},
        lengths.pop(),
        additive,
        log_odds,
        p_value,
        verdict,
        verdict != "none_shown" and not shared,
        1.0 - level,
    )


class InteractSearch(FixedDesignSearch):
    """Asks the four cells of each pair on the same scenes (``plan_cells`` gives key and arms).

    Args:
        items: pairs; the key is the cell with both, the arms are the others. Which cell is which is read off
            the sets; of the two with one concept the one asked before is the first.
        n: scenes.
        level: chance of a false verdict, a pair.
        slots: questions asked together, about.
    """

    def __init__(self, items: Sequence[ItemSpec], *, n: int, level: float, slots: int = 8) -> None:
        super().__init__(items, n=n, slots=slots)
        self._level = level
        self._read: dict[int, tuple[ItemResult, ItemResult]] = {}

    def results(self) -> list[ItemResult]:
        """Return the fixed design's results with the interaction."""
        found = []
        for place, result in enumerate(super().results()):
            if self._read.get(place, (None, None))[0] is not result:
                self._read[place] = (result, self._with_interaction(result))
            found.append(self._read[place][1])
        return found

    def _with_interaction(self, result: ItemResult) -> ItemResult:
        if not result.samples:
            return result
        cells = {
            name: [letter != PASSED for letter in one["outcomes"]]
            for name, one in _named_cells(result.numbers["arms"]).items()
        }
        reading = judge_interaction(cells, level=self._level)
        state = reading.verdict if result.state == "measured" else result.state
        numbers = {**result.numbers, "interaction": interaction_row(reading)}
        return ItemResult(state, result.reason, result.fails, result.samples, numbers)


def interaction_row(reading: InteractionReading) -> dict[str, Any]:
    """Return an interaction as it is stored with its item."""
    return {
        "verdict": reading.verdict,
        "fails": dict(reading.fails),
        "n": reading.n,
        "additive": vars(reading.additive).copy(),
        "log_odds": vars(reading.log_odds).copy(),
        "p_value": reading.p_value,
        "depends_on_scale": reading.depends_on_scale,
        "level": reading.level,
    }


def _named_cells(arms: Sequence[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    by_size = sorted(arms, key=lambda arm: len(arm["key"]))  # stable: neither, first, second, both
    return dict(zip(("neither", "first", "second", "both"), by_size, strict=True))


def _additive(failed: Mapping[str, Flags], level: float) -> Estimate:
    upper, lower = (failed["both"], failed["first"]), (failed["second"], failed["neither"])
    first, second = _counts(*upper), _counts(*lower)
    one, other = paired_difference(first, level), paired_difference(second, level)
    correlation = _correlation(_difference(*upper), _difference(*lower))
    value = first.difference - second.difference
    down = _recovered(first.difference - one.low, other.high - second.difference, correlation=correlation)
    up = _recovered(one.high - first.difference, second.difference - other.low, correlation=correlation)
    return Estimate(value, max(-2.0, value - down), min(2.0, value + up))


def _recovered(first: float, second: float, *, correlation: float) -> float:
    return sqrt(max(0.0, first**2 + second**2 - 2.0 * correlation * first * second))


def _counts(first: Flags, second: Flags) -> PairedCounts:
    return PairedCounts(
        int((first & second).sum()),
        int((first & ~second).sum()),
        int((~first & second).sum()),
        int((~first & ~second).sum()),
    )


def _difference(first: Flags, second: Flags) -> npt.NDArray[np.float64]:
    return first.astype(np.float64) - second.astype(np.float64)


def _correlation(first: npt.NDArray[np.float64], second: npt.NDArray[np.float64]) -> float:
    """Return Pearson's correlation; 0 where one of both does not vary."""
    centred = first - first.mean(), second - second.mean()
    spread = float((centred[0] ** 2).sum() * (centred[1] ** 2).sum())
    return float((centred[0] * centred[1]).sum()) / sqrt(spread) if spread > 0.0 else 0.0


def _log_odds(failed: Mapping[str, Flags], level: float) -> Estimate:
    n = len(failed["both"])
    value, influence = 0.0, np.zeros(n)
    for name in CELLS:
        fails = int(failed[name].sum())
        rate = (fails + 0.5) / (n + 1.0)
        value += _SIGNS[name] * log(rate / (1.0 - rate))
        influence += _SIGNS[name] * (failed[name] - rate) / (rate * (1.0 - rate))
    half = normal_quantile(1.0 - (1.0 - level) / 2.0) * sqrt(float((influence**2).sum())) / n
    return Estimate(value, value - half, value + half)
