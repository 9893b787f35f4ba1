"""The two towns of the driving domain differ in everything that stands still."""

import numpy as np
import pytest

from vlmlab.core.scenes.layout import SIDEWALK_RIGHT
from vlmlab.core.scenes.render.town import ROAD_LEFT, ROAD_RIGHT, SIDEWALK_WIDTH, build_town

SEEDS = range(4)


def town(name, seed=1, **world):
    return build_town({"town": name, "appearance_seed": seed, "wetness": 0.0, **world})


def colour_under(mesh, x, y):
    """Return the mean colour of the highest level face over a point of the ground."""
    low, high = mesh.corners.min(1), mesh.corners.max(1)
    over = (low[:, 0] < x) & (x < high[:, 0]) & (low[:, 1] < y) & (y < high[:, 1])
    level = over & (high[:, 2] - low[:, 2] < 1e-4)
    top = np.nonzero(level)[0][high[level, 2].argmax()]
    material = mesh.materials[mesh.material_of[top]]
    picture = np.array(material.texture.mean) if material.texture else np.ones(3)
    return np.array(material.albedo) * picture


@pytest.mark.parametrize("seed", SEEDS)
def test_the_road_of_town_1_is_lighter_and_warmer(seed):
    first, second = (colour_under(town(name, seed), 0.0, 8.0) for name in ("town01", "town02"))

    assert first.mean() > 1.1 * second.mean()
    assert first[0] / first[2] > 1.1 * second[0] / second[2]


@pytest.mark.parametrize("seed", SEEDS)
def test_sidewalks_are_grey_in_town_1_and_red_in_town_2(seed):
    first, second = (colour_under(town(name, seed), ROAD_RIGHT + 2.0, 8.0) for name in ("town01", "town02"))

    assert first[0] < 1.15 * first[2]
    assert second[0] > 1.7 * second[2]


@pytest.mark.parametrize("name", ["town01", "town02"])
def test_nothing_of_a_town_stands_on_the_road_or_where_objects_of_the_sidewalk_stand(name):
    mesh = town(name, junction_distance=14.0)

    standing = mesh.corners[:, :, 2].max(1) > 0.3
    across = mesh.corners[standing][:, :, 0]

    assert across[across > 0].min() >= SIDEWALK_RIGHT - 0.2
    assert across[across < 0].max() <= ROAD_LEFT - SIDEWALK_WIDTH + 0.2


def test_shops_and_hedges_leave_the_side_street_of_a_junction_open():
    for name in ("town01", "town02"):
        mesh = town(name, junction_distance=12.0)
        standing = mesh.corners[mesh.corners[:, :, 2].max(1) > 0.3]
        y = standing[:, :, 1]

        assert not ((y.min(1) < 20.0) & (y.max(1) > 15.5)).any()
