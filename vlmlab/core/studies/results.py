"""What a study says: acceptance, how well people do what systems failed at, and how far they agree."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import fsum

import numpy as np

from vlmlab.core.seeding import rng_for
from vlmlab.core.stats import (
    Interval,
    fleiss_kappa,
    holm,
    krippendorff_alpha,
    observed_agreement,
    randolph_kappa,
    wilcoxon_signed_rank,
    wilson,
)
from vlmlab.core.studies.judgements import (
    CaseSummary,
    JudgedCase,
    Judgement,
    grouped_by_case,
    in_order,
    mean_of,
    summarise_cases,
)
from vlmlab.core.studies.resampling import FloatArray, Statistic, mean_of_cases, share_of, two_way_interval

DRAW_OR_REJECT = 2
"""Categories that raters chose from by design."""


@dataclass(frozen=True)
class Estimate:
    """A number with its interval; both None where there is nothing to count.

    Attributes:
        value: the estimate.
        interval: bootstrap over participants and cases.
    """

    value: float | None
    interval: Interval | None = None


@dataclass(frozen=True)
class Acceptance:
    """How many answers accepted their case.

    Attributes:
        k, n: accepted answers of all.
        interval: bootstrap over participants and cases; None where it cannot be drawn.
        naive: Wilson's interval, as if all answers were independent: too short.
    """

    k: int
    n: int
    interval: Interval | None
    naive: Interval

    @property
    def rate(self) -> float | None:
        """Share of accepted answers; None without an answer."""
        return self.k / self.n if self.n else None


@dataclass(frozen=True)
class Means:
    """Mean set IoU of people and of systems, once with cases and once with answers as equals.

    ``human_iou`` is over accepted answers, and ``sut_iou`` over exactly the cases with an acceptance.
    ``human_star`` counts a rejection as 0 and is over all cases, as is ``sut_iou_all``. Systems' numbers are
    None where a case has none.

    Attributes:
        cases_used: cases with at least one acceptance.
        human_iou, sut_iou, human_star, sut_iou_all: means over cases (macro).
        micro_*: the same over answers, a system's IoU weighted by the answers on its case.
    """

    cases_used: int
    human_iou: Estimate
    sut_iou: float | None
    human_star: Estimate
    sut_iou_all: float | None
    micro_human_iou: float | None
    micro_sut_iou: float | None
    micro_human_star: float | None
    micro_sut_iou_all: float | None


@dataclass(frozen=True)
class Agreement:
    """How far people agree on accepting a case.

    Attributes:
        observed: P_o, the mean over items of the share of pairs of raters that agree.
        randolph, fleiss, krippendorff: chance-corrected; None where undefined, as without variation.
        n_items, n_items_used: judged cases, and those with two answers or more; the others hold no pair.
        pairwise_iou: mean over cases of the mean set IoU of two people who accepted.
    """

    observed: float | None
    randolph: float | None
    fleiss: float | None
    krippendorff: float | None
    n_items: int
    n_items_used: int
    pairwise_iou: float | None


@dataclass(frozen=True)
class GroupResult:
    """The numbers of a group of cases, such as all of one system; ``key`` names it."""

    key: tuple[str, ...]
    n_cases: int
    acceptance: Acceptance
    means: Means
    agreement: Agreement


@dataclass(frozen=True)
class Comparison:
    """People and one system on the same cases.

    Attributes:
        sut: the system.
        n_cases: cases with an acceptance and an answer of the system.
        human_iou, sut_iou: means over these cases.
        effect: matched-pairs rank-biserial correlation, above 0 where people are better.
        p_value: Wilcoxon's signed-rank test, two-sided.
        adjusted_p_value: after Holm over the systems.
        is_asked_again: whether the system's numbers are of answers that nobody selected.
    """

    sut: str
    n_cases: int
    human_iou: float
    sut_iou: float
    effect: float
    p_value: float
    adjusted_p_value: float
    is_asked_again: bool


def group_result(
    cases: Sequence[JudgedCase],
    judgements: Sequence[Judgement],
    *,
    key: tuple[str, ...] = (),
    seed: int = 0,
) -> GroupResult:
    """Return all numbers of a group of cases.

    Args:
        cases: of the group.
        judgements: on these cases; at most one a participant and case.
        key: name of the group; also seeds its bootstrap.
        seed: of the bootstrap.

    Raises:
        ValueError: a judgement is on another case, or stands twice.
    """
    judgements = in_order(judgements)
    summaries = summarise_cases(cases, judgements)
    return GroupResult(
        key=key,
        n_cases=len(summaries),
        acceptance=_acceptance(judgements, seed=seed, key=key),
        means=_means(summaries, judgements, seed=seed, key=key),
        agreement=_agreement(cases, judgements, summaries),
    )


def results_by(
    cases: Sequence[JudgedCase],
    judgements: Sequence[Judgement],
    *,
    key: Callable[[JudgedCase], tuple[str, ...]],
    seed: int = 0,
) -> list[GroupResult]:
    """Return the numbers of each group of cases that was judged, groups sorted by key."""
    judged = grouped_by_case(cases, judgements)
    keys = sorted({key(case) for case in cases if case.key in judged})
    return [
        group_result(
            [case for case in cases if key(case) == one],
            [answer for case in cases if key(case) == one for answer in judged.get(case.key, ())],
            key=one,
            seed=seed,
        )
        for one in keys
    ]


def compare_with_systems(
    cases: Sequence[JudgedCase], judgements: Sequence[Judgement], *, asked_again: bool = False
) -> list[Comparison]:
    """Return people against each system on exactly the cases that somebody accepted.

    Cases were chosen because the system failed, so its first answers are worse than it is; answers asked
    again are not selected. Clean controls are left out.

    Args:
        cases: of the study.
        judgements: on these cases.
        asked_again: compare with later answers to the same inputs.
    """
    rows = []
    for sut in sorted({case.sut for case in cases if case.sut and not case.is_control}):
        own = [case for case in cases if case.sut == sut and not case.is_control]
        keys = {case.key for case in own}
        pairs = [
            (one.human_iou, number)
            for one in summarise_cases(own, [one for one in judgements if one.case in keys])
            if one.human_iou is not None
            and (number := one.case.asked_again_iou if asked_again else one.case.sut_iou) is not None
        ]
        if pairs:
            human, system = (np.array(side, dtype=np.float64) for side in zip(*sorted(pairs), strict=True))
            rows.append((sut, human, system, wilcoxon_signed_rank(human, system)))
    adjusted = holm([test.p_value for _, _, _, test in rows])
    return [
        Comparison(
            sut=sut,
            n_cases=len(human),
            human_iou=float(human.mean()),
            sut_iou=float(system.mean()),
            effect=test.effect,
            p_value=test.p_value,
            adjusted_p_value=p_value,
            is_asked_again=asked_again,
        )
        for (sut, human, system, test), p_value in zip(rows, adjusted, strict=True)
    ]


def accepted_share(
    judgements: Sequence[Judgement], flags: Sequence[bool], *, seed: int, key: Sequence[str]
) -> Interval | None:
    """Return the two-way bootstrap interval of the share of judgements with a flag."""
    return two_way_interval(
        judgements, share_of(np.array(flags, dtype=np.float64)), rng=rng_for(seed, "share", *key)
    )


def _acceptance(judgements: Sequence[Judgement], *, seed: int, key: tuple[str, ...]) -> Acceptance:
    flags = [one.is_accepted for one in judgements]
    return Acceptance(
        k=sum(flags),
        n=len(flags),
        interval=accepted_share(judgements, flags, seed=seed, key=("acceptance", *key)),
        naive=wilson(sum(flags), len(flags)),
    )


def _means(
    summaries: Sequence[CaseSummary], judgements: Sequence[Judgement], *, seed: int, key: tuple[str, ...]
) -> Means:
    used = [one for one in summaries if one.human_iou is not None]
    iou = np.array([one.counted_iou for one in judgements], dtype=np.float64)
    is_accepted = np.array([one.is_accepted for one in judgements], dtype=np.float64)

    def estimate(values: Sequence[float], statistic: Statistic, what: str) -> Estimate:
        interval = two_way_interval(judgements, statistic, rng=rng_for(seed, what, *key))
        return Estimate(mean_of(values), interval)

    return Means(
        cases_used=len(used),
        human_iou=estimate(
            [one.human_iou for one in used if one.human_iou is not None],
            mean_of_cases(iou, is_accepted),
            "human_iou",
        ),
        sut_iou=_weighted([one.case.sut_iou for one in used], np.ones(len(used))),
        human_star=estimate(
            [one.human_star for one in summaries], mean_of_cases(iou, np.ones_like(iou)), "human_star"
        ),
        sut_iou_all=_weighted([one.case.sut_iou for one in summaries], np.ones(len(summaries))),
        micro_human_iou=mean_of([one.iou for one in judgements if one.is_accepted]),
        micro_sut_iou=_weighted(
            [one.case.sut_iou for one in summaries], np.array([one.n_accepted for one in summaries], float)
        ),
        micro_human_star=mean_of([one.counted_iou for one in judgements]),
        micro_sut_iou_all=_weighted(
            [one.case.sut_iou for one in summaries], np.array([one.n for one in summaries], float)
        ),
    )


def _agreement(
    cases: Sequence[JudgedCase], judgements: Sequence[Judgement], summaries: Sequence[CaseSummary]
) -> Agreement:
    ratings = [
        [one.is_accepted for one in answers] for answers in grouped_by_case(cases, judgements).values()
    ]
    return Agreement(
        observed=observed_agreement(ratings),
        randolph=randolph_kappa(ratings, DRAW_OR_REJECT),
        fleiss=fleiss_kappa(ratings, DRAW_OR_REJECT),
        krippendorff=krippendorff_alpha(ratings),
        n_items=len(ratings),
        n_items_used=sum(len(item) >= 2 for item in ratings),
        pairwise_iou=mean_of([one.pairwise_iou for one in summaries if one.pairwise_iou is not None]),
    )


def _weighted(values: Sequence[float | None], weights: FloatArray) -> float | None:
    """Return the weighted mean; None where a value is missing or nothing has weight."""
    numbers = [value for value in values if value is not None]
    if len(numbers) < len(values) or weights.sum() <= 0:
        return None
    return fsum(np.multiply(numbers, weights)) / fsum(weights)
