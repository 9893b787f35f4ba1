"""sweep: every operator alone at the same steps, whatever is answered."""

import numpy as np
import pytest

from tests.core.most.tiny import boxes, fails_from, play, robust, strategies, tiny_search, tiny_space
from vlmlab.core.errors import ConfigError
from vlmlab.core.most.config import PRESETS, config_from_values
from vlmlab.core.most.strategy_search import EndReason
from vlmlab.core.most.types import AnswerStatus, Fidelity, Outcome
from vlmlab.core.search import replay


def sweep(space=None, **values):
    return tiny_search(space, algorithm="sweep", **values)


def alone(index, severity, count=4):
    return tuple(severity if place == index else 0.0 for place in range(count))


def test_every_operator_is_asked_alone_at_even_steps_the_lowest_of_all_first():
    search = sweep(tiny_space(3), sweep_levels=4, slots=3)

    asked = strategies(play(search, robust))

    assert asked == [alone(index, step, 3) for step in (0.25, 0.5, 0.75, 1.0) for index in range(3)]
    assert search.end_reason is EndReason.NOTHING_LEFT
    assert search.evaluations == 12


def test_steps_end_at_the_budget_and_at_the_cap_of_an_operator():
    space = tiny_space(3, perturbation_budget=0.8).capped({"operator_1": 0.3, "operator_2": 0.0})
    search = sweep(space, sweep_levels=2, perturbation_budget=0.8)

    asked = strategies(play(search, robust))

    assert asked == [alone(0, 0.4, 3), alone(1, 0.15, 3), alone(0, 0.8, 3), alone(1, 0.3, 3)]


def test_a_budget_above_one_goes_no_further_than_severity_one():
    search = sweep(tiny_space(2, perturbation_budget=3.0), sweep_levels=1, perturbation_budget=3.0)

    assert strategies(play(search, robust)) == [(1.0, 0.0), (0.0, 1.0)]


def test_steps_too_small_to_count_are_left_out():
    search = sweep(tiny_space(2).capped({"operator_0": 0.05}), sweep_levels=5)

    asked = strategies(play(search, robust))

    assert [row[0] for row in asked if row[0]] == pytest.approx([0.02, 0.03, 0.04, 0.05], abs=2e-6)
    assert len([row for row in asked if row[1]]) == 5


@pytest.mark.parametrize("values", [{}, {"early_stop": True, "give_up_after": 1}])
def test_it_goes_on_after_failures_and_without_any(values):
    failing, standing = (sweep(sweep_levels=3, **values) for _ in range(2))

    play(failing, fails_from(0, 0.3))
    play(standing, robust)

    assert (failing.evaluations, failing.first_hit) == (12, 1)
    assert (standing.evaluations, standing.first_hit) == (12, None)


def test_inputs_that_change_too_much_are_asked_as_they_are_and_are_no_hits():
    def far(strategy):
        return Fidelity(strategy[0], 0.0)

    search = sweep(fidelity=far, sweep_levels=2, fidelity_first=True)

    asked = strategies(play(search, lambda query: boxes(query, 0.1, far)))

    assert (alone(0, 1.0) in asked, alone(0, 0.5) in asked) == (True, True)
    assert search.first_hit == 2  # operator_1, which moves nothing
    assert {s for s, one in search.outcomes.items() if not search.thresholds.is_hit(one)} == {
        alone(0, 0.5),
        alone(0, 1.0),
    }


def test_stages_name_the_level_and_a_batch_belongs_to_one():
    search = sweep(tiny_space(3), sweep_levels=2, slots=2)
    stages = []
    while batch := search.ask():
        stages.append((search.stage, [max(query.strategy) for query in batch]))
        search.tell([robust(query) for query in batch])

    assert stages == [
        ("level 1 of 2", [0.5, 0.5]),
        ("level 1 of 2", [0.5]),
        ("level 2 of 2", [1.0, 1.0]),
        ("level 2 of 2", [1.0]),
    ]


def test_a_small_inference_budget_leaves_shorter_curves():
    search = sweep(sweep_levels=5, inference_budget=6)

    asked = np.array(strategies(play(search, robust)))

    assert search.end_reason is EndReason.BUDGET_SPENT
    assert (asked > 0).sum(axis=0).tolist() == [2, 2, 1, 1]


def test_failed_calls_are_asked_again_and_a_replay_asks_the_same():
    def flaky(query):
        if query.strategy[1] and not query.attempt:
            return Outcome(query, AnswerStatus.CALL_ERROR, 0.0, Fidelity(0.0, 0.0))
        return robust(query)

    search, again = sweep(sweep_levels=2, run_seed=1), sweep(sweep_levels=2, run_seed=1)
    played = play(search, flaky)
    replay(again, played)

    assert len(search.answered) == 8
    assert list(again.outcomes) == list(search.outcomes)
    assert again.ask() == ()


def test_the_preset_measures_every_operator_at_five_severities():
    config = config_from_values(PRESETS["sweep"].values)

    assert (config.algorithm, config.sweep_levels) == ("sweep", 5)
    assert (config.give_up_after, config.early_stop, config.fidelity_first) == (None, False, False)


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"sweep_levels": 0}, "sweep_levels"),
        ({"sweep_levels": 51}, "sweep_levels"),
        ({"refine": True}, "refine"),
    ],
)
def test_settings_that_make_no_sweep_are_refused_at_their_field(values, field):
    with pytest.raises(ConfigError) as refused:
        config_from_values({"algorithm": "sweep", "early_stop": False, **values})

    assert refused.value.field == field
