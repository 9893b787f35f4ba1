"""The questions of a decision card: fresh draws, replaced where they cannot be asked; which errors count."""

import pytest

from tests.core.verdicts.fresh_answers import always, run_to_end
from vlmlab.core.revelio.types import Verdict
from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.core.verdicts.config import EnvelopeConfig
from vlmlab.core.verdicts.envelope import EnvelopeCell, EnvelopeSpec, check_envelope
from vlmlab.core.verdicts.envelope_search import cell_items
from vlmlab.core.verdicts.follow_ups import FOLLOW_UPS
from vlmlab.core.verdicts.queries import FreshOutcome, FreshQuery, ItemSpec

DRIVING = load_domain("driving")


def items_of(*cells, run_seed=3, level=0.95):
    spec = EnvelopeSpec(
        name="E",
        cells=tuple(
            EnvelopeCell(**{"id": f"c{n}", "title": "C", "includes": [["cone"]], "limit": 0.2, **values})
            for n, values in enumerate(cells)
        ),
    )
    members = check_envelope(DRIVING, spec)
    items = cell_items(DRIVING, spec, members, level=level, run_seed=run_seed)
    return [ItemSpec(n, one.block, (), one.arms, one.settings) for n, one in enumerate(items)]


def search_of(items, **settings):
    return FOLLOW_UPS["envelope"].build_search(EnvelopeConfig(**settings), items=items, run_seed=3)


def test_each_scene_of_a_cell_shows_the_set_drawn_for_it():
    (item,) = items = items_of({})
    search = search_of(items)

    asked = run_to_end(search, always(Verdict.PASS))

    assert item.settings["n"] == 14
    assert len(item.arms) == 14 + 10
    assert asked == [FreshQuery(0, item.arms[number], number) for number in range(14)]
    assert len(set(item.arms)) > 10
    (result,) = search.results()
    assert (result.state, result.reason, result.samples, result.fails) == ("pass", "complete", 14, 0)
    assert result.numbers["high"] < 0.2


def test_draws_are_those_of_the_run_seed():
    assert items_of({}) == items_of({})
    assert items_of({}, run_seed=4)[0].arms != items_of({})[0].arms


def test_what_cannot_be_asked_is_replaced_by_the_next_draw():
    def answer(query):
        lost = {0: Verdict.CALL_ERROR, 5: Verdict.INCOMPATIBLE}
        return FreshOutcome(query, lost.get(query.number, Verdict.PASS))

    search = search_of(items_of({}))
    asked = run_to_end(search, answer)

    (result,) = search.results()
    assert [query.number for query in asked] == list(range(16))
    assert (result.samples, result.reason, search.observations) == (14, "complete", 14)
    assert result.numbers["lost"] == {"call_error": 1, "incompatible": 1}


def test_a_cell_without_draws_left_has_not_enough_evidence():
    search = search_of(items_of({}))

    asked = run_to_end(search, always(Verdict.INCOMPATIBLE))

    assert len(asked) == 24
    assert (search.results()[0].state, search.results()[0].reason) == ("not_enough", "exhausted")


@pytest.mark.parametrize(
    ("counts", "errors"),
    [((), 3), (("under-reaction",), 1), (("over-reaction", "invalid"), 2), (("insufficient",), 0)],
)
def test_only_declared_errors_count(counts, errors):
    def answer(query):
        direction = {1: "under-reaction", 2: "over-reaction"}.get(query.number, "")
        is_invalid = query.number == 3
        verdict = Verdict.FAIL if direction or is_invalid else Verdict.PASS
        return FreshOutcome(query, verdict, is_invalid=is_invalid, direction=direction)

    search = search_of(items_of({"counts": counts}))
    run_to_end(search, answer)

    (result,) = search.results()
    assert (result.numbers["errors"], result.fails, result.numbers["invalid"]) == (errors, 3, 1)


def test_cells_are_asked_in_proportion_to_their_plans():
    items = items_of({"limit": 0.1}, {"limit": 0.4})
    search = search_of(items, slots=8)
    planned = [item.settings["n"] for item in items]
    seen = [0, 0]

    while batch := search.ask():
        for query in batch:
            seen[query.item] += 1
        assert abs(seen[0] / planned[0] - seen[1] / planned[1]) <= 1 / min(planned) + 1e-9
        search.tell([FreshOutcome(query, Verdict.PASS) for query in batch])
    assert seen == planned


def test_a_failed_cell_stops_early_only_where_that_is_wished():
    items = items_of({"limit": 0.05})

    whole, short = search_of(items), search_of(items, stops_failed=True)
    asked, asked_less = (run_to_end(search, always(Verdict.FAIL)) for search in (whole, short))

    assert len(asked) == items[0].settings["n"] == 59
    assert len(asked_less) < 20
    assert (whole.results()[0].state, short.results()[0].state) == ("fail", "fail")
    assert (whole.results()[0].reason, short.results()[0].reason) == ("complete", "decided")
    assert short.results()[0].numbers["is_stopped"] is True


def test_outcomes_of_another_batch_are_refused():
    search = search_of(items_of({}))

    with pytest.raises(ValueError, match="batch last asked"):
        search.tell([])
