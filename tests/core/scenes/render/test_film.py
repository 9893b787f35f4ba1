"""The way from linear light to the picture."""

from dataclasses import replace

import numpy as np

from vlmlab.core.scenes.render.atmosphere import Atmosphere
from vlmlab.core.scenes.render.film import develop
from vlmlab.core.scenes.render.tracing import Film
from vlmlab.core.seeding import rng_for

HEIGHT, WIDTH = 60, 80


def film_of(level, *, glow=0.0):
    pixels = np.arange(HEIGHT * WIDTH)
    light = np.full((HEIGHT, WIDTH, 3), level, np.float32)
    spot = np.zeros((HEIGHT, WIDTH, 3), np.float32)
    spot[HEIGHT // 2, WIDTH // 2, 0] = glow
    return Film(light + spot, spot, pixels, np.zeros_like(pixels), np.ones_like(pixels))


def developed(film, **air):
    return develop(film, replace(Atmosphere(), **air), rng=rng_for(1, "film")).astype(int)


def test_black_stays_black_and_more_light_is_brighter():
    levels = [developed(film_of(level)).mean() for level in (0.0, 0.05, 0.2, 0.8, 5.0)]

    assert levels[0] < 3
    assert levels == sorted(levels)
    assert levels[-1] > 235


def test_corners_are_a_little_darker_than_the_middle():
    picture = developed(film_of(0.4))

    assert picture[:6, :6].mean() < picture[27:33, 37:43].mean() - 1


def test_what_glows_lights_its_surroundings_in_its_own_colour():
    plain, glowing = developed(film_of(0.1)), developed(film_of(0.1, glow=60.0))

    near = np.s_[HEIGHT // 2 + 2, WIDTH // 2]
    assert glowing[near][0] > plain[near][0] + 5
    assert abs(glowing[near][2] - plain[near][2]) <= 2


def test_rain_covers_more_of_the_picture_the_harder_it_falls():
    bright = [(developed(film_of(0.02), rain=rain) > 60).any(-1).mean() for rain in (0.0, 0.35, 1.0)]

    assert bright[0] == 0
    assert 0.005 < bright[1] < bright[2] < 0.6


def test_coverage_is_the_share_of_a_pixels_rays():
    pixels = np.array([0, 1, 1, 1, 1])
    objects = np.array([2, 2, 2, 5, -1])
    film = Film(
        np.zeros((1, 2, 3), np.float32), np.zeros((1, 2, 3), np.float32), pixels, objects, np.array([1, 4])
    )

    np.testing.assert_allclose(film.coverage(2), [[1.0, 0.5]])
    np.testing.assert_allclose(film.coverage(5), [[0.0, 0.25]])
