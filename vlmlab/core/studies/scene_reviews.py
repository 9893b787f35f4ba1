"""Scene review: which scenes are drawn with what probability, when two reviewers agree, and what is left."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, Field

from vlmlab.core.checks import check_count
from vlmlab.core.sampling import shuffled
from vlmlab.core.seeding import rng_for
from vlmlab.core.stats import (
    Interval,
    fleiss_kappa,
    krippendorff_alpha,
    observed_agreement,
    randolph_kappa,
)

FINE, NOISE = "none", "noise"
REVIEW_KINDS = (FINE, NOISE, "answer_wrong", "question", "other")
LEVEL = 0.95
DRAWS = 2_000
StepName = Literal["observed", "artefacts", "ambiguous", "real"]
FloatArray = npt.NDArray[np.float64]


class ReviewDesign(BaseModel):
    """Which scenes are reviewed; frozen, stored with the study."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    n_failures: int = Field(
        default=60, ge=0, le=5_000, title="Failures",
        description="Wrongly answered scenes, drawn at random; fewer where there are fewer.",
    )  # fmt: skip
    n_passes: int = Field(
        default=40, ge=0, le=5_000, title="Passes",
        description="Rightly answered scenes. Without them flagged failures alone would make rates too low.",
    )  # fmt: skip
    reviewers_per_scene: Literal[1, 2] = Field(
        default=2, title="Reviewers a scene",
        description="Two who do not see each other's flags; a third is asked where they disagree.",
    )  # fmt: skip
    pace_seconds: int = Field(
        default=15, ge=0, le=600, title="Pace",
        description="Seconds of the countdown; it only paces, and 0 shows none.",
    )  # fmt: skip
    seed: int = Field(
        default=0, ge=0, le=2**63 - 1, title="Seed", description="Decides which scenes are drawn."
    )


@dataclass(frozen=True)
class DrawnScene:
    """A scene of the sample with the probability with which it was drawn, in (0, 1]."""

    key: int
    is_failure: bool
    probability: float


def draw_scenes(failures: Sequence[int], passes: Sequence[int], design: ReviewDesign) -> list[DrawnScene]:
    """Return the scenes to review, in random order; each of a kind is drawn with the same probability.

    Args:
        failures: ids of all wrongly answered scenes of the frame.
        passes: ids of all rightly answered ones.
        design: how many of each, and the seed.
    """
    drawn = []
    for keys, wanted, is_failure in ((failures, design.n_failures, True), (passes, design.n_passes, False)):
        order = shuffled(sorted(set(keys)), rng_for(design.seed, "scenes", int(is_failure)))
        taken = order[:wanted]
        drawn += [DrawnScene(key, is_failure, len(taken) / len(order)) for key in taken]
    return shuffled(drawn, rng_for(design.seed, "order of scenes"))


def is_excluding(kinds: Sequence[str]) -> bool:
    """Whether flags take a scene out of adjusted rates: any but "no issues"."""
    return any(kind != FINE for kind in kinds)


def settled_kinds(reviews: Sequence[Sequence[str]], *, needed: int = 2) -> tuple[str, ...] | None:
    """Return the flags that a scene gets, or None while reviews are missing.

    Two reviewers who agree on whether something is wrong settle it; of a scene that both find wrong every
    flag counts that either gave. Where they disagree the third decides: the two who agree count.

    Args:
        reviews: flags of each reviewer who is done, in order.
        needed: reviewers of every scene, 1 or 2.
    """
    check_count("needed", needed, low=1, high=2)
    if len(reviews) < needed:
        return None
    verdicts = [is_excluding(kinds) for kinds in reviews]
    if len(set(verdicts[:needed])) == 1:
        agreeing = reviews[:needed]
        verdict = verdicts[0]
    elif len(reviews) <= needed:
        return None
    else:
        verdict = verdicts[needed]
        agreeing = [kinds for kinds, one in zip(reviews, verdicts, strict=True) if one == verdict]
    if not verdict:
        return (FINE,)
    return tuple(sorted({kind for kinds in agreeing for kind in kinds if kind != FINE}))


