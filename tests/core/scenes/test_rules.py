"""The first rule that matches decides, and rules agree with their worked examples."""

import json
from collections import Counter
from pathlib import Path

import pytest

from vlmlab.core.errors import ConceptError
from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.core.scenes.rules import Condition, EntityCondition, PlacedEntity, Rule, Situation, first_decision

DRIVING = load_domain("driving")
CASES = json.loads((Path(__file__).parent / "cases" / "driving_expected_actions.json").read_text())


@pytest.mark.parametrize("case", CASES, ids=lambda case: "+".join(case["set"]))
def test_decide_gives_the_published_action(case):
    assert DRIVING.decide(DRIVING.canonical(case["set"])).action == case["action"]


@pytest.mark.parametrize(
    ("ids", "rule_id"),
    [
        (["cone"], "R1_obstacle_near"),
        (["cone", "near", "light_green"], "R1_obstacle_near"),
        (["light_red"], "R2_red_light"),
        (["light_red", "obstruction_far"], "R2_red_light"),
        (["cone", "far"], "R3_obstacle_far"),
        (["light_green", "intersection_ego"], "R4_green_light"),
        (["light_green", "weather_foggy"], "R6_adverse_weather"),
        (["intersection_ego"], "R5_junction"),
        (["intersection_ego", "pedestrian", "on_sidewalk"], "R5_junction"),
        (["town_town01", "weather_hard_rain"], "R6_adverse_weather"),
        (["town_town01", "weather_soft_rain"], "R7_default"),
        (["bus_stop", "on_sidewalk", "near"], "R7_default"),
        (["pedestrian", "cone", "on_sidewalk"], "R1_obstacle_near"),
    ],
)
def test_decide_names_the_first_rule_that_fires(ids, rule_id):
    assert DRIVING.decide(DRIVING.canonical(ids)).rule_id == rule_id


def test_decide_covers_every_set_up_to_size_four_and_mostly_asks_to_stop():
    masks = DRIVING.universe(4)

    actions = Counter(DRIVING.decide(DRIVING.key_of(mask)).action for mask in masks)

    assert actions.total() == 22_376
    assert actions["emergency_stop"] / 22_376 == pytest.approx(0.89, abs=0.02)
    assert min(actions.values()) > 100


def test_every_condition_part_must_hold():
    condition = Condition(EntityCondition("lane", ("near",)), has=("a",), has_any=("b", "c"), lacks=("d",))
    near = (PlacedEntity("x", "lane", "near"),)

    def holds(ids, entities=near, adverse=False):
        return condition.holds(Situation(frozenset(ids), entities, adverse))

    assert holds({"a", "b"})
    assert not holds({"b"})
    assert not holds({"a"})
    assert not holds({"a", "b", "d"})
    assert not holds({"a", "b"}, entities=(PlacedEntity("x", "sidewalk", "near"),))
    assert not holds({"a", "b"}, entities=(PlacedEntity("x", "lane", "far"),))


def test_no_adverse_weather_fails_in_adverse_weather_only():
    condition = Condition(no_adverse_weather=True)

    assert condition.holds(Situation(frozenset(), (), has_adverse_weather=False))
    assert not condition.holds(Situation(frozenset(), (), has_adverse_weather=True))


def test_first_decision_says_so_when_no_rule_holds():
    rule = Rule("only", "Only", Condition(has=("a",)), "continue", "because")

    with pytest.raises(ConceptError, match="No rule of the domain covers"):
        first_decision([rule], Situation(frozenset({"b"}), (), False))


def test_only_the_rule_without_a_condition_has_other_words_where_it_stands_alone():
    rules = load_domain("driving").rules

    assert rules[-1].words == "Nothing to react to"
    assert [rule.words for rule in rules[:-1]] == [rule.title for rule in rules[:-1]]
