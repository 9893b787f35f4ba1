"""Concept sets: names read, order fixed, what cannot occur together refused with the reason."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vlmlab.core.errors import ConceptError
from vlmlab.core.scenes.catalogue import load_domain

DRIVING = load_domain("driving")
IDS = [concept.id for concept in DRIVING.concepts]
PUBLISHED = json.loads((Path(__file__).parent / "cases" / "driving_published_sets.json").read_text())
some_ids = st.lists(st.sampled_from(IDS), max_size=8)
valid_keys = st.integers(0, len(DRIVING.universe()) - 1).map(lambda i: DRIVING.key_of(DRIVING.universe()[i]))


def test_catalogue_holds_thirty_concepts_in_eight_categories():
    assert len(DRIVING.concepts) == 30
    assert len({concept.category for concept in DRIVING.concepts}) == 8


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("weather_foggy_0", "weather_foggy"),
        ("far_0", "far"),
        ("foggy", "weather_foggy"),
        ("foggy_3", "weather_foggy"),
        ("barrier_far", "chain_barrier_far"),
        ("dumpster_near", "obstruction_near"),
        ("obstacle", "obstruction_near"),
        ("green_light", "light_green"),
        ("town01", "town_town01"),
        (" cone ", "cone"),
        ("town_town02", "town_town02"),
    ],
)
def test_canonical_resolves_aliases_and_drops_slot_numbers(name, expected):
    assert DRIVING.canonical([name]) == (expected,)


def test_canonical_drops_repeats_and_sorts_by_the_catalogue():
    assert DRIVING.canonical(["far", "cone", "far_0", "town01"]) == ("town_town01", "cone", "far")


def test_canonical_names_the_unknown_concept_and_its_nearest_neighbours():
    with pytest.raises(ConceptError) as caught:
        DRIVING.canonical(["cone", "pedestrain"])

    assert caught.value.message == "The domain Driving has no concept “pedestrain”."
    assert caught.value.hint.startswith("Did you mean pedestrian")
    assert caught.value.field == "concepts"


@given(some_ids, st.randoms())
def test_canonical_is_idempotent_and_ignores_order(ids, random):
    shuffled = list(ids)
    random.shuffle(shuffled)

    key = DRIVING.canonical(ids)

    assert DRIVING.canonical(key) == key
    assert DRIVING.canonical(shuffled) == key


@given(st.sets(st.sampled_from(IDS)))
def test_key_of_gives_back_what_mask_took(ids):
    key = DRIVING.canonical(ids)

    assert DRIVING.key_of(DRIVING.mask(key)) == key


def test_mask_has_bit_j_for_the_jth_concept():
    assert DRIVING.mask(("town_town01",)) == 1
    assert DRIVING.mask(("town_town02", "light_red")) == 0b1010
    assert DRIVING.mask(("weather_cloudy",)) == 1 << 29


def test_key_of_refuses_bits_beyond_the_catalogue():
    with pytest.raises(ValueError, match="mask must be in"):
        DRIVING.key_of(1 << 30)


@pytest.mark.parametrize("ids", PUBLISHED, ids="+".join)
def test_published_sets_are_valid(ids):
    assert DRIVING.why_invalid(DRIVING.canonical(ids)) is None


@pytest.mark.parametrize(
    ("ids", "sentence"),
    [
        ([], "The set is empty. Choose at least one concept."),
        (
            ["cone", "near", "far"],
            "“near” and “far” exclude each other: "
            "The same thing cannot be near and far at once. Keep one of them.",
        ),
        (
            ["light_red", "light_green"],
            "“Red light” and “Green light” exclude each other: "
            "The traffic light shows one colour at a time. Keep one of them.",
        ),
        (
            ["debris_near", "far"],
            "“far” needs something else in the scene: A distance needs a person, vehicle or prop that it can "
            "move; obstacles have a fixed distance. Add one, for example pedestrian or cone, "
            "or take the distance out.",
        ),
        (
            ["weather_wet"],
            "“Wet road” needs something else in the scene: Weather, place and distance alone show nothing to "
            "react to. Add a town, a junction, a light or an object.",
        ),
        (
            ["pedestrian", "cone", "cyclist", "bus_stop", "garbage_bin", "town01"],
            "A set has at most 5 concepts, this one has 6. Take 1 out.",
        ),
    ],
)
def test_why_invalid_says_what_clashes_and_what_to_do(ids, sentence):
    assert DRIVING.why_invalid(DRIVING.canonical(ids)) == sentence


@pytest.mark.parametrize(
    "ids",
    [
        ["debris_near", "debris_far"],
        ["obstruction_near", "chain_barrier_near"],
        ["light_red"],
        ["cone", "bus_stop", "garbage_bin"],
        ["town_town01"],
        ["cone", "far", "on_sidewalk"],
    ],
)
def test_sets_that_look_odd_but_are_meant_are_compatible(ids):
    assert DRIVING.is_compatible(DRIVING.canonical(ids))


def test_modifiers_act_on_the_last_modifiable_entity_only():
    key = DRIVING.canonical(["pedestrian", "cone", "obstruction_far", "near", "on_sidewalk"])

    entities = {one.concept_id: (one.placement, one.distance) for one in DRIVING.entities(key)}

    assert entities == {
        "obstruction_far": ("lane", "far"),
        "pedestrian": ("lane", "default"),
        "cone": ("sidewalk", "near"),
    }


def test_groups_for_display_join_place_and_distance_to_their_entity():
    key = DRIVING.canonical(["pedestrian", "cone", "far", "on_sidewalk", "weather_wet"])

    assert [chip.text for chip in DRIVING.groups_for_display(key)] == [
        "Pedestrian",
        "Cone | on sidewalk | far",
        "Wet road",
    ]


@given(valid_keys)
def test_groups_for_display_show_each_concept_once(key):
    chips = DRIVING.groups_for_display(key)

    shown = [one.id for chip in chips for one in (chip.concept, *chip.modifiers)]

    assert sorted(shown) == sorted(key)


def test_statements_of_a_place_name_the_entity_it_changes():
    key = DRIVING.canonical(["pedestrian", "bus_stop", "on_sidewalk"])

    assert DRIVING.statements(key, "on_sidewalk") == (
        "The bus stop is on the sidewalk.",
        "The bus stop is in the lane of the car.",
    )


@given(valid_keys)
def test_statements_of_valid_sets_have_no_open_place(key):
    for concept_id in key:
        assert "{" not in "".join(DRIVING.statements(key, concept_id))
