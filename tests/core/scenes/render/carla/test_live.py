"""Opt-in: one scene of each kind on a real server; run with VLMLAB_CARLA_HOST=127.0.0.1 pytest -m carla."""

import os

import pytest

from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.core.scenes.render.backend_kinds import BackendContext
from vlmlab.core.scenes.render.carla.params import CarlaParams
from vlmlab.core.scenes.render.carla.source import make_carla_source
from vlmlab.core.suts.network import policy_of

HOST = os.environ.get("VLMLAB_CARLA_HOST", "")
PORT = int(os.environ.get("VLMLAB_CARLA_PORT", "2000"))
DRIVING = load_domain("driving")
pytestmark = [
    pytest.mark.carla,
    pytest.mark.skipif(not HOST, reason="VLMLAB_CARLA_HOST names no CARLA server"),
]
SETS = [
    ("town01", "cone"),
    ("town02", "pedestrian", "on_sidewalk", "far"),
    ("town01", "light_red"),
    ("town01", "light_green", "weather_hard_rain"),
    ("town02", "wheelchair_pedestrian", "weather_foggy"),
    ("town01", "chain_barrier_near", "debris_far"),
    ("town02", "emergency_vehicle", "far", "weather_wet"),
]


def made(**changes):
    params = CarlaParams(host=HOST, port=PORT, timeout_s=120, **changes)
    context = BackendContext(network=policy_of([f"{HOST}:{PORT}"]))
    return make_carla_source(DRIVING, params, context, width=640, height=480)


@pytest.mark.parametrize("ids", SETS, ids="+".join)
def test_every_required_thing_of_the_set_has_a_box_and_a_mask(ids, tmp_path):
    scene = made().generate(DRIVING.canonical(ids), seed=1)

    (tmp_path / "scene.png").write_bytes(scene.image_png)
    required = {item.id for item in scene.description.objects if item.is_required}
    assert {one.object_id for one in scene.annotations} == required
    assert set(scene.masks) == required


def test_our_own_crossing_can_be_built_by_the_server():
    scene = made(map="crossing").generate(DRIVING.canonical(("cone", "far")), seed=1)

    assert scene.description.world["map"] == "crossing"
