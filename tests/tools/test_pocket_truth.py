"""What a training picture shows: facts, classes, states, surroundings, cells."""

import pytest

from tests.tools.pocket_parts import record, seen
from tools.pocket.shards import PictureRecord, SeenObject
from tools.pocket.truth import (
    BACKGROUND,
    CLASSES,
    STATES,
    SURROUNDINGS,
    UNKNOWN,
    SeenThing,
    area,
    cell_targets,
    class_of,
    facts_of,
    states_of,
    surroundings_of,
    things_of,
)
from vlmlab.core.scenes.catalogue import load_domain

DRIVING, INDOOR = load_domain("driving"), load_domain("indoor")
CLOSE, FAR = STATES.index("close"), STATES.index("far")


def around(found):
    return dict(zip(SURROUNDINGS, surroundings_of(found), strict=True))


def test_facts_are_what_is_named_and_implied_and_the_weather_by_default():
    assert facts_of(DRIVING, ("light_red",)) == {"light_red", "intersection_ego", "weather_clear_noon"}
    assert facts_of(DRIVING, ("cone", "weather_foggy")) == {"cone", "weather_foggy"}
    assert facts_of(INDOOR, ("knife_edge",)) == {"knife_edge", "kitchen"}


@pytest.mark.parametrize(
    ("thing", "name"),
    [
        (seen("cone"), "cone"),
        (seen("debris_far"), "debris"),
        (SeenObject("light_red", "traffic_light", "", False, (0, 0, 1, 1)), "light_red"),
        (seen("emergency_vehicle", label="police car"), "police car"),
        (seen("emergency_vehicle", label="ambulance"), "ambulance"),
        (seen("smoke"), "smoke"),
        (SeenObject("", "blue rectangle", "blue rectangle", True, (0, 0, 1, 1)), "blue rectangle"),
    ],
)
def test_class_of_an_object_tells_lights_and_emergency_vehicles_apart(thing, name):
    number = class_of(thing)

    assert number is not None
    assert CLASSES[number] == name


def test_a_tree_has_no_class_and_no_class_is_there_twice():
    assert class_of(SeenObject("", "tree", "", False, (0, 0, 1, 1))) is None
    assert len(CLASSES) == len(set(CLASSES)) == 53
    assert "emergency_vehicle" not in CLASSES


def test_only_the_last_modifiable_entity_is_moved():
    states = states_of(record("driving", "pedestrian", "cone", "far", "light_red"))

    assert states == {"light_red": "light", "light_green": "light", "pedestrian": "close", "cone": "far"}
    assert states_of(record("driving", "obstruction_far", "cyclist", "on_sidewalk")) == {
        "light_red": "light",
        "light_green": "light",
        "obstruction_far": "far",
        "cyclist": "sidewalk",
    }
    assert states_of(record("indoor", "knife_edge")) == {}


def test_things_have_class_and_state_and_leave_out_what_has_no_class():
    found = record("driving", "cone", "far")
    moved = [seen("cone", box=(0.5, 0.5, 0.6, 0.6)), SeenObject("", "tree", "", False, (0, 0, 1, 1))]

    assert things_of(found, moved) == [SeenThing(CLASSES.index("cone"), FAR, (0.5, 0.5, 0.6, 0.6))]
    (knife,) = things_of(record("indoor", "knife_edge"), [seen("knife_edge")])
    assert STATES[knife.state_index] == "other"


def test_surroundings_of_a_street_without_a_town_leave_the_town_open():
    values = around(record("driving", "cone", "weather_foggy"))

    assert values == {
        **dict.fromkeys(SURROUNDINGS, 0.0),
        "weather_foggy": 1.0,
        "town_town01": UNKNOWN,
        "town_town02": UNKNOWN,
    }


def test_surroundings_know_town_weather_and_junction_where_the_set_names_them():
    values = around(record("driving", "town_town02", "light_green"))

    assert {name for name, value in values.items() if value == 1.0} == {
        "town_town02",
        "intersection_ego",
        "weather_clear_noon",
    }
    assert UNKNOWN not in values.values()


def test_surroundings_of_kitchens_and_of_the_calibration():
    assert around(record("indoor", "knife_edge")) == {**dict.fromkeys(SURROUNDINGS, 0.0), "kitchen": 1.0}
    assert surroundings_of(PictureRecord("probe", (), 0, ())) == [0.0] * 10


def test_cells_of_a_small_box_lie_over_those_of_a_large_one():
    large = SeenThing(3, CLOSE, (0.0, 0.0, 1.0, 1.0))
    small = SeenThing(5, FAR, (0.55, 0.55, 0.7, 0.7))

    cells = cell_targets([[small, large], [large, small]], grid=2)

    assert cells.classes.tolist() == [[[3, 3], [3, 5]]] * 2
    assert cells.states.tolist() == [[[CLOSE, CLOSE], [CLOSE, FAR]]] * 2
    assert cells.boxes[0, 1, 1].tolist() == pytest.approx([0.55, 0.55, 0.7, 0.7])
    assert cells.boxes[0, 1, 0].tolist() == [0.0, 0.0, 1.0, 1.0]


def test_a_box_owns_the_cells_whose_centres_it_covers_and_at_least_its_own():
    wide = SeenThing(1, CLOSE, (0.1, 0.3, 0.7, 0.6))  # centres 0.125, 0.375, 0.625 across, 0.375 down
    tiny = SeenThing(2, CLOSE, (0.99, 0.99, 1.0, 1.0))

    cells = cell_targets([[wide, tiny]], grid=4)

    empty = BACKGROUND
    assert cells.classes[0].tolist() == [
        [empty, empty, empty, empty],
        [1, 1, 1, empty],
        [empty, empty, empty, empty],
        [empty, empty, empty, 2],
    ]


def test_cells_of_an_empty_picture_are_background():
    cells = cell_targets([[]], grid=3)

    assert set(cells.classes.ravel().tolist()) == set(cells.states.ravel().tolist()) == {BACKGROUND}
    assert cells.boxes.tolist() == [[[[0.0] * 4] * 3] * 3]


def test_area_is_a_share_of_the_picture_and_never_negative():
    assert area((0.25, 0.5, 0.75, 1.0)) == 0.25
    assert area((0.5, 0.0, 0.25, 1.0)) == 0.0
