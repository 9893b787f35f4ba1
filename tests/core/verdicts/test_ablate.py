"""Ablation as it is asked: pairs first, then smaller sets; what is said, and what a resumed run says."""

import json

import pytest

from tests.core.verdicts.fresh_answers import always, failing, run_to_end, told
from vlmlab.core.revelio.types import Verdict
from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.core.verdicts.config import AblateConfig
from vlmlab.core.verdicts.drops import plan_drops
from vlmlab.core.verdicts.follow_ups import FOLLOW_UPS
from vlmlab.core.verdicts.queries import FreshOutcome, ItemSpec

DRIVING = load_domain("driving")
SET = ("obstruction_near", "cyclist", "weather_foggy")
LARGE = ("obstruction_near", "cyclist", "cone", "weather_foggy")


def item(key=SET, order=0):
    plan = plan_drops(DRIVING, key)
    return ItemSpec(order, f"block{order}", key, plan.arms, plan.settings)


def search_of(*items, **settings):
    entry = FOLLOW_UPS["ablate"]
    return entry.build_search(entry.config_type(**settings), items=items or (item(),), run_seed=1)


def words(result):
    return {"+".join(row["concepts"]): row["necessity"] for row in result.numbers["drops"]}


def test_pairs_ask_the_set_and_every_comparable_drop_on_the_same_scenes():
    search = search_of(pairs=5, reduces=False, slots=1)

    asked = run_to_end(search, always(Verdict.FAIL))

    assert [query.number for query in asked] == [number for number in range(5) for _ in range(4)]
    assert [query.key for query in asked[:4]] == [
        SET,
        ("cyclist", "weather_foggy"),
        ("obstruction_near", "weather_foggy"),
        ("obstruction_near", "cyclist"),
    ]


def test_fog_alone_makes_it_fail():
    search = search_of()

    asked = run_to_end(search, failing(lambda key: 0.95 if "weather_foggy" in key else 0.1))

    (result,) = search.results()
    assert words(result) == {
        "obstruction_near": "irrelevant", "cyclist": "irrelevant", "weather_foggy": "necessary",
    }  # fmt: skip
    assert (result.state, result.reason, result.samples) == ("reducible", "complete", 40)
    assert [row["key"] for row in result.numbers["smaller"]] == [
        ["obstruction_near", "weather_foggy"], ["cyclist", "weather_foggy"],
    ]  # fmt: skip
    # Fog alone is another question, so the walk ends at pairs; the single obstacles were judged and pass.
    assert [(row["key"], row["still_fails"]) for row in result.numbers["judged"]] == [
        (["obstruction_near"], False),
        (["cyclist"], False),
    ]
    assert search.observations == len(asked)
    assert json.loads(json.dumps(result.numbers)) == result.numbers


def test_a_minimal_set_waits_while_another_is_reduced():
    whole = ("cyclist", "weather_foggy")
    search = search_of(item(whole), item(LARGE, order=1), pairs=20)

    run_to_end(search, failing(lambda key: 1.0 if key == whole or "obstruction_near" in key else 0.0))

    first, second = search.results()
    assert (first.state, first.numbers["smaller"]) == ("minimal", [])
    assert [row["key"] for row in second.numbers["smaller"]] == [["obstruction_near"]]


def test_a_set_that_needs_every_concept_is_minimal():
    search = search_of()

    asked = run_to_end(search, failing(lambda key: 0.9 if key == SET else 0.05))

    (result,) = search.results()
    assert set(words(result).values()) == {"necessary"}
    assert (result.state, result.numbers["smaller"], len(asked)) == ("minimal", [], 160)


def test_smaller_sets_are_judged_on_scenes_of_their_own():
    search = search_of(item(LARGE), pairs=10, reduce_scenes=10)
    stages = {}

    while batch := search.ask():
        stages.setdefault(search.stage, []).extend(batch)
        search.tell([failing(lambda key: 1.0 if "weather_foggy" in key else 0.0)(query) for query in batch])

    paired, smaller = stages["paired scenes"], stages["smaller sets"]
    assert max(query.number for query in paired) < min(query.number for query in smaller)
    assert not {query.key for query in paired} & {query.key for query in smaller}
    # Ten scenes at 60 %: six fails, or five passes, decide; not one more is asked.
    by_key = {key: sum(query.key == key for query in smaller) for key in {query.key for query in smaller}}
    assert set(by_key.values()) == {5, 6}


