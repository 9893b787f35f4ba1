"""Every call has exactly one place in the waterfall, and the places add up."""

from itertools import product

import pytest
from scipy import stats

from vlmlab.core.revelio.attribution import (
    REASONING,
    STEPS,
    Call,
    step_of,
    waterfall,
)
from vlmlab.core.revelio.types import Verdict

FAIL = Verdict.FAIL


@pytest.mark.parametrize(
    ("call", "step"),
    [
        (Call(Verdict.CALL_ERROR, flag="artefact"), "call_error"),
        (Call(Verdict.PASS, flag="artefact", recognition="wrong"), "right"),
        (Call(FAIL, is_invalid=True, flag="artefact"), "invalid"),
        (Call(FAIL, flag="artefact", recognition="wrong"), "artefact"),
        (Call(FAIL, flag="rule", recognition="wrong"), "rule"),
        (Call(FAIL, direction="over-reaction", recognition="wrong"), "recognition"),
        (Call(FAIL, direction="over-reaction", recognition="unclear"), "unclear"),
        (Call(FAIL, direction="over-reaction"), "not_probed"),
        (Call(FAIL, direction="over-reaction", recognition="right"), "over-reaction"),
        (Call(FAIL, direction="insufficient", recognition="right"), "insufficient"),
        (Call(FAIL, direction="", recognition="right"), "other"),
    ],
)
def test_a_call_stands_at_the_first_step_that_fits(call, step):
    assert step_of(call) == step


def test_a_scene_that_could_not_be_drawn_is_no_call():
    with pytest.raises(ValueError, match="pass, fail or call_error"):
        step_of(Call(Verdict.INCOMPATIBLE))


def test_the_steps_add_up_whatever_the_calls_are():
    calls = [
        Call(verdict, is_invalid=invalid, direction=direction, flag=flag, recognition=seen)
        for verdict, invalid, direction, flag, seen in product(
            (Verdict.PASS, FAIL, Verdict.CALL_ERROR), (False, True), ("", *REASONING),
            ("", "artefact", "rule"), ("", "wrong", "right", "unclear"),
        )
    ]  # fmt: skip

    found = waterfall(calls)

    assert found.calls == len(calls) == 504
    assert (found.answers, found.fails) == (336, 168)
    assert sum(found.counts[name] for name in STEPS[2:]) == found.fails
    assert found.reasoning == sum(found.counts[name] for name in REASONING)


def test_a_share_is_one_of_wrong_answers_with_its_exact_interval():
    calls = [Call(FAIL, is_invalid=True)] * 3 + [Call(FAIL)] * 7 + [Call(Verdict.PASS)] * 90
    exact = stats.binomtest(3, 10).proportion_ci(0.95, method="exact")

    found = waterfall(calls)

    assert found.share("invalid") == 0.3
    assert found.interval("invalid").low == pytest.approx(exact.low)
    assert waterfall([]).share("invalid") is None
