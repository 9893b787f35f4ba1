"""How many of a system's failures are failures at something that people can do."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vlmlab.core.checks import check_count
from vlmlab.core.seeding import rng_for
from vlmlab.core.stats import Interval
from vlmlab.core.studies.judgements import (
    JudgedCase,
    Judgement,
    grouped_by_case,
    in_order,
    mean_of,
    summarise_cases,
)
from vlmlab.core.studies.resampling import DRAWS, FloatArray, Weighed, mean_of_cases, two_way_interval
from vlmlab.core.studies.results import Acceptance, Estimate, group_result

LEVEL = 0.95


@dataclass(frozen=True)
class FailingShare:
    """How many test cases of a stratum failed in the campaign, before anybody was asked."""

    failed: int
    n: int

    def __post_init__(self) -> None:
        check_count("n", self.n, low=1)
        if not 0 <= self.failed <= self.n:
            raise ValueError(f"failed must lie in 0..{self.n}, got {self.failed}")


@dataclass(frozen=True)
class ValidRate:
    """Attack success rate, and what of it is left where people can do the task.

    Attributes:
        key: the stratum.
        asr: share of test cases that failed.
        n_cases: failing cases that people judged.
        people_can: P(accepted with a set IoU of at least 0.5 | failing case), a mean over cases.
        valid_asr: the product of both.
    """

    key: tuple[str, ...]
    asr: float
    n_cases: int
    people_can: Estimate
    valid_asr: Estimate


@dataclass(frozen=True)
class SeverityPoint:
    """People and a system at one severity of one operator.

    Attributes:
        operator, severity: where.
        n_cases: pictures judged there.
        acceptance: with intervals.
        human_star: mean set IoU, a rejection as 0.
        sut_iou: of the system on the same pictures; None where it was not asked.
    """

    operator: str
    severity: float
    n_cases: int
    acceptance: Acceptance
    human_star: Estimate
    sut_iou: float | None


def valid_rate(
    share: FailingShare,
    cases: Sequence[JudgedCase],
    judgements: Sequence[Judgement],
    *,
    key: tuple[str, ...] = (),
    seed: int = 0,
) -> ValidRate:
    """Return valid ASR of a stratum: failing share x P(people can do it | failing case).

    The interval draws the failing share from its binomial distribution, and people and cases again
    (``two_way_interval``); both are independent. Cases that did not fail and controls are left out.

    Args:
        share: of the campaign.
        cases: of the study in this stratum.
        judgements: on these cases.
        key: name of the stratum; also seeds the bootstrap.
        seed: of the bootstrap.
    """
    failing = [case for case in cases if case.is_failure and not case.is_control]
    keys = {case.key for case in failing}
    answers = in_order([one for one in judgements if one.case in keys])
    grouped = grouped_by_case(failing, answers)
    can = mean_of([sum(one.is_done for one in own) / len(own) for own in grouped.values()])
    asr = share.failed / share.n
    done = np.array([one.is_done for one in answers], dtype=np.float64)
    statistic = mean_of_cases(done, np.ones_like(done))
    rng = rng_for(seed, "failing share", *key)

    def product(weighed: Weighed) -> FloatArray:
        values = statistic(weighed)
        return values * rng.binomial(share.n, asr, size=len(values)) / share.n

    interval = two_way_interval(answers, product, rng=rng_for(seed, "valid", *key), draws=DRAWS)
    return ValidRate(
        key=key,
        asr=asr,
        n_cases=len(grouped),
        people_can=Estimate(can, two_way_interval(answers, statistic, rng=rng_for(seed, "people can", *key))),
        valid_asr=Estimate(None if can is None else asr * can, interval),
    )


def severity_curve(
    cases: Sequence[JudgedCase], judgements: Sequence[Judgement], *, seed: int = 0
) -> list[SeverityPoint]:
    """Return acceptance at each severity of each operator, sorted; cases without one are left out."""
    places = sorted({(case.operator, case.severity) for case in cases if case.severity is not None})
    points = []
    for operator, severity in places:
        own = [case for case in cases if (case.operator, case.severity) == (operator, severity)]
        keys = {case.key for case in own}
        answers = [one for one in judgements if one.case in keys]
        if not answers or severity is None:
            continue
        result = group_result(own, answers, key=(operator, f"{severity:.6f}"), seed=seed)
        points.append(
            SeverityPoint(
                operator=operator,
                severity=severity,
                n_cases=result.n_cases,
                acceptance=result.acceptance,
                human_star=result.means.human_star,
                sut_iou=result.means.sut_iou_all,
            )
        )
    return points


def first_unacceptable(points: Sequence[SeverityPoint], *, least: float = 0.5) -> dict[str, float | None]:
    """Return for each operator the least severity whose acceptance lies wholly below ``least``.

    None where no severity does: the interval over participants and cases decides, not the rate.
    """
    found: dict[str, float | None] = {}
    for point in sorted(points, key=lambda one: (one.operator, one.severity)):
        interval: Interval | None = point.acceptance.interval
        is_below = interval is not None and interval.high < least
        if found.get(point.operator) is None:
            found[point.operator] = point.severity if is_below else None
    return found


def judged_done(cases: Sequence[JudgedCase], judgements: Sequence[Judgement]) -> dict[str, float]:
    """Return for each judged case the share of people who could do it."""
    return {one.case.key: one.n_done / one.n for one in summarise_cases(cases, judgements)}
