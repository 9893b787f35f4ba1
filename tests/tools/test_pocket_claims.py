"""Statements about pictures: what is certain, and that their words give no answer away."""

from collections import Counter, defaultdict

import pytest

from tests.tools.pocket_parts import record
from tools.pocket.claims import certain_statements, draw_statements
from tools.pocket.imagined import imagined_record
from tools.pocket.sets import decided_universe
from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.core.scenes.recognition import Statement
from vlmlab.core.seeding import rng_for


def verdicts(found):
    """Return text -> truth of what is certain about a picture."""
    truths = defaultdict(set)
    for row in certain_statements(found):
        truths[row.text].add(row.is_true)
    assert {len(values) for values in truths.values()} == {1}  # concepts may share a text, never quarrel
    return {text: values.pop() for text, values in truths.items()}


CONE_FAR_IN_FOG = ("driving", "cone", "far", "weather_foggy")
RED_LIGHT_IN_TOWN = ("driving", "town_town01", "light_red")
CHILD_ON_SIDEWALK = ("driving", "child_pedestrian", "on_sidewalk")
TOWEL_ON_FIRE = ("indoor", "stove_on", "towel_burning")
TIPPED_GLASS = ("indoor", "glass_tipped")
CHILD_AT_MICROWAVE = ("indoor", "microwave_open_hot", "child_near_microwave")
TRUE, FALSE, OPEN = True, False, None


@pytest.mark.parametrize(
    ("case", "text", "truth"),
    [
        (CONE_FAR_IN_FOG, "A traffic cone is ahead of the car.", TRUE),
        (CONE_FAR_IN_FOG, "There is no traffic cone ahead of the car.", FALSE),
        (CONE_FAR_IN_FOG, "The cone is more than ten metres ahead of the car.", TRUE),
        (CONE_FAR_IN_FOG, "The cone is less than five metres ahead of the car.", FALSE),
        (CONE_FAR_IN_FOG, "The cone is in the lane of the car.", TRUE),
        (CONE_FAR_IN_FOG, "The cone is on the sidewalk.", FALSE),
        (CONE_FAR_IN_FOG, "There is thick fog.", TRUE),
        (CONE_FAR_IN_FOG, "The view is clear into the distance.", FALSE),
        (CONE_FAR_IN_FOG, "It is raining or foggy.", TRUE),
        (CONE_FAR_IN_FOG, "Heavy rain is falling.", FALSE),
        (CONE_FAR_IN_FOG, "It is dry.", OPEN),
        (CONE_FAR_IN_FOG, "The sky is overcast.", OPEN),
        (CONE_FAR_IN_FOG, "There is no cyclist ahead of the car.", TRUE),
        (CONE_FAR_IN_FOG, "A cyclist is ahead of the car.", FALSE),
        (CONE_FAR_IN_FOG, "The road ahead runs on without any junction.", TRUE),
        (CONE_FAR_IN_FOG, "A traffic light ahead shows red.", FALSE),
        (CONE_FAR_IN_FOG, "The street is lined with low houses that have pitched roofs.", OPEN),
        (RED_LIGHT_IN_TOWN, "A traffic light ahead shows red.", TRUE),
        (RED_LIGHT_IN_TOWN, "A traffic light ahead shows green.", FALSE),
        (RED_LIGHT_IN_TOWN, "There is a road junction ahead of the car.", TRUE),
        (RED_LIGHT_IN_TOWN, "The street is lined with low houses that have pitched roofs.", TRUE),
        (RED_LIGHT_IN_TOWN, "The street runs between tall blocks with flat roofs.", FALSE),
        (RED_LIGHT_IN_TOWN, "The street is lined with low houses with gardens.", TRUE),
        (RED_LIGHT_IN_TOWN, "The weather is clear and bright.", TRUE),
        (RED_LIGHT_IN_TOWN, "No rain is falling.", TRUE),
        (CHILD_ON_SIDEWALK, "The child is on the sidewalk.", TRUE),
        (CHILD_ON_SIDEWALK, "The child is in the lane of the car.", FALSE),
        (CHILD_ON_SIDEWALK, "An adult pedestrian is ahead of the car.", OPEN),
        (CHILD_ON_SIDEWALK, "There is no wheelchair ahead of the car.", TRUE),
        (TOWEL_ON_FIRE, "A towel by the stove is in flames.", TRUE),
        (TOWEL_ON_FIRE, "Nothing burns beside the stove.", FALSE),
        (TOWEL_ON_FIRE, "Smoke drifts up from the stove.", OPEN),
        (TOWEL_ON_FIRE, "The air above the stove is clear.", OPEN),
        (TOWEL_ON_FIRE, "All burners of the stove are off.", FALSE),
        (TOWEL_ON_FIRE, "A child is running through the room.", FALSE),
        (TOWEL_ON_FIRE, "No child is running.", TRUE),
        (TOWEL_ON_FIRE, "The cabinet below the sink is closed.", OPEN),
        (TOWEL_ON_FIRE, "The room is a bathroom.", FALSE),
        (TIPPED_GLASS, "A drinking glass lies on its side on the counter.", TRUE),
        (TIPPED_GLASS, "A drinking glass stands upright on the counter.", FALSE),
        (TIPPED_GLASS, "A puddle lies on the floor.", OPEN),
        (TIPPED_GLASS, "The whole floor is dry.", OPEN),
        (TIPPED_GLASS, "Shards of glass lie on the floor.", OPEN),
        (TIPPED_GLASS, "A knife reaches out over the edge of the counter.", FALSE),
        (CHILD_AT_MICROWAVE, "A child is close enough to the microwave to touch it.", TRUE),
        (CHILD_AT_MICROWAVE, "A child stands several steps from the microwave.", FALSE),
        (CHILD_AT_MICROWAVE, "A child is running through the room.", OPEN),
        (CHILD_AT_MICROWAVE, "No adult is in the room.", OPEN),
        (CHILD_AT_MICROWAVE, "The microwave is closed.", FALSE),
    ],
)
def test_a_statement_is_true_or_false_only_where_everybody_would_say_so(case, text, truth):
    assert verdicts(record(*case)).get(text) is truth


