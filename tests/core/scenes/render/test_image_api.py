"""Scenes from image-generating models: what a scene holds, cache, money, and no key anywhere."""

import io
from dataclasses import replace

import pytest
from PIL import Image

from tests.core.scenes.render.image_asking import DRIVING, SET, SIZE, prompts, settings_at
from tests.peers import gemini_images as gemini
from tests.peers import openai_images as openai
from tests.peers.gemini import KEY as GEMINI_KEY
from tests.peers.openai_chat import KEY as OPENAI_KEY
from tests.peers.openai_chat import WRONG_KEY
from tests.peers.pictures import drawn, halves
from vlmlab.core.errors import DrawingStoppedError, GenerationError, SourceAwayError
from vlmlab.core.images import decode_png, png_size
from vlmlab.core.scenes.render.backend_kinds import BackendContext
from vlmlab.core.scenes.render.backends import SCENE_BACKENDS, load_backend
from vlmlab.core.scenes.render.cache import decode_scene, encode_scene
from vlmlab.core.scenes.render.image_api import ImageApiSource, Tally
from vlmlab.core.scenes.render.image_api_gemini import GeminiImages
from vlmlab.core.scenes.render.image_api_params import ImageApiParams


def test_a_scene_is_a_picture_of_the_wanted_size_with_a_description_and_no_boxes(source_at, peer):
    scene = source_at().generate(SET, seed=5)

    assert png_size(scene.image_png) == (64, 48)
    assert (scene.description.concepts, scene.description.seed, scene.description.attempt) == (SET, 5, 0)
    assert scene.description.world["picture"] == scene.image_sha256
    assert (scene.annotations, scene.masks, scene.description.objects) == ((), {}, ())
    assert scene.cost_usd == 0.04
    assert (scene.provenance["backend"], scene.provenance["model"]) == ("image_api", openai.MODEL)
    assert prompts(peer)[0].startswith(scene.provenance["prompt"])


def test_the_seed_changes_background_words_picture_and_identity_of_the_scene(source_at, peer):
    source = source_at()

    first, second = source.generate(SET, seed=1), source.generate(SET, seed=2)

    assert len(set(prompts(peer))) == 2
    assert first.image_sha256 != second.image_sha256
    assert first.description.digest != second.description.digest


def test_a_cached_scene_asks_nobody_and_costs_nothing(source_at, peer, tmp_path):
    context = BackendContext(cache_dir=tmp_path)
    made = source_at(context=context).generate(SET, seed=5)
    again = source_at(context=context)

    stored = again.generate(SET, seed=5)

    assert len(peer.requests) == 1
    assert (stored.image_png, stored.provenance) == (made.image_png, made.provenance)
    assert (stored.cost_usd, again.tally) == (0.0, Tally(n_cached=1))


def test_other_seed_set_size_settings_or_domain_are_not_taken_from_the_cache(source_at, peer, tmp_path):
    context = BackendContext(cache_dir=tmp_path)
    source_at(context=context).generate(SET, seed=5)

    source_at(context=context).generate(SET, seed=6)
    source_at(context=context).generate(SET[:1], seed=5)
    source_at(context=context, width=96).generate(SET, seed=5)
    source_at(context=context, height=96).generate(SET, seed=5)
    source_at(context=context, style="A drawing.").generate(SET, seed=5)
    source_at(context=context, domain=replace(DRIVING, version="0" * 12)).generate(SET, seed=5)

    assert len(peer.requests) == 7


def test_prices_and_limits_are_no_part_of_the_identity_and_what_changes_pictures_is(source_at):
    plain = source_at().identity

    same = source_at(
        price_usd_per_picture=1.0, timeout_s=9, max_concurrency=1, requests_per_minute=10
    ).identity
    others = {
        source_at(**one).identity for one in ({"quality": "high"}, {"avoid": "people"}, {"max_words": 90})
    }

    assert same == plain
    assert len(others | {plain}) == 4
    assert plain.count("\n") == 0


def test_a_wider_picture_is_cut_at_its_sides_and_keeps_its_middle(source_at, peer):
    peer.next(openai.picture_of(halves((400, 100))))

    pixels = decode_png(source_at().generate(SET, seed=1).image_png)

    assert (tuple(pixels[24, 10]), tuple(pixels[24, 53])) == ((255, 0, 0), (0, 0, 255))


def test_a_jpeg_becomes_a_canonical_png(source_at, peer):
    peer.next(openai.picture_of(drawn("x", (64, 48), kind="JPEG")))

    scene = source_at().generate(SET, seed=1)

    assert Image.open(io.BytesIO(scene.image_png)).format == "PNG"


