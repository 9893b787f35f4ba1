"""The two stages of the presence check."""

import pytest

from vlmlab.core.scenes.render.embedded import EmbeddedBackend
from vlmlab.core.scenes.render.presence import (
    CHECK_HEIGHT,
    CHECK_WIDTH,
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
