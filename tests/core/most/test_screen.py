"""screen: everything, singles, combinations that a model likes, the failure weakened, then refined."""

import numpy as np
import pytest

from tests.core.most.tiny import (
    boxes,
    fails_from,
    harmless,
    landscape_search,
    play,
    robust,
    strategies,
    tiny_search,
    tiny_space,
)
from vlmlab.core.most.landscapes import landscape
from vlmlab.core.most.screen import REFINE_AFTER
from vlmlab.core.most.strategy_search import EndReason
from vlmlab.core.most.types import AnswerStatus, Fidelity, Outcome

SILENT = AnswerStatus.EMPTY


def acting(strategy) -> tuple[int, ...]:
    return tuple(index for index, severity in enumerate(strategy) if severity)


def screen(space=None, **values):
    return tiny_search(space, **{"algorithm": "screen", "slots": 1, **values})


def test_the_first_question_is_a_little_of_everything():
    assert screen(tiny_space(5)).ask()[0].strategy == (0.2,) * 5


def test_everything_is_as_many_operators_as_can_have_a_severity_that_counts():
    first = screen(tiny_space(5, smallest_severity=0.3), smallest_severity=0.3).ask()[0].strategy

    assert sorted(first) == [0.0, 0.0] + [0.333333] * 3


def test_every_operator_is_then_asked_alone_at_its_largest_admissible_severity():
    search = screen(tiny_space(6), fidelity=lambda s: Fidelity(0.4 * s[0] + 0.1 * s[1], 0.3 * s[5]))

    asked = strategies(play(search, robust, batches=7))[1:]

    assert sorted(acting(strategy) for strategy in asked) == [(index,) for index in range(6)]
    largest = {acting(strategy)[0]: max(strategy) for strategy in asked}
    assert largest == {0: 0.5, 1: 1.0, 2: 1.0, 3: 1.0, 4: 1.0, 5: 0.5}


def test_a_small_budget_caps_single_operators():
    search = screen(perturbation_budget=0.25)

    assert {max(s) for s in strategies(play(search, robust, batches=5))[1:]} == {0.25}


def test_an_operator_that_is_never_admissible_is_not_asked():
    def fidelity(strategy):
        return Fidelity(0.9 if strategy[1] else 0.0, 0.0)

    asked = strategies(play(screen(fidelity=fidelity, inference_budget=60), robust))

    assert all(strategy[1] == 0.0 for strategy in asked)


def test_combinations_use_no_more_operators_than_allowed_and_the_whole_range():
    search = screen(tiny_space(9), most_operators=3, inference_budget=120)

    combined = strategies(play(search, robust))[10:]

    assert search.stage == "combined"
    assert {len(acting(strategy)) for strategy in combined} <= {1, 2, 3}
    assert max(len(acting(strategy)) for strategy in combined) == 3
    assert max(sum(strategy) for strategy in combined) == pytest.approx(1.0)


def test_combinations_come_to_use_what_does_damage():
    def answer(query):
        damage = (
            0.5 * query.strategy[2] + 0.4 * query.strategy[7] + 1.2 * query.strategy[2] * query.strategy[7]
        )
        return boxes(query, max(0.5, 0.8 - 0.5 * damage))

    search = screen(tiny_space(12), inference_budget=80)

    late = strategies(play(search, answer))[60:]

    assert np.mean([2 in acting(strategy) for strategy in late]) > 0.8
    assert np.mean([7 in acting(strategy) for strategy in late]) > 0.8


def test_two_operators_that_fail_only_together_are_found_soon():
    def answer(query):
        fourth, ninth = query.strategy[3], query.strategy[8]
        return boxes(query, 0.8 - 0.05 * fourth - 0.05 * ninth - 1.6 * fourth * ninth)

    search = screen(tiny_space(12), bisection_steps=0)

    play(search, answer)

    assert search.first_hit < 40
    assert search.end_reason is EndReason.FAILURE_FOUND


def test_the_first_failure_is_weakened_along_its_ray():
    search = screen(bisection_steps=4)

    played = play(search, fails_from(2, 0.3))

    asked = strategies(played)
    alone = next(number for number, strategy in enumerate(asked) if acting(strategy) == (2,))
    assert [strategy[2] for strategy in asked[alone:]] == [1.0, 0.5, 0.25, 0.375, 0.3125]
    assert search.first_hit == alone + 1
    assert search.evaluations == alone + 5
    assert (search.stage, search.end_reason) == ("weaker", EndReason.FAILURE_FOUND)


