"""Every thing of a kitchen has a builder that keeps to its body, and states can be told apart."""

import numpy as np
import pytest

from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.core.scenes.indoor_bodies import BODIES
from vlmlab.core.scenes.kitchen_frame import COUNTER_HEIGHT
from vlmlab.core.scenes.render.builders import BUILDERS
from vlmlab.core.scenes.render.embedded import build_object
from vlmlab.core.scenes.scene import SceneObject

DISTRACTORS = {"toaster", "kettle", "apples", "plant", "utensils", "bread"}
SEEDS = range(4)
SLACK = 0.03
ARMS, PUDDLE = 0.15, 0.16
BEYOND = {
    "smoke": 0.7,  # only its lower part must be seen
    "coffee_spill": 0.4,  # what runs down the front
    "cabinet_open": 0.4,  # its inside
    "cabinet_closed": 0.6,
    "wet_floor": PUDDLE,
    "glass_floor": 0.07,
    **dict.fromkeys(
        (
            "child_running",
            "child_far_microwave",
            "child_near_pan",
            "child_reaching",
            "barefoot_near_glass",
            "adult_reacting",
        ),
        ARMS,
    ),
}
"""Metres by which a kind may reach beyond its body."""
ANKLE = 0.06
PEOPLE = (
    "toddler_standing",
    "child_running",
    "child_reaching",
    "child_far_microwave",
    "child_near_microwave",
    "child_near_pan",
    "barefoot_near_glass",
    "barefoot_child_safe",
)


def build(kind, *, seed=1, concept="", **parameters):
    return build_object(
        SceneObject("one", kind, (0, 0, 0), 0.0, {"appearance_seed": seed, **parameters}, concept)
    )


def bounds_of(boxes):
    low = np.min([(one.x_min, one.y_min, one.z_min) for one in boxes], axis=0)
    return low, np.max([(one.x_max, one.y_max, one.z_max) for one in boxes], axis=0)


def names_below(mesh, height):
    low = mesh.corners[:, :, 2].max(1) < height
    return {mesh.materials[number].name for number in np.unique(mesh.material_of[low])}


def colour_of(mesh, name):
    return next(material.albedo for material in mesh.materials if material.name == name)


def test_every_thing_of_the_domain_and_every_distractor_has_builder_and_body():
    things = {concept.id for concept in load_domain("indoor").concepts if concept.is_thing}

    assert len(things) == 32
    assert set(BODIES) == things | DISTRACTORS
    assert set(BUILDERS) >= things | DISTRACTORS


@pytest.mark.parametrize("kind", sorted(BODIES))
def test_builder_stays_inside_the_body_that_the_layout_knows_and_fills_what_it_shows(kind):
    body = BODIES[kind]
    known_low, known_high = bounds_of([body.shown, *body.solid, *body.clear])
    shown_low, shown_high = bounds_of([body.shown])
    meshes = [build(kind, seed=seed, concept=kind) for seed in SEEDS]
    firm = np.concatenate([mesh.corners[~mesh.veil].reshape(-1, 3) for mesh in meshes])
    whole = np.concatenate([mesh.corners.reshape(-1, 3) for mesh in meshes])
    slack = BEYOND.get(kind, SLACK)

    assert (firm.min(0) >= known_low - slack).all()
    assert (firm.max(0) <= known_high + slack).all()
    assert (np.ptp(whole, axis=0) > 0.5 * (shown_high - shown_low) - SLACK).all()


@pytest.mark.parametrize("kind", PEOPLE)
def test_people_stand_on_the_floor_and_look_towards_the_camera(kind):
    mesh = build(kind)

    eyes = mesh.corners[mesh.material_of == [one.name for one in mesh.materials].index("eye")]
    hair = mesh.corners[mesh.material_of == [one.name for one in mesh.materials].index("hair")]
    assert abs(mesh.bounds[0][2]) < 0.02
    assert eyes[..., 1].mean() < hair[..., 1].mean()


@pytest.mark.parametrize("kind", ["barefoot_near_glass", "barefoot_child_safe", "child_reaching"])
def test_barefoot_children_show_bare_feet(kind):
    assert names_below(build(kind), ANKLE) == {"skin"}


@pytest.mark.parametrize("kind", ["toddler_standing", "child_running", "child_near_pan"])
def test_other_children_wear_something_on_their_feet(kind):
    assert "skin" not in names_below(build(kind), ANKLE)


def test_toddler_in_pyjamas_is_blue_whatever_the_seed():
    for seed in range(6):
        red, green, blue = colour_of(build("toddler_standing", seed=seed), "top")

        assert blue > 2 * max(red, green)


def test_water_of_the_tipped_glass_runs_down_to_the_floor():
    low, high = build("glass_tipped").bounds

    assert low[2] == pytest.approx(-COUNTER_HEIGHT, abs=0.03)
    assert high[2] > 0.1


def test_blade_over_the_edge_sticks_out_and_its_handle_lies_on_the_counter():
    low, high = build("knife_edge").bounds

    assert low[1] < -0.1
    assert high[1] > 0.15
    assert low[2] >= 0


def test_closed_cabinet_has_a_child_lock_only_where_it_is_a_concept():
    plain, locked = build("cabinet_closed"), build("cabinet_closed", concept="cabinet_closed")

    assert len(locked) > len(plain)


def test_cabinet_has_the_fronts_of_its_room():
    def doors(room):
        return {material.albedo for material in build("cabinet_closed", room_seed=room).materials}

    assert len({frozenset(doors(room)) for room in range(6)}) > 3
    assert doors(2) == doors(2)


def test_steam_is_no_part_of_what_a_mug_covers():
    mug = build("hot_beverage")

    assert mug.bounds[1][2] > 0.3
    assert mug.outline[:, 2].max() < 0.16


@pytest.mark.parametrize("kind", ["glass_upright", "wet_floor", "glass_floor", "stove_on", "smoke"])
def test_things_that_are_see_through_altogether_count_with_all_they_have(kind):
    mesh = build(kind)

    assert not mesh.has_core
    assert not mesh.veil.any()


def test_gas_burns_blue_and_a_towel_orange():
    def flame(kind):
        glow = [one for one in build(kind).materials if one.name == "flame"]
        return np.mean([np.array(one.emission) * one.texture.mean for one in glow], 0)

    gas, towel = flame("stove_on"), flame("towel_burning")
    assert gas[2] > 2 * gas[0]
    assert towel[0] > 2 * towel[2]
