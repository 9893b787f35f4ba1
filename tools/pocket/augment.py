"""Light changes to training pictures, so that small differences at test time are nothing new."""

from collections.abc import Sequence

import numpy as np
import torch
from torch.nn import functional

from tools.pocket.shards import Pixels
from tools.pocket.truth import SeenThing

FLIP_SHARE = 0.25
MOVE_SHARE = 0.6


def as_pixels(pictures: Pixels) -> torch.Tensor:
    """Return ``(b, 3, side, side)`` float32 in [-1, 1]."""
    return torch.from_numpy(np.ascontiguousarray(pictures)).permute(0, 3, 1, 2).float().div_(127.5).sub_(1.0)


def augmented(
    pictures: Pixels, things: Sequence[Sequence[SeenThing]], *, rng: np.random.Generator
) -> tuple[torch.Tensor, list[list[SeenThing]]]:
    """Mirror, move, zoom, recolour and roughen pictures; boxes follow.

    Args:
        pictures: ``(b, side, side, 3)`` uint8.
        things: the visible things of each picture.
        rng: the source of all choices.

    Returns:
        Pixels ``(b, 3, side, side)`` in [-1, 1] and the moved things; things that left the frame are dropped.
    """
    count = len(pictures)
    mirror = np.where(rng.random(count) < FLIP_SHARE, -1.0, 1.0)
    moves = rng.random(count) < MOVE_SHARE
    zoom = np.where(moves, rng.uniform(0.92, 1.10, count), 1.0)
    shift = np.where(moves[:, None], rng.uniform(-0.05, 0.05, (count, 2)), 0.0)
    affine = np.zeros((count, 2, 3), np.float32)
    affine[:, 0, 0], affine[:, 1, 1] = mirror / zoom, 1.0 / zoom
    affine[:, :, 2] = -2.0 * shift
    affine[:, 0, 2] *= mirror
    pixels = as_pixels(pictures)
    where = functional.affine_grid(torch.from_numpy(affine), list(pixels.shape), align_corners=False)
    pixels = functional.grid_sample(pixels, where, padding_mode="border", align_corners=False)
    gain = torch.from_numpy(
        rng.uniform(0.85, 1.15, (count, 1, 1, 1)) * rng.uniform(0.94, 1.06, (count, 3, 1, 1))
    )
    offset = torch.from_numpy(rng.uniform(-0.1, 0.1, (count, 1, 1, 1)))
    pixels = pixels * gain.float() + offset.float()
    roughness = np.where(rng.random(count) < 0.4, rng.uniform(0.0, 0.08, count), 0.0)
    grain = torch.from_numpy(rng.standard_normal(tuple(pixels.shape[1:]), dtype=np.float32))
    for number in np.flatnonzero(roughness):
        offsets = [int(step) for step in rng.integers(0, pixels.shape[2], 2)]
        pixels[number] += float(roughness[number]) * grain.roll(offsets, dims=(1, 2))
    moved = [
        _moved(row, mirror=float(m), zoom=float(z), shift=(float(s[0]), float(s[1])))
        for row, m, z, s in zip(things, mirror, zoom, shift, strict=True)
    ]
    return pixels.clamp_(-1.0, 1.0), moved


def _moved(
    row: Sequence[SeenThing], *, mirror: float, zoom: float, shift: tuple[float, float]
) -> list[SeenThing]:
    result = []
    for thing in row:
        x_min, x_max = sorted((mirror * (2 * x - 1)) for x in (thing.box[0], thing.box[2]))
        spans = []
        for low, high, step in (
            (x_min, x_max, shift[0]),
            (2 * thing.box[1] - 1, 2 * thing.box[3] - 1, shift[1]),
        ):
            ends = [min(1.0, max(0.0, ((value * zoom + 2 * step * zoom) + 1) / 2)) for value in (low, high)]
            spans.append(ends)
        box = (spans[0][0], spans[1][0], spans[0][1], spans[1][1])
        if box[2] - box[0] > 1e-3 and box[3] - box[1] > 1e-3:
            result.append(SeenThing(thing.concept, thing.state, box))
    return result
