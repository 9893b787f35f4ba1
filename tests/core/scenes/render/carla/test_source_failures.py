"""Scenes that a CARLA server does not give: it is away, busy or late, refuses, or nothing fits."""

import dataclasses
import fcntl
import queue
from types import SimpleNamespace

import pytest

from tests.core.scenes.render.carla import fake_world
from tests.core.scenes.render.carla.paper_scenes import (
    AT_LIGHT,
    BIN,
    DRIVING,
    HEIGHT,
    NETWORK,
    ON_FOOT,
    WIDTH,
    carla_source,
    generate,
)
from vlmlab.core.errors import ConceptError, DrawingStoppedError, GenerationError, SourceAwayError
from vlmlab.core.scenes.render.backend_kinds import BackendContext
from vlmlab.core.scenes.render.carla import session, simulation
from vlmlab.core.scenes.render.carla.params import CarlaParams
from vlmlab.core.scenes.render.carla.source import make_carla_source


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


def test_invalid_set_is_refused_before_anything_is_asked(server):
    with pytest.raises(ConceptError):
        carla_source().generate(("far",), seed=1)

    assert server.loaded == []


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
    params = CarlaParams(map="crossing", settle_ticks=5, timeout_s=60)
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
        patch.setattr(fake_world.World, "set_weather", lost)
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
        "None of 8 layouts shows all of “Pedestrian”, “on sidewalk”, “far”: "
        "two things collide when they are put into the world (8x)."
    )
    assert server.world.actors == []


def test_thing_that_cannot_be_seen_is_tried_again_and_named(server):
    server.invisible = {one for one in server.blueprints if one.startswith("walker.")}

    with pytest.raises(GenerationError, match=r"“Pedestrian” cannot be seen \(8x\)"):
        generate(*ON_FOOT)


def test_junction_without_a_light_for_the_lane_is_tried_again_and_named(server):
    server.has_lights = False

    with pytest.raises(GenerationError, match=r"no traffic light hangs before the junction \(8x\)"):
        generate(*AT_LIGHT)


def _impatient(order_of):
    def impatient(self, *arguments):
        return dataclasses.replace(order_of(self, *arguments), timeout_s=0.2)

    return impatient