def needs_third(reviews: Sequence[Sequence[str]], *, needed: int = 2) -> bool:
    """Whether the first two disagree on whether something is wrong and no third has decided.

    Args:
        reviews: flags of each reviewer who is done, in order.
        needed: reviewers of every scene, 1 or 2; one alone settles it.
    """
    check_count("needed", needed, low=1, high=2)
    return len(reviews) == needed == 2 and is_excluding(reviews[0]) != is_excluding(reviews[1])


@dataclass(frozen=True)
class ReviewedScene:
    """A settled scene.

    Attributes:
        kinds: the flags that it got.
        is_failure: whether the system answered wrongly.
        probability: with which it was drawn, in (0, 1].
    """

    kinds: tuple[str, ...]
    is_failure: bool
    probability: float

    def __post_init__(self) -> None:
        if not 0.0 < self.probability <= 1.0:
            raise ValueError(f"probability must lie in (0, 1], got {self.probability}")


@dataclass(frozen=True)
class WaterfallStep:
    """One step from observed to real failures, in failures of the frame.

    Attributes:
        name: "observed", "artefacts", "ambiguous" or "real".
        estimate: weighted number of failures; of the middle steps those that are taken away.
        interval: bootstrap within failures and passes.
    """

    name: StepName
    estimate: float
    interval: tuple[float, float]


@dataclass(frozen=True)
class ReviewResult:
    """What a review says of the failure rate of its frame.

    Attributes:
        n_frame, n_frame_failures: answered scenes of the frame, and those answered wrongly.
        n_reviewed: settled scenes.
        waterfall: observed failures, artefacts, ambiguous labels, real failures.
        flagged: weighted share of scenes with an issue.
        adjusted_rate: weighted failure rate of the scenes without an issue; None where all have one.
        adjusted_interval: of it.
    """

    n_frame: int
    n_frame_failures: int
    n_reviewed: int
    waterfall: tuple[WaterfallStep, ...]
    flagged: float
    adjusted_rate: float | None
    adjusted_interval: Interval | None


@dataclass(frozen=True)
class FlagAgreement:
    """How far the first two reviewers agree on one question; ``kind`` is a flag, or "issue" for any.

    Chance-corrected numbers are None where undefined.
    """

    kind: str
    n_items: int
    n_items_used: int
    observed: float | None
    randolph: float | None
    fleiss: float | None
    krippendorff: float | None


def review_result(
    scenes: Sequence[ReviewedScene], *, n_frame_failures: int, n_frame_passes: int, seed: int = 0
) -> ReviewResult | None:
    """Return rates of the whole frame from a sample whose failures and passes had different chances.

    Failures and passes are strata of known size; within each the shares of flags are those of its reviewed
    scenes, weighted by the inverse of their probability (Hajek 1971) and scaled up to the size. So a review
    that is half done is weighted right as well. Intervals draw the reviewed scenes of each stratum again.

    Args:
        scenes: settled ones.
        n_frame_failures: wrongly answered scenes that could have been drawn.
        n_frame_passes: rightly answered ones.
        seed: of the bootstrap.

    Returns:
        None where a stratum of the frame has scenes of which none is settled.

    Raises:
        ValueError: more scenes of a stratum are settled than the frame has.
    """
    failures = _stratum([one for one in scenes if one.is_failure])
    passes = _stratum([one for one in scenes if not one.is_failure])
    check_count("n_frame_failures", n_frame_failures, low=len(failures))
    check_count("n_frame_passes", n_frame_passes, low=len(passes))
    if (n_frame_failures and not len(failures)) or (n_frame_passes and not len(passes)):
        return None
    rng = rng_for(seed, "scene reviews")
    point = (
        _counts(failures.sum(axis=0, keepdims=True), n_frame_failures),
        _counts(passes.sum(axis=0, keepdims=True), n_frame_passes),
    )
    drawn = (
        _counts(_resampled(failures, rng), n_frame_failures),
        _counts(_resampled(passes, rng), n_frame_passes),
    )
    places: tuple[tuple[StepName, int], ...] = (("artefacts", 1), ("ambiguous", 2), ("real", 0))
    steps = tuple(
        WaterfallStep(name, float(point[0][0, place]), _ends(drawn[0][:, place])) for name, place in places
    )
    observed = WaterfallStep(
        "observed", float(n_frame_failures), (float(n_frame_failures), float(n_frame_failures))
    )
    n_frame = n_frame_failures + n_frame_passes
    flagged = float(point[0][0, 1:].sum() + point[1][0, 1:].sum()) / n_frame if n_frame else 0.0
    rate, rates = _adjusted(*point), _adjusted(*drawn)
    usable = rates[np.isfinite(rates)]
    return ReviewResult(
        n_frame=n_frame,
        n_frame_failures=n_frame_failures,
        n_reviewed=len(scenes),
        waterfall=(observed, *steps),
        flagged=flagged,
        adjusted_rate=float(rate[0]) if np.isfinite(rate[0]) else None,
        adjusted_interval=Interval(*_ends(usable), LEVEL) if len(usable) >= DRAWS / 2 else None,
    )


