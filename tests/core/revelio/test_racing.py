"""Curtailment is exact, and the chance of a failure mode is the one worked by hand."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import betabinom

from vlmlab.core.revelio.racing import StoppingRule, fails_needed, hit_probability
from vlmlab.core.revelio.types import TrialStatus

PLAIN = StoppingRule(5, 3, curtail=False)
CURTAILED = StoppingRule(5, 3, curtail=True)


@pytest.mark.parametrize(
    ("samples", "tau", "strict", "needed"),
    [(5, 0.6, False, 3), (5, 0.6, True, 4), (10, 0.7, False, 7), (10, 0.7, True, 8), (5, 0.5, False, 3),
     (4, 0.5, False, 2), (4, 0.5, True, 3), (20, 0.05, False, 1), (5, 0.01, False, 1), (5, 1.0, True, 6)],
)  # fmt: skip
def test_fails_needed_rounds_up_and_strict_means_above(samples, tau, strict, needed):
    assert fails_needed(samples, tau, strict=strict) == needed


@pytest.mark.parametrize(
    ("fails", "passes", "status"),
    [(3, 0, "decided_fail"), (2, 2, "open"), (2, 3, "decided_pass"), (0, 3, "decided_pass"), (0, 2, "open")],
)
def test_decide_stops_as_soon_as_the_rest_cannot_change_the_class(fails, passes, status):
    assert CURTAILED.decide(fails, passes) == status


def test_decide_without_curtailment_waits_for_every_sample():
    assert PLAIN.decide(4, 0) is TrialStatus.OPEN
    assert PLAIN.decide(4, 1) is TrialStatus.DECIDED_FAIL


def test_certain_samples_are_those_no_answer_can_spare():
    assert [CURTAILED.certain_samples(*counts) for counts in [(0, 0), (2, 0), (1, 2), (2, 2), (3, 0)]] == [
        3, 1, 1, 1, 0,
    ]  # fmt: skip
    assert [PLAIN.certain_samples(*counts) for counts in [(0, 0), (2, 0), (3, 2)]] == [5, 3, 0]


@settings(deadline=None)
@given(
    st.integers(1, 9).flatmap(
        lambda m: st.tuples(st.integers(1, m), st.lists(st.booleans(), min_size=m, max_size=m))
    )
)
def test_curtailed_class_is_the_class_of_all_samples(case):
    needed, fails = case
    rule = StoppingRule(len(fails), needed, curtail=True)

    stops = next(
        n for n in range(len(fails) + 1) if rule.decide(sum(fails[:n]), n - sum(fails[:n])) != "open"
    )

    early = rule.decide(sum(fails[:stops]), stops - sum(fails[:stops]))
    assert (early is TrialStatus.DECIDED_FAIL) == (sum(fails) >= needed)


def test_hit_probability_by_hand():
    two_of_three = StoppingRule(3, 2, curtail=True)

    # Beta(1, 1): 0, 1, 2 or 3 fails of 3 are equally likely.
    assert hit_probability(two_of_three, 0, 0, rate=0.5) == pytest.approx(1 / 2)
    # After one fail: 2/3 + 1/3 * 1/2.
    assert hit_probability(two_of_three, 1, 0, rate=0.5) == pytest.approx(5 / 6)
    assert hit_probability(two_of_three, 0, 2, rate=0.5) == 0.0
    assert hit_probability(two_of_three, 2, 0, rate=0.5) == 1.0


@settings(deadline=None)
@given(st.integers(0, 2), st.integers(0, 2), st.floats(0.05, 0.95))
def test_hit_probability_is_the_beta_binomial_tail(fails, passes, rate):
    left = 5 - fails - passes

    chance = hit_probability(CURTAILED, fails, passes, rate=rate)

    tail = betabinom(left, 2 * rate + fails, 2 * (1 - rate) + passes).sf(3 - fails - 1)
    assert chance == pytest.approx(tail, abs=1e-9)
