"""Preparing the pictures of a batch on every thread, and the size in pixels that a model sees."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from typing import Any

import numpy as np
from transformers import BatchFeature

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
        self._pool = ThreadPoolExecutor(
            max_workers=max(1, min(threads, _MOST_THREADS)), thread_name_prefix="pictures"
        )

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def __call__(self, images: Any, *args: Any, **kwargs: Any) -> Any:
        """Return what the image processor returns for all pictures; equal objects are prepared once."""
        if args or not isinstance(images, list) or len(images) < 2:
            return self._inner(images, *args, **kwargs)
        options = {**kwargs, "return_tensors": None}
        keys = [_identity(image) for image in images]
        distinct = dict(zip(keys, images, strict=True))
        if len(distinct) == 1:
            done = {keys[0]: self._inner([images[0]], **options)}
        else:
            parts = self._pool.map(lambda image: self._inner([image], **options), distinct.values())
            done = dict(zip(distinct, parts, strict=True))
        merged = merge_parts([done[key] for key in keys])
        if merged is None:
            return self._inner(images, **kwargs)
        return BatchFeature(data=merged, tensor_type=kwargs.get("return_tensors"))

    def close(self) -> None:
        """Stop the threads."""
        self._pool.shutdown(wait=False, cancel_futures=True)


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


def seen_sizes(inputs: Mapping[str, Any], image_processor: Any, rows: int) -> list[tuple[int, int] | None]:
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
    is_whole = getattr(image_processor, "do_resize", False) and not any(
        getattr(image_processor, name, False) for name in _CHANGES_THE_VIEW
    )
    size = getattr(image_processor, "size", None) or {}
    squashes = "height" in size and "width" in size
    if not is_whole or not squashes or pixels is None or pixels.ndim != 4 or pixels.shape[0] != rows:
        return [None] * rows
    return [(int(pixels.shape[3]), int(pixels.shape[2]))] * rows
