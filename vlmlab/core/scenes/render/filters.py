"""Noise filters that keep edges: an a-trous wavelet guided by normals, depth and brightness."""

from dataclasses import dataclass

import numpy as np

from vlmlab.core.scenes.render.mesh import Floats

HALF_STENCIL = ((0, 1), (1, -1), (1, 0), (1, 1))


@dataclass(frozen=True, eq=False)
class Guides:
    """What a pixel is similar by: ``(h, w, 3)`` unit normals and ``(h, w)`` depths in metres."""

    normals: Floats
    depth: Floats


def _windows(shape: tuple[int, int], dy: int, dx: int) -> tuple[tuple[slice, slice], tuple[slice, slice]]:
    """Return the two views whose pixels lie ``(dy, dx)`` apart; ``dy >= 0``."""
    height, width = shape
    here_x = slice(max(0, -dx), width - max(0, dx))
    there_x = slice(max(0, dx), width - max(0, -dx))
    return (slice(0, height - dy), here_x), (slice(dy, height), there_x)


def smooth(images: list[Floats], guides: Guides, *, step: int, stops: list[float]) -> list[Floats]:
    """Filter several pictures with the same 3x3 stencil of spacing ``step``.

    Args:
        images: ``(h, w, 3)`` each.
        guides: normals and depth that all pictures share.
        step: pixels between taps.
        stops: a picture's tolerance to relative brightness differences; 0 = brightness is ignored.

    Returns:
        the filtered pictures, in order. Weights are symmetric, so each pair of pixels is weighed once.
    """
    shape = (guides.depth.shape[0], guides.depth.shape[1])
    planes = [np.ascontiguousarray(image.transpose(2, 0, 1)) for image in images]  # fast to weigh
    brightness = [plane.mean(0) if stop else None for plane, stop in zip(planes, stops, strict=True)]
    sums = [plane * np.float32(4) for plane in planes]
    totals = [np.full(shape, 4, np.float32) for _ in images]
    for dy, dx in HALF_STENCIL:
        if dy * step >= shape[0] or abs(dx) * step >= shape[1]:
            continue
        here, there = _windows(shape, dy * step, dx * step)
        alike = _likeness(guides, here, there, step=step)
        alike *= np.float32(1 if dy and dx else 2)
        for index, plane in enumerate(planes):
            weight, level = alike, brightness[index]
            if level is not None:
                first, second = level[here], level[there]
                scale = np.float32(stops[index]) * np.maximum(first, second) + np.float32(0.05)
                weight = alike * np.exp(-np.abs(first - second) / scale)
            sums[index][(slice(None), *here)] += weight * plane[(slice(None), *there)]
            sums[index][(slice(None), *there)] += weight * plane[(slice(None), *here)]
            totals[index][here] += weight
            totals[index][there] += weight
    means = [light / total for light, total in zip(sums, totals, strict=True)]
    return [np.ascontiguousarray(mean.transpose(1, 2, 0)) for mean in means]


def _likeness(guides: Guides, here: tuple[slice, slice], there: tuple[slice, slice], *, step: int) -> Floats:
    """Return in [0, 1] how surely two pixels lie on one smooth surface."""
    first, second = guides.normals[here], guides.normals[there]
    cosine = first[..., 0] * second[..., 0] + first[..., 1] * second[..., 1] + first[..., 2] * second[..., 2]
    cosine = np.clip(cosine, 0, 1)
    cosine *= cosine
    cosine *= cosine
    cosine *= cosine
    near, far = guides.depth[here], guides.depth[there]
    tolerance = np.float32(0.02 * step) * np.minimum(near, far) + np.float32(1e-3)
    weight: Floats = cosine * np.exp(-np.abs(near - far) / tolerance)
    return weight


def blur(image: Floats, radius: int) -> Floats:
    """Return a Gaussian blur of standard deviation ``radius`` pixels, cut at three of them."""
    reach = 3 * radius
    kernel = np.exp(-(np.arange(-reach, reach + 1) ** 2) / (2.0 * radius * radius)).astype(np.float32)
    kernel /= kernel.sum()
    for axis in (0, 1):
        padding = [(reach, reach) if index == axis else (0, 0) for index in range(image.ndim)]
        padded = np.pad(image, padding, mode="edge")
        total = np.zeros_like(image)
        for shift, weight in enumerate(kernel):
            window = (
                padded[shift : shift + image.shape[0]]
                if axis == 0
                else padded[:, shift : shift + image.shape[1]]
            )
            total += weight * window
        image = total
    return image
