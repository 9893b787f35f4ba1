"""Scenes from photographs: which picture a set gets, how it is brought to size, what is still seen then."""

import hashlib
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from vlmlab.core.errors import GenerationError
from vlmlab.core.images import decode_png, encode_png, sha256_of
from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.core.scenes.domain_files import example_text, read_domain_file
from vlmlab.core.scenes.masks import decode_mask, encode_mask
from vlmlab.core.scenes.pool_coverage import (
    concepts_without_pictures,
    fits_set,
    pool_coverage,
    well_shown_size,
)
from vlmlab.core.scenes.pools import PicturePool, PoolAnnotation, PoolPicture
from vlmlab.core.scenes.render.backends import SCENE_BACKENDS, BackendContext, load_backend
from vlmlab.core.scenes.render.image_pool import ImagePoolSource, frame_for
from vlmlab.core.scenes.render.image_pool_params import ImagePoolParams

DRIVING = load_domain("driving")
SIZE = (40, 20)  # width, height of every picture of these tests


def pool_of(*rows: tuple[tuple[str, ...], tuple[PoolAnnotation, ...]]) -> PicturePool:
    """Return a pool of pictures, each a left half of its own and a white right half."""
    files, pictures = {}, []
    for number, (concepts, things) in enumerate(rows):
        pixels = np.full((SIZE[1], SIZE[0], 3), 255, dtype=np.uint8)
        pixels[:, :20] = (number, 0, 0)
        png = encode_png(pixels)
        files[sha256_of(png)] = png
        pictures.append(PoolPicture(sha256_of(png), f"{number}.png", *SIZE, concepts, things))
    digest = hashlib.sha256("".join(files).encode()).hexdigest()
    return PicturePool("cones", digest, pictures, files.__getitem__)


def source_of(pool: PicturePool, *, width: int = 40, height: int = 20, **params: str) -> ImagePoolSource:
    return ImagePoolSource(pool, DRIVING, ImagePoolParams(**params), width=width, height=height)


def chosen(source: ImagePoolSource, concepts: tuple[str, ...], seeds: range) -> Counter[str]:
    return Counter(source.generate(concepts, seed=seed).provenance["file"] for seed in seeds)


CONE = PoolAnnotation("traffic cone", "cone", (4.0, 2.0, 12.0, 18.0))


def test_a_set_gets_only_pictures_that_show_all_of_it():
    pool = pool_of((("cone",), ()), (("cone", "weather_foggy"), ()), (("weather_foggy",), ()))

    source = source_of(pool)

    assert set(chosen(source, ("cone",), range(40))) == {"0.png", "1.png"}
    assert set(chosen(source, ("cone", "weather_foggy"), range(40))) == {"1.png"}


def test_an_exact_pool_takes_no_picture_that_shows_another_concept_of_the_domain():
    pool = pool_of((("cone",), ()), (("cone", "weather_foggy"), ()), (("cone", "zebra"), ()))

    assert set(chosen(source_of(pool, match="exact"), ("cone",), range(40))) == {"0.png", "2.png"}


def test_the_same_seed_gives_the_same_scene_and_seeds_use_every_picture():
    pool = pool_of(*[(("cone",), ())] * 5)
    first, second = source_of(pool), source_of(pool)

    assert [first.generate(("cone",), seed=7)] == [second.generate(("cone",), seed=7)]
    assert len(chosen(first, ("cone",), range(60))) == 5


def test_pictures_that_do_not_fit_the_set_change_no_choice():
    small = pool_of(*[(("cone",), ())] * 4)
    large = pool_of(*[(("cone",), ())] * 4, *[(("weather_foggy",), ())] * 3)

    seeds = range(30)

    assert chosen(source_of(small), ("cone",), seeds) == chosen(source_of(large), ("cone",), seeds)
    assert source_of(small).identity != source_of(large).identity


def test_a_set_that_no_picture_shows_cannot_be_drawn_and_the_reason_names_it():
    source = source_of(pool_of((("cone",), ())))

    with pytest.raises(GenerationError) as raised:
        source.generate(("cone", "weather_foggy"), seed=1)

    labels = ", ".join(DRIVING.concept(one).label for one in ("cone", "weather_foggy"))
    assert raised.value.message == f"No picture of the pool shows {labels}."


def test_provenance_says_of_how_many_pictures_a_scene_is_one():
    pool = pool_of(*[(("cone",), ())] * 3, (("weather_foggy",), ()))

    scene = source_of(pool).generate(("cone",), seed=1)

    assert scene.provenance["chosen"] == "1 of 3 pictures"
    assert scene.provenance["pool_digest"] == pool.digest
    assert scene.description.world["picture"] == scene.provenance["picture"]
    assert (scene.description.concepts, scene.description.seed) == (("cone",), 1)


