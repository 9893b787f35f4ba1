"""Plans against all courses of a few samples, against simulated campaigns, and by published figures."""

from itertools import product
from math import log

import numpy as np
import pytest

from vlmlab.core.stats import log_e_above, log_e_below
from vlmlab.core.verdicts.config import ConfirmConfig
from vlmlab.core.verdicts.planner import POWERS, affordable_suspects, plan_settling
from vlmlab.core.verdicts.stopping import stopping_table


def all_courses(rate: float, *, most: int, config: ConfirmConfig, bar: float) -> dict[str, float]:
    """Return the chance of each end, and the mean number of samples, over all courses one by one."""
    table = stopping_table(0.6, most, confirm_bar=bar, refute_bar=bar)
    ends = {"confirmed": 0.0, "refuted": 0.0, "given_up": 0.0, "capped": 0.0, "expected_samples": 0.0}
    for course in product((0, 1), repeat=most):
        chance = float(np.prod([rate if fail else 1 - rate for fail in course]))
        end, n = "capped", most
        for n in range(most + 1):
            k = sum(course[:n])
            if float(log_e_above(k, n, threshold=0.6)) >= bar:
                end = "confirmed"
            elif float(log_e_below(k, n, threshold=0.6)) >= bar:
                end = "refuted"
            elif n < most and (table.chance(k, n) < config.futility or table.chance(k, n) == 0):
                end = "given_up"
            if end != "capped":
                break
        ends[end] += chance
        ends["expected_samples"] += chance * n
    return ends


@pytest.mark.parametrize(("rate", "futility"), [(0.8, 0.3), (0.5, 0.0), (0.3, 0.1)])
def test_prospects_are_those_of_all_courses(rate, futility):
    config = ConfirmConfig(family_size=1, fdr_level=0.4, max_samples=9, futility=futility)

    plan = plan_settling(rate, config, most=9)

    assert vars(plan.prospect) == pytest.approx(
        all_courses(rate, most=9, config=config, bar=log(1 / 0.32)), abs=1e-12
    )


def test_a_family_of_one_at_a_tenth_has_the_power_that_the_design_promises():
    config = ConfirmConfig(family_size=1, fdr_level=0.1, later_share=0.0)

    plan = plan_settling(0.8, config)

    assert plan.confirmed_by[20] == pytest.approx(0.41, abs=0.01)
    assert plan.confirmed_by[100] == pytest.approx(0.98, abs=0.01)


def test_a_set_that_always_fails_is_confirmed_by_the_first_number_that_can():
    plan = plan_settling(1.0, ConfirmConfig(family_size=1))
    needed = next(n for n in range(99) if float(log_e_above(n, n, threshold=0.6)) >= log(12.5))

    assert plan.samples_for == dict.fromkeys(POWERS, needed)
    assert plan.prospect.expected_samples == needed
    assert plan.prospect.confirmed == 1.0


def test_samples_for_a_set_below_the_threshold_are_those_that_refute_it():
    plan = plan_settling(0.3, ConfirmConfig(family_size=20))

    for power in POWERS:
        n = plan.samples_for[power]
        assert plan.refuted_by[n - 1] < power <= plan.refuted_by[n]


def test_nothing_settles_a_set_at_the_threshold():
    assert plan_settling(0.6, ConfirmConfig()).samples_for == dict.fromkeys(POWERS, None)


def test_others_that_are_confirmed_lower_the_bar():
    config = ConfirmConfig(family_size=50)

    alone, together = plan_settling(0.8, config), plan_settling(0.8, config, others=9)

    assert together.samples_for[0.9] < alone.samples_for[0.9]


def test_a_place_far_down_the_line_needs_more_samples():
    config = ConfirmConfig(later_index=1)

    near, far = (plan_settling(0.9, config, place=place) for place in (1, 30))

    assert near.samples_for[0.8] < far.samples_for[0.8]
    with pytest.raises(ValueError, match="later suspects"):
        plan_settling(0.9, config)
    with pytest.raises(ValueError, match="later suspects"):
        plan_settling(0.9, ConfirmConfig(), place=1)


def test_as_many_suspects_are_affordable_as_the_budget_settles():
    for budget in (300, 1000):
        count = affordable_suspects(budget, ConfirmConfig())

        fitting, beyond = (
            plan_settling(0.8, ConfirmConfig(family_size=size)).prospect.expected_samples * size
            for size in (count, count + 1)
        )
        assert fitting <= budget < beyond
    assert affordable_suspects(5, ConfirmConfig()) == 1
    assert affordable_suspects(1000, ConfirmConfig(), runs=4) < affordable_suspects(1000, ConfirmConfig())


def test_plans_refuse_impossible_values():
    with pytest.raises(ValueError, match="rate must lie"):
        plan_settling(1.2, ConfirmConfig())
