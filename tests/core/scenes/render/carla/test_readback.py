"""Boxes, masks and the presence check, on frames made by hand."""

import dataclasses

import numpy as np
import pytest

from vlmlab.core.scenes.render.carla.readback import presence_fault, project, read_annotations
from vlmlab.core.scenes.render.carla.shots import ActorSeen, Shot
from vlmlab.core.scenes.scene import Camera, SceneDescription, SceneObject

ROAD, WALKER, PROP, LIGHT = 1, 12, 20, 7


def corners(x, y, half=0.5, low=-1.5, high=0.5):
    """A box whose middle is x ahead and y to the right of the camera."""
    return np.array(
        [(x + a, y + b, z) for a in (-half, half) for b in (-half, half) for z in (low, high)], np.float64
    )


def shot(*actors, width=240, height=180, fov=90.0):
    tags = np.full((height, width), ROAD, np.uint8)
    return Shot(
        image=np.zeros((height, width, 3), np.uint8),
        tags=tags,
        instances=np.full((height, width), 9, np.uint16),
        actors=actors,
        fov=fov,
        frame=1,
        weather="",
    )


def paint(picture, tag, instance, *, rows, columns):
    picture.tags[rows, columns] = tag
    picture.instances[rows, columns] = instance


def description(*items):
    objects = tuple(
        SceneObject(concept, kind, (0, 0, 0), concept=concept, is_required=True) for concept, kind in items
    )
    return SceneDescription(
        "driving", tuple(one for one, _ in items), 1, 0, Camera((0, 0, 1.65), (0, 12, 1)), {}, {}, objects
    )


CONE = description(("cone", "cone"))


def test_projection_of_points_worked_by_hand():
    # 90 degrees: the focal length is half the width. 10 m ahead, 5 m right and 2 m up.
    pixels = project(np.array([[10.0, 5.0, 2.0], [10.0, -10.0, 0.0]]), fov=90, width=240, height=180)

    assert pixels.tolist() == [[pytest.approx(180.0), pytest.approx(66.0)], [pytest.approx(0.0), 90.0]]


def test_visible_box_is_of_the_actors_own_pixels_and_amodal_of_its_projected_box():
    picture = shot(ActorSeen("cone", 70_001, corners(10.5, 0.0), (0, 0, 0, 0)))
    paint(picture, PROP, 70_001 - 65_536, rows=slice(90, 105), columns=slice(115, 125))

    (annotation,), masks = read_annotations(CONE, picture)

    assert annotation.visible_box == (115.0, 90.0, 125.0, 105.0)
    # The near face is 10 m ahead: 0.5 m are 6 pixels, 1.5 m below are 18.
    assert annotation.amodal_box == pytest.approx((114.0, 84.0, 126.0, 108.0), abs=0.01)
    assert annotation.visible_pixels == 150 == masks["cone"].sum()
    assert annotation.visible_fraction == pytest.approx(150 / (12 * 24))


def test_scenery_with_the_same_low_bits_elsewhere_does_not_count():
    picture = shot(ActorSeen("cone", 300, corners(10.5, 0.0), (0, 0, 0, 0)))
    paint(picture, PROP, 300, rows=slice(90, 105), columns=slice(115, 125))
    paint(picture, 3, 300, rows=slice(0, 60), columns=slice(0, 60))

    (annotation,), _ = read_annotations(CONE, picture)

    assert annotation.visible_pixels == 150


def test_servers_that_write_ids_of_their_own_are_read_by_what_lies_in_the_box():
    picture = shot(ActorSeen("cone", 300, corners(10.5, 0.0), (0, 0, 0, 0)))
    paint(picture, PROP, 5_000, rows=slice(90, 105), columns=slice(115, 125))
    paint(picture, PROP, 6_000, rows=slice(60, 120), columns=slice(126, 240))  # reaches far out of the box

    (annotation,), _ = read_annotations(CONE, picture)

    assert annotation.visible_box == (115.0, 90.0, 125.0, 105.0)