def test_a_source_that_was_closed_sends_nothing_and_is_asked_again_later(source_at, peer):
    source = source_at()
    source.close()

    with pytest.raises(DrawingStoppedError) as error:
        source.generate(SET, seed=1)

    assert ("asked to stop" in error.value.message, len(peer.requests)) == (True, 0)


def test_tokens_are_counted_where_no_price_of_a_picture_is_known(source_at):
    source = source_at(price_usd_per_picture=None, input_price_usd=5.0, output_price_usd=40.0)

    scene = source.generate(SET, seed=1)

    assert scene.cost_usd == pytest.approx((60 * 5.0 + 1056 * 40.0) / 1_000_000)


def test_gemini_draws_through_the_same_source():
    params = ImageApiParams(provider="gemini", model=gemini.MODEL, sends_seed=True, timeout_s=60)
    with gemini.gemini_images_peer() as peer:
        context = BackendContext(network=peer.policy, api_key=GEMINI_KEY)
        provider = GeminiImages(params, context, base_url=peer.url)
        source = ImageApiSource(provider, DRIVING, params, context, **SIZE)
        scenes = [source.generate(SET, seed=seed) for seed in (1, 2)]
        source.close()

    seeds = {asked.body["generationConfig"]["seed"] for asked in peer.requests}
    assert (len(seeds), png_size(scenes[0].image_png)) == (2, (64, 48))


def test_no_key_stands_in_identity_provenance_description_cache_or_errors(source_at, peer, tmp_path):
    source = source_at(context=BackendContext(cache_dir=tmp_path), max_attempts=1)
    peer.next(openai.picture_of(drawn("x", (64, 48)), revised_prompt=f"A cone for {OPENAI_KEY}."))
    scene = source.generate(SET, seed=1)
    peer.next(openai.error(400, f"moderation of {OPENAI_KEY}", name="moderation_blocked"))
    with pytest.raises(GenerationError) as refusal:
        source.generate(SET, seed=2)
    peer.next(WRONG_KEY)
    with pytest.raises(SourceAwayError) as wrong_key:
        source.generate(SET, seed=3)

    said = [source.identity, str(scene.provenance), scene.description.to_json(), str(refusal.value)]
    files = [file.read_bytes() for file in tmp_path.rglob("*.scene")]
    assert [words for words in (*said, str(wrong_key.value)) if OPENAI_KEY in words] == []
    assert [len(files), *(OPENAI_KEY.encode() in content for content in files)] == [1, False]
    assert scene.provenance["revised_prompt"] == "A cone for [key removed]."


def test_a_scene_survives_the_cache_format(source_at):
    scene = source_at().generate(SET, seed=1)

    assert decode_scene(encode_scene(scene)) == replace(scene, cost_usd=0.0)


def test_the_table_loads_a_source_whose_cache_lies_where_it_is_told(peer, tmp_path):
    context = BackendContext(cache_dir=tmp_path, network=peer.policy, api_key=OPENAI_KEY)

    source = load_backend("image_api", DRIVING, settings_at(peer), context, **SIZE)
    source.generate(SET, seed=1)

    assert len(list(tmp_path.rglob("*.scene"))) == 1


def test_check_names_what_is_missing_before_launch(peer):
    kind = SCENE_BACKENDS["image_api"]
    good = BackendContext(network=peer.policy, api_key=OPENAI_KEY)
    kind.check(DRIVING, settings_at(peer), good)
    n_asked = len(peer.requests)

    said = []
    for params, context in (
        (settings_at(peer), replace(good, api_key="sk-wrong-0123456789")),
        (settings_at(peer), BackendContext(api_key=OPENAI_KEY)),
        (ImageApiParams(provider="openai", model="x"), BackendContext()),
        (ImageApiParams(provider="gemini", model="x"), BackendContext()),
        (ImageApiParams(provider="bedrock", model="other.model"), BackendContext()),
        (ImageApiParams(provider="diffusers", model="org/none"), BackendContext()),
    ):
        with pytest.raises(GenerationError) as error:
            kind.check(DRIVING, params, context)
        said.append(str(error.value))

    assert {asked.method for asked in peer.requests} == {"GET"}
    assert n_asked == 1
    assert "refused the API key" in said[0]
    assert "VLMLAB_ENDPOINT_ALLOW" in said[1]
    assert ["no API key" in one for one in said[2:4]] == [True, True]
    assert "stability." in said[4]
    assert "model directory" in said[5]
