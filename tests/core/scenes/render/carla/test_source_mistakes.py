"""Our code broken on purpose: the server on paper refuses wrong units and the wrong handedness."""

import dataclasses
import math

import carla
import pytest
from scenic.simulators.carla.utils import utils as scenic_utils

from tests.core.scenes.render.carla.fake_actors import RefusedError
from tests.core.scenes.render.carla.paper_scenes import (
    AT_LIGHT,
    BIN,
    ON_FOOT,
    generate,
)
from vlmlab.core.scenes.render.carla import lowering, session, simulation
from vlmlab.core.scenes.render.carla.weathers import CarlaWeather


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