def test_a_wide_picture_lies_between_bars_and_its_box_moves_with_it():
    scene = source_of(pool_of((("cone",), (CONE,))), width=20, height=20).generate(("cone",), seed=1)

    pixels = decode_png(scene.image_png)

    assert pixels.shape == (20, 20, 3)
    assert (pixels[:5] == 128).all()
    assert (pixels[15:] == 128).all()
    [seen] = scene.annotations
    assert seen.visible_box == (2.0, 6.0, 6.0, 14.0)  # halved, 5 pixels down
    assert (seen.visible_pixels, seen.visible_fraction, seen.is_required) == (32, 1.0, True)


def test_a_picture_that_fills_the_frame_is_cut_and_what_is_cut_off_does_not_count_as_shown():
    left_half_off = PoolAnnotation("fog bank", "cone", (0.0, 0.0, 11.0, 20.0))

    source = source_of(pool_of((("cone",), (left_half_off,))), width=20, height=20, fit="cover")

    with pytest.raises(GenerationError):  # 1 of 11 columns is left
        source.generate(("cone",), seed=1)


def test_a_thing_of_which_half_is_in_the_frame_counts_as_shown_and_less_does_not():
    half, less = (PoolAnnotation("cone", "cone", (left, 0.0, 20.0, 20.0)) for left in (0.0, -0.5))

    scene = source_of(pool_of((("cone",), (half,))), width=20, height=20, fit="cover").generate(
        ("cone",), seed=1
    )

    assert scene.annotations[0].visible_fraction == 0.5
    with pytest.raises(GenerationError):
        source_of(pool_of((("cone",), (less,))), width=20, height=20, fit="cover").generate(("cone",), seed=1)


def test_only_things_of_the_set_are_required():
    other = PoolAnnotation("fog", "weather_foggy", (20.0, 2.0, 30.0, 18.0))

    scene = source_of(pool_of((("cone", "weather_foggy"), (CONE, other)))).generate(("cone",), seed=1)

    assert [(one.concept, one.is_required) for one in scene.annotations] == [
        ("cone", True),
        ("weather_foggy", False),
    ]


def test_a_picture_that_gets_another_name_stays_the_one_of_its_samples():
    pool = pool_of(*[(("cone",), ())] * 5)
    renamed = [replace(one, name=f"{9 - number}.png") for number, one in enumerate(pool.pictures)]
    again = PicturePool(pool.slug, "another", renamed, pool.read)

    def pictures(of: PicturePool) -> list[str]:
        source = source_of(of)
        return [source.generate(("cone",), seed=seed).provenance["picture"] for seed in range(20)]

    assert pictures(pool) == pictures(again)


def test_a_box_that_is_cut_in_part_keeps_what_is_seen_of_it():
    thing = PoolAnnotation("cone", "cone", (5.0, 0.0, 25.0, 20.0))

    scene = source_of(pool_of((("cone",), (thing,))), width=20, height=20, fit="cover").generate(
        ("cone",), seed=1
    )

    [seen] = scene.annotations
    assert seen.visible_box == (0.0, 0.0, 15.0, 20.0)  # columns 10 to 30 of the picture are kept
    assert seen.visible_fraction == 0.75


def test_a_mask_is_brought_to_size_with_its_picture():
    mask = np.zeros((SIZE[1], SIZE[0]), dtype=np.bool_)
    mask[2:18, 4:12] = True
    thing = PoolAnnotation("cone", "cone", CONE.box, encode_mask(mask))

    scene = source_of(pool_of((("cone",), (thing,))), width=20, height=20).generate(("cone",), seed=1)

    [(object_id, counts)] = scene.masks.items()
    framed = decode_mask(counts, width=20, height=20)
    assert object_id == scene.annotations[0].object_id
    assert framed.sum() == scene.annotations[0].visible_pixels == 32
    assert framed[6:14, 2:6].all()


