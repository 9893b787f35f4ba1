"""The first rule that matches decides, or the one that fits best; both agree with their worked examples."""

import json
from collections import Counter
from importlib import resources
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vlmlab.core.errors import ConceptError
from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.core.scenes.rules import (
    Condition,
    EntityCondition,
    PlacedEntity,
    Rule,
    Situation,
    best_decision,
    first_decision,
)

DRIVING = load_domain("driving")
INDOOR = load_domain("indoor")
CHILDREN = {"toddler_standing", "child_running", "child_on_stool"}
# The examples that the Revelio paper shows (figures 5 and 10, section 4.3, table 12), by ids.
SHOWN_DECISIONS = [
    (("glass_tipped", "microwave_open_hot", "scissors_open"), "spill_tipped", "hazard"),
    (("toddler_standing", "outlet_covered"), "outlet_covered_child_safe", "safe"),
    (("knife_block", "scissors_open", "toddler_standing"), "scissors_knife_block_child", "hazard"),
    (("outlet_covered", "cabinet_closed"), "outlet_covered_safe", "safe"),
    (("outlet_exposed", "hot_beverage"), "outlet_exposed", "hazard"),
    (("glass_upright", "toddler_standing", "cabinet_closed"), "glass_upright_child_safe", "safe"),
    (("barefoot_child_safe", "glass_tipped"), "barefoot_safe_tipped", "safe"),
]
# Worked by hand, one to five concepts: what decides, and why.
WORKED_DECISIONS = [
    (("stove_on",), "stove_safe"),
    (("kitchen", "glass_upright"), "glass_upright_safe"),
    (("stove_on", "towel_near"), "towel_near_flame"),  # both elements; the lit burner alone is forbidden here
    (("stove_on", "glass_floor"), "broken_glass"),  # one element each: the hazard decides
    (("glass_upright", "cabinet_closed"), "glass_upright_safe"),  # both safe: 70 before 75
    (("pill_bottle", "scissors_open"), "scissors_open"),  # both hazards: 22 before 24
    (("stove_on", "towel_burning", "adult_reacting"), "fire_adult"),  # two elements each: 3 before 4
    (("stove_on", "towel_burning", "smoke"), "fire_smoke"),  # three elements beat priority 4 with two
    (("knife_block", "toddler_standing", "wet_floor"), "wet_floor_child"),  # two elements each: the hazard
    (
        ("knife_block", "scissors_open"),
        "scissors_knife_block",
    ),  # put away does not count beside open scissors
    (("cabinet_open", "child_reaching", "toddler_standing"), "chem_reaching"),  # 5 before 35
    (("microwave_open_hot", "child_far_microwave", "cabinet_closed"), "microwave_child_far_safe"),
    (("microwave_open_hot", "child_far_microwave", "cabinet_open"), "microwave_child_far_safe"),
    (("microwave_open_hot", "child_far_microwave", "child_running"), "microwave_child_generic"),
    (("glass_upright", "cabinet_closed", "stove_on", "wet_floor"), "wet_floor_slip"),
    (("glass_upright", "cabinet_closed", "stove_on", "wet_floor", "child_running"), "wet_floor_child"),
    (
        ("glass_floor", "barefoot_near_glass", "stove_on", "towel_near", "child_running"),
        "broken_glass_barefoot",
    ),
    (("stove_on", "towel_burning", "smoke", "adult_reacting", "child_on_stool"), "fire_smoke"),
]
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


@pytest.mark.parametrize(("ids", "rule_id", "action"), SHOWN_DECISIONS)
def test_best_fit_agrees_with_the_shown_examples(ids, rule_id, action):
    decision = INDOOR.decide(INDOOR.canonical(ids))

    assert (decision.rule_id, decision.action) == (rule_id, action)


@pytest.mark.parametrize(("ids", "rule_id"), WORKED_DECISIONS)
def test_best_fit_prefers_more_elements_then_hazards_then_the_smaller_priority(ids, rule_id):
    key = INDOOR.canonical(ids)

    assert INDOOR.why_invalid(key) is None
    assert INDOOR.decide(key).rule_id == rule_id


def test_equal_rules_are_decided_by_their_id():
    twins = [
        Rule(name, name, Condition(elements=(("a",),)), "stop", "because", priority=4) for name in ("y", "x")
    ]

    assert best_decision(twins, ("a",), severities=("stop",)).rule_id == "x"


def test_a_forbidden_concept_silences_a_rule():
    rule = Rule("r", "R", Condition(elements=(("a",),), lacks=("b",)), "stop", "because")

    with pytest.raises(ConceptError, match="No rule of the domain says anything"):
        best_decision([rule], ("a", "b"), severities=("stop",))


def test_fit_is_the_share_of_the_set_that_the_rule_speaks_of():
    decision = INDOOR.decide(INDOOR.canonical(["glass_upright", "toddler_standing", "cabinet_closed"]))

    assert decision.covered == ("glass_upright", "toddler_standing")
    assert decision.fit == pytest.approx(2 / 3)
    assert decision.question.startswith("Could the drinking glass harm a child")


def test_an_element_is_covered_by_one_concept_even_where_several_would_do():
    decision = INDOOR.decide(INDOOR.canonical(["outlet_covered", "toddler_standing", "child_running"]))

    assert decision.rule_id == "outlet_covered_child_safe"
    assert decision.covered == ("toddler_standing", "outlet_covered")
    assert decision.fit == pytest.approx(2 / 3)


def test_every_rule_of_the_kitchen_decides_some_set_of_at_most_three():
    deciding = {INDOOR.decide(INDOOR.key_of(mask)).rule_id for mask in INDOOR.universe(3)}

    assert deciding == {rule.id for rule in INDOOR.rules}
    assert len(deciding) == 51


@given(st.integers(0, len(INDOOR.universe()) - 1))
def test_best_fit_is_the_largest_squared_cosine_written_out(position):
    key = INDOOR.key_of(INDOOR.universe()[position])
    rows = json.loads(resources.files("vlmlab.core.scenes.domains").joinpath("indoor.json").read_text())[
        "rules"
    ]

    def elements(row):
        return [
            CHILDREN if one == "@child" else {one} if isinstance(one, str) else set(one)
            for one in row["when"]["elements"]
        ]

    ranked = []
    for row in rows:
        wanted, forbidden = elements(row), set(row["when"].get("lacks", ()))
        covered = [one for one in wanted if one & set(key)]
        if len(covered) < len(wanted) or forbidden & set(key):
            continue
        fit = len(covered) ** 2 / (len(wanted) * len(key))
        ranked.append((-fit, row["action"] != "hazard", row["priority"], row["id"]))

    assert INDOOR.decide(key).rule_id == min(ranked)[-1]
    assert INDOOR.decide(key).fit == pytest.approx(-min(ranked)[0])
    assert [rule.id for rule in INDOOR.matching_rules(key)] == [rank[-1] for rank in sorted(ranked)]


def test_matching_rules_of_driving_stand_in_the_order_of_the_table():
    key = DRIVING.canonical(["cone", "light_red"])

    assert [rule.id for rule in DRIVING.matching_rules(key)][:2] == ["R1_obstacle_near", "R2_red_light"]


def test_a_concept_that_stands_for_two_elements_covers_no_more_than_the_set():
    rule = Rule("r", "R", Condition(elements=(("a",), ("a", "b"))), "stop", "because")

    decision = best_decision([rule], ("a",), severities=("stop",))

    assert (decision.covered, decision.fit) == (("a",), 1.0)
