"""Minimal perturbation: what is left fails, nothing of it can go, and a cut search keeps what it has."""

import pytest

from tests.core.most.tiny import boxes, fails_from, harmless, landscape_search, play, strategies, tiny_space
from vlmlab.core.most.config import MostConfig
from vlmlab.core.most.landscapes import FAMILIES, landscape
from vlmlab.core.most.minimal import MinimalSearch
from vlmlab.core.most.strategy_search import EndReason
from vlmlab.core.most.types import AnswerStatus, Outcome, Query, SearchTarget
from vlmlab.core.search import replay


def minimal(strategy, answer, *, fails=None, **values):
    config = MostConfig(**{"bisection_steps": 4, **values})
    target = SearchTarget(tiny_space(len(strategy)), harmless, 0.8)
    return MinimalSearch(config, target=target, start=answer(Query(strategy)), fails=fails)


def test_only_the_operator_that_matters_is_left_at_its_lowest_severity():
    answer = fails_from(1, 0.15)
    search = minimal((0.25, 0.25, 0.25, 0.25), answer)

    asked = strategies(play(search, answer))

    assert asked[:3] == [(0.0, 0.0, 0.25, 0.25), (0.25, 0.25, 0.0, 0.0), (0.0, 0.25, 0.0, 0.0)]
    assert search.weakest.query.strategy == (0.0, pytest.approx(0.15625), 0.0, 0.0)
    assert search.end_reason is EndReason.NOTHING_LEFT
    assert search.stage == "severities"


def test_each_of_two_operators_is_lowered_on_its_own():
    def answer(query):
        first, second = query.strategy[0], query.strategy[1]
        return boxes(query, 0.1 if first >= 0.4 and second >= 0.1 else 0.8)

    search = minimal((0.5, 0.4, 0.1, 0.0), answer, bisection_steps=6)

    play(search, answer)

    lowest = search.weakest.query.strategy
    assert lowest[2:] == (0.0, 0.0)
    assert 0.4 <= lowest[0] <= 0.4 + 0.5 / 64 + 1e-9
    assert 0.1 <= lowest[1] <= 0.1 + 0.4 / 64 + 1e-9


def test_operators_go_when_others_take_over_what_they_spent():
    def answer(query):
        return boxes(query, 0.1 if sum(query.strategy) >= 0.75 else 0.8)

    search = minimal((0.25, 0.25, 0.25, 0.25), answer, bisection_steps=3)

    asked = strategies(play(search, answer))

    assert asked[2] == (0.0, 0.25, 0.25, 0.25)
    assert asked[5] == (0.0, 0.0, 0.0, 0.75)
    assert search.weakest.query.strategy == (0.0, 0.0, 0.0, 0.75)


def test_a_case_that_cannot_be_weakened_stays():
    start = (0.5, 0.3, 0.0, 0.0)

    def answer(query):
        return boxes(query, 0.1 if query.strategy == start else 0.8)

    search = minimal(start, answer)

    play(search, answer)

    assert search.weakest.query.strategy == start


def test_a_spent_budget_keeps_the_weakest_so_far():
    answer = fails_from(1, 0.15)
    search = minimal((0.25, 0.25, 0.25, 0.25), answer, inference_budget=3)

    play(search, answer)

    assert (search.evaluations, search.end_reason) == (3, EndReason.BUDGET_SPENT)
    assert search.weakest.query.strategy == (0.0, 0.25, 0.0, 0.0)


def test_what_counts_as_failing_can_be_given():
    def answer(query):
        is_silent = query.strategy[3] >= 0.1
        status = AnswerStatus.EMPTY if is_silent else AnswerStatus.BOXES
        return Outcome(query, status, 0.0 if is_silent else 0.8, harmless(query.strategy))

    search = minimal(
        (0.2, 0.2, 0.2, 0.2), answer, fails=lambda one: one.status in (AnswerStatus.EMPTY, "malformed")
    )

    play(search, answer)

    assert [bool(severity) for severity in search.weakest.query.strategy] == [False, False, False, True]
    assert search.weakest.status is AnswerStatus.EMPTY


def test_a_start_that_does_not_fail_is_refused():
    with pytest.raises(ValueError, match="must be a test case that fails"):
        minimal((0.1, 0.0, 0.0, 0.0), fails_from(1, 0.15))


def test_a_failed_call_is_asked_again_and_then_counts_as_no_failure():
    def answer(query):
        if query.strategy == (0.0, 0.0, 0.25, 0.25):
            return Outcome(query, AnswerStatus.CALL_ERROR, 0.0, harmless(query.strategy))
        return fails_from(2, 0.15)(query)

    search = minimal((0.25, 0.25, 0.25, 0.25), answer)

    asked = strategies(play(search, answer))

    assert asked[:4] == [(0.0, 0.0, 0.25, 0.25)] * 3 + [(0.25, 0.25, 0.0, 0.0)]
    assert [index for index, severity in enumerate(search.weakest.query.strategy) if severity] == [2]


def test_replay_of_every_prefix_continues_like_the_undisturbed_search():
    answer = fails_from(1, 0.15)
    played = play(minimal((0.25, 0.25, 0.25, 0.25), answer), answer)

    for cut, (queries, _) in enumerate(played):
        resumed = minimal((0.25, 0.25, 0.25, 0.25), answer)
        replay(resumed, played[:cut])
        assert list(resumed.ask()) == queries


def shrunk_case(family):
    """A case that NSGA-II finds with ever so many operators, and what is left of it."""
    world = landscape(family, regime="joint", seed=1)
    search = landscape_search(world, algorithm="nsga2", slots=50, give_up_after=None)
    play(search, world.answer)
    start = next(one for one in search.answered if search.thresholds.is_hit(one))
    shrinking = MinimalSearch(MostConfig(), target=search.target, start=start)
    play(shrinking, world.answer)
    assert shrinking.thresholds.is_hit(world.answer(Query(shrinking.weakest.query.strategy)))
    return start.query.strategy, shrinking.weakest.query.strategy


def test_what_nsga2_finds_on_paper_shrinks_to_a_third_of_its_operators_and_less_severity():
    cases = [shrunk_case(family) for family in sorted(set(FAMILIES) - {"robust", "threshold"})]

    for before, after in cases:
        assert sum(map(bool, after)) <= sum(map(bool, before)) / 3
        assert sum(after) < sum(before)
