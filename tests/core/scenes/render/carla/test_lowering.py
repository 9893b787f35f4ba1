"""Graphs of sets become Scenic programs that say where everything stands."""

import dataclasses
import re

import pytest

from vlmlab.core.errors import GenerationError
from vlmlab.core.scenes.anchors import anchor_graph
from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.core.scenes.render.carla.blueprints import LOOKS
from vlmlab.core.scenes.render.carla.lowering import plan_scene, scenic_program

DRIVING = load_domain("driving")


def plan(*ids, seed=1):
    return plan_scene(anchor_graph(DRIVING, DRIVING.canonical(ids)), seed=seed)


def text(*ids, **changes):
    return scenic_program(plan(*ids, **changes), map_path="/maps/x.xodr", carla_map="Town01")


def test_modifiers_move_the_last_movable_thing_and_nothing_else():
    things = plan("debris_near", "cone", "pedestrian", "far", "on_sidewalk").things

    assert [(one.concept, one.placement, one.low_m, one.high_m) for one in things] == [
        ("debris_near", "lane", 2.0, 4.0),
        ("pedestrian", "lane", 4.0, 6.0),
        ("cone", "sidewalk", 15.0, 25.0),
    ]


def test_near_and_default_distances_are_those_of_the_domain():
    assert [(one.low_m, one.high_m) for one in plan("cyclist", "near").things] == [(2.0, 4.0)]
    assert [(one.low_m, one.high_m) for one in plan("bus_stop").things] == [(4.0, 6.0)]
    assert plan("intersection_ego").junction_m == (11.0, 25.0)
    assert plan("cone").junction_m is None


@pytest.mark.parametrize(
    ("ids", "light"), [(("light_red",), "red"), (("light_green",), "green"), (("intersection_ego",), "")]
)
def test_light_brings_its_junction_and_a_junction_alone_has_dark_lights(ids, light):
    planned = plan(*ids)

    assert (planned.light, planned.junction_m) == (light, (11.0, 25.0))


def test_weather_and_town_are_those_of_the_set_or_drawn_from_the_seed():
    named = plan("town02", "weather_foggy", "cone")

    assert (named.town, named.weather) == ("Town02", "weather_foggy")
    assert plan("cone").weather == "weather_clear_noon"
    assert {plan("cone", seed=seed).town for seed in range(20)} == {"Town01", "Town02"}


def test_program_names_map_weather_blueprints_and_distances():
    program = text("cone", "far", "weather_wet")

    assert "param map = localPath('/maps/x.xodr')\nparam carla_map = 'Town01'\n" in program
    assert "'precipitation_deposits': 50.0" in program
    assert "distance0 = Range(15.0, 25.0)" in program
    assert set(re.findall(r"'static\.prop\.\w+'", program)) == {
        "'static.prop.trafficcone01'",
        "'static.prop.trafficcone02'",
        "'static.prop.constructioncone'",
    }
    assert "with rolename 'cone'" in program
    assert "require thing0_0.position in road\n" in program


def test_thing_on_the_sidewalk_starts_beside_the_lane_and_must_be_on_a_sidewalk():
    program = text("garbage_bin", "on_sidewalk")

    # Half a bin is 0.32 m, the lane and its curb end at 1.95 m.
    assert "right0 = Range(2.27, 7.0)" in program
    assert "require thing0_0.position in sidewalk\n" in program


def test_car_stands_before_the_junction_by_the_distance_from_its_bumper():
    program = text("light_red")

    assert "gap = Range(11.0, 25.0)" in program
    assert "pointAlongBy(0 - gap - 2.395)" in program  # 4.79 / 2 more, from the bumper to the car's middle
    assert "distance from ego to intersection" not in program
    assert "require (distance from ego to intersection) > 28.0" in text("cone")


def test_things_of_several_actors_share_one_place():
    program = text("chain_barrier_near")

    assert program.count("new Prop") == 2
    assert program.count("with rolename 'chain_barrier_near'") == 2
    assert "(right0 + -0.75)" in program
    assert "(right0 + 0.75)" in program


def test_equal_sets_give_equal_programs():
    assert text("cone", "pedestrian") == text("pedestrian", "cone")


def test_thing_without_a_blueprint_is_refused_with_advice(monkeypatch):
    without = {kind: look for kind, look in LOOKS.items() if kind != "wheelchair_pedestrian"}
    monkeypatch.setattr("vlmlab.core.scenes.render.carla.lowering.LOOKS", without)

    with pytest.raises(GenerationError) as refused:
        plan("wheelchair_pedestrian")

    assert refused.value.message == "CARLA 0.9.16 has no blueprint for “Wheelchair user”."
    assert refused.value.hint


def test_id_that_could_end_a_string_never_reaches_a_program(monkeypatch):
    graph = anchor_graph(DRIVING, ("cone",))
    evil = "cone'\nimport os"
    nodes = tuple(dataclasses.replace(node, id=evil) if node.id == "cone" else node for node in graph.nodes)
    monkeypatch.setattr("vlmlab.core.scenes.render.carla.lowering.kind_of", lambda _: "cone")

    with pytest.raises(ValueError, match=r"^id: expected lower-case letters"):
        plan_scene(dataclasses.replace(graph, nodes=nodes), seed=1)
