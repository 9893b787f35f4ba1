"""The scene source of a worker: one a domain and size, with a cache on disk that stays below its limit."""

import pytest

from searches.models import PictureSource
from searches.services import scene_sources
from searches.services.keys import create_key, replace_key
from tests.doubles import FlatSceneSource
from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.core.scenes.render import generator

DRIVING = load_domain("driving")


@pytest.fixture
def _real_source(settings):
    settings.SCENE_SOURCE_FACTORY = ""
    scene_sources._embedded.cache_clear()
    yield
    scene_sources._embedded.cache_clear()


@pytest.mark.usefixtures("_real_source")
def test_the_scene_cache_gets_the_folder_and_the_limit_of_the_settings(monkeypatch, settings, tmp_path):
    settings.SCENE_CACHE_DIR, settings.SCENE_CACHE_MAX_BYTES = tmp_path, 12_345
    made = []
    monkeypatch.setattr(generator, "DirectoryCache", lambda *values: made.append(values))

    scene_sources.scene_source(DRIVING, width=32, height=24)

    assert made == [(tmp_path, 12_345)]


@pytest.mark.usefixtures("_real_source")
def test_a_source_is_made_once_for_each_size(settings, tmp_path):
    settings.SCENE_CACHE_DIR = tmp_path

    first = scene_sources.scene_source(DRIVING, width=32, height=24)

    assert scene_sources.scene_source(DRIVING, width=32, height=24) is first
    assert scene_sources.scene_source(DRIVING, width=48, height=24) is not first


@pytest.mark.django_db
def test_a_key_that_was_replaced_is_used_at_once(monkeypatch):
    key = create_key(name="Mine", kind="gemini", secret="first-0123456789", by=None)
    PictureSource.objects.create(
        slug="model", name="Model", kind="image_api", params={"provider": "gemini", "model": "m"}, api_key=key
    )
    opened = []

    def load(_kind, _domain, _params, context, **_size):
        opened.append(context.api_key)
        return FlatSceneSource()

    monkeypatch.setattr(scene_sources, "load_backend", load)
    scene_sources.forget_sources()
    for _ in range(2):
        scene_sources.scene_source(DRIVING, "model", width=32, height=24)
    replace_key(key, secret="second-0123456789", by=None)
    for _ in range(2):
        scene_sources.scene_source(DRIVING, "model", width=32, height=24)
    scene_sources.forget_sources()

    assert opened == ["first-0123456789", "second-0123456789"]
