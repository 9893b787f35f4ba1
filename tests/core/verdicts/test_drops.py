"""What may be compared with a set, by hand and over the whole catalogues; which mode explains which."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.core.verdicts.drops import (
    AskedMode,
    collapse,
    neighbours,
    plan_drops,
)

DRIVING, INDOOR = load_domain("driving"), load_domain("indoor")
LETTERS = "abcd"
KEYS = st.sets(st.sampled_from(LETTERS), min_size=1).map(lambda one: tuple(sorted(one)))
MODES = st.lists(st.builds(AskedMode, KEYS, st.sampled_from(["stop", "go"]), st.sampled_from(["", "why?"])))


def test_drops_of_a_driving_set_by_hand():
    plan = plan_drops(DRIVING, ("cyclist", "cone", "far", "weather_wet"))

    assert (plan.action, plan.question) == ("emergency_stop", "")
    assert [(drop.concepts, drop.kind, drop.action) for drop in plan.drops] == [
        (("cyclist",), "label_changing", "slow_down"),
        (("cone",), "label_changing", "slow_down"),
        (("far",), "comparable", "emergency_stop"),
        (("weather_wet",), "comparable", "emergency_stop"),
    ]
    assert plan.arms == (("cyclist", "cone", "weather_wet"), ("cyclist", "cone", "far"))
    assert plan.drops[0].why == "Without it Slow down is right instead of Emergency stop."
    assert ("cone",) in plan.smaller
    assert ("cone", "far") not in plan.smaller


def test_what_needs_a_thing_is_left_out_with_it():
    plan = plan_drops(DRIVING, ("obstruction_near", "cone", "far"))

    assert [(drop.concepts, drop.kind) for drop in plan.drops] == [
        (("obstruction_near",), "label_changing"),
        (("cone",), "invalid"),
        (("far",), "comparable"),
        (("cone", "far"), "comparable"),
    ]
    assert plan.drops[1].why.startswith("“far” needs something else in the scene")


def test_another_question_is_no_comparison_even_with_the_same_answer():
    plan = plan_drops(INDOOR, ("glass_tipped", "wet_floor", "child_running"))

    assert [(drop.kind, drop.action, drop.why) for drop in plan.drops] == [
        ("label_changing", "hazard", "Without it another question is asked."),
        ("comparable", "hazard", ""),
        ("label_changing", "hazard", "Without it another question is asked."),
    ]
    assert plan.smaller == (("glass_tipped", "child_running"),)


def test_a_single_concept_has_nothing_to_leave_out():
    plan = plan_drops(DRIVING, ("cone",))

    assert [(drop.key, drop.kind) for drop in plan.drops] == [((), "invalid")]
    assert (plan.arms, plan.smaller) == ((), ())


def test_settings_hold_the_plan_as_json():
    settings = plan_drops(DRIVING, ("cone", "far")).settings

    assert settings == {
        "action": "slow_down",
        "question": "",
        "drops": [
            {
                "concepts": ["cone"],
                "key": ["far"],
                "kind": "invalid",
                "action": "",
                "question": "",
                "why": settings["drops"][0]["why"],
            },
            {
                "concepts": ["far"],
                "key": ["cone"],
                "kind": "label_changing",
                "action": "emergency_stop",
                "question": "",
                "why": "Without it Emergency stop is right instead of Slow down.",
            },
        ],
        "smaller": [],
    }


@pytest.mark.parametrize(("domain", "share"), [(DRIVING, 0.169), (INDOOR, 0.461)])
def test_share_of_drops_that_change_the_label(domain, share):
    drops = [
        drop
        for mask in domain.universe(3)
        if int(mask).bit_count() > 1
        for drop in plan_drops(domain, domain.key_of(int(mask))).drops
        if len(drop.concepts) == 1 and drop.kind != "invalid"
    ]

    changing = sum(drop.kind == "label_changing" for drop in drops)

    assert changing / len(drops) == pytest.approx(share, abs=5e-4)


def test_neighbours_are_the_largest_sets_inside():
    smaller = [("a",), ("c",), ("a", "b"), ("d",), ("a", "b", "c", "d")]

    assert neighbours(("a", "b", "c"), smaller) == [("a", "b"), ("c",)]
    assert neighbours(("a",), smaller) == []


def test_modes_collapse_into_the_smallest_with_the_same_question_and_answer():
    fog, cone = AskedMode(("fog",), "stop"), AskedMode(("cone", "fog"), "stop")
    all_three, other = AskedMode(("cone", "fog", "wet"), "stop"), AskedMode(("cone", "fog", "red"), "go")

    assert collapse([all_three, cone, fog, other]) == {
        ("cone", "fog"): ("fog",),
        ("cone", "fog", "wet"): ("fog",),
    }
    assert collapse([all_three, cone]) == {("cone", "fog", "wet"): ("cone", "fog")}


def test_another_question_does_not_explain_a_mode():
    first, second = AskedMode(("a",), "hazard", "Slips?"), AskedMode(("a", "b"), "hazard", "Burns?")

    assert collapse([first, second]) == {}


@given(MODES)
def test_every_mode_is_minimal_or_collapses_into_a_minimal_one(modes):
    asked = {mode.key: mode for mode in modes}
    modes = list(asked.values())

    covered = collapse(modes)

    minimal = asked.keys() - covered.keys()
    for larger, smaller in covered.items():
        assert smaller in minimal
        assert set(smaller) < set(larger)
        assert (asked[smaller].action, asked[smaller].question) == (
            asked[larger].action,
            asked[larger].question,
        )
