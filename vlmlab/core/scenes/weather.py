"""Light, sky and road of each weather of the driving domain."""

import math
from dataclasses import dataclass, field

from vlmlab.core.scenes.scene import Parameter
from vlmlab.core.seeding import rng_for

Rgb = tuple[float, float, float]
Environment = dict[str, Parameter | tuple[float, ...]]


@dataclass(frozen=True)
class Weather:
    """One weather: linear RGB light values and what it does to the road.

    Attributes:
        sun: radiance of the sun; small values make soft or no shadows.
        zenith, horizon: sky colours.
        cloud: cloud cover in [0, 1]; ``cloud_col`` its colour.
        fog: extinction per metre; ``fog_col`` its colour.
        rain: density of streaks in [0, 1].
        exposure: factor before tone mapping.
        wetness: of the road, in [0, 1].
    """

    sun: Rgb = (2.6, 2.45, 2.2)
    zenith: Rgb = (0.25, 0.45, 0.85)
    horizon: Rgb = (0.75, 0.85, 0.95)
    cloud: float = 0.25
    cloud_col: Rgb = (1.0, 1.0, 1.0)
    fog: float = 0.0012
    fog_col: Rgb = (0.75, 0.78, 0.8)
    rain: float = 0.0
    exposure: float = 0.55
    wetness: float = field(default=0.0)


WEATHERS = {
    "weather_clear_noon": Weather(),
    "weather_cloudy": Weather(
        sun=(0.25, 0.25, 0.25),
        zenith=(0.52, 0.55, 0.6),
        horizon=(0.66, 0.68, 0.7),
        cloud=1.0,
        cloud_col=(0.62, 0.64, 0.67),
        exposure=0.85,
    ),
    "weather_wet": Weather(sun=(2.0, 1.9, 1.8), zenith=(0.4, 0.5, 0.7), cloud=0.6, wetness=1.0),
    "weather_soft_rain": Weather(
        sun=(0.5, 0.48, 0.42),
        zenith=(0.5, 0.53, 0.58),
        horizon=(0.68, 0.68, 0.66),
        cloud=1.0,
        cloud_col=(0.62, 0.63, 0.65),
        fog=0.004,
        rain=0.35,
        exposure=0.8,
        wetness=0.8,
    ),
    "weather_hard_rain": Weather(
        sun=(0.05, 0.05, 0.05),
        zenith=(0.33, 0.36, 0.4),
        horizon=(0.45, 0.47, 0.5),
        cloud=1.0,
        cloud_col=(0.4, 0.42, 0.45),
        fog=0.014,
        fog_col=(0.5, 0.52, 0.55),
        rain=1.0,
        exposure=0.95,
        wetness=1.0,
    ),
    "weather_foggy": Weather(
        sun=(0.35, 0.35, 0.35),
        zenith=(0.62, 0.64, 0.66),
        horizon=(0.74, 0.75, 0.76),
        cloud=1.0,
        cloud_col=(0.75, 0.76, 0.77),
        fog=0.042,
        fog_col=(0.72, 0.73, 0.74),
        exposure=0.78,
    ),
}
DEFAULT_WEATHER = "weather_clear_noon"


def environment_of(weather_id: str, *, seed: int) -> Environment:
    """Return the environment entry of a scene description.

    The sun stands behind the camera within 43 degrees to each side and 46 to 69 degrees high, so that
    what faces the camera is lit. The keys are those of ``Weather`` without ``wetness`` (which belongs to
    the world), with ``weather`` (the id) and ``sun_dir`` (unit vector towards the sun).
    """
    weather = WEATHERS[weather_id]
    azimuth_draw, height_draw = rng_for(seed, "light").random(2)
    azimuth = -math.pi / 2 + (2 * azimuth_draw - 1) * 0.75
    height = 0.8 + 0.4 * height_draw
    return {
        "weather": weather_id,
        "sun_dir": (
            round(math.cos(azimuth) * math.cos(height), 5),
            round(math.sin(azimuth) * math.cos(height), 5),
            round(math.sin(height), 5),
        ),
        "sun": weather.sun,
        "zenith": weather.zenith,
        "horizon": weather.horizon,
        "cloud": weather.cloud,
        "cloud_col": weather.cloud_col,
        "fog": weather.fog,
        "fog_col": weather.fog_col,
        "rain": weather.rain,
        "exposure": weather.exposure,
    }