@pytest.mark.parametrize("fit", ["contain", "cover"])
@pytest.mark.parametrize("size", [(40, 20), (20, 40), (640, 480), (3, 999)])
def test_a_frame_is_filled_or_holds_the_whole_picture_in_its_middle(size, fit):
    frame = frame_for(size, width=64, height=48, fit=fit)

    gaps = 64 - frame.inner[0], 48 - frame.inner[1]
    assert 0 in gaps
    assert all(gap >= 0 for gap in gaps) if fit == "contain" else all(gap <= 0 for gap in gaps)
    assert (frame.left, frame.top) == (gaps[0] // 2, gaps[1] // 2)


@pytest.mark.parametrize("size", [(1, 16000), (16000, 1), (2, 8000)])
def test_a_strip_that_fills_the_frame_is_cut_before_it_is_scaled(size, monkeypatch):
    pixels = np.full((size[1], size[0], 3), 40, dtype=np.uint8)
    png = encode_png(pixels)
    mask = encode_mask(np.ones((size[1], size[0]), dtype=np.bool_))
    x, y = size[0] / 2, size[1] / 2
    thing = PoolAnnotation("cone", "cone", (x - 0.5, y - 0.5, x + 0.5, y + 0.5), mask)
    picture = PoolPicture(sha256_of(png), "strip.png", *size, ("cone",), (thing,))
    pool = PicturePool("strips", "0", [picture], {picture.sha256: png}.__getitem__)
    sizes = []
    whole = Image.Image.resize

    def watched(image, size, *arguments, **options):
        sizes.append(size)
        return whole(image, size, *arguments, **options)

    monkeypatch.setattr(Image.Image, "resize", watched)

    scene = source_of(pool, width=64, height=48, fit="cover").generate(("cone",), seed=1)

    assert sizes == [(64, 48), (64, 48)]  # the picture and its mask
    assert (decode_png(scene.image_png) == 40).all()
    assert decode_mask(scene.masks["thing-0"], width=64, height=48).all()


def test_a_picture_that_is_cut_shows_the_middle_of_it_pixel_by_pixel():
    scene = source_of(pool_of((("cone",), ())), width=20, height=20, fit="cover").generate(("cone",), seed=1)

    pixels = decode_png(scene.image_png)  # columns 10 to 30 of the picture
    assert (pixels[:, :10] == (0, 0, 0)).all()
    assert (pixels[:, 10:] == 255).all()


@pytest.mark.parametrize("fit", ["contain", "cover"])
def test_what_is_kept_never_reaches_beyond_the_picture(fit):
    for width in range(1, 240, 7):
        for height in range(1, 240, 11):
            frame = frame_for((width, height), width=67, height=53, fit=fit)
            x_min, y_min, x_max, y_max = frame.kept
            assert 0 <= x_min < x_max <= width
            assert 0 <= y_min < y_max <= height
            assert frame.placed(frame.kept) == pytest.approx(frame.pasted)


def test_coverage_counts_the_sets_that_have_pictures_and_names_concepts_without_any():
    pool = pool_of((("cone",), ()), (("cone", "weather_foggy"), ()))
    few = {concept.id for concept in DRIVING.concepts} - {"cone", "weather_foggy"}

    found = pool_coverage(DRIVING, pool, fewest=2, max_size=2, excluded=few)
    sets = {DRIVING.key_of(mask) for mask in DRIVING.universe(2, excluded=few)}
    by_hand = [sum(set(one) <= set(picture.concepts) for picture in pool.pictures) for one in sorted(sets)]

    assert (found.n_sets, found.n_shown, found.n_ample) == (
        len(sets),
        sum(count >= 1 for count in by_hand),
        sum(count >= 2 for count in by_hand),
    )
    assert set(found.without) == {concept.id for concept in DRIVING.concepts} - {"cone", "weather_foggy"}


@pytest.mark.parametrize(
    ("rows", "size"),
    [
        ([("cone",)], 1),  # one of three single concepts: a search has to begin somewhere
        ([("cone",), ("cyclist",), ("bus_stop",)], 1),  # none of three pairs
        ([("cone", "cyclist"), ("bus_stop",)], 1),  # one of three pairs
        ([("cone", "cyclist"), ("cone", "bus_stop")], 2),  # two of three pairs, not the one triple
        ([("cone", "cyclist", "bus_stop")], 3),
    ],
)
def test_sets_are_well_shown_up_to_the_size_of_which_half_have_a_picture(rows, size):
    pool = pool_of(*[(DRIVING.canonical(row), ()) for row in rows])
    others = {concept.id for concept in DRIVING.concepts} - {"cone", "cyclist", "bus_stop"}

    assert well_shown_size(DRIVING, pool, excluded=others) == size


def test_the_check_before_launch_wants_a_dataset_that_shows_something_of_the_domain():
    kind, params = SCENE_BACKENDS["image_pool"], ImagePoolParams()
    strange = pool_of((("zebra",), ()))

    for context in (BackendContext(), BackendContext(pool=pool_of()), BackendContext(pool=strange)):
        with pytest.raises(GenerationError) as raised:
            kind.check(DRIVING, params, context)
        assert raised.value.field == "dataset"
    kind.check(DRIVING, params, BackendContext(pool=pool_of((("cone",), ()))))


def test_a_search_must_leave_out_what_no_picture_shows():
    pool = pool_of((("cone",), ()))

    missing = SCENE_BACKENDS["image_pool"].unpictured(DRIVING, ImagePoolParams(), BackendContext(pool=pool))

    assert missing == concepts_without_pictures(DRIVING, pool)
    assert set(missing) == set(DRIVING.index) - {"cone"}


def test_the_table_loads_a_pool_in_the_size_of_a_run():
    context = BackendContext(pool=pool_of((("cone",), ())))

    source = load_backend("image_pool", DRIVING, ImagePoolParams(), context, width=32, height=24)

    assert decode_png(source.generate(("cone",), seed=3).image_png).shape == (24, 32, 3)


WAREHOUSE = read_domain_file(example_text()).domain


def test_a_pool_of_the_same_answer_takes_only_pictures_whose_other_things_change_nothing():
    pool = pool_of((("spill", "cone"), ()), (("hall", "spill"), ()), (("spill", "cable_loose"), ()))

    def files(match):
        source = ImagePoolSource(pool, WAREHOUSE, ImagePoolParams(match=match), width=40, height=20)
        return set(chosen(source, ("spill",), range(40)))

    # A cone makes a spill safe; a hall says nothing; a cable is as dangerous, but spill is asked about first.
    assert files("contains") == {"0.png", "1.png", "2.png"}
    assert files("same_answer") == {"1.png", "2.png"}


def test_a_picture_about_which_something_else_would_be_asked_does_not_stand_for_a_set():
    pool = pool_of((("pallet_stack_leaning", "aisle_blocked"), ()), (("aisle_blocked",), ()))
    source = ImagePoolSource(pool, WAREHOUSE, ImagePoolParams(match="same_answer"), width=40, height=20)

    # Both are hazards, but the load is asked about before the walkway.
    assert set(chosen(source, ("aisle_blocked",), range(40))) == {"1.png"}


def test_a_set_whose_pictures_all_change_the_answer_cannot_be_drawn_and_the_reason_says_so():
    pool = pool_of((("spill", "cone"), ()))
    source = ImagePoolSource(pool, WAREHOUSE, ImagePoolParams(match="same_answer"), width=40, height=20)

    with pytest.raises(GenerationError) as raised:
        source.generate(("spill",), seed=1)

    assert raised.value.message == (
        "No picture of the pool shows Spill without something else that changes the question or the answer."
    )


@pytest.mark.parametrize("match", ["contains", "same_answer", "exact"])
def test_coverage_counts_what_the_source_would_take(match):
    rows = [("hall", "spill", "cone"), ("hall", "spill"), ("fire_exit_clear", "aisle_blocked"), ("spill",)]
    pool = pool_of(*[(tuple(WAREHOUSE.canonical(row)), ()) for row in rows])
    sets = [WAREHOUSE.key_of(mask) for mask in WAREHOUSE.universe(2)]

    found = pool_coverage(WAREHOUSE, pool, fewest=2, max_size=2, match=match)
    slow = [
        sum(fits_set(WAREHOUSE, picture.concepts, one, match=match) for picture in pool.pictures)
        for one in sets
    ]

    assert (found.n_shown, found.n_ample) == (sum(n >= 1 for n in slow), sum(n >= 2 for n in slow))


@pytest.mark.parametrize("domain", [DRIVING, load_domain("indoor")], ids=lambda one: one.slug)
def test_coverage_counts_pictures_of_sets_that_are_not_valid_as_the_source_would(domain):
    rng = np.random.default_rng(5)
    rows = [tuple(rng.choice([one.id for one in domain.concepts], size, replace=False)) for size in [4] * 60]
    pool = pool_of(*[(tuple(one.id for one in domain.concepts if one.id in row), ()) for row in rows])
    sets = [domain.key_of(mask) for mask in domain.universe(2)]

    found = pool_coverage(domain, pool, fewest=2, max_size=2, match="same_answer")
    slow = [
        sum(fits_set(domain, picture.concepts, one, match="same_answer") for picture in pool.pictures)
        for one in sets
    ]

    assert (found.n_shown, found.n_ample) == (sum(n >= 1 for n in slow), sum(n >= 2 for n in slow))
    assert found.n_shown > 0
    assert pool_coverage(domain, pool_of(), fewest=1, match="same_answer").n_shown == 0
