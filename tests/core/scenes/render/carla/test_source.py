"""A whole scene over the boundary: Scenic's own simulator, the real client's values, a server on paper.

The server refuses unknown blueprints, wrong units and the wrong handedness; the last tests break our code on
purpose, to see that it does.
"""

import dataclasses
import fcntl
import io
import json
import math
import queue
from types import SimpleNamespace

import carla
import numpy as np
import pytest
from PIL import Image
from scenic.simulators.carla.utils import utils as scenic_utils

from tests.core.scenes.render.carla import fake_carla
from tests.core.scenes.render.carla.fake_carla import RefusedError, in_front_of
from vlmlab.core.errors import ConceptError, DrawingStoppedError, GenerationError, SourceAwayError
from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.core.scenes.masks import decode_mask
from vlmlab.core.scenes.render.backend_kinds import BackendContext
from vlmlab.core.scenes.render.camera import Pinhole
from vlmlab.core.scenes.render.carla import lowering, session, simulation
from vlmlab.core.scenes.render.carla.params import CarlaParams
from vlmlab.core.scenes.render.carla.source import make_carla_source
from vlmlab.core.scenes.render.carla.weathers import CarlaWeather
from vlmlab.core.suts.network import policy_of

DRIVING = load_domain("driving")
NETWORK = policy_of(["127.0.0.1:2000"])
WIDTH, HEIGHT = 320, 240
ON_FOOT = ("pedestrian", "on_sidewalk", "far")
BIN = ("garbage_bin", "on_sidewalk")
AT_LIGHT = ("light_red", "cone")
CHAIR = ("wheelchair_pedestrian", "weather_hard_rain")


def carla_source(*, cache_dir=None, **changes):
    params = CarlaParams(**{"map": "crossing", "settle_ticks": 5, "timeout_s": 5, **changes})
    context = BackendContext(network=NETWORK, cache_dir=cache_dir)
    return make_carla_source(DRIVING, params, context, width=WIDTH, height=HEIGHT)


def generate(*ids, seed=3, **changes):
    return carla_source(**changes).generate(DRIVING.canonical(ids), seed=seed)


def spawned(server, prefix):
    return [actor for actor in server.world.spawned if actor.type_id.startswith(prefix)]


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


