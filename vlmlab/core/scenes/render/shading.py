"""From ray hits to light: surface attributes, direct sun or lamps, one bounce, mirror reflections."""

from dataclasses import dataclass

import numpy as np

from vlmlab.core.scenes.render.atmosphere import Atmosphere
from vlmlab.core.scenes.render.lamps import lamp_light, open_light
from vlmlab.core.scenes.render.mesh import Bools, Floats, Ints, dot, unit
from vlmlab.core.scenes.render.tracer import Geometry, Hits

MAX_SPECULAR = np.float32(3.0)
MIRROR_ROUGHNESS = 0.45
SUN_SHADE, LAMP_SHADE = np.float32(0.45), np.float32(0.6)
MOST_BOUNCED = np.float32(0.75)  # a ray that finds a ceiling lamp by luck would leave a bright blotch
SHARPER = np.float32(0.6)  # texture levels finer than the pixel asks for; lettering stays legible


@dataclass(frozen=True, eq=False)
class Surface:
    """What is known at ``n`` hit points; every array has one row a hit."""

    material: Ints
    albedo: Floats
    opacity: Floats
    normal: Floats
    flat_normal: Floats
    emission: Floats

    def rows(self, chosen: Ints | Bools) -> "Surface":
        """Return some of the hits."""
        return Surface(
            self.material[chosen], self.albedo[chosen], self.opacity[chosen],
            self.normal[chosen], self.flat_normal[chosen], self.emission[chosen],
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Lighting:
    """Irradiance / pi from sun or lamps (``direct``), by one bounce, and mirrored light (``specular``)."""

    direct: Floats
    indirect: Floats
    specular: Floats
    diffuse_share: Floats


def read_surface(
    geometry: Geometry, hits: Hits, directions: Floats, distances: Floats, *, pixel_size: float
) -> Surface:
    """Interpolate normals and textures at hits.

    Args:
        geometry: the scene.
        hits: ``n`` hits, none of them sky.
        directions: ``(n, 3)`` unit ray directions.
        distances: ``(n,)`` metres from the camera, for the choice of texture level.
        pixel_size: width of a pixel at distance 1.
    """
    corner_u, corner_v = hits.u[:, None], hits.v[:, None]
    corner_w = 1 - corner_u - corner_v
    normals = geometry.normals[hits.triangle]
    normal = unit(normals[:, 0] * corner_w + normals[:, 1] * corner_u + normals[:, 2] * corner_v)
    flat = geometry.flat_normals[hits.triangle]
    flat = np.where((dot(flat, directions) > 0)[:, None], -flat, flat)
    normal = np.where((dot(normal, flat) < 0)[:, None], -normal, normal)
    material = geometry.material_of[hits.triangle]
    albedo, opacity = geometry.albedo[material], geometry.opacity[material]
    texture = geometry.texture_of[material]
    for number in np.unique(texture[texture >= 0]):
        rows = np.nonzero(texture == number)[0]
        triangle = hits.triangle[rows]
        corners = geometry.uvs[triangle]
        uv = corners[:, 0] * corner_w[rows] + corners[:, 1] * corner_u[rows] + corners[:, 2] * corner_v[rows]
        picture = geometry.textures[number]
        slant = np.maximum(np.abs(dot(flat[rows], directions[rows])), np.float32(0.15))
        side = float(np.sqrt(float(picture.widths[0]) * float(picture.heights[0])))
        footprint = geometry.texture_density[triangle] * distances[rows] / np.sqrt(slant)
        level = np.log2(np.maximum(footprint * np.float32(side * pixel_size), np.float32(1e-6))) - SHARPER
        sample = picture.sample(uv, level)
        albedo[rows] *= sample[:, :3]
        if picture.has_alpha:
            opacity[rows] *= sample[:, 3]
    opacity = _glass_at_grazing_angles(geometry, material, opacity, np.abs(dot(normal, directions)))
    emission = geometry.emission[material]
    glows = emission.max(1) > 0
    if glows.any():
        textured = glows & (texture >= 0)
        emission[textured] *= albedo[textured]
        albedo[glows] = 0
    return Surface(material, albedo, opacity, normal, flat, emission)


def _glass_at_grazing_angles(geometry: Geometry, material: Ints, opacity: Floats, facing: Floats) -> Floats:
    """Let panes grow opaque where they are seen edge-on, as glass does."""
    glass = (geometry.opacity[material] < 0.6) & (geometry.reflectance[material] >= 0.08)
    if not glass.any():
        return opacity
    rise = np.maximum(0.92 - opacity, 0) * (1 - np.minimum(facing, 1)) ** 1.8
    return np.where(glass, opacity + rise, opacity).astype(np.float32)


def light_surface(
    geometry: Geometry,
    atmosphere: Atmosphere,
    surface: Surface,
    *,
    points: Floats,
    directions: Floats,
    rng: np.random.Generator,
    sun_rays: int,
    with_bounce: bool,
) -> Lighting:
    """Return the light that reaches ``n`` surface points and the mirrored light that leaves them.

    Args:
        geometry: the scene.
        atmosphere: its light.
        surface: ``n`` points as read by ``read_surface``.
        points: ``(n, 3)``, lifted off the surface a little.
        directions: ``(n, 3)`` unit directions of the rays that found them.
        rng: source of the jitter.
        sun_rays: shadow rays a point.
        with_bounce: also send one ray a point for indirect light.
    """
    count = len(points)
    f0, roughness = geometry.reflectance[surface.material], geometry.roughness[surface.material]
    direct, to_light = _direct_light(geometry, atmosphere, surface, points, rng=rng, shadow_rays=sun_rays)
    specular = np.zeros((count, 3), np.float32)
    rows = np.nonzero(direct[:, 0] + direct[:, 1] + direct[:, 2] > 0)[0]
    if len(rows):
        halfway = unit((to_light if to_light.ndim == 1 else to_light[rows]) - directions[rows])
        lobe = _lobe(f0[rows], roughness[rows], dot(halfway, surface.normal[rows]))
        specular[rows] = direct[rows] * lobe[:, None]
    indirect = np.zeros((count, 3), np.float32)
    if with_bounce:
        around = unit(rng.standard_normal((count, 3), dtype=np.float32)) * np.float32(0.999)
        indirect = bounced_light(
            geometry, atmosphere, points, unit(surface.normal + around), with_clouds=False
        )
        if atmosphere.indoor:
            indirect = np.minimum(indirect, MOST_BOUNCED)
    facing_camera = np.clip(-dot(directions, surface.normal), 0, 1)
    fresnel = f0 + (np.maximum(1 - roughness, f0) - f0) * (1 - facing_camera) ** 5
    share = np.ones(count, np.float32)
    rows = np.nonzero((fresnel > 0.02) & (roughness < MIRROR_ROUGHNESS))[0]
    if len(rows):
        normal, incoming = surface.normal[rows], directions[rows]
        mirrored = incoming - 2 * dot(incoming, normal)[:, None] * normal
        blur = (roughness[rows] ** 2 * np.float32(0.6))[:, None]
        mirrored = unit(mirrored + rng.standard_normal(mirrored.shape, dtype=np.float32) * blur)
        reflected = bounced_light(geometry, atmosphere, points[rows], mirrored, with_clouds=True)
        specular[rows] += fresnel[rows][:, None] * reflected
        share[rows] = 1 - fresnel[rows]
    return Lighting(direct, indirect, np.minimum(specular, MAX_SPECULAR), share)


def _direct_light(
    geometry: Geometry,
    atmosphere: Atmosphere,
    surface: Surface,
    points: Floats,
    *,
    rng: np.random.Generator,
    shadow_rays: int,
) -> tuple[Floats, Floats]:
    """Return the light ``(n, 3)`` of sun or lamps, and where it comes from: one or ``n`` directions."""
    lamps = atmosphere.lamp_table()
    if lamps:
        return lamp_light(
            geometry, lamps, points, surface.normal, surface.flat_normal, rng=rng, shadow_rays=shadow_rays
        )
    shine = _sunshine(geometry, atmosphere, surface, points, rng=rng, sun_rays=shadow_rays)
    return shine[:, None] * np.array(atmosphere.sun, np.float32), atmosphere.to_sun


def _sunshine(
    geometry: Geometry,
    atmosphere: Atmosphere,
    surface: Surface,
    points: Floats,
    *,
    rng: np.random.Generator,
    sun_rays: int,
) -> Floats:
    """Return ``(n,)``: the cosine to the sun times the share of its disc that nothing hides."""
    shine = np.zeros(len(points), np.float32)
    if not atmosphere.has_sun:
        return shine
    for _ in range(sun_rays):
        to_sun = atmosphere.sun_directions(len(points), rng)
        facing = dot(surface.normal, to_sun)
        rows = np.nonzero((facing > 0) & (dot(surface.flat_normal, to_sun) > 0))[0]
        if len(rows):
            rows = rows[~geometry.in_shadow(points[rows], to_sun[rows])]
            shine[rows] += facing[rows] * np.float32(1 / sun_rays)
    return shine


def _lobe(f0: Floats, roughness: Floats, cosine: Floats) -> Floats:
    """Return the highlight of a light (normalised Blinn-Phong) for cosines between normal and half vector."""
    sharpness = 2 / np.maximum(roughness, np.float32(0.06)) ** 3
    height = f0 * (sharpness + 2) / 8
    return (height * np.clip(cosine, 0, 1) ** sharpness).astype(np.float32, copy=False)


def bounced_light(
    geometry: Geometry, atmosphere: Atmosphere, points: Floats, directions: Floats, *, with_clouds: bool
) -> Floats:
    """Return the radiance ``(n, 3)`` seen along directions, with mean colours and no more rays."""
    hits = geometry.first_solid(points, directions)
    is_sky = hits.triangle < 0
    radiance = np.empty_like(directions)
    radiance[is_sky] = atmosphere.sky(directions[is_sky], with_clouds=with_clouds)
    rows = np.nonzero(~is_sky)[0]
    if len(rows):
        triangle = hits.triangle[rows]
        material = geometry.material_of[triangle]
        normal = geometry.flat_normals[triangle]
        normal = np.where((dot(normal, directions[rows]) > 0)[:, None], -normal, normal)
        light = np.array(atmosphere.ambient, np.float32) * (0.6 + 0.4 * normal[:, 2:3])
        light = light + _bounce_source(atmosphere, points, directions, hits, rows, normal)
        radiance[rows] = geometry.mean_albedo[material] * light + geometry.emission[material]
    return radiance


def _bounce_source(
    atmosphere: Atmosphere, points: Floats, directions: Floats, hits: Hits, rows: Ints, normal: Floats
) -> Floats:
    """Return what sun or lamps give to the surfaces where bounced rays end, with an average shadow."""
    lamps = atmosphere.lamp_table()
    if lamps:
        ends = points[rows] + directions[rows] * hits.distance[rows][:, None]
        return open_light(lamps, ends, normal) * LAMP_SHADE
    to_sun = atmosphere.to_sun
    facing = normal[:, 0] * to_sun[0] + normal[:, 1] * to_sun[1] + normal[:, 2] * to_sun[2]
    shine: Floats = (np.clip(facing, 0, 1) * SUN_SHADE)[:, None]
    return np.array(atmosphere.sun, np.float32) * shine
