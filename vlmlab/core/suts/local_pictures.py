"""Preparing the pictures of a batch on every thread, and the size in pixels that a model sees."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from PIL import Image
from transformers import BatchFeature

FloatArray = npt.NDArray[np.float32]

_MOST_THREADS = 8
# A processor with one of these switched on shows the model something else than the whole picture.
_CHANGES_THE_VIEW = ("do_center_crop", "do_pad", "do_image_splitting", "crop_to_patches", "do_pan_and_scan")


class SplitPictures:
    """Stands in for a processor's image processor and prepares each distinct picture on its own.

    Decoding and scaling leave Python's lock, so threads use every core. The parts are put together
    only where that gives what one call gives; where the parts of the pictures have different shapes
    (families that pad to the largest picture of a call) the whole call is made instead.

    Args:
        inner: the image processor of the checkpoint.
        threads: how many pictures are prepared at the same time.
    """

    def __init__(self, inner: Any, *, threads: int) -> None:
        self._inner = inner
        self._shortcut = ScaledByTable.of(inner)
        self._pool = ThreadPoolExecutor(
            max_workers=max(1, min(threads, _MOST_THREADS)), thread_name_prefix="pictures"
        )

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def __call__(self, images: Any, *args: Any, **kwargs: Any) -> Any:
        """Return what the image processor returns for all pictures; equal objects are prepared once."""
        if args or not isinstance(images, list) or len(images) < 2:
            return self._inner(images, *args, **kwargs)
        shortcut = self._shortcut if not kwargs.keys() - {"return_tensors"} else None
        options = {**kwargs, "return_tensors": None}

        def prepare(image: Any) -> Mapping[str, Any]:
            made = shortcut.prepare(image) if shortcut is not None else None
            return made if made is not None else self._inner([image], **options)

        keys = [_identity(image) for image in images]
        distinct = dict(zip(keys, images, strict=True))
        done = dict(zip(distinct, self._pool.map(prepare, distinct.values()), strict=True))
        merged = merge_parts([done[key] for key in keys])
        if merged is None:
            return self._inner(images, **kwargs)
        if kwargs.get("return_tensors") == "pt":  # one copy; the library makes two
            merged |= {
                key: torch.from_numpy(np.stack(one)) for key, one in merged.items() if _are_arrays(one)
            }
        return BatchFeature(data=merged, tensor_type=kwargs.get("return_tensors"))

    def close(self) -> None:
        """Stop the threads."""
        self._pool.shutdown(wait=False, cancel_futures=True)


class ScaledByTable:
    """Does what a processor does that scales every picture to one size, with fewer copies.

    The picture is scaled by PIL as the processor has it scaled, and one table look-up takes the place
    of the arithmetic on every value. The table is what the processor itself makes of each of the 256
    values, and the first picture of each size is compared with the processor's own result, bit by
    bit: one difference, and the processor does everything from then on.

    Args:
        inner: the image processor of the checkpoint.
        table: ``(3, 256)`` float32, what each value of each channel becomes.
    """

    def __init__(self, inner: Any, table: FloatArray) -> None:
        self._inner = inner
        self._table = table
        self._size = (int(inner.size["width"]), int(inner.size["height"]))
        self._agrees: dict[tuple[int, int], bool] = {}

    @classmethod
    def of(cls, inner: Any) -> "ScaledByTable | None":
        """Return the shortcut for a processor, or None where it does more than scale and normalize."""
        if not _shows_whole_picture_at_one_size(inner) or list(inner.model_input_names) != ["pixel_values"]:
            return None
        ramp = np.repeat(np.arange(256, dtype=np.uint8).reshape(16, 16, 1), 3, axis=2)
        try:
            made = inner([Image.fromarray(ramp)], do_resize=False, return_tensors=None)["pixel_values"][0]
        except (TypeError, ValueError, KeyError):
            return None
        if not isinstance(made, np.ndarray) or made.shape != (3, 16, 16) or made.dtype != np.float32:
            return None
        return cls(inner, made.reshape(3, 256))

    def prepare(self, image: Any) -> dict[str, Any] | None:
        """Return what the processor makes of one picture, or None when it has to do it itself."""
        picture = image[0] if isinstance(image, list | tuple) and len(image) == 1 else image
        if not isinstance(picture, Image.Image) or picture.mode != "RGB":
            return None
        agrees = self._agrees.get(picture.size)
        if agrees is False:
            return None
        values = np.asarray(picture.resize(self._size, resample=self._inner.resample))
        made = np.empty((3, *values.shape[:2]), dtype=np.float32)
        for channel in range(3):
            np.take(self._table[channel], values[:, :, channel], out=made[channel], mode="clip")
        if agrees is None:
            own = self._inner([image], return_tensors=None)
            same = own.keys() == {"pixel_values"} and np.array_equal(own["pixel_values"][0], made)
            self._agrees[picture.size] = same
            return None if not same else {"pixel_values": [made]}
        return {"pixel_values": [made]}


def _shows_whole_picture_at_one_size(image_processor: Any) -> bool:
    """Whether every picture is scaled as a whole to one height and width."""
    size = getattr(image_processor, "size", None) or {}
    return (
        "height" in size
        and "width" in size
        and bool(getattr(image_processor, "do_resize", False))
        and not any(getattr(image_processor, name, False) for name in _CHANGES_THE_VIEW)
    )


def _are_arrays(values: Any) -> bool:
    return isinstance(values, list) and all(isinstance(one, np.ndarray) for one in values)


def _identity(image: Any) -> tuple[int, ...]:
    """Return what tells picture objects apart; a row's pictures may stand in a list of their own."""
    return tuple(id(one) for one in image) if isinstance(image, list | tuple) else (id(image),)


def merge_parts(parts: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Return the outputs of single pictures as the output of one call, or None where that differs.

    Args:
        parts: what the image processor returned for each picture, without conversion to tensors.
    """
    merged: dict[str, Any] = {}
    if any(part.keys() != parts[0].keys() for part in parts):
        return None
    for key in parts[0]:
        values = [part[key] for part in parts]
        if all(isinstance(value, list) for value in values):
            merged[key] = list(chain.from_iterable(values))
            if len({np.shape(one) for one in merged[key] if isinstance(one, np.ndarray)}) > 1:
                return None
        elif all(isinstance(value, np.ndarray) and value.ndim for value in values):
            if len({value.shape[1:] for value in values}) > 1:
                return None
            merged[key] = np.concatenate(values)
        else:
            return None
    return merged


def seen_sizes(inputs: Mapping[str, Any], image_processor: Any, *, rows: int) -> list[tuple[int, int] | None]:
    """Return width and height in pixels of the picture that the model sees in each row.

    Families with a grid of patches (Qwen-VL, GLM-V) scale each picture to a size of its own; others
    scale every picture to one size. Where the picture is cut, padded or tiled there is no such size.

    Args:
        inputs: the tensors of a batch with one picture a row.
        image_processor: of the checkpoint.
        rows: how many rows the batch has.
    """
    grid, patch = inputs.get("image_grid_thw"), getattr(image_processor, "patch_size", None)
    if grid is not None:
        if len(grid) != rows or not isinstance(patch, int):
            return [None] * rows
        return [(int(width) * patch, int(height) * patch) for _, height, width in grid.tolist()]
    pixels = inputs.get("pixel_values")
    is_whole = _shows_whole_picture_at_one_size(image_processor)
    if not is_whole or pixels is None or pixels.ndim != 4 or pixels.shape[0] != rows:
        return [None] * rows
    return [(int(pixels.shape[3]), int(pixels.shape[2]))] * rows
