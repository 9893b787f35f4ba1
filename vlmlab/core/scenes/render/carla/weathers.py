"""The weathers of the driving domain as CARLA's weather parameters.

Five are the presets of ``carla.WeatherParameters`` of the same meaning, written out so that a scene can be
described without the simulator; CARLA has none for fog.
"""

from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class CarlaWeather:
    """Fields of ``carla.WeatherParameters``: percentages, degrees, and metres for ``fog_distance``."""

    cloudiness: float = 5.0
    precipitation: float = 0.0
    precipitation_deposits: float = 0.0
    wind_intensity: float = 10.0
    sun_azimuth_angle: float = -1.0
    sun_altitude_angle: float = 45.0
    fog_density: float = 2.0
    fog_distance: float = 0.75
    fog_falloff: float = 0.1
    wetness: float = 0.0
    scattering_intensity: float = 1.0
    mie_scattering_scale: float = 0.03
    rayleigh_scattering_scale: float = 0.0331

    def fields(self) -> dict[str, float]:
        """Return the arguments of ``carla.WeatherParameters``."""
        return asdict(self)


PRESETS = {
    "weather_clear_noon": "ClearNoon",
    "weather_cloudy": "CloudyNoon",
    "weather_wet": "WetNoon",
    "weather_soft_rain": "SoftRainNoon",
    "weather_hard_rain": "HardRainNoon",
}
CARLA_WEATHERS = {
    "weather_clear_noon": CarlaWeather(),
    "weather_cloudy": CarlaWeather(cloudiness=60.0, fog_density=3.0),
    "weather_wet": CarlaWeather(precipitation_deposits=50.0, fog_density=3.0),
    "weather_soft_rain": CarlaWeather(
        cloudiness=20.0, precipitation=30.0, precipitation_deposits=50.0, wind_intensity=30.0, fog_density=3.0
    ),
    "weather_hard_rain": CarlaWeather(
        cloudiness=100.0,
        precipitation=100.0,
        precipitation_deposits=90.0,
        wind_intensity=100.0,
        fog_density=7.0,
    ),
    "weather_foggy": CarlaWeather(
        cloudiness=70.0, sun_altitude_angle=60.0, fog_density=65.0, fog_distance=2.0, fog_falloff=0.2
    ),
}
