"""What a concept contributes to the failures of a set, from the same scenes with and without it.

Of each comparable drop, with b scenes that fail only with the concept and c that fail only without it:

- necessary: the exact McNemar test, Holm-adjusted over the drops of the set, is at most the level; b > c;
  without it the failure rate is surely below the threshold; and the set itself failed in at least the
  threshold's share of these scenes.
- contributory: the same test, b > c, but one of the other two is missing.
- protective: the same test, c > b: without it the system fails more often.
- irrelevant: the score interval of the paired difference (Tango 1998) lies wholly within the margin.
- undetermined: none of these. That a test is not significant shows nothing.

A drop that changes the expected answer or the question is never evidence, and one that cannot be drawn is
none either.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from vlmlab.core.checks import check_share
from vlmlab.core.stats import (
    DifferenceInterval,
    PairedCounts,
    holm,
    lower_bound,
    paired_difference,
    upper_bound,
)

Necessity = Literal[
    "necessary", "contributory", "protective", "irrelevant", "undetermined", "label_changing", "invalid"
]
NECESSITY_WORDS: Mapping[Necessity, str] = {
    "necessary": "Necessary",
    "contributory": "Contributory",
    "protective": "Protective",
    "irrelevant": "Irrelevant",
    "undetermined": "Undetermined",
    "label_changing": "Changes the question",
    "invalid": "Cannot be left out",
}


@dataclass(frozen=True)
class NecessityRules:
    """What the words rest on.

    Attributes:
        level: chance that any concept of a set without an effect gets a word that claims one, and chance that
            any is called necessary whose rest reaches the threshold; intervals are at ``1 - level``.
        margin: half the width of what counts as no difference, in shares of scenes.
        threshold: failure rate from which a set fails.
    """

    level: float = 0.05
    margin: float = 0.1
    threshold: float = 0.6

    def __post_init__(self) -> None:
        """Check that each is a share."""
        for name in ("level", "margin", "threshold"):
            check_share(name, getattr(self, name))


@dataclass(frozen=True)
class DropReading:
    """What is said of one comparable drop.

    Attributes:
        counts: fails of the whole set first, of the rest second.
        p_value, adjusted: exact McNemar, two-sided; after Holm over the drops of the set.
        difference: rate of the whole set minus rate of the rest.
        rest_low, rest_high: exact one-sided bounds of the rate of the rest, together over all drops.
        rest_passes: the rest surely fails less often than the threshold.
    """

    counts: PairedCounts
    necessity: Necessity
    p_value: float
    adjusted: float
    difference: DifferenceInterval
    rest_low: float
    rest_high: float
    rest_passes: bool


def judge_drops(drops: Sequence[PairedCounts], rules: NecessityRules) -> list[DropReading]:
    """Return what is said of each comparable drop of one set.

    Args:
        drops: paired counts, the whole set first; all comparable drops of a set are one family.
        rules: level, margin, threshold.
    """
    adjusted = holm([counts.p_value for counts in drops])
    sure = 1.0 - rules.level / max(1, len(drops))
    return [_judge(counts, adjusted[index], rules, sure=sure) for index, counts in enumerate(drops)]


def _judge(counts: PairedCounts, adjusted: float, rules: NecessityRules, *, sure: float) -> DropReading:
    difference = paired_difference(counts, 1.0 - rules.level)
    high = upper_bound(counts.second, counts.n, sure)
    low = lower_bound(counts.second, counts.n, sure) if counts.n else 0.0
    necessity: Necessity = "undetermined"
    if adjusted <= rules.level and counts.first_only > counts.second_only:
        is_mode = counts.first >= rules.threshold * counts.n - 1e-9
        necessity = "necessary" if is_mode and high < rules.threshold else "contributory"
    elif adjusted <= rules.level and counts.second_only > counts.first_only:
        necessity = "protective"
    elif difference.is_inside(rules.margin):
        necessity = "irrelevant"
    return DropReading(
        counts, necessity, counts.p_value, adjusted, difference, low, high, high < rules.threshold
    )
