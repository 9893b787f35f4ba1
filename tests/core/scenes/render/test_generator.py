"""Attempts, errors and the cache of the scene generator, with a back end that draws nothing."""

import io
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from vlmlab.core.errors import ConceptError, GenerationError
from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.core.scenes.driving import sample_driving
from vlmlab.core.scenes.render.cache import DirectoryCache
from vlmlab.core.scenes.render.generator import SceneGenerator, encode_png, make_scene_source
from vlmlab.core.scenes.scene import RenderedScene

KEY = ("cone", "far")


class CountingBackend:
    """Rejects the first layouts, then returns a grey picture."""

    name = "counting"
    version = "1"
    asset_digest = "none"

    def __init__(self, rejections=0):
        self.rejections = rejections
        self.attempts = []

    def fault_or_render(self, description, *, width, height, quality):
        self.attempts.append(description.attempt)
        if len(self.attempts) <= self.rejections:
            return "cone is hidden to 80%"
        picture = np.full((height, width, 3), 128, np.uint8)
        return RenderedScene(picture, (), {}, {"backend": self.name})


def generator(backend, **options):
    return SceneGenerator(backend, **{"width": 8, "height": 6, "max_attempts": 3, **options})


def test_generate_moves_on_to_the_next_attempt_until_one_shows_everything():
    backend = CountingBackend(rejections=2)

    scene = generator(backend).generate(KEY, seed=5)

    assert backend.attempts == [0, 1, 2]
    assert scene.description == sample_driving(KEY, seed=5, attempt=2)
    assert Image.open(io.BytesIO(scene.image_png)).size == (8, 6)


def test_generate_counts_a_layout_that_the_sampler_cannot_make_as_an_attempt(monkeypatch):
    source = generator(CountingBackend())
    original = source._sample

    def crowded(key, *, seed, attempt, domain):
        if attempt < 2:
            raise GenerationError("The objects do not fit.")
        return original(key, seed=seed, attempt=attempt, domain=domain)

    monkeypatch.setattr(source, "_sample", crowded)

    assert source.generate(KEY, seed=5).description.attempt == 2


def test_generate_gives_up_after_the_last_attempt_and_says_what_was_wrong():
    with pytest.raises(GenerationError) as caught:
        generator(CountingBackend(rejections=9)).generate(KEY, seed=5)

    assert caught.value.message == (
        "None of 3 layouts shows all of “Cone”, “far”: “Cone” is hidden to 80% (3x)."
    )
    assert caught.value.hint


def test_generate_names_the_concepts_of_a_kitchen_and_counts_like_reasons_once(monkeypatch):
    faults = iter(["glass_upright shows only 3 pixels", "toddler_standing is hidden to 60%"] * 2)
    backend = CountingBackend()
    monkeypatch.setattr(backend, "fault_or_render", lambda description, **size: next(faults))
    source = generator(backend, domain="indoor", max_attempts=3)
    label = load_domain("indoor").concept

    with pytest.raises(GenerationError) as caught:
        source.generate(("glass_upright", "toddler_standing"), seed=5)

    glass, toddler = (f"“{label(one).label}”" for one in ("glass_upright", "toddler_standing"))
    assert caught.value.message == (
        f"None of 3 layouts shows all of {glass}, {toddler}: "
        f"{glass} shows only 3 pixels (2x); {toddler} is hidden to 60% (1x)."
    )


def test_generate_lets_an_invalid_set_rise_as_a_concept_error():
    with pytest.raises(ConceptError):
        generator(CountingBackend()).generate(("far",), seed=1)


def test_generate_draws_a_scene_once_when_there_is_a_cache(tmp_path):
    backend = CountingBackend(rejections=1)
    source = generator(backend, cache=DirectoryCache(tmp_path))

    first = source.generate(KEY, seed=5)
    second = source.generate(KEY, seed=5)

    assert second == first
    assert backend.attempts == [0, 1]


@pytest.mark.parametrize("change", [{"width": 16}, {"quality": "fast"}, {"max_attempts": 4}])
def test_cache_keeps_sizes_and_qualities_apart(tmp_path, change):
    backend = CountingBackend()
    generator(backend, cache=DirectoryCache(tmp_path)).generate(KEY, seed=5)

    generator(backend, cache=DirectoryCache(tmp_path), **change).generate(KEY, seed=5)

    assert len(backend.attempts) == 2


def test_cache_does_not_serve_a_layout_that_the_sampler_no_longer_makes(tmp_path, monkeypatch):
    backend = CountingBackend(rejections=1)
    source = generator(backend, cache=DirectoryCache(tmp_path))
    source.generate(KEY, seed=5)
    original = source._sample
    monkeypatch.setattr(
        source,
        "_sample",
        lambda key, *, seed, attempt, domain: original(key, seed=seed, attempt=2 * attempt, domain=domain),
    )

    source.generate(KEY, seed=5)

    assert len(backend.attempts) == 3


def test_identity_names_everything_that_changes_a_picture():
    line = make_scene_source(domain="driving", width=320, height=240, quality="fast").identity

    for part in ("embedded 3", "assets=", "domain=driving", "size=320x240", "quality=fast", "check="):
        assert part in line


def test_encode_png_is_lossless_and_repeatable():
    picture = np.random.Generator(np.random.PCG64(0)).integers(0, 256, (9, 7, 3)).astype(np.uint8)

    first = encode_png(picture)

    assert first == encode_png(picture)
    np.testing.assert_array_equal(np.asarray(Image.open(io.BytesIO(first))), picture)


@pytest.mark.parametrize(("backend", "draws_as"), [("crayons", "driving"), ("embedded", "")])
def test_unknown_back_ends_and_worlds_are_generation_errors_with_a_hint(backend, draws_as):
    domain = replace(load_domain("driving"), draws_as=draws_as)

    with pytest.raises(GenerationError) as caught:
        make_scene_source(backend, domain=domain, width=8, height=6)

    assert caught.value.hint


def test_embedded_source_is_deterministic_and_shows_what_it_promises():
    source = make_scene_source(domain="driving", width=96, height=72, quality="fast")

    scene = source.generate(("light_red", "cyclist", "on_sidewalk"), seed=21)

    again = source.generate(("light_red", "cyclist", "on_sidewalk"), seed=21)
    assert scene.image_sha256 == again.image_sha256
    shown = {item.concept: item for item in scene.annotations if item.is_required}
    assert set(shown) == {"light_red", "cyclist"}
    assert all(item.visible_pixels > 0 for item in shown.values())


def test_a_scene_is_kept_for_its_own_set_and_seed_alone(tmp_path):
    source = generator(CountingBackend(), cache=DirectoryCache(tmp_path))

    source.generate(KEY, seed=5)

    assert source.is_kept(KEY, seed=5)
    assert not source.is_kept(KEY, seed=6)
    assert not source.is_kept(("cone",), seed=5)


def test_where_nothing_is_remembered_there_is_nothing_to_draw_ahead():
    assert generator(CountingBackend(), cache=None).is_kept(KEY, seed=5)