def test_a_set_that_no_longer_fails_is_not_reduced():
    search = search_of()

    asked = run_to_end(search, always(Verdict.PASS))

    (result,) = search.results()
    assert (result.state, result.reason, result.numbers["smaller"]) == ("undetermined", "not_failing", [])
    assert len(asked) == 160


def test_a_smaller_set_that_may_fail_leaves_minimality_open():
    search = search_of(reduces=False)

    run_to_end(search, failing(lambda key: 0.9 if key == SET else 0.5))

    assert search.results()[0].state == "undetermined"
    assert search.results()[0].reason == "unclear"


def test_without_reduction_the_drops_that_fail_are_the_smaller_sets():
    search = search_of(reduces=False)

    run_to_end(search, always(Verdict.FAIL))

    (result,) = search.results()
    assert result.state == "reducible"
    assert [row["key"] for row in result.numbers["smaller"]] == [list(key) for key in item().arms]


def test_a_set_without_comparable_drops_asks_nothing():
    lonely = ItemSpec(1, "block1", ("cone",), (), plan_drops(DRIVING, ("cone",)).settings)
    search = search_of(item(), lonely, pairs=5)

    asked = run_to_end(search, always(Verdict.FAIL))

    assert {query.item for query in asked} == {0}
    result = search.results()[1]
    assert (result.state, result.reason, result.samples) == ("minimal", "nothing_comparable", 0)
    assert words(result) == {"cone": "invalid"}
    assert search_of(lonely).ask() == []


def test_changed_questions_keep_their_word_and_are_never_asked():
    key = ("cyclist", "cone", "far")
    search = search_of(item(key), pairs=5, reduces=False)

    asked = run_to_end(search, always(Verdict.FAIL))

    assert {query.key for query in asked} == {key, ("cyclist", "cone")}
    assert words(search.results()[0]) == {
        "cyclist": "label_changing", "cone": "label_changing", "far": "undetermined",
    }  # fmt: skip


def test_scenes_that_cannot_be_asked_are_replaced_and_do_not_go_on_for_ever():
    search = search_of(pairs=5)

    asked = run_to_end(search, always(Verdict.CALL_ERROR))

    assert len(asked) == 3 * 5 * 4
    assert (search.results()[0].state, search.results()[0].reason) == ("undetermined", "exhausted")
    assert search.observations == 0


def test_a_smaller_set_that_cannot_be_asked_ends_the_walk_there():
    answer = failing(lambda key: 1.0 if "weather_foggy" in key or key == SET else 0.0)

    def some_cannot_be_drawn(query):
        outcome = answer(query)
        return FreshOutcome(query, Verdict.INCOMPATIBLE) if len(query.key) == 1 else outcome

    search = search_of(pairs=5, reduce_scenes=4)
    run_to_end(search, some_cannot_be_drawn)

    judged = search.results()[0].numbers["judged"]
    assert {(tuple(row["key"]), row["still_fails"], row["samples"]) for row in judged} == {
        (("obstruction_near",), None, 0),
        (("cyclist",), None, 0),
    }


@pytest.mark.parametrize("cut", [1, 7, 25])
def test_a_resumed_run_asks_what_the_whole_one_asks(cut):
    answer = failing(lambda key: 0.9 if "weather_foggy" in key else 0.3)
    items = (item(LARGE), item(SET, order=1))
    whole, outcomes = search_of(*items, pairs=6), []
    while batch := whole.ask():
        outcomes += [answer(query) for query in batch]
        whole.tell(outcomes[-len(batch) :])

    resumed, size = search_of(*items, pairs=6), 0
    for _ in range(cut):
        batch = resumed.ask()
        resumed.tell(outcomes[size : size + len(batch)])
        size += len(batch)
    again = search_of(*items, pairs=6)
    told(again, outcomes[:size])

    assert again.ask() == resumed.ask()
    assert again.results() == resumed.results()
    told(again, outcomes[size:])
    assert again.results() == whole.results()
    assert again.ask() == []


def test_outcomes_of_another_batch_are_refused():
    search = search_of()
    batch = search.ask()

    with pytest.raises(ValueError, match="batch last asked"):
        search.tell([FreshOutcome(query, Verdict.FAIL) for query in batch[1:]])


def test_settings_refuse_unknown_names():
    with pytest.raises(ValueError, match="Extra inputs"):
        AblateConfig(pair=3)
