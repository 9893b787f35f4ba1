"""Light of lamps in a room: how much reaches a point, and what hides it.

Inside this module vectors are planes, ``(3, n)``: numpy weighs those twice as fast as rows of three.
"""

import numpy as np

from vlmlab.core.scenes.render.atmosphere import Lamp
from vlmlab.core.scenes.render.mesh import Bools, Floats, dot
from vlmlab.core.scenes.render.tracer import Geometry

NEAREST_M2 = np.float32(0.04)
SPREAD = np.float32(1.6)  # sides of the cube that stands for a lamp's ball, in radii
MORE_RAYS = 4  # even, so that two equal lamps share them
FAINT = 0.5  # lamps weaker than this (a gas flame) light no surface by way of another one


def _planes(rows: Floats) -> Floats:
    return np.ascontiguousarray(rows.T)


def _reach(lamp: Lamp, points: Floats, normals: Floats) -> tuple[Floats, Floats]:
    """Return cosine over squared distance ``(n,)`` and the way to a lamp over its length, ``(3, n)``."""
    towards = np.array(lamp.position, np.float32)[:, None] - points
    squared = towards[0] * towards[0]
    squared += towards[1] * towards[1]
    squared += towards[2] * towards[2]
    inverse = 1 / np.sqrt(np.maximum(squared, NEAREST_M2))
    facing = towards[0] * normals[0]
    facing += towards[1] * normals[1]
    facing += towards[2] * normals[2]
    facing *= inverse
    # A soft ball lights a little more than half of what faces it.
    wrap = np.float32(min(0.1, 0.25 * lamp.radius))
    share = np.clip((facing + wrap) * (1 / (1 + wrap)), 0, 1)
    share *= inverse
    share *= inverse
    towards *= inverse
    return share, towards


def open_light(lamps: tuple[Lamp, ...], points: Floats, normals: Floats) -> Floats:
    """Return the light ``(n, 3)`` of the lamps that are not faint, with nothing in the way."""
    at, up = _planes(points), _planes(normals)
    total = np.zeros((3, len(points)), np.float32)
    for lamp in lamps:
        if sum(lamp.strength) >= FAINT:
            share, _ = _reach(lamp, at, up)
            for plane, strength in zip(total, lamp.strength, strict=True):
                plane += share * np.float32(strength)
    return np.ascontiguousarray(total.T)


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
    at, up = _planes(points), _planes(normals)
    total, main = np.zeros((3, count), np.float32), np.zeros((3, count), np.float32)
    ladder = np.empty((len(lamps), count), np.float32)
    for number, lamp in enumerate(lamps):
        share, towards = _reach(lamp, at, up)
        for plane, strength in zip(total, lamp.strength, strict=True):
            plane += share * np.float32(strength)
        share *= np.float32(sum(lamp.strength) / 3)
        towards *= share
        main += towards
        ladder[number] = share if number == 0 else ladder[number - 1] + share
    seen = _seen_share(geometry, lamps, points, flat_normals, ladder, rng=rng, shadow_rays=shadow_rays)
    total *= seen
    length = np.sqrt(np.maximum(main[0] * main[0] + main[1] * main[1] + main[2] * main[2], np.float32(1e-18)))
    main /= length
    return np.ascontiguousarray(total.T), np.ascontiguousarray(main.T)


def _seen_share(
    geometry: Geometry, lamps: tuple[Lamp, ...], points: Floats, flat_normals: Floats, ladder: Floats, *,
    rng: np.random.Generator, shadow_rays: int,
) -> Floats:  # fmt: skip
    """Return ``(n,)`` in [0, 1]: how much of the light of all lamps reaches each point.

    Where the rays of a point do not agree, it lies in a half-shadow and gets ``MORE_RAYS`` more.

    Args:
        geometry: the scene.
        lamps: of the room.
        points: ``(n, 3)``.
        flat_normals: ``(n, 3)``.
        ladder: ``(lamps, n)`` running sums of what each lamp would give.
        rng: source of jitter.
        shadow_rays: a point.
    """
    seen = np.zeros(len(points), np.float32)
    lit = np.nonzero(ladder[-1] > 1e-4)[0]
    everything = len(lit) == len(points)
    balls = _Balls(lamps, rng)
    start, facing, steps = (
        (points, flat_normals, ladder) if everything else (points[lit], flat_normals[lit], ladder[:, lit])
    )
    free = np.zeros(len(lit), np.float32)
    for turn in range(shadow_rays):
        free += balls.free(geometry, start, facing, steps, slot=(turn, shadow_rays))
    free *= np.float32(1 / shadow_rays)
    torn = np.nonzero((free > 0) & (free < 1))[0]
    if len(torn):
        start, facing, steps = start[torn], facing[torn], steps[:, torn]
        more = np.zeros(len(torn), np.float32)
        for turn in range(MORE_RAYS):
            more += balls.free(geometry, start, facing, steps, slot=(turn, MORE_RAYS))
        free[torn] = (free[torn] * shadow_rays + more) / np.float32(shadow_rays + MORE_RAYS)
    seen[lit] = free
    return seen


class _Balls:
    """The lamps as targets of shadow rays."""

    def __init__(self, lamps: tuple[Lamp, ...], rng: np.random.Generator) -> None:
        self._centres = np.array([lamp.position for lamp in lamps], np.float32)
        self._spread = np.array([lamp.radius for lamp in lamps], np.float32) * SPREAD
        self._rng = rng

    def free(
        self, geometry: Geometry, start: Floats, facing: Floats, steps: Floats, *, slot: tuple[int, int]
    ) -> Bools:
        """Return ``(n,)``: whether a place on a lamp can be seen from each point.

        Args:
            geometry: the scene.
            start: ``(n, 3)`` points.
            facing: ``(n, 3)`` normals of their triangles.
            steps: ``(lamps, n)`` running sums of what each lamp would give.
            slot: number of this ray and of all rays of a point; they share the lamps out among them.
        """
        count = len(start)
        place = self._rng.random(count, dtype=np.float32)
        place += np.float32(slot[0])
        place *= steps[-1]
        place *= np.float32(1 / slot[1])
        chosen = np.zeros(count, np.int64)
        for step in steps[:-1]:
            chosen += step < place
        towards = self._rng.random((count, 3), dtype=np.float32)
        towards -= np.float32(0.5)
        towards *= self._spread[chosen][:, None]
        towards += self._centres[chosen]
        towards -= start
        distance = np.sqrt(dot(towards, towards))
        towards /= distance[:, None]
        free = dot(facing, towards) > 0
        rows = np.nonzero(free)[0]
        if len(rows) < count:
            start, towards, distance = start[rows], towards[rows], distance[rows]
        free[rows] = ~geometry.hidden_before(start, towards, distance)
        return free
