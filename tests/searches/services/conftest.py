"""Engine tests draw flat scenes and start each as a fresh process would."""

import pytest

from tests.searches.engine import FLAT, as_new_process


@pytest.fixture(autouse=True)
def flat_scenes(settings):
    settings.SCENE_SOURCE_FACTORY = FLAT
    as_new_process()
    yield
    as_new_process()
