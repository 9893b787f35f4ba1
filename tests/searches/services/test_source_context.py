"""A key is opened for the one server that it was entered for, whatever the settings of a source became."""

import pytest

from searches.models import PictureSource
from searches.services import scene_sources
from searches.services.keys import create_key
from searches.services.source_context import source_context
from vlmlab.core.errors import ConfigError
from vlmlab.core.scenes.catalogue import load_domain

pytestmark = pytest.mark.django_db
ADDRESS = "https://pictures.example.org/v1"
PARAMS = {"provider": "openai", "model": "m", "base_url": ADDRESS}


@pytest.fixture
def source():
    scene_sources.forget_sources()
    key = create_key(name="Mine", kind="openai_chat", secret="sk-0123456789", by=None, address=ADDRESS)
    yield PictureSource.objects.create(
        slug="model", name="Model", kind="image_api", params=PARAMS, api_key=key
    )
    scene_sources.forget_sources()


def test_a_key_is_opened_for_its_own_server(source):
    assert source_context(source).api_key == "sk-0123456789"


@pytest.mark.parametrize(
    "change",
    [
        {"params": PARAMS | {"base_url": "https://elsewhere.example.org/v1"}},
        {"params": PARAMS | {"base_url": "https://pictures.example.org:8443/v1"}},
        {"params": {"provider": "gemini", "model": "m"}},
        {"kind": "image_pool", "params": {}},
    ],
    ids=["another host", "another port", "another provider", "a kind that takes none"],
)
def test_a_source_whose_key_is_for_another_server_is_not_loaded(source, change):
    PictureSource.objects.update(**change)
    changed = scene_sources.find_source("model")

    with pytest.raises(ConfigError) as raised:
        source_context(changed)

    assert raised.value.field == "api_key"
    assert "is only for https://pictures.example.org" in raised.value.message


def test_a_key_without_an_address_goes_nowhere(source):
    source.api_key.origin = ""
    PictureSource.objects.update(kind="image_pool", params={})
    source.kind, source.params = "image_pool", {}

    with pytest.raises(ConfigError, match="is only for no address"):
        source_context(source)


def test_a_source_that_was_loaded_is_not_used_on_when_its_settings_lead_elsewhere(source):
    domain = load_domain("driving")
    scene_sources.scene_source(domain, "model", width=64, height=48)
    PictureSource.objects.update(params=PARAMS | {"base_url": "https://elsewhere.example.org/v1"})

    with pytest.raises(ConfigError):
        scene_sources.scene_source(domain, "model", width=64, height=48)
