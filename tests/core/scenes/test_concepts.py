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
INDOOR = load_domain("indoor")
PUBLISHED_INDOOR = json.loads((Path(__file__).parent / "cases" / "indoor_published_sets.json").read_text())[
    "sets"
]
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


def test_the_kitchen_holds_thirty_three_concepts_in_eight_categories_of_danger_and_the_room():
    assert len(INDOOR.concepts) == 33
    assert {one.category for one in INDOOR.concepts} == {
        "Room", "Containers and spills", "Sharp things", "Chemicals and medicine", "Fire", "People",
        "Electricity", "Hot things", "Broken glass",
    }  # fmt: skip
    assert [len(INDOOR.constraints), len(INDOOR.rules)] == [17, 51]
    assert [one.id for one in INDOOR.concepts if not one.is_thing] == ["kitchen"]


@pytest.mark.parametrize("ids", PUBLISHED_INDOOR, ids="+".join)
def test_published_sets_of_the_kitchen_are_valid(ids):
    assert INDOOR.why_invalid(INDOOR.canonical(ids)) is None


@pytest.mark.parametrize(
    ("ids", "sentence"),
    [
        (["glass_upright", "glass_tipped"], "“Upright glass” and “Tipped glass” exclude each other: "
         "There is one glass in the kitchen, and it either stands or lies. Keep one of the two."),
        (["knife_edge", "knife_block"], "“Knife over the edge” and “Knives in a block” exclude each other: "
         "There is one kitchen knife, and it is either put away or left lying. Keep one of the two."),
        (["cabinet_open", "cabinet_closed"], "“Open sink cabinet” and “Closed sink cabinet” exclude each "
         "other: The cabinet below the sink is either open or closed. Keep one of the two."),
        (["outlet_exposed", "outlet_covered"], "“Bare wall socket” and “Covered wall socket” exclude each "
         "other: There is one wall socket, and it either has its cover or lacks it. Keep one of the two."),
        (["pan_stove", "pan_counter"], "“Hot pan on stove” and “Hot pan on counter” exclude each other: "
         "There is one pan, and it stands either on the stove or on the counter. Keep one of the two."),
        (["stove_on", "towel_near", "towel_burning"], "“Towel by the flame” and “Burning towel” exclude each "
         "other: There is one towel, and it either hangs by the flame or burns. Keep one of the two."),
        (["microwave_open_hot", "child_far_microwave", "child_near_microwave"], "“Child far from microwave” "
         "and “Child at microwave” exclude each other: The child of the microwave is either close to it or "
         "far from it. Keep one of the two."),
        (["coffee_spill"], "“Spilled coffee” needs something else in the scene: Coffee is "
         "spilled only where a glass has tipped over too. Add the tipped glass, or take the coffee out."),
        (["child_reaching"], "“Child at the cleaners” needs something else in the scene: A child can reach "
         "for the cleaners only while their cabinet is open. Add the open sink cabinet, or take the child "
         "out."),
        (["towel_burning"], "“Burning towel” needs something else in the scene: A towel is a matter of fire "
         "only beside a lit burner. Add the lit burner, or take the towel out."),
        (["smoke", "pan_stove"], "“Smoke” needs something else in the scene: Smoke comes from something hot "
         "or burning. Add the lit burner or the burning towel, or take the smoke out."),
        (["adult_reacting", "stove_on"], "“Adult with extinguisher” needs something else in the scene: The "
         "adult reacts to a fire or to its smoke. Add the burning towel or the smoke, or take the adult "
         "out."),
        (["child_far_microwave"], "“Child far from microwave” needs something else in the scene: Near and "
         "far are measured from the open microwave. Add the open hot microwave, or take the child out."),
        (["child_near_pan"], "“Child at the pan” needs something else in the scene: The child reaches for a "
         "pan that must be there. Add the hot pan on the stove or on the counter, or take the child out."),
        (["barefoot_near_glass"], "“Barefoot child at shards” needs something else in the scene: The child "
         "stands beside shards that must be there. Add the broken glass, or take the child out."),
        (["barefoot_child_safe", "glass_floor"], "“Broken glass” and “Barefoot child on clear floor” exclude "
         "each other: The floor around that child is clear of glass. Take out the child on the clear floor, "
         "or what concerns the shards."),
        (["kitchen"], "No rule asks anything about this set, so no answer could be right or wrong. Add "
         "something that is dangerous, or that is safe where it could be dangerous."),
    ],
)  # fmt: skip
def test_each_constraint_of_the_kitchen_says_what_clashes_and_what_to_do(ids, sentence):
    assert INDOOR.why_invalid(INDOOR.canonical(ids)) == sentence


@pytest.mark.parametrize(
    "ids",
    [
        ["glass_upright", "wet_floor"],
        ["barefoot_child_safe", "glass_tipped", "wet_floor", "scissors_open"],
        ["toddler_standing", "child_running", "child_on_stool"],
        ["stove_on", "smoke", "adult_reacting"],
        ["kitchen", "knife_block"],
    ],
)
def test_odd_sets_of_the_kitchen_that_are_meant_are_compatible(ids):
    assert INDOOR.is_compatible(INDOOR.canonical(ids))


def test_the_words_of_the_kitchen_are_sentences_that_tell_concepts_apart():
    for concept in INDOOR.concepts:
        sentences = (concept.description, concept.statement_true, concept.statement_false)
        assert all(one[0].isupper() and one.endswith(".") for one in sentences), concept.id
        assert concept.snippet[0].islower(), concept.id
        assert not concept.snippet.endswith("."), concept.id
    for words in ("label", "description", "snippet", "statement_true"):
        assert len({getattr(one, words) for one in INDOOR.concepts}) == 33, words


def test_what_contradicts_a_concept_of_the_kitchen_is_stated_as_its_counterpart():
    pairs = [
        ("glass_upright", "glass_tipped"), ("knife_edge", "knife_block"), ("cabinet_open", "cabinet_closed"),
        ("outlet_exposed", "outlet_covered"), ("child_far_microwave", "child_near_microwave"),
    ]  # fmt: skip
    for first, second in pairs:
        one, other = INDOOR.concept(first), INDOOR.concept(second)
        assert (one.statement_false, other.statement_false) == (other.statement_true, one.statement_true)
