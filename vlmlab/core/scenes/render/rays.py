"""Follows camera rays through see-through layers and sums what each of them gathers."""

from dataclasses import dataclass

import numpy as np

from vlmlab.core.scenes.render.atmosphere import Atmosphere
from vlmlab.core.scenes.render.camera import Pinhole
from vlmlab.core.scenes.render.mesh import Floats, Ints
from vlmlab.core.scenes.render.shading import Surface, light_surface, read_surface
from vlmlab.core.scenes.render.tracer import SKY, Geometry, Hits

SKY_DEPTH_M = 400.0
SOLID_ENOUGH = 0.35
SHOWN = 0.02
SUMS = ("albedo", "direct", "specular", "radiance", "glow", "normal")


@dataclass(frozen=True)
class Quality:
    """How much work a picture gets.

    Attributes:
        edge_rays: extra rays in pixels that hold an edge.
        sun_rays, lamp_rays: shadow rays of a first hit, outdoors and indoors.
        layers, room_layers: see-through layers followed, outdoors and indoors (smoke is made of many).
        filter_steps: spacing of each filter pass.
    """

    edge_rays: int
    sun_rays: int
    lamp_rays: int
    layers: int
    room_layers: int
    filter_steps: tuple[int, ...]


class RayBatch:
    """Sums for ``n`` rays: one row a ray, filled layer by layer, weighted by what the layers let through."""

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

    def add_rays(self, more: "RayBatch", *, pixels: Ints, rays_each: int) -> None:
        """Add the sums of ``rays_each`` further rays a pixel (indirect light stays that of the first ray)."""
        for name in SUMS:
            rows: Floats = getattr(more, name).reshape(len(pixels), rays_each, 3)
            getattr(self, name)[pixels] += rows.sum(1)
        self.weight[pixels] += more.weight.reshape(len(pixels), rays_each).sum(1)


class RayWalk:
    """Sends rays of one picture.

    Args:
        geometry: the scene.
        atmosphere: its light.
        pinhole: camera with the picture size.
        rng: source of all jitter.
        quality: how much work to do.
    """

    def __init__(
        self,
        geometry: Geometry,
        atmosphere: Atmosphere,
        pinhole: Pinhole,
        *,
        rng: np.random.Generator,
        quality: Quality,
    ) -> None:
        self._geometry, self._atmosphere, self._pinhole = geometry, atmosphere, pinhole
        self._rng, self._quality = rng, quality
        self._shadow_rays = quality.lamp_rays if atmosphere.lamps else quality.sun_rays
        self._layers = quality.room_layers if atmosphere.indoor else quality.layers
        self._fog_colour = np.array(atmosphere.fog_col, np.float32)
        self._clear_to_sky = np.float32(np.exp(-atmosphere.fog * SKY_DEPTH_M))

    def follow(self, x: Floats, y: Floats, *, is_first_pass: bool) -> RayBatch:
        """Send one ray through each picture point.

        Args:
            x: ``(n,)`` in pixels.
            y: ``(n,)`` in pixels, down.
            is_first_pass: trace bounced light as well, with the quality's shadow rays.
        """
        count = len(x)
        batch = RayBatch(count)
        directions = self._pinhole.rays(x, y)
        origins = np.repeat(self._pinhole.origin[None], count, 0)
        passed, travelled = np.ones(count, np.float32), np.zeros(count, np.float32)
        active = np.arange(count)
        for layer in range(self._layers):
            hits = self._geometry.first_hits(origins[active], directions[active])
            is_sky = hits.triangle < 0
            self._add_sky(batch, active[is_sky], directions, passed)
            rows = np.nonzero(~is_sky)[0]
            rays = active[rows]
            if not len(rays):
                break
            hits = hits.rows(rows)
            heading = directions[rays]
            distance = travelled[rays] + hits.distance
            points = origins[rays] + heading * hits.distance[:, None]
            surface = read_surface(
                self._geometry, hits, heading, distance, pixel_size=self._pinhole.pixel_size
            )
            self._name_objects(batch, rays, surface, hits, distance)
            if layer == 0:
                batch.materials[rays] = surface.material
            self._add_surface(
                batch, rays, surface, points, heading, distance, passed, is_first_pass=is_first_pass
            )
            passed[rays] *= 1 - surface.opacity
            active = rays[passed[rays] > SHOWN]
            if not len(active):
                break
            travelled[rays] = distance
            step = np.float32(1e-3) * np.maximum(1, distance * np.float32(0.05))
            origins[rays] = points + heading * step[:, None]
        return batch

    def _add_sky(self, batch: RayBatch, rays: Ints, directions: Floats, passed: Floats) -> None:
        if not len(rays):
            return
        sky = self._atmosphere.sky(directions[rays]) * self._clear_to_sky
        sky += self._fog_colour * (1 - self._clear_to_sky)
        batch.radiance[rays] += passed[rays][:, None] * sky

    def _name_objects(
        self, batch: RayBatch, rays: Ints, surface: Surface, hits: Hits, distance: Floats
    ) -> None:
        """Note the first object of each ray that is solid enough to be called seen."""
        solid = (batch.objects[rays] < 0) & (surface.opacity > SOLID_ENOUGH)
        solid &= ~self._geometry.is_veil[hits.triangle]
        batch.objects[rays[solid]] = self._geometry.object_of[hits.triangle[solid]]
        batch.depth[rays[solid]] = distance[solid]

    def _add_surface(
        self, batch: RayBatch, rays: Ints, surface: Surface, points: Floats, heading: Floats,
        distance: Floats, passed: Floats, *, is_first_pass: bool,
    ) -> None:  # fmt: skip
        """Light one layer of hits and add it to the sums; fog goes on top."""
        shown = np.nonzero(surface.opacity > SHOWN)[0]
        if not len(shown):
            return
        part = surface.rows(shown) if len(shown) < len(rays) else surface
        distance = distance[shown]
        lift = np.float32(2e-3) * np.maximum(1, distance * np.float32(0.1))
        light = light_surface(
            self._geometry,
            self._atmosphere,
            part,
            points=points[shown] + part.flat_normal * lift[:, None],
            directions=heading[shown],
            rng=self._rng,
            sun_rays=self._shadow_rays if is_first_pass else 1,
            with_bounce=is_first_pass,
        )
        at: Ints | slice = rays[shown] if len(shown) < len(passed) else slice(None)
        weight = passed[at] * part.opacity
        if self._atmosphere.fog > 0:
            clear = np.exp(-np.float32(self._atmosphere.fog) * distance)
            batch.radiance[at] += (weight * (1 - clear))[:, None] * self._fog_colour
            weight = weight * clear
        column = weight[:, None]
        thin = np.where(part.opacity < 0.6, 1 / np.maximum(part.opacity, np.float32(0.1)), np.float32(1))
        glow = column * part.emission
        batch.albedo[at] += column * part.albedo * light.diffuse_share[:, None]
        batch.direct[at] += column * light.direct
        batch.indirect[at] += column * light.indirect
        batch.specular[at] += (weight * thin)[:, None] * light.specular
        batch.radiance[at] += glow
        batch.glow[at] += glow
        batch.normal[at] += column * part.normal
        batch.weight[at] += weight