def test_another_actors_pixels_are_never_taken():
    both = description(("cone", "cone"), ("pedestrian", "pedestrian"))
    picture = shot(
        ActorSeen("cone", 300, corners(12.0, 0.0), (0, 0, 0, 0)),
        ActorSeen("pedestrian", 301, corners(6.0, 0.0), (0, 0, 0, 0)),
    )
    paint(picture, WALKER, 301, rows=slice(80, 120), columns=slice(110, 130))

    annotations, masks = read_annotations(both, picture)

    assert [one.visible_box is None for one in annotations] == [True, False]
    assert not masks["cone"].any()
    assert presence_fault(both, annotations, picture) == "cone cannot be seen"


def test_pieces_of_one_thing_are_one_annotation():
    barrier = description(("chain_barrier_near", "chain_barrier"))
    picture = shot(
        ActorSeen("chain_barrier_near", 300, corners(5.5, -1.0), (0, 0, 0, 0)),
        ActorSeen("chain_barrier_near", 301, corners(5.5, 1.0), (0, 0, 0, 0)),
    )
    paint(picture, PROP, 300, rows=slice(95, 120), columns=slice(90, 105))
    paint(picture, PROP, 301, rows=slice(95, 120), columns=slice(135, 150))

    (annotation,), _ = read_annotations(barrier, picture)

    assert annotation.visible_box == (90.0, 95.0, 150.0, 120.0)
    assert annotation.visible_pixels == 2 * 25 * 15


def test_traffic_light_is_known_by_tag_and_id_wherever_its_arm_reaches():
    light = description(("light_red", "traffic_light"))
    picture = shot(ActorSeen("light_red", 800, np.zeros((0, 3)), (0, 0, 0, 0)))
    paint(picture, LIGHT, 800, rows=slice(20, 30), columns=slice(150, 160))
    paint(picture, LIGHT, 801, rows=slice(20, 30), columns=slice(200, 210))

    annotations, _ = read_annotations(light, picture)

    assert annotations[0].visible_box == annotations[0].amodal_box == (150.0, 20.0, 160.0, 30.0)
    assert presence_fault(light, annotations, picture) is None


@pytest.mark.parametrize(
    ("pixels", "scale", "fault"),
    [
        (8, 1, None),  # a cone needs 8 pixels of the check grid, 240 x 180
        (7, 1, "cone shows only 7 pixels"),
        (28, 2, "cone shows only 28 pixels"),  # four times as many at twice the size
    ],
)
def test_least_number_of_pixels_grows_with_the_picture(pixels, scale, fault):
    picture = shot(
        ActorSeen("cone", 300, corners(120.0, 0, half=0.1, low=-0.2, high=0.2), (0, 0, 0, 0)),
        width=240 * scale,
        height=180 * scale,
    )
    row, column = 90 * scale - max(1, pixels // 14), 120 * scale - 4
    for number in range(pixels):  # rows of eight
        paint(picture, PROP, 300, rows=row + number // 8, columns=column + number % 8)

    annotations, _ = read_annotations(CONE, picture)

    assert presence_fault(CONE, annotations, picture) == fault


def test_half_hidden_thing_is_a_fault_by_the_share_of_its_box():
    picture = shot(ActorSeen("cone", 300, corners(10.5, 0.0), (0, 0, 0, 0)))
    paint(picture, PROP, 300, rows=slice(90, 100), columns=slice(114, 120))  # 60 of 288 pixels of its box

    annotations, _ = read_annotations(CONE, picture)

    assert presence_fault(CONE, annotations, picture) == "cone is hidden to 79%"


def test_thing_behind_the_camera_has_no_annotation():
    picture = shot(ActorSeen("cone", 300, corners(-5.0, 0.0), (0, 0, 0, 0)))

    annotations, masks = read_annotations(CONE, picture)

    assert (annotations, masks) == ((), {})
    assert presence_fault(CONE, annotations, picture) == "cone cannot be seen"


def test_what_is_not_required_may_be_missing():
    optional = dataclasses.replace(CONE, objects=(dataclasses.replace(CONE.objects[0], is_required=False),))

    assert presence_fault(optional, (), shot()) is None
