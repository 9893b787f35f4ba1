"""Plans of regressions: what a number of scenes can show, and what it cannot."""

import pytest

from vlmlab.core.stats import mcnemar_power, pass_power
from vlmlab.core.verdicts.regress_plan import (
    Discordance,
    detectable_rate,
    fewest_pairs,
    independent_discordance,
    plan_pass,
)


def test_fewest_pairs_of_a_significant_change():
    # Two-sided p of n pairs that all go one way is 2 / 2^n.
    assert fewest_pairs() == 6
    assert fewest_pairs(modes=10) == 9
    assert fewest_pairs(0.0625) == 5


def test_independent_answers_differ_by_the_product_of_rates():
    assert independent_discordance(0.8, 0.5) == Discordance(pytest.approx(0.4), pytest.approx(0.1))
    with pytest.raises(ValueError, match="must lie in"):
        independent_discordance(1.2, 0.5)


def test_planned_pairs_of_a_pass_reach_the_power():
    plan = plan_pass(0.1)

    assert plan.pairs is not None
    assert pass_power(plan.pairs, first_only=0.05, second_only=0.05, margin=0.1) >= 0.8
    assert plan_pass(0.0).pairs == 25  # z^2 / (n + z^2) < 0.1 at z = 1.645: n > 24.4
    assert plan_pass(0.3).pairs > plan.pairs


def test_detectable_rate_is_where_the_power_is_reached():
    rate = detectable_rate(40, 0.8)

    assert rate is not None
    differ = independent_discordance(0.8, rate)
    power = mcnemar_power(40, first_only=differ.old_only, second_only=differ.new_only)
    assert power == pytest.approx(0.8, abs=0.01)
    assert detectable_rate(5, 1.0) is None
    assert detectable_rate(160, 0.8) > rate


@pytest.mark.parametrize(
    "call",
    [
        lambda: fewest_pairs(modes=0),
        lambda: plan_pass(1.5),
        lambda: plan_pass(0.1, power=1.0),
        lambda: fewest_pairs(1.0),
    ],
)
def test_settings_out_of_range_are_refused(call):
    with pytest.raises(ValueError, match="must"):
        call()
