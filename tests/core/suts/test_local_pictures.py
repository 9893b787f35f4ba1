"""Pictures prepared apart give what one call gives, and the size that a model sees is told or left open."""

import io
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image

from vlmlab.core.images import encode_png

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from transformers import BatchFeature  # noqa: E402 - only where transformers is installed
from transformers.models.clip.image_processing_pil_clip import CLIPImageProcessorPil  # noqa: E402
from transformers.models.got_ocr2.image_processing_pil_got_ocr2 import GotOcr2ImageProcessorPil  # noqa: E402
from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil  # noqa: E402
from transformers.models.siglip.image_processing_pil_siglip import SiglipImageProcessorPil  # noqa: E402
from transformers.models.smolvlm.image_processing_pil_smolvlm import SmolVLMImageProcessorPil  # noqa: E402

from vlmlab.core.suts.local_pictures import (  # noqa: E402
    ScaledByTable,
    SplitPictures,
    merge_parts,
    seen_sizes,
)

SIGLIP = SiglipImageProcessorPil(
    size={"height": 48, "width": 64}, image_mean=[0.5, 0.4, 0.3], image_std=[0.5, 0.2, 0.3]
)
PROCESSORS = {
    "siglip": SIGLIP,
    "clip": CLIPImageProcessorPil(size={"shortest_edge": 48}, crop_size={"height": 48, "width": 48}),
    "qwen": Qwen2VLImageProcessorPil(size={"shortest_edge": 1024, "longest_edge": 16_384}),
    "tiles": GotOcr2ImageProcessorPil(size={"height": 32, "width": 32}, crop_to_patches=True, max_patches=4),
    "padded tiles": SmolVLMImageProcessorPil(size={"longest_edge": 128}, max_image_size={"longest_edge": 64}),
}
SIZES = [(96, 64), (64, 64), (96, 64), (40, 90)]


def picture(number: int, size: tuple[int, int]) -> Image.Image:
    values = np.random.default_rng(number).integers(0, 256, (size[1], size[0], 3), dtype=np.uint8)
    return Image.open(io.BytesIO(encode_png(values)))


def pictures(sizes: list[tuple[int, int]]) -> list[Image.Image]:
    return [picture(number, size) for number, size in enumerate(sizes)]


def handed_over(name: str, sizes: list[tuple[int, int]]) -> list[object]:
    """As the family's processor hands pictures over: SmolVLM makes a list for each row."""
    made = pictures(sizes)
    return [[one] for one in made] if name == "padded tiles" else made


def same(first: BatchFeature, second: BatchFeature) -> bool:
    def equal(one, two):
        if isinstance(one, torch.Tensor):
            return one.dtype == two.dtype and torch.equal(one, two)
        return one == two

    return first.keys() == second.keys() and all(equal(first[key], second[key]) for key in first)


@pytest.mark.parametrize("sizes", [SIZES, SIZES[:1] * 4], ids=["unlike sizes", "one size"])
@pytest.mark.parametrize("name", PROCESSORS)
def test_pictures_prepared_apart_are_those_of_one_call(name, sizes):
    split = SplitPictures(PROCESSORS[name], threads=2)

    for _ in range(2):  # the second time the shortcut has been checked
        apart = split(handed_over(name, sizes), return_tensors="pt")

        assert same(apart, PROCESSORS[name](handed_over(name, sizes), return_tensors="pt"))
    split.close()


def test_pictures_in_lists_of_their_own_are_prepared_too():
    split = SplitPictures(SIGLIP, threads=2)

    nested = split([[one] for one in pictures(SIZES)], return_tensors="pt")

    assert same(nested, SIGLIP(pictures(SIZES), return_tensors="pt"))


def test_a_picture_that_stands_in_several_rows_is_prepared_once():
    calls = []

    def counted(images, **kwargs):
        calls.append(len(images))
        return SIGLIP(images, **kwargs)

    counted.size, counted.model_input_names = {}, []
    one, two = pictures(SIZES[:2])

    made = SplitPictures(counted, threads=2)([one, two, two, two], return_tensors="pt")

    assert calls == [1, 1]
    assert same(made, SIGLIP([one, two, two, two], return_tensors="pt"))


def test_everything_else_of_the_image_processor_shows_through():
    split = SplitPictures(PROCESSORS["qwen"], threads=2)

    assert (split.merge_size, split.backend) == (2, "pil")


def test_a_damaged_picture_raises_what_the_processor_raises():
    whole = encode_png(np.zeros((64, 64, 3), dtype=np.uint8))
    damaged = Image.open(io.BytesIO(whole[:60]))

    with pytest.raises(OSError, match="truncated"):
        SplitPictures(SIGLIP, threads=2)([*pictures(SIZES[:1]), damaged], return_tensors="pt")


@pytest.mark.parametrize(
    ("parts", "merged"),
    [
        ([{"a": [1]}, {"a": [2, 3]}], {"a": [1, 2, 3]}),
        ([{"a": [np.zeros((2, 2))]}, {"a": [np.zeros((2, 3))]}], None),
        ([{"a": np.zeros((1, 2))}, {"a": np.zeros((1, 3))}], None),
        ([{"a": [1]}, {"b": [1]}], None),
        ([{"a": 3}, {"a": 3}], None),
    ],
)
def test_parts_that_do_not_fit_together_are_not_merged(parts, merged):
    assert merge_parts(parts) == merged


def test_the_shortcut_serves_only_processors_that_scale_and_normalize():
    served = {name for name, one in PROCESSORS.items() if ScaledByTable.of(one) is not None}

    assert served == {"siglip"}


def test_the_shortcut_is_dropped_at_the_first_difference():
    class Odd:
        size, resample, do_resize = SIGLIP.size, Image.Resampling.NEAREST, True
        model_input_names = SIGLIP.model_input_names

        def __call__(self, images, **kwargs):
            return SIGLIP(images, **kwargs)

    split = SplitPictures(Odd(), threads=2)

    for _ in range(2):
        assert same(split(pictures(SIZES), return_tensors="pt"), SIGLIP(pictures(SIZES), return_tensors="pt"))
    assert set(split._shortcut._agrees.values()) == {False}


def test_seen_size_is_that_of_the_grid_of_patches():
    inputs = PROCESSORS["qwen"](pictures([(100, 60), (60, 200)]), return_tensors="pt")

    assert seen_sizes(inputs, PROCESSORS["qwen"], rows=2) == [(112, 56), (56, 196)]


def test_seen_size_is_the_one_size_that_whole_pictures_are_scaled_to():
    inputs = SIGLIP(pictures(SIZES), return_tensors="pt")

    assert seen_sizes(inputs, SIGLIP, rows=4) == [(64, 48)] * 4


@pytest.mark.parametrize("name", ["clip", "tiles", "padded tiles"])
def test_seen_size_is_left_open_where_the_picture_is_cut_or_tiled(name):
    inputs = PROCESSORS[name](handed_over(name, SIZES), return_tensors="pt")

    assert seen_sizes(inputs, PROCESSORS[name], rows=4) == [None] * 4


def test_seen_size_is_left_open_where_the_grid_fits_no_row():
    grid = {"image_grid_thw": torch.ones((3, 3), dtype=torch.int64)}

    assert seen_sizes(grid, SimpleNamespace(patch_size=14), rows=2) == [None, None]
    assert seen_sizes(grid, SimpleNamespace(patch_size=[14, 14]), rows=3) == [None] * 3
