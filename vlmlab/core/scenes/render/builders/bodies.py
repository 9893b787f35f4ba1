"""Dressing bodies: straight hems, bare legs, slippers, stripes, eyes that can be seen."""

from dataclasses import replace

import numpy as np

from vlmlab.core.scenes.render.cutting import covered, cut
from vlmlab.core.scenes.render.mesh import Bools, Colour, Floats, Material, Mesh, Texture, paint
from vlmlab.core.scenes.render.packs import load_pack

EYE_WHITE = paint(0.72, 0.70, 0.68, reflectance=0.04, roughness=0.3)
STRIPE_ROWS = 16


def material_number(body: Mesh, name: str) -> int:
    """Return the index of a body's material."""
    return [material.name for material in body.materials].index(name)


def wears(body: Mesh, *names: str) -> Bools:
    """Return ``(n,)``: the triangles that have one of the materials."""
    numbers = [number for number, material in enumerate(body.materials) if material.name in names]
    return np.isin(body.material_of, numbers)


def heights(body: Mesh) -> Floats:
    """Return ``(n,)``: the height of the middle of each triangle."""
    mean: Floats = body.corners[:, :, 2].mean(1)
    return mean


def with_hem(
    body: Mesh, *, at: float, reach: float = 0.1, half_width: float = 0.14, lower: str = "legs"
) -> Mesh:
    """Return a body whose shirt ends and whose ``lower`` cloth begins at one height; sleeves stay."""
    body = cut(body, axis=2, at=at)
    middle = body.corners.mean(1)
    near = (np.abs(middle[:, 2] - at) < reach) & (np.abs(middle[:, 0]) < half_width)
    cloth = wears(body, "top", lower) & near
    top, legs = material_number(body, "top"), material_number(body, lower)
    chosen = np.where(cloth, np.where(middle[:, 2] > at, top, legs), body.material_of)
    return replace(body, material_of=chosen)


def with_bare_legs(body: Mesh, *, below: float) -> Mesh:
    """Return a body whose trousers end at a height; skin shows under them."""
    body = cut(body, axis=2, at=below)
    bare = wears(body, "legs") & (heights(body) < below)
    return replace(body, material_of=np.where(bare, material_number(body, "skin"), body.material_of))


def with_trousers(body: Mesh, colour: Colour, *, waist: float, ankle: float) -> Mesh:
    """Return a body in a nappy with long trousers over it, from waist to ankle."""
    for at in (ankle, waist):
        body = cut(body, axis=2, at=at)
    middle = heights(body)
    legs = wears(body, "skin", "diaper") & (middle > ankle) & (middle < waist)
    return covered(body, legs | wears(body, "diaper"), replace(paint(*colour, roughness=0.8), name="legs"))


def with_slippers(body: Mesh, colour: Colour, *, below: float = 0.075) -> Mesh:
    """Return a barefoot body in soft shoes that are a little larger than the feet."""
    body = cut(body, axis=2, at=below)
    foot = wears(body, "skin", "legs") & (heights(body) < below)
    shod = covered(body, foot, paint(*colour, roughness=0.8))
    corners = shod.corners.copy()
    corners[foot] += shod.normals[foot] * np.float32(0.007)
    corners[..., 2] = np.maximum(corners[..., 2], 0)
    return replace(shod, corners=corners)


def with_stripes(body: Mesh, name: str, first: Colour, second: Colour, *, period: float = 0.07) -> Mesh:
    """Return a body one of whose clothes has level stripes."""
    image = np.empty((STRIPE_ROWS, STRIPE_ROWS, 3), np.float32)
    image[: STRIPE_ROWS // 2], image[STRIPE_ROWS // 2 :] = first, second
    chosen = wears(body, name)
    uvs = body.uvs.copy()
    uvs[chosen, :, 0] = 0.5
    uvs[chosen, :, 1] = body.corners[chosen][:, :, 2] / np.float32(period)
    striped = Material((1, 1, 1), Texture.from_linear(image), roughness=0.8)
    return covered(replace(body, uvs=uvs), chosen, striped)


def with_eyes(body: Mesh, *, iris: float = 0.82) -> Mesh:
    """Return a body whose eyeballs are white around a dark iris that looks straight ahead (-Y)."""
    eye = wears(body, "eye")
    white = np.zeros(len(body), np.bool_)
    for side in (-1, 1):
        ball = eye & (np.sign(body.corners[:, :, 0].mean(1)) == side)
        if ball.any():
            white |= ball & (body.normals[:, :, 1].mean(1) > -iris)
    return covered(body, white, EYE_WHITE)


def dressed(body: Mesh, **colours: Colour) -> Mesh:
    """Return a body with some materials in plain colours."""
    wanted = {old.name: old.painted(colours[old.name]) for old in body.materials if old.name in colours}
    return body.recoloured(wanted)


def larger_head(body: Mesh, *, growth: float) -> Mesh:
    """Return a body whose head is larger by a share, as a small child's is."""
    hair = body.corners[wears(body, "hair")]
    middle, low = hair.reshape(-1, 3).mean(0), float(hair[:, :, 2].min())
    neck = np.array([middle[0], middle[1], low - 0.03], np.float32)
    away = body.corners - neck
    rise = np.clip(away[..., 2] / 0.05, 0, 1)
    beside = np.clip((0.17 - np.hypot(away[..., 0], away[..., 1])) / 0.04, 0, 1)
    share = (growth * rise * beside)[..., None].astype(np.float32)
    return replace(body, corners=body.corners + away * share)


def body_of(pack: str) -> Mesh:
    """Return a body with eyes."""
    return with_eyes(load_pack(pack))
