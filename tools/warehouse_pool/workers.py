"""People of the warehouse, with and without a safety vest; each stands on z = 0 and faces -Y."""

from dataclasses import replace
from functools import lru_cache

import numpy as np

from vlmlab.core.scenes.render.builders import bodies
from vlmlab.core.scenes.render.builders.people import HAIR, SAFETY_YELLOW, SKIN
from vlmlab.core.scenes.render.cutting import covered, cut
from vlmlab.core.scenes.render.mesh import Colour, Mesh, merge, paint
from vlmlab.core.scenes.render.primitives import box, lathe, quad
from vlmlab.core.seeding import pick

POSES = ("h_adult_walk", "h_police", "h_woman_reach")
DARK_TOPS: tuple[Colour, ...] = ((0.012, 0.014, 0.03), (0.03, 0.03, 0.032), (0.05, 0.012, 0.012))
OVERALLS: Colour = (0.03, 0.1, 0.34)
TROUSERS: tuple[Colour, ...] = ((0.015, 0.02, 0.05), (0.03, 0.03, 0.033), (0.07, 0.055, 0.035))
SAFETY_ORANGE: Colour = (1.2, 0.28, 0.02)
VESTS: tuple[Colour, ...] = (SAFETY_YELLOW, SAFETY_YELLOW, SAFETY_ORANGE)
HATS: tuple[Colour, ...] = ((0.8, 0.78, 0.72), (0.8, 0.6, 0.03), (0.05, 0.18, 0.6))
SHOULDER_SHARE, HEM_SHARE, ARM_X = 0.845, 0.5, 0.185
BAND_SHARES = ((0.57, 0.6), (0.68, 0.71))
SITTER_SEAT_Z, SITTER_SEAT_Y = 0.5, 0.0


@lru_cache(maxsize=8)
def _body(pose: str) -> Mesh:
    """Return a body whose upper garment is called ``top``."""
    body = bodies.body_of(pose)
    renamed = (replace(one, name="top") if one.name == "shirt" else one for one in body.materials)
    return replace(body, materials=tuple(renamed))


@lru_cache(maxsize=16)
def _vested(pose: str, colour: Colour) -> Mesh:
    """Return a body in a bright vest with two silver bands, and the sleeves under it free."""
    body = _body(pose)
    low, high = float(body.bounds[0][2]), float(body.bounds[1][2])
    rise = high - low
    edges = (HEM_SHARE, SHOULDER_SHARE, *(edge for band in BAND_SHARES for edge in band))
    for share in edges:
        body = cut(body, axis=2, at=low + share * rise)
    for x in (-ARM_X, ARM_X):
        body = cut(body, axis=0, at=x)
    x, y, z = np.moveaxis(body.corners.mean(1), 1, 0)
    share = (z - low) / rise
    trunk = bodies.wears(body, "top", "legs") & (np.abs(x) < ARM_X) & (y > -0.24)
    trunk &= (share > HEM_SHARE) & (share < SHOULDER_SHARE)
    band = np.zeros(len(body), np.bool_)
    for start, end in BAND_SHARES:
        band |= trunk & (share > start) & (share < end)
    dressed = covered(body, trunk, paint(*colour, roughness=0.8))
    dressed = covered(dressed, band, paint(1.0, reflectance=0.1))
    corners = dressed.corners.copy()
    corners[trunk] += dressed.normals[trunk] * np.float32(0.012)
    return replace(dressed, corners=corners)


def _hard_hat(body: Mesh, colour: Colour) -> Mesh:
    points = body.corners[bodies.wears(body, "hair")].reshape(-1, 3)
    top = float(points[:, 2].max())
    crown = points[points[:, 2] > top - 0.06].mean(0)
    shell = paint(*colour, reflectance=0.08, roughness=0.25)
    profile = [[0.15, -0.01], [0.128, 0.0], [0.125, 0.05], [0.1, 0.11], [0.05, 0.14], [1e-3, 0.145]]
    peak = quad((0, -0.17, 0.0), (0.09, 0, 0), (0, 0.05, 0.01), shell)
    hat = merge([lathe(profile, shell, around=20).moved(scale=(0.95, 1.12, 1)), peak])
    return hat.moved(float(crown[0]), float(crown[1]) + 0.01, top - 0.105)


def build_worker(
    rng: np.random.Generator, *, has_vest: bool, pose: str = "", top: Colour | None = None
) -> Mesh:
    """Return a worker.

    Args:
        rng: draws pose, skin, hair and colours.
        has_vest: a bright vest and a hard hat; otherwise dark clothes and a bare head.
        pose: one of the bodies; "" draws one of ``POSES``.
        top: colour of the shirt or overalls.
    """
    pose = pose or POSES[int(rng.integers(len(POSES)))]
    vest = VESTS[int(rng.integers(len(VESTS)))]
    shirt = top or (pick(rng, DARK_TOPS) if not has_vest else (0.05, 0.06, 0.1))
    body = _vested(pose, vest) if has_vest else _body(pose)
    skin = pick(rng, SKIN)
    lips = (skin[0] * 0.85, skin[1] * 0.5, skin[2] * 0.5)
    legs = top or pick(rng, TROUSERS)
    clothes = {"top": shirt, "legs": legs, "shoes": (0.02, 0.015, 0.012)}
    person = bodies.dressed(body, skin=skin, lips=lips, hair=pick(rng, HAIR), **clothes)
    hat = _hard_hat(person, pick(rng, HATS)) if has_vest else None
    return merge([person, hat]) if hat is not None else person


def build_driver(rng: np.random.Generator, *, has_vest: bool) -> Mesh:
    """Return a sitting worker whose seat is on z = 0 about the origin."""
    sitter = build_worker(rng, has_vest=has_vest, pose="h_sitter", top=None if has_vest else OVERALLS)
    return sitter.moved(y=-SITTER_SEAT_Y, z=-SITTER_SEAT_Z)


def build_ladder_worker(rng: np.random.Generator, *, has_vest: bool) -> Mesh:
    """Return a ladder that leans towards -Y, with a worker on it who faces the same way."""
    rail = paint(0.7, 0.72, 0.74, reflectance=0.25, roughness=0.3)
    foot, head = np.array([0.42, 0.0]), np.array([-0.5, 3.5])  # y and z of both ends
    length = float(np.hypot(*(head - foot)))
    lean = float(np.arctan2(foot[0] - head[0], head[1]))
    middle = (foot + head) / 2
    parts = []
    for x in (-0.24, 0.24):
        beam = box((0.06, 0.08, length), rail).moved(pitch=lean)
        parts.append(beam.moved(x, float(middle[0]), float(middle[1])))
    rungs = 11
    for number in range(1, rungs):
        at = foot + (head - foot) * number / rungs
        parts.append(box((0.46, 0.06, 0.04), rail, centre=(0, float(at[0]), float(at[1]))))
    stand_z = 1.3
    y = float(foot[0] + (head[0] - foot[0]) * stand_z / head[1])
    worker = build_worker(rng, has_vest=has_vest, pose="h_woman_reach", top=None if has_vest else OVERALLS)
    return merge([*parts, worker.moved(0, y + 0.16, stand_z + 0.02)])
