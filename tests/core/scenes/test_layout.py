"""Objects of a scene stand on the road they belong to and not inside each other."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vlmlab.core.errors import GenerationError
from vlmlab.core.scenes import layout_search
from vlmlab.core.scenes.layout import (
    BUMPER_Y,
    EXTENTS,
    SIDEWALK_LEFT,
    SIDEWALK_RIGHT,
    Wish,
    hidden_from,
    overlaps,
    place,
    stands_in_side_street,
    surface_points,
)

unit = st.floats(0, 1, exclude_max=True)
draws_of_three = st.tuples(unit, unit, unit).map(np.array)


def wish(kind, placement="lane", low=4.0, high=6.0):
    return Wish(kind, kind, kind, "default", placement, low, high)


def put(kind, x, distance):
    """A placement with its centre at x; draws chosen for the calm range -0.35..0.35."""
    return place(
        wish(kind, low=distance, high=distance),
        np.array([0.0, (x + 0.35) / 0.7, 0.5]),
        crowding=0,
        lengthwise=False,
    )


def test_distance_is_from_the_bumper_to_the_nearest_point():
    item = put("cone", 0.0, 5.0)

    assert item.distance_m == 5.0
    assert item.box[2] == pytest.approx(BUMPER_Y + 5.0)
    assert item.position == pytest.approx((0.0, BUMPER_Y + 5.0 + 0.2, 0.0))


def test_lengthwise_container_is_as_long_as_it_was_wide():
    across = place(wish("container"), np.array([0.5, 0.5, 0.5]), crowding=1, lengthwise=False)
    along = place(wish("container"), np.array([0.5, 0.5, 0.5]), crowding=1, lengthwise=True)

    assert across.box[1] - across.box[0] == pytest.approx(along.box[3] - along.box[2])
    assert along.box[1] - along.box[0] == pytest.approx(2.6)


@given(st.sampled_from(sorted(EXTENTS)), draws_of_three, st.sampled_from([0, 1, 2]))
def test_lane_objects_reach_into_the_path_of_the_car(kind, draws, crowding):
    item = place(wish(kind), draws, crowding=crowding, lengthwise=kind == "container" and crowding > 0)

    assert item.box[0] < 0.95
    assert item.box[1] > -0.95
    assert 4.0 <= item.distance_m <= 6.0


@given(st.sampled_from(sorted(set(EXTENTS) - {"container", "debris", "chain_barrier"})), draws_of_three)
def test_sidewalk_objects_stand_wholly_on_the_sidewalk(kind, draws):
    item = place(wish(kind, "sidewalk"), draws, crowding=1, lengthwise=False)

    assert item.box[0] >= SIDEWALK_LEFT - 1e-3
    assert item.box[1] <= SIDEWALK_RIGHT + 1e-3
    assert item.position[2] == 0.15


def test_overlap_needs_both_directions():
    first = put("cone", 0.0, 5.0)

    assert overlaps(first, put("cone", 0.3, 5.0))
    assert not overlaps(first, put("cone", 0.0, 6.0))
    assert overlaps(first, first)


def test_loose_rubble_may_lie_against_a_container():
    assert not overlaps(put("debris", 0.0, 2.0), put("container", 0.0, 3.9))
    assert overlaps(put("debris", 0.0, 2.0), put("container", 0.0, 2.9))


def test_sidewalk_object_may_not_stand_where_the_side_street_crosses():
    item = place(
        wish("cone", "sidewalk", 15.0, 15.0), np.array([0.5, 0.5, 0.5]), crowding=0, lengthwise=False
    )

    assert stands_in_side_street(item, 11.0)
    assert not stands_in_side_street(item, 18.0)
    assert not stands_in_side_street(item, None)


def test_wall_hides_what_is_behind_it_and_below_its_edge_only():
    wall = np.array([[-1.0, 1.0, 4.0, 4.2, 2.0]])
    points = np.array([[0.0, 8.0, 1.0], [0.0, 8.0, 3.0], [0.0, 3.0, 1.0], [5.0, 8.0, 1.0]])

    hidden = hidden_from((0.0, 0.0, 1.5), points, boxes=wall)

    assert hidden[:, 0].tolist() == [True, False, False, False]


@given(st.lists(st.floats(-3, 3), min_size=6, max_size=6), st.floats(2, 20), st.floats(0.2, 3))
def test_hidden_from_agrees_with_walking_along_the_line_of_sight(numbers, far, height):
    x_first, x_second, y_first, y_second, x, z = numbers
    box = np.array(
        [
            [
                min(x_first, x_second),
                max(x_first, x_second) + 0.2,
                5 + min(y_first, y_second),
                5 + max(y_first, y_second) + 0.2,
                height,
            ]
        ]
    )
    eye, point = np.array([0.1, 0.0, 1.5]), np.array([x, far, abs(z)])

    walked = eye + np.linspace(0, 0.994, 4000)[:, None] * (point - eye)
    low = np.array([box[0, 0], box[0, 2], 0.0])
    high = np.array([box[0, 1], box[0, 3], box[0, 4]])
    grazing = ((walked > low - 0.02) & (walked < high + 0.02)).all(axis=1).any()
    inside = ((walked > low + 0.02) & (walked < high - 0.02)).all(axis=1).any()

    hidden = bool(hidden_from(tuple(eye), point[None], boxes=box)[0, 0])

    assert inside <= hidden <= grazing


def test_surface_points_lie_on_the_face_towards_the_camera():
    points = surface_points((-1.0, 1.0, 5.0, 9.0, 2.0))

    assert points.shape == (30, 3)
    assert set(points[:, 1]) == {5.0}
    assert points.min(axis=0)[0] > -1.0
    assert points.max(axis=0)[2] < 2.0


def test_what_cannot_fit_is_a_generation_error(monkeypatch):
    monkeypatch.setattr(layout_search, "overlaps", lambda first, second: True)

    with pytest.raises(GenerationError, match="do not fit side by side"):
        layout_search.find_layout(
            [wish("cone"), wish("pedestrian")], junction_range=None, has_light=False, seed=1, attempt=0
        )
