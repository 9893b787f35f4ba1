"""A whole scene over the boundary: Scenic's own simulator, the real client's values, a server on paper."""

import io
import json
import math

import carla
import numpy as np
import pytest
from PIL import Image

from tests.core.scenes.render.carla.fake_actors import in_front_of
from tests.core.scenes.render.carla.paper_scenes import (
    AT_LIGHT,
    BIN,
    CHAIR,
    DRIVING,
    HEIGHT,
    ON_FOOT,
    WIDTH,
    carla_source,
    generate,
    spawned,
)
from vlmlab.core.scenes.masks import decode_mask
from vlmlab.core.scenes.render.camera import Pinhole


def test_scene_has_picture_boxes_masks_and_where_everything_was(server):
    scene = generate(*ON_FOOT)

    (annotation,) = scene.annotations
    mask = decode_mask(scene.masks["pedestrian"], width=WIDTH, height=HEIGHT)
    assert Image.open(io.BytesIO(scene.image_png)).size == (WIDTH, HEIGHT)
    assert (annotation.concept, annotation.visible_pixels) == ("pedestrian", int(mask.sum()))
    assert annotation.visible_pixels > 50
    assert scene.provenance["backend"] == "carla"
    assert scene.provenance["scenic"] == "3.1.1"
    ((concept, _, x, y, _, _),) = json.loads(scene.provenance["poses"])
    walker = spawned(server, "walker.")[0]
    place = walker.placed.location
    assert (concept, x, y) == ("pedestrian", round(place.x, 3), round(place.y, 3))


def test_thing_on_the_sidewalk_lies_right_of_the_car_at_its_distance(server):
    scene = generate(*ON_FOOT)

    car, walker = server.world.spawned[0], spawned(server, "walker.")[0]
    right, ahead = in_front_of(car.placed, walker.placed.location)
    item = scene.description.objects[0]
    assert (right, ahead) == pytest.approx((item.position[0], item.position[1] + 0.695), abs=0.01)
    assert 1.75 < right < 4.75
    assert math.remainder(
        walker.placed.rotation.yaw - car.placed.rotation.yaw + math.degrees(item.yaw), 360
    ) == (pytest.approx(0, abs=0.1))


def test_box_in_the_picture_is_where_our_own_camera_sees_the_described_thing(server):
    scene = generate(*BIN)

    item, (annotation,) = scene.description.objects[0], scene.annotations
    camera = scene.description.camera
    assert camera.look_at[0] - camera.position[0] > 1.0  # it is turned to the right, by some degrees
    pinhole = Pinhole.of(camera, width=WIDTH, height=HEIGHT)
    x, y, _ = item.position
    height = item.parameters["height_m"] / 2 + 0.15 - 0.5  # on the curb; the car is half a metre up
    ((column, row, _),) = pinhole.project(np.array([[x, y, height]], np.float32)).tolist()
    left, top, right, bottom = annotation.amodal_box
    assert ((left + right) / 2, (top + bottom) / 2) == pytest.approx((column, row), abs=2.5)


def test_colour_picture_and_instances_are_of_the_same_frame(server):
    scene = generate(*ON_FOOT)

    walker = spawned(server, "walker.")[0]
    picture = np.array(Image.open(io.BytesIO(scene.image_png)))
    mask = decode_mask(scene.masks["pedestrian"], width=WIDTH, height=HEIGHT)
    colour = (90, 40, (walker.id & 0xFFFF) % 251)
    assert set(map(tuple, picture[mask].tolist())) == {colour}
    assert colour not in set(map(tuple, picture[~mask].tolist()))


def test_red_light_shows_red_to_the_cars_lane(server):
    scene = generate(*AT_LIGHT)

    light = next(one for one in scene.annotations if one.kind == "traffic_light")
    assert {state for _, state in server.world.light_states} == {"Red"}
    assert light.visible_pixels > 34
    assert not server.world.are_lights_frozen


def test_weather_of_the_set_is_that_of_the_world_and_of_the_provenance(server):
    scene = generate(*CHAIR)

    assert server.world.weather == carla.WeatherParameters.HardRainNoon
    assert scene.provenance["weather"] == str(carla.WeatherParameters.HardRainNoon)
    assert scene.description.environment["precipitation"] == 100.0


def test_green_light_is_green_for_the_cars_lane_only(server):
    generate("light_green", "cone")

    car = server.world.spawned[0].placed
    lane = server.world.map.get_waypoint(car.location)
    (own,) = lane.get_landmarks_of_type(60, "1000001")
    assert dict(server.world.light_states) == {
        number: "Green" if number == own.id else "Red" for number in ("200", "201", "202", "203")
    }


def test_junction_without_a_light_concept_has_dark_lights(server):
    generate("intersection_ego", "cone")

    assert {state for _, state in server.world.light_states} == {"Off"}


def test_wheelchair_is_asked_of_the_blueprint_and_of_no_other(server):
    generate(*CHAIR)

    values = {actor.type_id: actor.blueprint.values for actor in server.world.spawned}
    (walker,) = [one for name, one in values.items() if name.startswith("walker.")]
    assert walker["use_wheelchair"] == "true"
    assert "use_wheelchair" not in values["vehicle.tesla.model3"]


def test_things_without_physics_stand_on_the_ground_under_them(server):
    generate(*BIN)

    assert spawned(server, "static.")[0].placed.location.z == pytest.approx(0.15)


def test_nothing_stays_in_the_world_and_its_settings_come_back(server):
    generate(*AT_LIGHT)

    assert server.world.actors == []
    assert server.world.applied == [(True, 0.05), (False, None)]
    assert not server.world.get_settings().synchronous_mode


def test_town_of_the_set_is_loaded_once(server):
    made = carla_source(map="towns")
    for seed in (1, 2):
        scene = made.generate(DRIVING.canonical(("town02", "cone")), seed=seed)

    assert server.loaded == ["Town02"]
    assert (scene.description.world["map"], scene.description.world["town"]) == ("Town02", "town02")


def test_map_that_somebody_else_has_changed_is_loaded_again(server):
    made, other = carla_source(map="towns"), carla_source()
    key = DRIVING.canonical(("town02", "cone"))
    made.generate(key, seed=1)
    other.generate(DRIVING.canonical(ON_FOOT), seed=3)

    made.generate(key, seed=2)

    assert server.loaded == ["Town02", "OpenDriveMap", "Town02"]


def test_finished_scene_comes_from_the_cache_without_a_server(server, tmp_path):
    first = generate(*ON_FOOT, cache_dir=tmp_path)
    server.is_down = True

    again = generate(*ON_FOOT, cache_dir=tmp_path)

    assert (again.image_sha256, again.description.digest) == (first.image_sha256, first.description.digest)
    assert again.masks == first.masks


def test_identity_names_what_a_picture_depends_on_and_not_where_the_server_is():
    here = carla_source().identity

    assert here.startswith(
        "carla 0.9.16 scenic=3.1.1 lowering=1 map=crossing ego=vehicle.tesla.model3 settle=5 "
    )
    assert carla_source(port=3000).identity == here
    assert carla_source(map="towns").identity != here


def test_servers_that_write_ids_of_their_own_give_the_same_boxes(server):
    by_actor = generate(*ON_FOOT)
    server.writes_actor_ids = False

    assert generate(*ON_FOOT).annotations == by_actor.annotations
