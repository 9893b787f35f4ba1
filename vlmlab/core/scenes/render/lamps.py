"""Light of lamps in a room: how much reaches a point, and what hides it."""

import numpy as np

from vlmlab.core.scenes.render.atmosphere import NEAREST_LAMP_M2, Lamp
from vlmlab.core.scenes.render.mesh import Floats, dot, unit
from vlmlab.core.scenes.render.tracer import Geometry


def open_light(lamps: tuple[Lamp, ...], points: Floats, normals: Floats) -> Floats:
    """Return the light ``(n, 3)`` of all lamps with nothing in the way."""
    total = np.zeros((len(points), 3), np.float32)
    for lamp in lamps:
        share, _ = _reach(lamp, points, normals)
        total += share[:, None] * np.array(lamp.strength, np.float32)
    return total


def _reach(lamp: Lamp, points: Floats, normals: Floats) -> tuple[Floats, Floats]:
    """Return cosine over squared distance ``(n,)`` and the unit directions to a lamp ``(n, 3)``."""
    towards = np.array(lamp.position, np.float32) - points
    squared = np.maximum(dot(towards, towards), NEAREST_LAMP_M2)
    towards /= np.sqrt(squared)[:, None]
    # A soft ball lights a little more than half of what faces it.
    wrap = np.float32(min(0.1, 0.25 * lamp.radius))
    facing = np.clip((dot(towards, normals) + wrap) / (1 + wrap), 0, 1)
    return facing / squared, towards


def lamp_light(
    geometry: Geometry,
    lamps: tuple[Lamp, ...],
    points: Floats,
    normals: Floats,
    flat_normals: Floats,
    *,
    rng: np.random.Generator,
    shadow_rays: int,
) -> tuple[Floats, Floats]:
    """Return the light ``(n, 3)`` of all lamps behind their shadows, and the direction it comes from.

    Each shadow ray of a point goes to one lamp, chosen by how much it would give; what is hidden of all of
    them is estimated from that, so that many lamps cost no more than one.

    Args:
        geometry: the scene.
        lamps: of the room, at least one.
        points: ``(n, 3)``, lifted off the surface a little.
        normals: ``(n, 3)`` shading normals.
        flat_normals: ``(n, 3)`` normals of the triangles.
        rng: source of the choice and of the soft shadows.
        shadow_rays: a point; at least 1.
    """
    count = len(points)
    total = np.zeros((count, 3), np.float32)
    shares = np.zeros((len(lamps), count), np.float32)
    main = np.zeros((count, 3), np.float32)
    for number, lamp in enumerate(lamps):
        share, towards = _reach(lamp, points, normals)
        total += share[:, None] * np.array(lamp.strength, np.float32)
        shares[number] = share * np.float32(sum(lamp.strength) / 3)
        main += towards * shares[number][:, None]
    ladder = np.cumsum(shares, 0)
    lit = np.nonzero(ladder[-1] > 1e-4)[0]
    seen = np.zeros(count, np.float32)
    centres = np.array([lamp.position for lamp in lamps], np.float32)
    radii = np.array([lamp.radius for lamp in lamps], np.float32)
    for turn in range(shadow_rays):
        place = (rng.random(len(lit), dtype=np.float32) + turn) / np.float32(shadow_rays) * ladder[-1, lit]
        chosen = np.minimum((ladder[:, lit] < place).sum(0), len(lamps) - 1)
        ball = unit(rng.standard_normal((len(lit), 3), dtype=np.float32)) * radii[chosen][:, None]
        towards = centres[chosen] + ball - points[lit]
        distance = np.sqrt(dot(towards, towards))
        directions = towards / np.maximum(distance, np.float32(1e-6))[:, None]
        rows = np.nonzero(dot(flat_normals[lit], directions) > 0)[0]
        hidden = geometry.hidden_before(points[lit[rows]], directions[rows], distance[rows])
        seen[lit[rows[~hidden]]] += np.float32(1 / shadow_rays)
    return total * seen[:, None], unit(main)
