"""The two stages of the presence check."""

from dataclasses import replace

import pytest

from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.core.scenes.kitchen_frame import COUNTER_HEIGHT
from vlmlab.core.scenes.render.embedded import EmbeddedBackend
from vlmlab.core.scenes.render.presence import (
    CHECK_HEIGHT,
    CHECK_WIDTH,
    THRESHOLDS,
    Visibility,
    check_pinhole,
    measure_visibility,
    projection_fault,
    visibility_fault,
)
from vlmlab.core.scenes.scene import Camera, SceneDescription, SceneObject


def scene_with(*objects):
    return SceneDescription(
        "driving", ("cone",), 1, 0, Camera((0, 0, 1.5), (0, 12, 0.6)), {"exposure": 0.55},
        {"town": "town01", "wetness": 0.0, "junction_distance": None, "appearance_seed": 1}, objects,
    )  # fmt: skip


def thing(kind, x, y, *, name="one"):
    return SceneObject(name, kind, (x, y, 0.0), 0.0, {"appearance_seed": 2}, kind, True)


def fault_of(*objects):
    return EmbeddedBackend().fault_or_render(scene_with(*objects), width=64, height=48, quality="fast")


@pytest.mark.parametrize(
    ("x", "y", "words"),
    [(0, -4, "behind"), (9, 6, "out of the frame"), (4.3, 7, "cut"), (0, 150, "too small")],
)
def test_projection_stage_rejects_what_the_frame_cannot_show(x, y, words):
    description = scene_with(thing("cyclist", x, y))
    mesh = EmbeddedBackend().build(description).meshes[0]

    fault = projection_fault(description.objects[0], mesh, check_pinhole(description))

    assert fault is not None
    assert words in fault


def test_projection_stage_lets_a_near_container_leave_the_frame():
    description = scene_with(thing("container", 0, 3.8))
    mesh = EmbeddedBackend().build(description).meshes[0]

    assert projection_fault(description.objects[0], mesh, check_pinhole(description)) is None


def test_a_thing_that_fills_its_share_of_the_frame_may_be_cut_by_it_and_a_smaller_one_may_not(monkeypatch):
    description = scene_with(thing("container", 0, 1.6))
    mesh = EmbeddedBackend().build(description).meshes[0]
    pinhole = check_pinhole(description)
    strict = replace(THRESHOLDS["container"], in_frame=0.99)

    monkeypatch.setitem(THRESHOLDS, "container", replace(strict, fills=0.15))
    assert projection_fault(description.objects[0], mesh, pinhole) is None

    monkeypatch.setitem(THRESHOLDS, "container", replace(strict, fills=1.01))
    assert projection_fault(description.objects[0], mesh, pinhole) == "container would be cut by the frame"


def test_a_hidden_object_is_rejected_with_its_name():
    fault = fault_of(thing("container", 0, 5, name="box"), thing("cone", 0, 14, name="cone"))

    assert isinstance(fault, str)
    assert fault.startswith("cone ")


def test_a_free_object_is_drawn():
    drawn = fault_of(thing("cone", 0, 6))

    assert not isinstance(drawn, str)
    assert drawn.image.shape == (48, 64, 3)


def test_measured_visibility_of_a_free_object_is_whole_and_of_a_hidden_one_none():
    description = scene_with(
        thing("cone", -1.2, 4.5, name="free"), thing("container", 0.0, 6, name="box"), thing("cone", 0, 14)
    )
    built = EmbeddedBackend().build(description)

    seen = measure_visibility(description.objects, built.meshes, built.geometry(), check_pinhole(description))

    assert seen["free"].fraction == pytest.approx(1.0, abs=0.03)
    assert seen["one"] == Visibility(0, 0.0)
    assert 0.5 < seen["box"].fraction < 1.0
    assert seen["box"].pixels < CHECK_WIDTH * CHECK_HEIGHT


def test_visibility_stage_has_thresholds_of_its_own_for_each_kind():
    small = Visibility(12, 0.9)

    assert visibility_fault(thing("cone", 0, 0), small) is None
    assert visibility_fault(thing("bus_stop", 0, 0), small) == "bus_stop shows only 12 pixels"
    assert visibility_fault(thing("cone", 0, 0), Visibility(200, 0.2)) == "cone is hidden to 80%"


def kitchen_with(*objects):
    camera = Camera((0.0, -1.6, 1.5), (0.0, -0.4, 1.0), fov=62.0)
    environment = {"indoor": True, "ambient": (0.4, 0.4, 0.4), "exposure": 0.7, "lamps": ()}
    return SceneDescription(
        "indoor", ("glass_upright",), 1, 0, camera, environment,
        {"room_seed": 1, "has_microwave": False}, objects,
    )  # fmt: skip


def in_kitchen(kind, x, y, z=COUNTER_HEIGHT):
    return SceneObject(kind, kind, (x, y, z), 0.0, {"appearance_seed": 2}, kind, is_required=True)


def measured(*objects):
    description = kitchen_with(*objects)
    built = EmbeddedBackend().build(description)
    return measure_visibility(objects, built.meshes, built.geometry(), check_pinhole(description))


def test_glass_and_water_count_where_they_are():
    seen = measured(in_kitchen("glass_upright", 0.0, -0.4), in_kitchen("wet_floor", 0.0, -1.2, 0.0))

    assert seen["glass_upright"].fraction == pytest.approx(1.0, abs=0.02)
    assert seen["glass_upright"].pixels > THRESHOLDS["glass_upright"].pixels
    assert visibility_fault(in_kitchen("glass_upright", 0.0, -0.4), seen["glass_upright"]) is None


def test_glass_hides_nothing_and_is_hidden_by_what_is_solid():
    bottle, block = in_kitchen("pill_bottle", 0.0, -0.25), in_kitchen("knife_block", 0.0, -0.5)

    behind_glass = measured(bottle, in_kitchen("glass_upright", 0.0, -0.45))
    behind_block = measured(in_kitchen("glass_upright", 0.0, -0.22), block)  # seen over its top

    assert behind_glass["pill_bottle"].fraction == pytest.approx(1.0, abs=0.02)
    assert behind_block["glass_upright"].fraction < 0.75


def test_every_kind_of_a_kitchen_has_a_threshold_of_its_own():
    kinds = {concept.id for concept in load_domain("indoor").concepts if concept.is_thing}

    assert kinds - set(THRESHOLDS) == set()


def test_fault_is_what_drawing_would_say():
    hidden = scene_with(thing("container", 0, 5, name="box"), thing("cone", 0, 14, name="cone"))
    backend = EmbeddedBackend()

    assert backend.fault(hidden) == backend.fault_or_render(hidden, width=64, height=48, quality="fast")
    assert backend.fault(scene_with(thing("cone", 0, 6))) is None
