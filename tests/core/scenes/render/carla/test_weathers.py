"""Our weathers are CARLA's presets of the same meaning."""

import carla
import pytest

from vlmlab.core.scenes.render.carla.weathers import CARLA_WEATHERS, PRESETS
from vlmlab.core.scenes.weather import WEATHERS


@pytest.mark.parametrize(("concept", "preset"), PRESETS.items())
def test_weather_equals_the_preset_of_the_real_client(concept, preset):
    assert carla.WeatherParameters(**CARLA_WEATHERS[concept].fields()) == getattr(
        carla.WeatherParameters, preset
    )


def test_every_weather_of_the_domain_is_known_and_only_fog_is_our_own():
    assert set(CARLA_WEATHERS) == set(WEATHERS)
    assert set(CARLA_WEATHERS) - set(PRESETS) == {"weather_foggy"}
    assert CARLA_WEATHERS["weather_foggy"].fog_density > 50
