"""Lamps on scenes small enough to work out by hand."""

import numpy as np
import pytest

from vlmlab.core.scenes.render.atmosphere import Atmosphere, Lamp
from vlmlab.core.scenes.render.lamps import lamp_light, open_light
from vlmlab.core.scenes.render.mesh import paint
from vlmlab.core.scenes.render.primitives import quad
from vlmlab.core.scenes.render.shading import bounced_light
from vlmlab.core.scenes.render.tracer import Geometry
from vlmlab.core.seeding import rng_for

UP = np.array([[0, 0, 1]], np.float32)
ORIGIN = np.array([[0, 0, 0.01]], np.float32)
OVERHEAD = Lamp((0, 0, 2.01), (4.0, 2.0, 1.0), 0.0)
FLOOR = quad((0, 0, 0), (5, 0, 0), (0, 5, 0), paint(0.5))


def light_at(scene, *lamps, shadow_rays=4):
    return lamp_light(scene, lamps, ORIGIN, UP, UP, rng=rng_for(1, "test"), shadow_rays=shadow_rays)


def test_light_falls_with_the_square_of_the_distance():
    near = open_light((OVERHEAD,), ORIGIN, UP)[0]
    far = open_light((Lamp((0, 0, 4.01), (4.0, 2.0, 1.0), 0.0),), ORIGIN, UP)[0]

    np.testing.assert_allclose(near, [1.0, 0.5, 0.25], rtol=1e-5)
    np.testing.assert_allclose(far, near / 4, rtol=1e-5)


def test_a_lamp_at_an_angle_gives_its_cosine_and_one_behind_nothing():
    slanted = Lamp((2.0, 0, 2.01), (4.0, 4.0, 4.0), 0.0)
    below = Lamp((0, 0, -2.0), (4.0, 4.0, 4.0), 0.0)

    np.testing.assert_allclose(open_light((slanted,), ORIGIN, UP)[0], 4 / 8 * np.sqrt(0.5), rtol=1e-5)
    np.testing.assert_array_equal(open_light((below,), ORIGIN, UP)[0], 0)


def test_a_roof_hides_a_lamp_above_it_and_not_one_below():
    roof = quad((0, 0, 1.5), (1, 0, 0), (0, 1, 0), paint(0.5))
    scene = Geometry([(FLOOR, 0), (roof, 1)])
    low = Lamp((0, 0, 1.01), (1.0, 1.0, 1.0), 0.0)

    hidden, _ = light_at(scene, OVERHEAD)
    free, towards = light_at(scene, low)

    np.testing.assert_array_equal(hidden[0], 0)
    np.testing.assert_allclose(free[0], 1, rtol=1e-5)
    np.testing.assert_allclose(towards[0], [0, 0, 1], atol=1e-6)


def test_one_of_two_equal_lamps_in_shadow_leaves_half_the_light():
    wall = quad((-0.5, 0, 0.5), (0, 1, 0), (0, 0, 0.5), paint(0.5))
    scene = Geometry([(FLOOR, 0), (wall, 1)])
    pair = (Lamp((-1, 0, 1.01), (2.0, 2.0, 2.0), 0.0), Lamp((1, 0, 1.01), (2.0, 2.0, 2.0), 0.0))

    light, _ = light_at(scene, *pair, shadow_rays=4)

    np.testing.assert_allclose(light[0], open_light(pair[:1], ORIGIN, UP)[0], rtol=1e-5)


def test_a_flame_lights_what_is_near_but_not_by_way_of_other_things():
    flame = Lamp((0, 0, 0.3), (0.02, 0.05, 0.14), 0.05)

    direct, _ = light_at(Geometry([(FLOOR, 0)]), flame)

    assert direct[0, 2] > 1.0
    np.testing.assert_array_equal(open_light((flame,), ORIGIN, UP), 0)


def test_bounced_light_of_a_room_is_what_its_lamps_give_the_surface():
    room = Atmosphere(indoor=True, ambient=(0.0, 0.0, 0.0), lamps=(0, 0, 2, 4.0, 4.0, 4.0, 0.0))
    floor = quad((0, 0, 0), (5, 0, 0), (0, 5, 0), paint(0.5, reflectance=0.0))

    seen = bounced_light(
        Geometry([(floor, 0)]), room, np.array([[0, 0, 1]], np.float32), -UP, with_clouds=False
    )

    np.testing.assert_allclose(seen[0], 0.5 * 1.0 * 0.6, rtol=1e-5)


def test_a_room_has_no_sun_and_its_way_out_is_ambient():
    room = Atmosphere(indoor=True, ambient=(0.4, 0.3, 0.2), sun=(3.0, 3.0, 3.0))

    assert not room.has_sun
    np.testing.assert_allclose(room.sky(UP)[0], [0.4, 0.3, 0.2], rtol=1e-6)


@pytest.mark.parametrize(("numbers", "count"), [((), 0), ((1.0,) * 7, 1), ((1.0,) * 14, 2)])
def test_lamps_come_seven_numbers_each(numbers, count):
    assert len(Atmosphere(lamps=numbers).lamp_table()) == count