def test_processes_take_turns_at_one_server(server, tmp_path, monkeypatch):
    folder = tmp_path / "locks"
    holds = []

    def photograph(self, *arguments, **options):
        lock = (folder / "carla-127.0.0.1-2000.lock").open("a")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holds.append("kept off")
        raise SourceAwayError("enough seen")

    monkeypatch.setattr(session.CarlaSession, "photograph", photograph)
    with pytest.raises(SourceAwayError, match="enough seen"):
        generate(*ON_FOOT, cache_dir=folder)

    assert holds == ["kept off"]
    with (folder / "carla-127.0.0.1-2000.lock").open("a") as free:
        fcntl.flock(free, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_who_waits_for_the_server_gives_signs_of_life_and_ends_when_told_to(server, tmp_path, monkeypatch):
    monkeypatch.setattr(session, "WAIT_S", 0)
    signs = []
    context = BackendContext(
        network=NETWORK,
        cache_dir=tmp_path,
        should_stop=lambda: len(signs) > 3,
        on_progress=lambda: signs.append("alive"),
    )
    made = make_carla_source(DRIVING, CarlaParams(map="crossing"), context, width=WIDTH, height=HEIGHT)

    with (tmp_path / "carla-127.0.0.1-2000.lock").open("a") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(DrawingStoppedError):
            made.generate(DRIVING.canonical(ON_FOOT), seed=3)

    assert signs == ["alive"] * 4
    assert server.loaded == []


def test_server_without_towns_is_told_what_else_there_is(server):
    server.maps = ("/Game/Carla/Maps/Town10HD",)

    with pytest.raises(GenerationError, match="has no map Town01") as missing:
        generate("town01", "cone", map="towns")

    assert "our own crossing" in missing.value.hint


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


def test_invalid_set_is_refused_before_anything_is_asked(server):
    with pytest.raises(ConceptError):
        carla_source().generate(("far",), seed=1)

    assert server.loaded == []


def test_servers_that_write_ids_of_their_own_give_the_same_boxes(server):
    by_actor = generate(*ON_FOOT)
    server.writes_actor_ids = False

    assert generate(*ON_FOOT).annotations == by_actor.annotations


def test_late_camera_is_an_error_with_advice_and_leaves_nothing_behind(server, monkeypatch):
    server.late = "sensor.camera.instance_segmentation"
    monkeypatch.setattr(session.CarlaSession, "_order", _impatient(session.CarlaSession._order))

    with pytest.raises(GenerationError, match=r"did not deliver frame \d+") as late:
        generate(*ON_FOOT)

    assert "more time" in late.value.hint
    assert not isinstance(late.value, SourceAwayError)
    assert server.world.actors == []
    assert server.world.applied[-1] == (False, None)


def test_newer_frame_means_that_the_wanted_one_never_comes():
    arrived = queue.Queue()
    for frame in (1, 3, 2):
        arrived.put(SimpleNamespace(frame=frame))

    with pytest.raises(GenerationError, match="did not deliver frame 2"):
        simulation._picture_of(2, arrived, 5)

    assert arrived.get_nowait().frame == 2


def test_order_to_stop_ends_between_attempts_and_each_gives_a_sign_of_life(server):
    server.collides = {one for one in server.blueprints if one.startswith("walker.")}
    signs = []
    params = CarlaParams(map="crossing", settle_ticks=5, timeout_s=5)
    context = BackendContext(
        network=NETWORK, should_stop=lambda: len(signs) > 3, on_progress=lambda: signs.append("alive")
    )
    made = make_carla_source(DRIVING, params, context, width=WIDTH, height=HEIGHT)

    with pytest.raises(DrawingStoppedError, match="asked to stop before the scene was made"):
        made.generate(DRIVING.canonical(ON_FOOT), seed=3)

    assert len(signs) == 4
    assert server.world.applied == [(True, 0.05), (False, None)] * 2


def test_server_that_stops_answering_halts_the_run(server):
    made = carla_source()
    made.generate(DRIVING.canonical(ON_FOOT), seed=3)
    server.is_down = True

    with pytest.raises(SourceAwayError, match="stopped answering"):
        made.generate(DRIVING.canonical(ON_FOOT), seed=4)

    server.is_down = False
    made.generate(DRIVING.canonical(ON_FOOT), seed=4)  # connects anew
    assert server.loaded == ["OpenDriveMap", "OpenDriveMap"]


def test_server_lost_while_a_scene_is_put_up_leaves_scenic_able_to_go_on(server, monkeypatch):
    def lost(self, weather):
        raise RuntimeError("time-out of 5000ms while waiting for the simulator")

    with monkeypatch.context() as patch:
        patch.setattr(fake_carla.World, "set_weather", lost)
        with pytest.raises(SourceAwayError):
            generate(*ON_FOOT)

    assert generate(*BIN).annotations  # another program: Scenic's global state must be free again


def test_unknown_blueprint_is_an_error_that_names_it(server):
    server.blueprints -= {"vehicle.tesla.model3"}

    with pytest.raises(GenerationError) as unknown:
        generate(*ON_FOOT)

    assert unknown.value.message == "The CARLA server has no blueprint vehicle.tesla.model3."
    assert server.world.actors == []


def test_collision_at_the_spot_is_tried_elsewhere_and_counted(server):
    server.collides = {actor for actor in server.blueprints if actor.startswith("walker.")}

    with pytest.raises(GenerationError) as failed:
        generate(*ON_FOOT)

    assert failed.value.message == (
        "None of 8 layouts shows all of pedestrian, on_sidewalk, far: "
        "two things collide when they are put into the world (8x)."
    )
    assert server.world.actors == []


def test_thing_that_cannot_be_seen_is_tried_again_and_named(server):
    server.invisible = {one for one in server.blueprints if one.startswith("walker.")}

    with pytest.raises(GenerationError, match=r"pedestrian cannot be seen \(8x\)"):
        generate(*ON_FOOT)


def test_junction_without_a_light_for_the_lane_is_tried_again_and_named(server):
    server.has_lights = False

    with pytest.raises(GenerationError, match=r"no traffic light hangs before the junction \(8x\)"):
        generate(*AT_LIGHT)


def _impatient(order_of):
    def impatient(self, *arguments):
        return dataclasses.replace(order_of(self, *arguments), timeout_s=0.2)

    return impatient


def _without_flip(position, **_):
    return carla.Location(position.x, position.y, 0.5)


def _in_centimetres(position, **_):
    return carla.Location(position.x * 100, -position.y * 100, 0.5)


def _counter_clockwise(orientation):
    return carla.Rotation(yaw=math.degrees(orientation.yaw) + 90)


def _in_radians(orientation):
    return carla.Rotation(yaw=-orientation.yaw - math.pi / 2)


@pytest.mark.parametrize(
    ("function", "broken"),
    [
        ("scenicToCarlaLocation", _without_flip),
        ("scenicToCarlaLocation", _in_centimetres),
        ("scenicToCarlaRotation", _counter_clockwise),
        ("scenicToCarlaRotation", _in_radians),
    ],
)
def test_wrong_units_or_handedness_of_places_and_turns_are_refused(server, monkeypatch, function, broken):
    monkeypatch.setattr(scenic_utils, function, broken)

    with pytest.raises(RefusedError):
        generate(*ON_FOOT)


@pytest.mark.parametrize(
    "broken",
    [
        lambda mount: dataclasses.replace(mount, x=mount.x * 100, z=mount.z * 100),
        lambda mount: dataclasses.replace(mount, yaw=mount.yaw + 90),
    ],
    ids=["centimetres", "scenic's zero"],
)
def test_camera_in_wrong_units_or_of_another_frame_is_refused(server, monkeypatch, broken):
    mount = session.camera_mount
    monkeypatch.setattr(session, "camera_mount", lambda camera: broken(mount(camera)))

    with pytest.raises(RefusedError):
        generate(*ON_FOOT)


def test_reach_of_traffic_lights_in_wrong_units_is_refused(server, monkeypatch):
    monkeypatch.setattr(simulation, "LIGHT_REACH_M", simulation.LIGHT_REACH_M * 100)

    with pytest.raises(RefusedError, match="within metres"):
        generate(*AT_LIGHT)


def test_weather_in_wrong_units_is_refused(server, monkeypatch):
    wrong = {name: CarlaWeather(cloudiness=500.0) for name in lowering.CARLA_WEATHERS}
    monkeypatch.setattr(lowering, "CARLA_WEATHERS", wrong)

    with pytest.raises(RefusedError, match="cloudiness is a percentage, got 500"):
        generate(*ON_FOOT)


def test_sideways_correction_of_a_thing_on_the_ground_is_refused(server, monkeypatch):
    rotation = scenic_utils.scenicToCarlaRotation
    calls = []

    def second_is_wrong(orientation):
        calls.append(orientation)
        return rotation(orientation) if len(calls) < 3 else carla.Rotation(yaw=12.0)

    monkeypatch.setattr(scenic_utils, "scenicToCarlaRotation", second_is_wrong)

    with pytest.raises(RefusedError, match="is turned when it is put on the ground"):
        generate(*BIN)
