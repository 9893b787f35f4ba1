"""The render loop: one ray a pixel, more where there are edges, then filtered light on sharp surfaces."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from vlmlab.core.scenes.render.atmosphere import Atmosphere
from vlmlab.core.scenes.render.camera import Pinhole
from vlmlab.core.scenes.render.filters import Guides, smooth
from vlmlab.core.scenes.render.mesh import Bools, Floats, Ints
from vlmlab.core.scenes.render.rays import Quality, RayBatch, RayWalk
from vlmlab.core.scenes.render.tracer import Geometry

SUBPIXELS = np.array(
    [[0.5, 0.5], [0.17, 0.38], [0.62, 0.14], [0.83, 0.72], [0.3, 0.88], [0.88, 0.3]], np.float32
)
JITTER = np.float32(0.2)
BENT_COSINE = np.float32(0.85)
# Tolerance to differences of brightness in each filter pass: (direct, bounced, mirrored); 0 = none.
STOPS = ((0.0, 0.0, 0.8), (0.45, 0.0, 0.5))

QUALITIES: dict[str, Quality] = {
    # What the others are held against: many more rays, no search uses it.
    "fine": Quality(
        edge_rays=5, sun_rays=16, lamp_rays=16, layers=16, room_layers=28, filter_steps=(1, 2, 4)
    ),
    "standard": Quality(
        edge_rays=2, sun_rays=2, lamp_rays=4, layers=8, room_layers=14, filter_steps=(1, 2, 4)
    ),
    "fast": Quality(edge_rays=2, sun_rays=1, lamp_rays=2, layers=5, room_layers=10, filter_steps=(1, 2)),
}


@dataclass(frozen=True, eq=False)
class Film:
    """What the rays left behind.

    Attributes:
        radiance: ``(h, w, 3)`` linear light before exposure.
        glow: ``(h, w, 3)`` light that surfaces send out themselves.
        sample_pixels, sample_objects: pixel number and first object of every ray.
        rays_a_pixel: ``(h * w,)``.
    """

    radiance: Floats
    glow: Floats
    sample_pixels: Ints
    sample_objects: Ints
    rays_a_pixel: Ints

    def coverage(self, number: int) -> Floats:
        """Return ``(h, w)``: the share of each pixel that shows one object."""
        height, width = self.radiance.shape[:2]
        count = np.bincount(self.sample_pixels[self.sample_objects == number], minlength=height * width)
        share: Floats = (count / self.rays_a_pixel).reshape(height, width).astype(np.float32)
        return share


def trace_picture(
    geometry: Geometry,
    atmosphere: Atmosphere,
    pinhole: Pinhole,
    *,
    rng: np.random.Generator,
    quality: Quality,
) -> Film:
    """Return the linear picture of a scene; the same arguments give the same bytes.

    Args:
        geometry: the scene.
        atmosphere: its light.
        pinhole: camera with the picture size.
        rng: source of all jitter.
        quality: one of ``QUALITIES``.
    """
    height, width = pinhole.height, pinhole.width
    walk = RayWalk(geometry, atmosphere, pinhole, rng=rng, quality=quality)
    pixels = np.arange(height * width)
    batch = _shoot(walk, pixels, np.zeros(len(pixels), np.int64), width=width, rng=rng, is_first_pass=True)
    indirect = (batch.indirect / np.maximum(batch.weight, 1e-6)[:, None]).astype(np.float32, copy=False)
    rays_a_pixel = np.ones(len(pixels), np.int64)
    sample_pixels, sample_objects = pixels, batch.objects
    edges, extra = np.nonzero(_edges(batch, height, width))[0], quality.edge_rays
    if extra and len(edges):
        subpixel = np.tile(np.arange(1, extra + 1), len(edges))
        repeated = np.repeat(edges, extra)
        more = _shoot(walk, repeated, subpixel, width=width, rng=rng, is_first_pass=False)
        batch.add_rays(more, pixels=edges, rays_each=extra)
        rays_a_pixel[edges] += extra
        sample_pixels = np.concatenate([sample_pixels, repeated])
        sample_objects = np.concatenate([sample_objects, more.objects])
    count: Floats = rays_a_pixel[:, None].astype(np.float32)
    radiance = _resolve(batch, indirect, count, quality=quality, shape=(height, width))
    glow = (batch.glow / count).reshape(height, width, 3)
    return Film(radiance, glow, sample_pixels, sample_objects, rays_a_pixel)


def _shoot(
    walk: RayWalk, pixels: Ints, subpixel: Ints, *, width: int, rng: np.random.Generator, is_first_pass: bool
) -> RayBatch:
    """Send one jittered ray through a place of each pixel."""
    jitter = SUBPIXELS[subpixel]
    jitter += (rng.random((len(pixels), 2), dtype=np.float32) - np.float32(0.5)) * JITTER
    x = (pixels % width).astype(np.float32) + jitter[:, 0]
    y = (pixels // width).astype(np.float32) + jitter[:, 1]
    return walk.follow(x, y, is_first_pass=is_first_pass)


def _edges(batch: RayBatch, height: int, width: int) -> Bools:
    """Return ``(h * w,)``: pixels whose object, material or normal differs from a neighbour's."""
    key = (batch.objects * 4096 + batch.materials).reshape(height, width)
    normal = batch.normal.reshape(height, width, 3)
    squared = (normal * normal).sum(-1)
    edge = np.zeros((height, width), np.bool_)
    every = slice(None)
    for here, there in (
        ((slice(0, -1), every), (slice(1, None), every)),
        ((every, slice(0, -1)), (every, slice(1, None))),
    ):
        cosine = (normal[here] * normal[there]).sum(-1)
        bent = cosine < np.sqrt(squared[here] * squared[there]) * BENT_COSINE
        differs = (key[here] != key[there]) | bent
        edge[here] |= differs
        edge[there] |= differs
    return edge.ravel()


def _resolve(
    batch: RayBatch, indirect: Floats, count: Floats, *, quality: Quality, shape: tuple[int, int]
) -> Floats:
    """Filter the light (not the surface colours) and put the picture together, ``(h, w, 3)``.

    Args:
        batch: sums of all rays of each pixel.
        indirect: ``(h * w, 3)`` bounced light.
        count: ``(h * w, 1)`` rays of each pixel.
        quality: says the filter passes.
        shape: height and width.
    """
    height, width = shape

    def picture(rows: npt.NDArray[np.floating]) -> Floats:
        return rows.reshape(height, width, 3).astype(np.float32, copy=False)

    weight = np.maximum(batch.weight, np.float32(1e-6))[:, None]
    length = np.sqrt((batch.normal * batch.normal).sum(1, keepdims=True))
    unit_normals = picture(batch.normal / np.maximum(length, np.float32(1e-6)))
    normals = np.ascontiguousarray(unit_normals.transpose(2, 0, 1)).transpose(1, 2, 0)  # planes: faster
    guides = Guides(normals, batch.depth.reshape(height, width))
    light = [picture(batch.direct / weight), picture(indirect), picture(batch.specular / count)]
    for number, step in enumerate(quality.filter_steps):
        if number < len(STOPS):
            light = smooth(light, guides, step=step, stops=list(STOPS[number]))
        else:
            light[1] = smooth([light[1]], guides, step=step, stops=[0.0])[0]
    direct, bounced, mirrored = light
    return picture(batch.albedo / count) * (direct + bounced) + mirrored + picture(batch.radiance / count)
