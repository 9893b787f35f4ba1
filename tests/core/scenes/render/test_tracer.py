"""Ray casting and lighting on scenes small enough to work out by hand."""

import numpy as np
import pytest

from vlmlab.core.scenes.render.atmosphere import Atmosphere
from vlmlab.core.scenes.render.mesh import Material, paint
from vlmlab.core.scenes.render.primitives import box, quad
from vlmlab.core.scenes.render.shading import bounced_light, light_surface, read_surface
from vlmlab.core.scenes.render.tracer import FAR_AWAY, SKY, Geometry, LoneObject
from vlmlab.core.seeding import rng_for

DOWN = np.array([[0, 0, -1]], np.float32)
UP = np.array([[0, 0, 1]], np.float32)
OVERHEAD = Atmosphere(sun_dir=(0, 0, 1), sun=(2, 2, 2), sun_soft=0.0, cloud=0.0)


def floor(material=None):
    return quad((0, 0, 0), (5, 0, 0), (0, 5, 0), material or paint(0.5, reflectance=0.0))


def point(x, y, z):
    return np.array([[x, y, z]], np.float32)


def test_first_hits_measure_the_way_to_the_nearest_surface():
    scene = Geometry([(floor(), 0), (box((1, 1, 1), paint(0.5), centre=(2, 2, 0.5)), 1)])

    free = scene.first_hits(point(0, 0, 3), DOWN)
    lid = scene.first_hits(point(2.1, 2.2, 3), DOWN)
    sky = scene.first_hits(point(0, 0, 3), UP)

    assert free.distance[0] == pytest.approx(3.0)
    assert scene.object_of[free.triangle[0]] == 0
    assert lid.distance[0] == pytest.approx(2.0)
    assert scene.object_of[lid.triangle[0]] == 1
    assert sky.triangle[0] == SKY


def test_see_through_layers_are_hit_first_but_cast_no_shadow():
    pane = quad((0, 0, 1), (5, 0, 0), (0, 5, 0), Material((1, 1, 1), opacity=0.2))
    scene = Geometry([(floor(), 0), (pane, 1)])

    seen = scene.first_hits(point(0, 0, 3), DOWN)

    assert scene.object_of[seen.triangle[0]] == 1
    assert seen.distance[0] == pytest.approx(2.0)
    assert scene.first_solid(point(0, 0, 3), DOWN).distance[0] == pytest.approx(3.0)
    assert not scene.in_shadow(point(0, 0, 0.01), UP)[0]


def test_something_solid_overhead_casts_a_shadow():
    scene = Geometry([(floor(), 0), (box((1, 1, 1), paint(0.5), centre=(2, 2, 2)), 1)])

    assert scene.in_shadow(point(2, 2, 0.01), UP)[0]
    assert not scene.in_shadow(point(-2, 2, 0.01), UP)[0]


def light_at(scene, atmosphere):
    """Return surface and light where a ray from 3 m above the origin falls."""
    hits = scene.first_hits(point(0.1, 0.2, 3), DOWN)
    surface = read_surface(scene, hits, DOWN, hits.distance, pixel_size=0.002)
    light = light_surface(
        scene, atmosphere, surface, points=point(0.1, 0.2, 0.002), directions=DOWN,
        rng=rng_for(1, "test"), sun_rays=2, with_bounce=True,
    )  # fmt: skip
    return surface, light


def test_a_floor_under_the_sun_gets_all_of_it_and_none_under_a_roof():
    roof = quad((0, 0, 2), (4, 0, 0), (0, 4, 0), paint(0.0)).moved(0, 0, 2)

    _, free = light_at(Geometry([(floor(), 0)]), OVERHEAD)
    hits = Geometry([(floor(), 0), (roof, 1)])
    shadowed = hits.in_shadow(point(0.1, 0.2, 0.01), UP)

    np.testing.assert_allclose(free.direct, [[2, 2, 2]], rtol=1e-5)
    assert shadowed[0]


def test_a_slanted_sun_gives_the_cosine_of_its_height():
    slanted = Atmosphere(sun_dir=(0, 0.6, 0.8), sun=(1, 1, 1), sun_soft=0.0, cloud=0.0)

    _, light = light_at(Geometry([(floor(), 0)]), slanted)

    np.testing.assert_allclose(light.direct, [[0.8, 0.8, 0.8]], rtol=1e-5)


def test_normals_always_face_the_ray():
    upside_down = quad((0, 0, 0), (5, 0, 0), (0, -5, 0), paint(0.5))

    surface, _ = light_at(Geometry([(upside_down, 0)]), OVERHEAD)

    np.testing.assert_allclose(surface.normal, [[0, 0, 1]], atol=1e-6)


def test_what_glows_has_no_colour_of_its_own():
    lamp = paint(0.3, 0.3, 0.3, emission=(4, 0, 0))

    surface, _ = light_at(Geometry([(floor(lamp), 0)]), OVERHEAD)

    np.testing.assert_allclose(surface.emission, [[4, 0, 0]])
    np.testing.assert_allclose(surface.albedo, [[0, 0, 0]])


def test_a_mirror_shows_the_sky_above_it():
    mirror = Material((0, 0, 0), reflectance=1.0, roughness=0.0)
    dark_sky = Atmosphere(sun=(0, 0, 0), zenith=(0.2, 0.4, 0.9), cloud=0.0)

    _, light = light_at(Geometry([(floor(mirror), 0)]), dark_sky)

    np.testing.assert_allclose(light.specular, dark_sky.sky(UP), rtol=1e-3)


def test_light_from_the_sky_is_what_the_sky_function_says():
    scene = Geometry([(floor(), 0)])

    seen = bounced_light(scene, OVERHEAD, point(0, 0, 1), UP, with_clouds=False)

    np.testing.assert_allclose(seen, OVERHEAD.sky(UP, with_clouds=False))


def test_sky_goes_from_the_horizon_colour_to_the_zenith_colour():
    air = Atmosphere(cloud=0.0, horizon=(1, 0, 0), zenith=(0, 0, 1))

    colours = air.sky(np.array([[0, 1, 0], [0, 0, 1]], np.float32))

    np.testing.assert_allclose(colours, [[1, 0, 0], [0, 0, 1]], atol=1e-6)


def test_atmosphere_reads_its_own_entries_and_leaves_the_rest():
    air = Atmosphere.of({"fog": 0.04, "sun": [1, 2, 3], "weather": "weather_foggy", "unknown": None})

    assert air == Atmosphere(fog=0.04, sun=(1, 2, 3))


def test_lone_object_says_how_far_it_is_whatever_stands_in_front_elsewhere():
    alone = LoneObject(box((1, 1, 1), paint(0.5)))

    distances = alone.distances(np.repeat(point(0, 0, 3), 2, 0), np.concatenate([DOWN, UP]))

    # Embree rounds the last bit of a 32-bit distance as the processor does.
    one_bit = float(np.finfo(np.float32).eps)
    assert distances.tolist() == [pytest.approx(2.5, rel=one_bit, abs=0.0), float(FAR_AWAY)]
