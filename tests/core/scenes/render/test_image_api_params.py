"""Settings of image-generating models, and the table of ready-made ones."""

import pytest
from pydantic import ValidationError

from vlmlab.core.scenes.render.backends import SCENE_BACKENDS
from vlmlab.core.scenes.render.image_api_params import ImageApiParams, key_kind_of, key_origin_of
from vlmlab.core.scenes.render.image_api_presets import IMAGE_PRESETS
from vlmlab.core.scenes.render.image_providers import IMAGE_PROVIDERS, asked_size, nearest_ratio
from vlmlab.core.suts.kinds import SUT_KINDS


def settings_of(**values):
    return ImageApiParams(**{"provider": "openai", "model": "m", **values})


@pytest.mark.parametrize("preset", IMAGE_PRESETS.values(), ids=lambda preset: preset.name)
def test_presets_are_valid_settings_with_a_note_and_a_dated_source(preset):
    params = ImageApiParams(**preset.params)

    assert params.provider in IMAGE_PROVIDERS
    assert ("as of documentation" in preset.source, preset.note != "") == (True, True)


@pytest.mark.parametrize("preset", IMAGE_PRESETS.values(), ids=lambda preset: preset.name)
def test_presets_of_services_name_no_price(preset):
    known = {"openai_compatible": 0.0}

    assert ImageApiParams(**preset.params).price_usd_per_picture == known.get(preset.name)


def test_every_setting_has_a_title_and_a_description_for_its_form():
    assert [
        name for name, info in ImageApiParams.model_fields.items() if not (info.title and info.description)
    ] == []


@pytest.mark.parametrize(
    "values",
    [
        {"base_url": "http://127.0.0.1:8000/v1/images/generations"},
        {"extra_body": {"n": 4}},
        {"extra_body": {"prompt": "other"}},
        {"size": "0x64"},
        {"size": "big"},
        {"provider": "diffusers", "model": "../secrets"},
        {"provider": "diffusers", "model": "/etc"},
        {"provider": "magic"},
        {"presence_threshold": 0.0},
        {"unknown": 1},
    ],
)
def test_settings_that_cannot_work_are_refused_at_their_field(values):
    with pytest.raises(ValidationError) as error:
        settings_of(**values)

    assert [one["loc"][0] for one in error.value.errors()] == [list(values)[-1]]


@pytest.mark.parametrize(
    ("values", "kind", "origin"),
    [
        ({}, "openai_chat", "https://api.openai.com"),
        ({"base_url": "http://127.0.0.1:8080/v1"}, "openai_chat", "http://127.0.0.1:8080"),
        ({"provider": "gemini"}, "gemini", "https://generativelanguage.googleapis.com"),
        ({"provider": "bedrock"}, "bedrock", "https://*.amazonaws.com"),
        ({"provider": "diffusers"}, "", ""),
    ],
)
def test_a_key_goes_to_the_server_of_its_provider_only(values, kind, origin):
    params = settings_of(**values)

    assert (key_kind_of(params), key_origin_of(params)) == (kind, origin)
    assert kind == "" or kind in SUT_KINDS
    assert SCENE_BACKENDS["image_api"].key_origin(params) == origin


@pytest.mark.parametrize(
    ("values", "most"),
    [
        ({}, None),
        ({"price_usd_per_picture": 0.05, "max_attempts": 4}, 0.2),
        ({"input_price_usd": 5.0, "output_price_usd": 40.0}, None),
        ({"provider": "diffusers"}, 0.0),
    ],
)
def test_the_most_a_scene_can_cost_counts_every_attempt(values, most):
    assert SCENE_BACKENDS["image_api"].picture_usd(settings_of(**values)) == most


@pytest.mark.parametrize(
    ("values", "size"),
    [({}, (592, 448)), ({"size": "exact"}, (448, 336)), ({"size": "640x480"}, (640, 480))],
)
def test_asked_size_keeps_the_proportions_in_multiples_of_16(values, size):
    assert asked_size(settings_of(**values), width=448, height=336, pixels=512 * 512) == size


@pytest.mark.parametrize(("size", "ratio"), [((448, 336), "4:3"), ((100, 100), "1:1"), ((1000, 400), "21:9")])
def test_nearest_ratio_is_nearest_in_proportion(size, ratio):
    ratios = ("1:1", "4:3", "3:4", "16:9", "21:9")

    assert nearest_ratio(ratios, width=size[0], height=size[1]) == ratio
