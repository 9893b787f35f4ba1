"""Follow-ups of a fixed size: all arms of a scene, scenes that are replaced, what is stored."""

import pytest

from tests.core.verdicts.fresh_answers import always, run_to_end
from vlmlab.core.revelio.types import Verdict
from vlmlab.core.verdicts.fixed import FixedDesignSearch
from vlmlab.core.verdicts.follow_ups import FOLLOW_UPS
from vlmlab.core.verdicts.queries import (
    FreshOutcome,
    FreshQuery,
    ItemSpec,
    block_of,
    fresh_options_seed,
    fresh_scene_seed,
)

PAIR = ItemSpec(0, "b0", ("a", "b"), (("a",),))


def test_every_scene_is_asked_in_every_arm_and_variant():
    search = FixedDesignSearch([PAIR], n=2, variants=("", "statements"), slots=1)

    asked = run_to_end(search, always(Verdict.PASS))

    assert asked == [
        FreshQuery(0, key, number, variant)
        for number in (0, 1)
        for key in (("a", "b"), ("a",))
        for variant in ("", "statements")
    ]


def test_items_take_turns():
    search = FixedDesignSearch([ItemSpec(n, f"b{n}", (str(n),)) for n in range(3)], n=2, slots=2)

    batches = []
    while batch := search.ask():
        batches.append([(query.item, query.number) for query in batch])
        search.tell([FreshOutcome(query, Verdict.PASS) for query in batch])

    assert batches == [[(0, 0), (1, 0)], [(2, 0), (0, 1)], [(1, 1), (2, 1)]]


def test_a_scene_with_a_failed_call_is_replaced_whole():
    def answer(query):
        is_lost = query.number == 1 and query.key == ("a",)
        return FreshOutcome(query, Verdict.CALL_ERROR if is_lost else Verdict.FAIL)

    search = FixedDesignSearch([PAIR], n=3)
    run_to_end(search, answer)

    (result,) = search.results()
    assert result.numbers["numbers"] == [0, 2, 3]
    assert (result.state, result.reason, result.fails, result.samples) == ("measured", "complete", 3, 3)
    assert search.observations == 7


def test_each_scene_is_stored_as_a_letter():
    def answer(query):
        if query.number == 1:
            return FreshOutcome(query, Verdict.FAIL, is_invalid=query.key == ("a",))
        return FreshOutcome(query, Verdict.PASS)

    search = FixedDesignSearch([PAIR], n=2)
    run_to_end(search, answer)

    assert search.results()[0].numbers["arms"] == [
        {"key": ["a", "b"], "variant": "", "fails": 1, "invalid": 0, "outcomes": "PF"},
        {"key": ["a"], "variant": "", "fails": 1, "invalid": 1, "outcomes": "PI"},
    ]


def test_an_item_without_answers_is_given_up():
    search = FixedDesignSearch([PAIR], n=2, slots=1)

    asked = run_to_end(search, always(Verdict.INCOMPATIBLE))

    assert len(asked) == 2 * 3 * 2
    assert (search.results()[0].state, search.results()[0].reason) == ("undetermined", "exhausted")


def test_an_open_item_has_no_state():
    search = FixedDesignSearch([PAIR], n=2)

    assert (search.results()[0].state, search.results()[0].samples) == ("", 0)
    with pytest.raises(ValueError, match="batch last asked"):
        search.tell([FreshOutcome(FreshQuery(0, ("a",), 9), Verdict.PASS)])


def test_arms_share_a_scene_and_nothing_else_does():
    block, other = block_of("set", "a", "b"), block_of("set", "ab")
    seeds = [
        fresh_scene_seed(1, block, 0), fresh_scene_seed(1, block, 1), fresh_scene_seed(2, block, 0),
        fresh_scene_seed(1, other, 0), fresh_options_seed(1, block, 0),
    ]  # fmt: skip

    assert len(set(seeds)) == 5
    assert seeds[0] == fresh_scene_seed(1, block, 0)


def test_every_kind_has_a_row_with_its_own_settings():
    assert list(FOLLOW_UPS) == ["confirm", "ablate", "probe", "interact", "transfer", "regress", "envelope"]
    for kind, entry in FOLLOW_UPS.items():
        assert (entry.kind, entry.config_type().model_config["frozen"]) == (kind, True)


@pytest.mark.parametrize("kind", ["transfer", "regress"])
def test_kinds_of_a_fixed_size_ask_as_many_scenes_as_wished(kind):
    entry = FOLLOW_UPS[kind]
    search = entry.build_search(entry.config_type(scenes=4), items=[ItemSpec(0, "b", ("a",))], run_seed=1)

    assert len(run_to_end(search, always(Verdict.FAIL))) == 4
