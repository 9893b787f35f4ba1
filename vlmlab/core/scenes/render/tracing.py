"""The render loop: primary rays through see-through layers, extra rays at edges, filtered light."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from vlmlab.core.scenes.render.atmosphere import Atmosphere
from vlmlab.core.scenes.render.camera import Pinhole
from vlmlab.core.scenes.render.filters import Guides, smooth
from vlmlab.core.scenes.render.mesh import Bools, Floats, Ints
from vlmlab.core.scenes.render.shading import light_surface, read_surface
from vlmlab.core.scenes.render.tracer import SKY, Geometry, Hits

SKY_DEPTH_M = 400.0
SOLID_ENOUGH = 0.35
SUBPIXELS = np.array([[0.5, 0.5], [0.17, 0.38], [0.62, 0.14], [0.83, 0.72], [0.3, 0.88], [0.88, 0.3]], np.float32)


@dataclass(frozen=True)
class Quality:
    """How much work a picture gets.

    Attributes:
        edge_rays: extra rays in pixels that hold an edge.
        sun_rays: shadow rays of a first hit.
        layers: see-through layers followed.
        filter_steps: spacing of each filter pass.
    """

    edge_rays: int
    sun_rays: int
    layers: int
    filter_steps: tuple[int, ...]


QUALITIES: dict[str, Quality] = {
    "standard": Quality(edge_rays=3, sun_rays=2, layers=8, filter_steps=(1, 2, 4)),
    "fast": Quality(edge_rays=2, sun_rays=1, layers=5, filter_steps=(1, 2)),
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
        return (count / self.rays_a_pixel).reshape(height, width).astype(np.float32)


class _RayBatch:
    """Sums for ``n`` rays: one row a ray, filled layer by layer."""

    def __init__(self, count: int) -> None:
        self.albedo = np.zeros((count, 3), np.float32)
        self.direct = np.zeros((count, 3), np.float32)
        self.indirect = np.zeros((count, 3), np.float32)
        self.specular = np.zeros((count, 3), np.float32)
        self.radiance = np.zeros((count, 3), np.float32)
        self.glow = np.zeros((count, 3), np.float32)
        self.normal = np.zeros((count, 3), np.float32)
        self.weight = np.zeros(count, np.float32)
        self.depth = np.full(count, SKY_DEPTH_M, np.float32)
        self.objects = np.full(count, SKY, np.int64)
        self.materials = np.full(count, SKY, np.int64)


def _trace(
    geometry: Geometry, atmosphere: Atmosphere, pinhole: Pinhole, *,
    x: Floats, y: Floats, rng: np.random.Generator, quality: Quality, is_first_pass: bool,
) -> _RayBatch:  # fmt: skip
    """Follow rays through picture points ``x``, ``y`` and return what each gathers."""
    count = len(x)
    batch = _RayBatch(count)
    directions = pinhole.rays(x, y)
    origins = np.repeat(pinhole.origin[None], count, 0)
    passed = np.ones(count, np.float32)
    travelled = np.zeros(count, np.float32)
    active = np.arange(count)
    fog_at_sky = float(np.exp(-atmosphere.fog * SKY_DEPTH_M))
    fog_colour = np.array(atmosphere.fog_col, np.float32)
    for layer in range(quality.layers):
        if not len(active):
            break
        hits = geometry.first_hits(origins[active], directions[active])
        is_sky = hits.triangle < 0
        missed = active[is_sky]
        if len(missed):
            sky = atmosphere.sky(directions[missed]) * fog_at_sky + fog_colour * (1 - fog_at_sky)
            batch.radiance[missed] += passed[missed][:, None] * sky
        rows = np.nonzero(~is_sky)[0]
        rays = active[rows]
        if not len(rays):
            break
        hits = Hits(hits.triangle[rows], hits.distance[rows], hits.u[rows], hits.v[rows])
        heading = directions[rays]
        distance = travelled[rays] + hits.distance
        points = origins[rays] + heading * hits.distance[:, None]
        surface = read_surface(geometry, hits, heading, distance, pixel_size=pinhole.pixel_size)
        solid = (batch.objects[rays] < 0) & (surface.opacity > SOLID_ENOUGH)
        batch.objects[rays[solid]] = geometry.object_of[hits.triangle[solid]]
        batch.depth[rays[solid]] = distance[solid]
        if layer == 0:
            batch.materials[rays] = surface.material
        shown = np.nonzero(surface.opacity > 0.02)[0]
        if len(shown):
            part = surface if len(shown) == len(rays) else surface.rows(shown)
            lift = np.float32(2e-3) * np.maximum(1, distance[shown] * np.float32(0.1))
            light = light_surface(
                geometry, atmosphere, part,
                points=points[shown] + part.flat_normal * lift[:, None], directions=heading[shown], rng=rng,
                sun_rays=quality.sun_rays if is_first_pass else 1, with_bounce=is_first_pass,
            )  # fmt: skip
            at = rays[shown]
            weight = passed[at] * part.opacity
            if atmosphere.fog > 0:
                clear = np.exp(-np.float32(atmosphere.fog) * distance[shown])
                batch.radiance[at] += (weight * (1 - clear))[:, None] * fog_colour
                weight = weight * clear
            column = weight[:, None]
            batch.albedo[at] += column * part.albedo * light.diffuse_share[:, None]
            batch.direct[at] += column * light.direct
            batch.indirect[at] += column * light.indirect
            boost = np.where(part.opacity < 0.6, 1 / np.maximum(part.opacity, np.float32(0.1)), np.float32(1))
            batch.specular[at] += (weight * boost)[:, None] * light.specular
            batch.radiance[at] += column * part.emission
            batch.glow[at] += column * part.emission
            batch.normal[at] += column * part.normal
            batch.weight[at] += weight
        passed[rays] *= 1 - surface.opacity
        travelled[rays] = distance
        step = np.float32(1e-3) * np.maximum(1, distance * np.float32(0.05))
        origins[rays] = points + heading * step[:, None]
        active = rays[passed[rays] > 0.02]
    return batch


def _edges(batch: _RayBatch, height: int, width: int) -> Bools:
    """Return ``(h * w,)``: pixels whose object, material or normal differs from a neighbour's."""
    key = (batch.objects * 4096 + batch.materials).reshape(height, width)
    normal = batch.normal.reshape(height, width, 3)
    edge = np.zeros((height, width), np.bool_)
    for before, after in (
        ((slice(0, -1), slice(None)), (slice(1, None), slice(None))),
        ((slice(None), slice(0, -1)), (slice(None), slice(1, None))),
    ):
        first, second = normal[before], normal[after]
        cosine = first[..., 0] * second[..., 0] + first[..., 1] * second[..., 1] + first[..., 2] * second[..., 2]
        lengths = (first**2).sum(-1) * (second**2).sum(-1)
        bent = cosine < np.sqrt(lengths) * np.float32(0.85)
        differs = (key[before] != key[after]) | bent
        edge[before] |= differs
        edge[after] |= differs
    return edge.ravel()