SINGLE_TRUTH = {
    "The room is a kitchen.": True,
    "The room is a bathroom.": False,
    "The microwave is open and a bowl inside gives off steam.": True,
    "The microwave is closed.": False,
    "All burners of the stove are off.": False,
    "There is no towel anywhere near the flame.": False,
    "All children have their feet on the floor.": False,
}
"""What a picture can only confirm or only deny: drawn nearly everywhere, or open without the concept."""


def test_every_statement_of_both_domains_is_true_of_some_pictures_and_false_of_others():
    truths = defaultdict(set)
    for slug, largest in (("driving", 2), ("indoor", 3)):
        for key, _, _ in decided_universe(load_domain(slug), largest):
            for row in certain_statements(record(slug, *key)):
                truths[row.text].add(row.is_true)

    single = {text: found == {True} for text, found in truths.items() if len(found) == 1}
    concepts = [*load_domain("driving").concepts, *load_domain("indoor").concepts]
    sentences = {text for one in concepts for text in (one.statement_true, one.statement_false)}
    expected = {text for text in sentences if text and "{entity}" not in text}
    assert single == SINGLE_TRUTH
    assert expected <= set(truths)


def test_words_of_a_drawn_statement_give_its_answer_away_only_where_it_has_one_answer():
    rng = rng_for(5, "statements")
    truths = defaultdict(Counter)
    for _ in range(2500):
        found = imagined_record(rng)
        if found.domain != "probe":
            for row in draw_statements(found, certain_statements(found), 3, rng=rng):
                truths[row.text][row.is_true] += 1

    often = {text: found for text, found in truths.items() if found.total() >= 50}
    given_away = {text for text, found in often.items() if min(found[True], found[False]) == 0}
    assert len(often) > 60
    assert given_away <= set(SINGLE_TRUTH)
    total = sum(truths.values(), Counter())
    assert abs(total[True] / total.total() - 0.5) < 0.1


def test_statements_about_places_come_in_both_truths():
    near, walk = record("driving", "cone", "near"), record("driving", "cone", "on_sidewalk")

    assert verdicts(near)["The cone is in the lane of the car."] is True
    assert verdicts(walk)["The cone is in the lane of the car."] is False
    assert verdicts(near)["The cone is less than five metres ahead of the car."] is True
    assert (
        verdicts(record("driving", "cone", "far"))["The cone is less than five metres ahead of the car."]
        is False
    )


def statement(number, *, concept="cone", is_true=True):
    return Statement(f"Statement {number}.", concept, is_true)


def test_drawn_statements_never_repeat_and_are_as_many_as_there_are():
    rows = [statement(n, is_true=n % 2 == 0) for n in range(4)]

    few = draw_statements(record("driving", "cone"), rows, 3, rng=rng_for(1, "draw"))
    all_of_them = draw_statements(record("driving", "cone"), rows, 9, rng=rng_for(1, "draw"))

    assert len(set(few)) == 3
    assert sorted(one.text for one in all_of_them) == [one.text for one in rows]
    assert len(rows) == 4


def test_half_of_the_drawn_statements_are_about_what_is_there_and_half_are_true():
    here = [statement(n, is_true=n == 0) for n in range(6)]  # one true, five false
    absent = [statement(n, concept="cyclist", is_true=n > 10) for n in range(10, 20)]  # one false
    rng = rng_for(2, "draw")

    drawn = [draw_statements(record("driving", "cone"), [*here, *absent], 1, rng=rng)[0] for _ in range(800)]

    groups = Counter((one.concept, one.is_true) for one in drawn)
    assert set(groups) == {("cone", True), ("cone", False), ("cyclist", True), ("cyclist", False)}
    assert all(abs(count - 200) < 60 for count in groups.values())
