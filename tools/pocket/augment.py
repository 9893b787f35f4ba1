"""Light changes to training pictures, so that small differences at test time are nothing new."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch
from torch.nn import functional

from tools.pocket.shards import Box, Pixels, SeenObject
from tools.pocket.truth import area

FLIP_SHARE = 0.3
MOVE_SHARE = 0.7
NOISE_SHARE, MOST_NOISE = 0.4, 0.10
BLUR_SHARE = 0.15
LEAST_KEPT = 0.8
"""An object of which the frame cuts off more is not asked for."""


def as_pixels(pictures: Pixels) -> torch.Tensor:
    """Return ``(b, 3, side, side)`` float32 in [-1, 1]."""
    return torch.from_numpy(np.ascontiguousarray(pictures)).permute(0, 3, 1, 2).float().div_(127.5).sub_(1.0)


def augmented(
    pictures: Pixels, objects: Sequence[Sequence[SeenObject]], *, rng: np.random.Generator
) -> tuple[torch.Tensor, list[list[SeenObject]]]:
    """Mirror, move, zoom, recolour, blur and roughen pictures; boxes follow.

    Args:
        pictures: ``(b, side, side, 3)`` uint8.
        objects: the visible objects of each picture.
        rng: the source of all choices.

    Returns:
        Pixels ``(b, 3, side, side)`` in [-1, 1] and the moved objects; those that left the frame are gone.
    """
    count = len(pictures)
    mirror = np.where(rng.random(count) < FLIP_SHARE, -1.0, 1.0)
    moves = rng.random(count) < MOVE_SHARE
    zoom = np.where(moves, rng.uniform(0.88, 1.14, count), 1.0)
    shift = np.where(moves[:, None], rng.uniform(-0.06, 0.06, (count, 2)), 0.0)
    affine = np.zeros((count, 2, 3), np.float32)
    affine[:, 0, 0], affine[:, 1, 1] = mirror / zoom, 1.0 / zoom
    affine[:, :, 2] = -2.0 * shift
    affine[:, 0, 2] *= mirror
    pixels = as_pixels(pictures)
    where = functional.affine_grid(torch.from_numpy(affine), list(pixels.shape), align_corners=False)
    pixels = functional.grid_sample(pixels, where, padding_mode="border", align_corners=False)
    for number in np.flatnonzero(rng.random(count) < BLUR_SHARE):
        pixels[number] = functional.avg_pool2d(
            pixels[number], 3, stride=1, padding=1, count_include_pad=False
        )
    gain = torch.from_numpy(
        rng.uniform(0.75, 1.2, (count, 1, 1, 1)) * rng.uniform(0.92, 1.08, (count, 3, 1, 1))
    )
    offset = torch.from_numpy(rng.uniform(-0.15, 0.12, (count, 1, 1, 1)))
    pixels = pixels * gain.float() + offset.float()
    roughness = np.where(rng.random(count) < NOISE_SHARE, rng.uniform(0.0, MOST_NOISE, count), 0.0)
    grain = torch.from_numpy(rng.standard_normal(tuple(pixels.shape[1:]), dtype=np.float32))
    for number in np.flatnonzero(roughness):
        offsets = [int(step) for step in rng.integers(0, pixels.shape[2], 2)]
        pixels[number] += float(roughness[number]) * grain.roll(offsets, dims=(1, 2))
    moved = [
        _moved(row, mirror=float(m), zoom=float(z), shift=(float(s[0]), float(s[1])))
        for row, m, z, s in zip(objects, mirror, zoom, shift, strict=True)
    ]
    return pixels.clamp_(-1.0, 1.0), moved


def _moved(
    row: Sequence[SeenObject], *, mirror: float, zoom: float, shift: tuple[float, float]
) -> list[SeenObject]:
    result = []
    for one in row:
        x_min, x_max = sorted((mirror * (2 * x - 1)) for x in (one.box[0], one.box[2]))
        whole = [
            tuple(((value * zoom + 2 * step * zoom) + 1) / 2 for value in ends)
            for ends, step in (
                ((x_min, x_max), shift[0]),
                ((2 * one.box[1] - 1, 2 * one.box[3] - 1), shift[1]),
            )
        ]
        uncut: Box = (whole[0][0], whole[1][0], whole[0][1], whole[1][1])
        x0, y0, x1, y1 = (min(1.0, max(0.0, value)) for value in uncut)
        if x1 - x0 > 1e-3 and y1 - y0 > 1e-3:
            kept = area((x0, y0, x1, y1)) >= LEAST_KEPT * area(uncut)
            result.append(replace(one, box=(x0, y0, x1, y1), is_asked=one.is_asked and kept))
    return result
