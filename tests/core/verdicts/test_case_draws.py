"""Follow-ups of test cases ask the fixed inputs first, then hand over to a search over fresh draws."""

from collections.abc import Mapping, Sequence

import pytest

from vlmlab.core.revelio.types import Verdict
from vlmlab.core.verdicts import case_draws
from vlmlab.core.verdicts.case_draws import (
    FIRST_FRESH,
    TRIES,
    CaseSearch,
    Part,
    case_search,
    number_of,
    part_of,
)
from vlmlab.core.verdicts.config import ConfirmConfig, RegressConfig, TransferConfig
from vlmlab.core.verdicts.fixed import FixedDesignSearch
from vlmlab.core.verdicts.queries import FreshOutcome, FreshQuery, ItemSpec

PASS, FAIL, ERROR, UNMADE = Verdict.PASS, Verdict.FAIL, Verdict.CALL_ERROR, Verdict.INCOMPATIBLE


def cases(count: int, **settings: object) -> list[ItemSpec]:
    return [ItemSpec(order, f"block{order}", settings=settings) for order in range(count)]


def run(
    search: CaseSearch, answers: Mapping[tuple[int, Part], Sequence[Verdict]]
) -> list[tuple[int, Part, int]]:
    """Answer everything that is asked, right where nothing is said, and return what was asked."""
    asked = []
    while batch := search.ask():
        outcomes = []
        for query in batch:
            part, index = part_of(query.number)
            asked.append((query.item, part, index))
            given = answers.get((query.item, part), ())
            outcomes.append(FreshOutcome(query, given[index] if index < len(given) else PASS))
        search.tell(outcomes)
    return asked


def test_every_number_says_what_it_shows():
    for part in Part:
        for index in range(TRIES):
            assert part_of(number_of(part, index)) == (part, index)
    assert (number_of(Part.CLEAN, 0), number_of(Part.EXACT, 0), FIRST_FRESH) == (0, 3, 9)


def test_a_transfer_asks_the_clean_picture_then_the_input_of_each_case():
    search = case_search("transfer", TransferConfig(), items=cases(2), run_seed=1)

    asked = run(search, {(0, Part.EXACT): [FAIL]})

    assert asked == [(0, Part.CLEAN, 0), (1, Part.CLEAN, 0), (0, Part.EXACT, 0), (1, Part.EXACT, 0)]
    first, second = search.results()
    assert (first.state, first.fails, first.samples) == ("fails", 1, 1)
    assert (second.state, second.fails, second.samples) == ("holds", 0, 1)
    assert first.numbers["parts"] == {"clean": "pass", "exact": "fail"}
    assert (first.numbers["numbers"], first.numbers["arms"][0]["outcomes"]) == ([0], "F")


def test_a_case_whose_clean_picture_is_answered_wrongly_is_asked_nothing_further():
    search = case_search("regress", RegressConfig(), items=cases(2, draws=2), run_seed=1)

    asked = run(search, {(0, Part.CLEAN): [FAIL]})

    assert [one for one in asked if one[0] == 0] == [(0, Part.CLEAN, 0)]
    assert [one[1:] for one in asked if one[0] == 1][-2:] == [(Part.FRESH, 0), (Part.FRESH, 1)]
    lost, kept = search.results()
    assert (lost.state, lost.reason, lost.samples) == ("ineligible", "clean", 0)
    assert (kept.state, kept.numbers["fresh"]) == ("holds", {"fails": 0, "n": 2})
    assert (kept.numbers["numbers"], kept.numbers["arms"][0]["outcomes"]) == ([0, 1], "PP")
    assert "arms" not in lost.numbers


def test_where_no_draw_is_new_the_input_itself_stands_for_the_case():
    search = case_search("regress", RegressConfig(), items=cases(1, draws=2), run_seed=1)

    run(search, {(0, Part.EXACT): [FAIL], (0, Part.FRESH): [UNMADE] * 6})

    (result,) = search.results()
    assert (result.state, result.numbers["fresh"]) == ("fails", {"fails": 0, "n": 0})
    assert (result.numbers["numbers"], result.numbers["arms"][0]["outcomes"]) == ([0], "F")


@pytest.mark.parametrize(
    ("answers", "state", "reason", "n_asked"),
    [
        ([ERROR, FAIL], "fails", "complete", 2),
        ([ERROR, ERROR, ERROR], "undetermined", "unanswered", 3),
        ([UNMADE], "undetermined", "unanswered", 1),
    ],
)
def test_a_failed_call_is_asked_again_and_an_input_that_cannot_be_made_is_not(
    answers, state, reason, n_asked
):
    search = case_search("transfer", TransferConfig(), items=cases(1), run_seed=1)

    asked = run(search, {(0, Part.EXACT): answers})

    (result,) = search.results()
    assert (result.state, result.reason) == (state, reason)
    assert sum(part is Part.EXACT for _, part, _ in asked) == n_asked


def test_a_random_strategy_is_asked_only_where_it_is_wished():
    items = [ItemSpec(0, "a", settings={"random": True}), ItemSpec(1, "b")]
    search = case_search("transfer", TransferConfig(), items=items, run_seed=1)

    asked = run(search, {(0, Part.RANDOM): [FAIL]})

    assert [one for one in asked if one[1] is Part.RANDOM] == [(0, Part.RANDOM, 0)]
    assert [one.numbers["parts"].get("random") for one in search.results()] == ["fail", None]


def test_a_confirmation_asks_each_input_once_more_and_then_its_own_search(monkeypatch):
    class Entry:
        @staticmethod
        def build_search(config, *, items, run_seed):
            assert (run_seed, [item.order for item in items]) == (7, [0, 1])
            return FixedDesignSearch(items, n=2, slots=config.slots)

    monkeypatch.setitem(case_draws.FOLLOW_UPS, "confirm", Entry)
    search = case_search("confirm", ConfirmConfig(slots=2), items=cases(2), run_seed=7)

    asked = run(search, {(0, Part.EXACT): [PASS], (1, Part.FRESH): [FAIL, FAIL]})

    assert asked[:2] == [(0, Part.EXACT, 0), (1, Part.EXACT, 0)]
    assert sorted(asked[2:]) == [(item, Part.FRESH, number) for item in (0, 1) for number in (0, 1)]
    held, failing = search.results()
    assert (held.fails, held.samples, failing.fails, failing.samples) == (0, 2, 2, 2)
    assert held.numbers["parts"] == {"exact": "pass"}
    assert search.observations == 6


def test_asking_again_before_an_answer_returns_the_same_and_other_answers_are_refused():
    search = case_search("transfer", TransferConfig(), items=cases(1), run_seed=1)
    first = search.ask()

    assert search.ask() is first
    with pytest.raises(ValueError, match="batch last asked"):
        search.tell([FreshOutcome(FreshQuery(0, (), 5), PASS)])


def test_cases_have_no_other_follow_ups():
    with pytest.raises(ValueError, match="ablate"):
        case_search("ablate", TransferConfig(), items=cases(1), run_seed=1)
