"""NSGA-II: the published budget, pymoo's own run member by member, and members that were not answered."""

import subprocess
import sys

import numpy as np
import pytest

from tests.core.most.tiny import (
    boxes,
    harmless,
    landscape_search,
    play,
    robust,
    strategies,
    tiny_search,
    tiny_space,
)
from vlmlab.core.most.admission import allowed
from vlmlab.core.most.config import PRESETS, config_from_values
from vlmlab.core.most.landscapes import landscape
from vlmlab.core.most.objectives import objectives_of
from vlmlab.core.most.strategy_search import EndReason
from vlmlab.core.most.types import AnswerStatus, Fidelity, Outcome, Query
from vlmlab.core.seeding import derive_seed, rng_for

FAITHFUL = config_from_values(PRESETS["faithful"].values).model_dump(exclude={"algorithm"})


def gradual(query: Query) -> Outcome:
    """Each severity costs a little, the later ones more; never a failure."""
    lost = sum((number + 1) * severity for number, severity in enumerate(query.strategy))
    return boxes(query, 0.8 - 0.04 * lost, moved)


def moved(strategy) -> Fidelity:
    return Fidelity(0.5 * float(np.sqrt(np.sum(np.square(strategy[:-2])))), 0.3 * float(sum(strategy[-2:])))


def test_the_papers_preset_asks_five_thousand_and_fifty_strategies():
    search = tiny_search(tiny_space(8), fidelity=moved, algorithm="nsga2", **FAITHFUL)

    played = play(search, gradual)

    assert search.evaluations + search.repeats == 5050
    assert len(strategies(played)) == search.evaluations
    assert search.stage == "generation 100"
    assert {len(queries) for queries, _ in played} <= {50 - n for n in range(search.repeats + 1)}


def test_the_first_generation_is_the_clean_input_and_small_severities():
    world = landscape("robust", regime="joint", seed=0)
    search = landscape_search(world, run_seed=7, algorithm="nsga2", **FAITHFUL)

    first = np.array([query.strategy for query in search.ask()])

    assert first.shape == (50, 41)
    assert not first[0].any()
    assert 0.0 < first[1:].max() <= 0.1
    assert first[1:][first[1:] > 0.0].min() >= 0.02 * 0.5
    assert (first.sum(axis=1) <= 1.0).all()


def test_members_are_those_of_pymoos_own_run():
    from pymoo.algorithms.moo.nsga2 import NSGA2
    from pymoo.core.problem import Problem
    from pymoo.core.repair import Repair
    from pymoo.optimize import minimize

    space = tiny_space(6)
    evaluated = []

    class Strategies(Problem):
        def _evaluate(self, rows, out, *args, **kwargs):
            asked = [Query(tuple(row)) for row in rows.tolist()]
            evaluated.extend(query.strategy for query in asked)
            out["F"] = np.array([objectives_of(gradual(query), clean_iou=0.8) for query in asked])

    class ToSpace(Repair):
        def _do(self, problem, rows, **kwargs):
            return allowed(rows, space)

    algorithm = NSGA2(
        pop_size=12,
        sampling=space.initial(12, rng_for(3, "most", "nsga2", "initial")),
        repair=ToSpace(),
    )
    seed = derive_seed(3, "most", "nsga2", "breeding")
    minimize(Strategies(n_var=6, n_obj=3, xl=0.0, xu=1.0), algorithm, ("n_gen", 9), seed=seed)
    values = {"algorithm": "nsga2", "population_size": 12, "generations": 8, "fidelity_first": False}

    search = tiny_search(space, fidelity=moved, run_seed=3, **values, give_up_after=None)
    asked = strategies(play(search, gradual))

    assert asked == list(dict.fromkeys(evaluated))
    assert len(evaluated) == len(asked) + search.repeats


def test_the_global_generator_is_neither_read_nor_moved():
    values = {"algorithm": "nsga2", "population_size": 8, "generations": 5}
    np.random.seed(1)
    before = np.random.get_state()[1].tolist()
    first = play(tiny_search(**values), robust)
    after = np.random.get_state()[1].tolist()
    np.random.seed(2)

    second = play(tiny_search(**values), robust)

    assert first == second
    assert before == after


@pytest.mark.parametrize("slots", [1, 3, 8])
def test_how_many_questions_are_in_flight_does_not_change_what_is_asked(slots):
    values = {"algorithm": "nsga2", "population_size": 8, "generations": 5, "early_stop": False}

    asked = strategies(play(tiny_search(**values, slots=slots), gradual))

    assert asked == strategies(play(tiny_search(**values, slots=64), gradual))


def test_members_without_an_answer_leave_the_population():
    values = {"algorithm": "nsga2", "population_size": 8, "generations": 3, "give_up_after": None}
    search = tiny_search(tiny_space(6), **values)

    def answer(query):
        if query.strategy[0] > 0.05:
            return Outcome(query, AnswerStatus.CALL_ERROR, 0.0, harmless(query.strategy))
        return gradual(query)

    play(search, answer)

    unanswered = [one for one in search.outcomes.values() if not one.status.is_answer]
    assert unanswered
    assert search.stage == "generation 3"
    assert search.end_reason is EndReason.NOTHING_LEFT


def test_a_first_generation_that_nobody_answers_ends_the_search():
    search = tiny_search(tiny_space(6), algorithm="nsga2", population_size=8)

    played = play(search, lambda query: Outcome(query, AnswerStatus.CALL_ERROR, 0.0, harmless((0.0,))))

    assert len(strategies(played)) == 8 * 3
    assert search.end_reason is EndReason.NOTHING_LEFT


def test_later_generations_that_nobody_answers_leave_the_population_as_it_is():
    search = tiny_search(tiny_space(6), algorithm="nsga2", population_size=8, generations=2, slots=8)
    play(search, gradual, batches=1)

    play(search, lambda query: Outcome(query, AnswerStatus.CALL_ERROR, 0.0, harmless((0.0,))))

    assert search.evaluations == 8
    assert search.end_reason is EndReason.NOTHING_LEFT
    assert search.stage == "generation 2"


def test_building_a_search_does_not_import_pymoo():
    code = (
        "import sys, vlmlab.core.most.search as s, vlmlab.core.most.minimal;"
        "print(any(name.split('.')[0] in ('pymoo', 'torch') for name in sys.modules))"
    )

    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert said.stdout.strip() == "False"