def test_of_several_failures_in_a_batch_the_most_telling_is_weakened():
    def answer(query):
        index = acting(query.strategy)[0] if len(acting(query.strategy)) == 1 else 0
        return Outcome(query, AnswerStatus.BOXES, 0.1, harmless(query.strategy), swtd=0.1 * index)

    search = screen(slots=5, bisection_steps=1)

    weaker = strategies(play(search, answer))[5:]

    assert weaker == [(0.0, 0.0, 0.0, 0.5)]


def test_a_strategy_that_ended_the_boxes_is_tried_at_half_and_a_quarter():
    def answer(query):
        if query.strategy[1] > 0.3:
            return Outcome(query, SILENT, 0.0, harmless(query.strategy))
        return boxes(query, 0.1 if query.strategy[1] > 0.2 else 0.8)

    search = screen(tiny_space(5), bisection_steps=0)

    asked = strategies(play(search, answer))

    first = next(number for number, strategy in enumerate(asked) if acting(strategy) == (1,))
    assert [strategy[1] for strategy in asked[first : first + 3]] == [1.0, 0.5, 0.25]
    assert search.first_hit == first + 3


def test_a_strategy_that_ends_the_boxes_at_any_strength_is_halved_twice_only():
    def answer(query):
        return Outcome(query, SILENT, 0.0, harmless(query.strategy))

    asked = strategies(play(screen(), answer, batches=15))

    assert asked[:3] == [(0.25,) * 4, (0.125,) * 4, (0.0625,) * 4]
    assert sorted({max(strategy) for strategy in asked[3:]}) == [0.25, 0.5, 1.0]
    assert len(asked) == 15


def test_without_early_stop_the_search_goes_on_after_the_weakest_failure():
    search = screen(early_stop=False, inference_budget=60)

    asked = strategies(play(search, fails_from(0, 0.4)))

    assert len(asked) == 60
    assert (search.stage, search.end_reason) == ("combined", EndReason.BUDGET_SPENT)


def test_refining_breeds_from_everything_that_was_asked():
    values = {"population_size": 8, "generations": 3, "give_up_after": None}
    search = screen(early_stop=False, refine=True, bisection_steps=2, slots=8, **values)

    played = play(search, fails_from(0, 0.4))

    assert (search.stage, search.end_reason) == ("generation 3", EndReason.NOTHING_LEFT)
    assert search.evaluations <= 8 + 2 + 3 * 8
    assert len(strategies(played)) == search.evaluations > 8 + 2


def test_refining_begins_without_a_failure_after_some_combinations():
    values = {"population_size": 8, "generations": 1, "give_up_after": None, "slots": 64}
    search = screen(tiny_space(10), early_stop=False, refine=True, **values)

    play(search, robust)

    assert search.stage == "generation 1"
    assert 11 + REFINE_AFTER < search.evaluations <= 11 + REFINE_AFTER + 64 + 8


def test_a_refined_search_that_nobody_answers_ends():
    search = screen(early_stop=False, refine=True, inference_budget=5, slots=4, give_up_after=None)

    play(search, lambda query: Outcome(query, AnswerStatus.CALL_ERROR, 0.0, harmless(query.strategy)))

    assert search.evaluations == 0
    assert search.end_reason is EndReason.UNANSWERED


def test_the_search_ends_when_nothing_can_be_combined():
    search = screen(tiny_space(3, smallest_severity=0.9))

    play(search, robust, batches=200)

    assert search.evaluations < 200
    assert search.end_reason is EndReason.NOTHING_LEFT


@pytest.mark.parametrize("regime", ["image", "text", "joint"])
def test_failures_on_paper_take_at_most_a_fifth_of_nsga2s_strategies(regime):
    counts = {"screen": [], "nsga2": []}
    for family in ("few_strong", "pairs"):
        for seed in range(2):
            world = landscape(family, regime=regime, seed=seed)
            for algorithm, found in counts.items():
                search = landscape_search(world, run_seed=seed, algorithm=algorithm, slots=8)
                play(search, world.answer)
                found.append(search.first_hit or 5050)

    assert np.median(counts["screen"]) <= np.median(counts["nsga2"]) / 5
    assert max(counts["screen"]) < 500
