"""Why a concept fails: is it seen (R), does the answer fail where it is (F), and what do both say together.

Recognition is measured with a true and a false statement about the concept in one reply (Revelio, section on
recognition): R is the mean of the shares of true statements called true and of false ones called false, so
a system that says the same of everything has R = 0.5. What was not answered was not recognised.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from vlmlab.core.stats import Interval, score_interval_of_mean

Regime = Literal["reasoning", "recognition", "mixed", "low_f", "undetermined"]
Why = Literal["", "too_few", "failure_straddles", "recognition_straddles"]


@dataclass(frozen=True)
class StatementSaid:
    """One statement of one reply.

    Attributes:
        concept: what it speaks of.
        is_true: whether it is true of the scene.
        said: what the system said; None where nothing, or a contradiction, was said.
    """

    concept: str
    is_true: bool
    said: bool | None


@dataclass(frozen=True)
class Recognition:
    """How statements about one concept were answered.

    Attributes:
        positive_right, positives: true statements called true, and all of them.
        negative_right, negatives: false statements called false, and all of them.
        unanswered: statements of both kinds of which nothing was said; they count as not right.
        replies: replies that held at least one of the statements.
    """

    positive_right: int = 0
    positives: int = 0
    negative_right: int = 0
    negatives: int = 0
    unanswered: int = 0
    replies: int = 0

    @property
    def positive_accuracy(self) -> float | None:
        """Share of true statements called true; None without any."""
        return self.positive_right / self.positives if self.positives else None

    @property
    def negative_accuracy(self) -> float | None:
        """Share of false statements called false; None without any."""
        return self.negative_right / self.negatives if self.negatives else None

    @property
    def value(self) -> float | None:
        """R, the mean of both accuracies; None unless both kinds were asked."""
        positive, negative = self.positive_accuracy, self.negative_accuracy
        return None if positive is None or negative is None else (positive + negative) / 2.0

    def interval(self, level: float = 0.95) -> Interval:
        """Return an interval of R: the score interval with one observation a reply.

        Both statements of a reply are about one picture and stand or fall together, so a reply counts once,
        with the largest variance that a score in [0, 1] can have: the interval is rather too wide.
        """
        value = self.value
        return (
            Interval(0.0, 1.0, level) if value is None else score_interval_of_mean(value, self.replies, level)
        )


@dataclass(frozen=True)
class MeanRate:
    """The mean failure rate of the sets that hold a concept (F), or both of two.

    Attributes:
        value: mean over sets, each with the same weight; None without sets.
        sets: how many sets.
        fails, samples: the wrong answers and answers behind it.
    """

    value: float | None
    sets: int
    fails: int = 0
    samples: int = 0

    def interval(self, level: float = 0.95) -> Interval:
        """Return the score interval of the mean with one observation a set, which is rather too wide."""
        if self.value is None:
            return Interval(0.0, 1.0, level)
        return score_interval_of_mean(self.value, self.sets, level)


@dataclass(frozen=True)
class RegimeThresholds:
    """Where the regimes begin.

    Attributes:
        reasoning: R from which a concept counts as seen.
        recognition: R up to which it counts as not seen.
        low_failure: F below which it does not matter; 0 leaves this regime out, as the paper's driving table.
        least_sets: sets below which nothing is said.
        least_replies: replies with statements below which nothing is said.
        level: of both intervals.
    """

    reasoning: float = 0.7
    recognition: float = 0.3
    low_failure: float = 0.2
    least_sets: int = 10
    least_replies: int = 10
    level: float = 0.95

    def __post_init__(self) -> None:
        """Check the order of the thresholds."""
        if not 0.0 <= self.recognition < self.reasoning <= 1.0:
            raise ValueError(
                f"recognition must be below reasoning, in [0, 1]: {self.recognition}, {self.reasoning}"
            )
        if not 0.0 <= self.low_failure <= 1.0:
            raise ValueError(f"low_failure must be in [0, 1], got {self.low_failure}")


@dataclass(frozen=True)
class RegimeReading:
    """What is said of a concept.

    Attributes:
        regime: the word; "undetermined" where an interval holds a threshold or there are too few data.
        why: what keeps it undetermined; "" otherwise.
        point: the word that the estimates alone would give, as the paper gives it; None without R or F.
        recognition, failure: both intervals.
    """

    regime: Regime
    why: Why
    point: Regime | None
    recognition: Interval
    failure: Interval


def recognise(said: Iterable[Sequence[StatementSaid]]) -> dict[str, Recognition]:
    """Return the recognition of each concept, in the order in which they first occur.

    Args:
        said: for each reply the statements that it was asked about.
    """
    counts: dict[str, list[int]] = {}
    for reply in said:
        for concept in {one.concept: None for one in reply}:
            counts.setdefault(concept, [0] * 6)[5] += 1
        for one in reply:
            row = counts[one.concept]
            first = 0 if one.is_true else 2
            row[first] += one.said is one.is_true
            row[first + 1] += 1
            row[4] += one.said is None
    return {concept: Recognition(*row) for concept, row in counts.items()}


def pooled(parts: Iterable[Recognition]) -> Recognition:
    """Return the sum of recognitions of one concept from several sets or runs."""
    total = [0] * 6
    for part in parts:
        row = (
            part.positive_right, part.positives, part.negative_right, part.negatives,
            part.unanswered, part.replies,
        )  # fmt: skip
        total = [old + new for old, new in zip(total, row, strict=True)]
    return Recognition(*total)


def mean_failure_rate(counts: Iterable[tuple[int, int]]) -> MeanRate:
    """Return F of (fails, samples) of every evaluated set that holds the concept.

    Only sets with all their samples, or fresh ones, belong in here: a curtailed set has no rate. The mean
    is observational: it depends on which sets a search chose.
    """
    kept = [(fails, samples) for fails, samples in counts if samples > 0]
    if not kept:
        return MeanRate(None, 0)
    mean = sum(fails / samples for fails, samples in kept) / len(kept)
    return MeanRate(mean, len(kept), sum(one for one, _ in kept), sum(one for _, one in kept))


def point_regime(recognition: float, failure: float, thresholds: RegimeThresholds | None = None) -> Regime:
    """Return the regime of estimates without their uncertainty, as the paper does it.

    Args:
        recognition: R in [0, 1].
        failure: F in [0, 1].
        thresholds: default: R >= 0.7 reasoning, R <= 0.3 recognition, F < 0.2 low F.
    """
    at = thresholds or RegimeThresholds()
    if failure < at.low_failure:
        return "low_f"
    if recognition >= at.reasoning:
        return "reasoning"
    return "recognition" if recognition <= at.recognition else "mixed"


def regime_of(
    recognition: Recognition, failure: MeanRate, thresholds: RegimeThresholds | None = None
) -> RegimeReading:
    """Return the regime of a concept where intervals and thresholds leave no doubt.

    F is looked at first: surely below ``low_failure``, and R does not matter. Otherwise R decides, and only
    if its whole interval lies on one side of each threshold.
    """
    at = thresholds or RegimeThresholds()
    seen, fails = recognition.interval(at.level), failure.interval(at.level)
    point = (
        None
        if recognition.value is None or failure.value is None
        else point_regime(recognition.value, failure.value, at)
    )

    def reading(regime: Regime, why: Why = "") -> RegimeReading:
        return RegimeReading(regime, why, point, seen, fails)

    if failure.sets < at.least_sets:
        return reading("undetermined", "too_few")
    if fails.high < at.low_failure:
        return reading("low_f")
    if fails.low < at.low_failure:
        return reading("undetermined", "failure_straddles")
    if recognition.value is None or recognition.replies < at.least_replies:
        return reading("undetermined", "too_few")
    if seen.low >= at.reasoning:
        return reading("reasoning")
    if seen.high <= at.recognition:
        return reading("recognition")
    if at.recognition < seen.low and seen.high < at.reasoning:
        return reading("mixed")
    return reading("undetermined", "recognition_straddles")