def trace_picture(
    geometry: Geometry, atmosphere: Atmosphere, pinhole: Pinhole, *, rng: np.random.Generator, quality: Quality
) -> Film:
    """Return the linear picture of a scene; the same arguments give the same bytes.

    Args:
        geometry, atmosphere, pinhole: the scene, its light and the camera with the picture size.
        rng: source of all jitter.
        quality: one of ``QUALITIES``.
    """
    height, width = pinhole.height, pinhole.width
    pixels = np.arange(height * width)

    def shoot(chosen: Ints, subpixel: Ints, *, is_first_pass: bool) -> _RayBatch:
        jitter = SUBPIXELS[subpixel] + (rng.random((len(chosen), 2), dtype=np.float32) - np.float32(0.5)) * np.float32(
            0.2
        )
        x, y = (chosen % width) + jitter[:, 0], (chosen // width) + jitter[:, 1]
        return _trace(
            geometry, atmosphere, pinhole, x=x.astype(np.float32), y=y.astype(np.float32), rng=rng,
            quality=quality, is_first_pass=is_first_pass,
        )  # fmt: skip

    first = shoot(pixels, np.zeros(len(pixels), np.int64), is_first_pass=True)
    indirect = first.indirect / np.maximum(first.weight, np.float32(1e-6))[:, None]
    rays_a_pixel = np.ones(len(pixels), np.int64)
    sample_pixels, sample_objects = [pixels], [first.objects]
    edges = np.nonzero(_edges(first, height, width))[0]
    extra = quality.edge_rays
    if extra and len(edges):
        subpixel = np.tile(np.arange(1, extra + 1), len(edges))
        more = shoot(np.repeat(edges, extra), subpixel, is_first_pass=False)
        for name in ("albedo", "direct", "specular", "radiance", "glow", "normal"):
            getattr(first, name)[edges] += getattr(more, name).reshape(len(edges), extra, 3).sum(1)
        first.weight[edges] += more.weight.reshape(len(edges), extra).sum(1)
        rays_a_pixel[edges] += extra
        sample_pixels.append(np.repeat(edges, extra))
        sample_objects.append(more.objects)
    radiance = _resolve(first, indirect, rays_a_pixel, quality=quality, shape=(height, width))
    glow = (first.glow / rays_a_pixel[:, None].astype(np.float32)).reshape(height, width, 3)
    return Film(radiance, glow, np.concatenate(sample_pixels), np.concatenate(sample_objects), rays_a_pixel)


def _resolve(
    batch: _RayBatch, indirect: Floats, rays_a_pixel: npt.NDArray[np.int64], *,
    quality: Quality, shape: tuple[int, int],
) -> Floats:  # fmt: skip
    """Filter the light (not the surface colours) and put the picture together."""
    height, width = shape

    def picture(rows: Floats) -> Floats:
        return rows.reshape(height, width, 3)

    weight = np.maximum(batch.weight, np.float32(1e-6))[:, None]
    count = rays_a_pixel[:, None].astype(np.float32)
    length = np.sqrt((batch.normal**2).sum(1, keepdims=True))
    guides = Guides(picture(batch.normal / np.maximum(length, np.float32(1e-6))), batch.depth.reshape(height, width))
    direct, bounced = picture(batch.direct / weight), picture(indirect)
    specular = picture(batch.specular / count)
    for number, step in enumerate(quality.filter_steps):
        if number == 0:
            direct, bounced, specular = smooth(
                [direct, bounced, specular], guides, step=step, stops=[0.0, 0.0, 0.8]
            )
        elif number == 1:
            direct, bounced, specular = smooth(
                [direct, bounced, specular], guides, step=step, stops=[0.45, 0.0, 0.5]
            )
        else:
            (bounced,) = smooth([bounced], guides, step=step, stops=[0.0])
    albedo, radiance = picture(batch.albedo / count), picture(batch.radiance / count)
    return albedo * (direct + bounced) + specular + radiance

