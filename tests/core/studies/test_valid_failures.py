"""Valid ASR and severity curves."""

import pytest

from vlmlab.core.studies.judgements import JudgedCase, Judgement
from vlmlab.core.studies.valid_failures import (
    FailingShare,
    first_unacceptable,
    judged_done,
    severity_curve,
    valid_rate,
)


def test_valid_asr_is_the_failing_share_times_the_share_of_people_who_can():
    cases = [
        JudgedCase("c1", is_failure=True),
        JudgedCase("c2", is_failure=True),
        JudgedCase("passed", is_failure=False),
        JudgedCase("clean", is_failure=True, is_control=True),
    ]
    judgements = [
        Judgement("p", "c1", True, 0.5),
        Judgement("q", "c1", True, 0.49),
        Judgement("r", "c1", False),
        Judgement("s", "c1", True, 0.9),
        Judgement("p", "c2", True, 1.0),
        Judgement("p", "passed", True, 0.0),
        Judgement("p", "clean", True, 0.0),
    ]

    found = valid_rate(FailingShare(30, 40), cases, judgements)

    assert (found.asr, found.n_cases) == (0.75, 2)
    assert found.people_can.value == pytest.approx((0.5 + 1.0) / 2)
    assert found.valid_asr.value == pytest.approx(0.75 * 0.75)
    assert found.valid_asr.interval.low <= 0.5625 <= found.valid_asr.interval.high


def test_few_runs_make_the_interval_wider_than_many():
    cases = [JudgedCase(f"c{n}", is_failure=True) for n in range(12)]
    judgements = [Judgement(f"p{p}", f"c{n}", True, 1.0) for n in range(12) for p in range(8)]

    few, many = (
        valid_rate(FailingShare(failed, n), cases, judgements).valid_asr.interval
        for failed, n in ((6, 12), (600, 1_200))
    )

    assert few.high - few.low > 5 * (many.high - many.low)


def test_without_judged_failures_valid_asr_is_unknown():
    found = valid_rate(FailingShare(3, 4), [JudgedCase("c1", is_failure=True)], [])

    assert (found.n_cases, found.people_can.value, found.valid_asr.value) == (0, None, None)


@pytest.mark.parametrize(("failed", "n"), [(-1, 4), (5, 4), (0, 0)])
def test_shares_that_cannot_be_are_refused(failed, n):
    with pytest.raises(ValueError, match="must"):
        FailingShare(failed, n)


def graded(chance_of):
    """Return cases of one operator at five severities with ten people on twelve pictures each."""
    cases, judgements = [], []
    for severity in (0.2, 0.4, 0.6, 0.8, 1.0):
        for picture in range(12):
            key = f"{severity}-{picture}"
            cases.append(JudgedCase(key, operator="fog", severity=severity, sut_iou=1.0 - severity))
            judgements += [
                Judgement(
                    f"p{who}", key, who < chance_of(severity), 1.0 if who < chance_of(severity) else 0.0
                )
                for who in range(10)
            ]
    return cases, judgements


def test_the_curve_has_a_point_a_severity_with_people_and_system():
    cases, judgements = graded(lambda severity: round(10 * (1 - severity)))

    points = severity_curve(cases, judgements)

    assert [(one.operator, one.severity, one.n_cases) for one in points] == [
        ("fog", severity, 12) for severity in (0.2, 0.4, 0.6, 0.8, 1.0)
    ]
    assert [one.acceptance.rate for one in points] == pytest.approx([0.8, 0.6, 0.4, 0.2, 0.0])
    assert [one.sut_iou for one in points] == pytest.approx([0.8, 0.6, 0.4, 0.2, 0.0])
    assert points[0].human_star.value == pytest.approx(0.8)


def test_the_first_unacceptable_severity_is_the_first_whose_interval_lies_below():
    cases, judgements = graded(lambda severity: 9 if severity < 0.7 else 0)

    found = first_unacceptable(severity_curve(cases, judgements))

    assert found == {"fog": 0.8}
    assert first_unacceptable(severity_curve(cases, judgements)[:3]) == {"fog": None}


def test_cases_without_a_severity_make_no_point():
    assert severity_curve([JudgedCase("c1")], [Judgement("p", "c1", True, 1.0)]) == []


def test_the_share_of_people_who_can_do_a_case_counts_close_boxes_only():
    judgements = [Judgement("p", "c1", True, 0.5), Judgement("q", "c1", True, 0.4)]

    assert judged_done([JudgedCase("c1"), JudgedCase("c2")], judgements) == {"c1": 0.5}


def test_the_first_unacceptable_severity_does_not_hang_on_the_order_of_the_points():
    cases, judgements = graded(lambda severity: 9 if severity < 0.5 else 0)

    assert first_unacceptable(severity_curve(cases, judgements)[::-1]) == {"fog": 0.6}


def test_one_person_who_rejects_everything_makes_nothing_unacceptable():
    cases = [JudgedCase(f"c{n}", operator="fog", severity=0.5) for n in range(12)]
    judgements = [Judgement("p", case.key, False) for case in cases]

    assert first_unacceptable(severity_curve(cases, judgements)) == {"fog": None}