def flag_agreement(reviews: Sequence[Sequence[Sequence[str]]]) -> list[FlagAgreement]:
    """Return agreement on whether there is an issue, and on each flag (two categories by design each).

    Args:
        reviews: for each scene the flags of each reviewer; a third who was asked because two disagreed is no
            independent rating and must be left out.
    """
    rows = [_agreement("issue", [[is_excluding(kinds) for kinds in scene] for scene in reviews])]
    return rows + [
        _agreement(kind, [[kind in kinds for kinds in scene] for scene in reviews])
        for kind in REVIEW_KINDS
        if kind != FINE
    ]


def kind_counts(scenes: Sequence[ReviewedScene]) -> Mapping[str, int]:
    """Return how many settled scenes have each flag."""
    return {kind: sum(kind in one.kinds for one in scenes) for kind in REVIEW_KINDS}


def _agreement(kind: str, ratings: Sequence[Sequence[bool]]) -> FlagAgreement:
    return FlagAgreement(
        kind=kind,
        n_items=sum(bool(item) for item in ratings),
        n_items_used=sum(len(item) >= 2 for item in ratings),
        observed=observed_agreement(ratings),
        randolph=randolph_kappa(ratings, 2),
        fleiss=fleiss_kappa(ratings, 2),
        krippendorff=krippendorff_alpha(ratings),
    )


def _stratum(scenes: Sequence[ReviewedScene]) -> FloatArray:
    """Return ``(scenes, 3)``: the weight of each scene in the column of its place, sorted by both."""
    rows = np.zeros((len(scenes), 3))
    for row, (place, weight) in enumerate(sorted((_place(one.kinds), 1 / one.probability) for one in scenes)):
        rows[row, place] = weight
    return rows


def _place(kinds: Sequence[str]) -> int:
    """Return 0 for a sound scene, 1 for an artefact, 2 for an issue with label or question only."""
    if NOISE in kinds:
        return 1
    return 2 if is_excluding(kinds) else 0


def _resampled(stratum: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Return ``(draws, 3)``: sums of weights by place, the scenes of the stratum drawn again."""
    if not len(stratum):
        return np.zeros((DRAWS, 3))
    kinds, numbers = np.unique(stratum, axis=0, return_counts=True)
    times = rng.multinomial(len(stratum), numbers / len(stratum), size=DRAWS)
    return np.asarray(times @ kinds, dtype=np.float64)


def _counts(sums: FloatArray, size: int) -> FloatArray:
    """Return ``(draws, 3)``: scenes of a stratum of the frame by place, scaled up to its size."""
    totals = sums.sum(axis=1, keepdims=True)
    counts: FloatArray = np.divide(sums * size, totals, out=np.zeros_like(sums), where=totals > 0)
    return counts


def _adjusted(failures: FloatArray, passes: FloatArray) -> FloatArray:
    sound = failures[:, 0] + passes[:, 0]
    rates: FloatArray = np.divide(failures[:, 0], sound, out=np.full(len(failures), np.nan), where=sound > 0)
    return rates


def _ends(values: FloatArray) -> tuple[float, float]:
    low, high = np.quantile(values, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)
