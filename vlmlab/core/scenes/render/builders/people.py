"""Builders of people: pedestrians, children, wheelchair users, police officers, cyclists."""

from dataclasses import replace
from functools import lru_cache

import numpy as np

from vlmlab.core.scenes.render import textures
from vlmlab.core.scenes.render.builders import bodies
from vlmlab.core.scenes.render.cutting import covered, cut, stencilled
from vlmlab.core.scenes.render.mesh import Bools, Colour, Floats, Material, Mesh, Texture, merge, paint
from vlmlab.core.scenes.render.packs import load_pack, repainted
from vlmlab.core.scenes.render.primitives import lathe, quad, sphere
from vlmlab.core.scenes.scene import SceneObject
from vlmlab.core.seeding import pick

CLOTHES: tuple[Colour, ...] = (
    (0.5, 0.06, 0.06),
    (0.07, 0.15, 0.45),
    (0.65, 0.6, 0.5),
    (0.08, 0.3, 0.12),
    (0.7, 0.45, 0.05),
    (0.3, 0.3, 0.32),
)
SHIRTS: tuple[Colour, ...] = (
    (0.5, 0.06, 0.06),
    (0.07, 0.2, 0.55),
    (0.7, 0.68, 0.62),
    (0.08, 0.3, 0.14),
    (0.65, 0.4, 0.05),
    (0.3, 0.1, 0.35),
    (0.1, 0.36, 0.4),
)
TROUSERS: tuple[Colour, ...] = (
    (0.02, 0.035, 0.09),
    (0.32, 0.26, 0.17),
    (0.03, 0.03, 0.035),
    (0.12, 0.12, 0.13),
)
SKIN: tuple[Colour, ...] = ((0.60, 0.36, 0.25), (0.66, 0.42, 0.31), (0.36, 0.19, 0.11), (0.17, 0.08, 0.05))
HAIR: tuple[Colour, ...] = (
    (0.01, 0.007, 0.005),
    (0.07, 0.025, 0.01),
    (0.3, 0.17, 0.06),
    (0.2, 0.06, 0.02),
)
HELMETS: tuple[Colour, ...] = ((0.75, 0.05, 0.05), (0.75, 0.75, 0.75), (0.05, 0.2, 0.6))
SAFETY_YELLOW: Colour = (0.8, 1.1, 0.05)  # fluorescent
STANDERS = ("male1", "male3", "female1", "female3")
LUMINANCE = np.array([0.2126, 0.7152, 0.0722], np.float32)
CYCLING_TOPS: tuple[Colour, ...] = ((0.8, 0.7, 0.02), (0.7, 0.05, 0.05), (0.05, 0.4, 0.7))
CHILDREN = {"h_child_run": 0.53, "h_child_stand": 0.63, "h_child_reachup": 0.63}
"""The children's bodies and the height of the hem of the shirt, metres."""
CHILD_POSES = (*("h_child_run", "h_child_stand") * 2, "h_child_reachup")
CHILD_TOPS: tuple[Colour, ...] = (
    (0.7, 0.05, 0.06),
    (0.05, 0.25, 0.65),
    (0.85, 0.5, 0.03),
    (0.1, 0.45, 0.15),
    (0.75, 0.2, 0.4),
    (0.75, 0.72, 0.65),
)
CHILD_TROUSERS: tuple[Colour, ...] = (
    (0.04, 0.07, 0.2),
    (0.3, 0.22, 0.13),
    (0.1, 0.1, 0.11),
    (0.12, 0.2, 0.36),
)
CHILD_SHOES: tuple[Colour, ...] = ((0.65, 0.03, 0.03), (0.7, 0.7, 0.7), (0.05, 0.12, 0.4))
KNEE, LOWEST_SHIRT = 0.34, 0.75
ANYWHERE = 10.0  # metres: sleeves and legs alike
HEAD_GROWTH = 0.08
ELBOW, FOREARM_INWARDS, FOREARM_DOWN = (0.22, -0.09, 0.71), 0.72, 0.52
VEST_HALF, VEST_Z, BAND_Z = 0.168, (1.03, 1.5), (1.1, 1.16)
WORD_X, WORD_Z = (-0.15, 0.15), (1.26, 1.36)
SIDEWAYS = np.pi / 2


def build_pedestrian(item: SceneObject, rng: np.random.Generator) -> Mesh:
    """Return a standing or walking adult."""
    if rng.random() < 0.6:
        name = pick(rng, STANDERS)
        return _in_other_shirt(name, pick(rng, SHIRTS)) if rng.random() < 0.6 else load_pack(name)
    walker = _with_looks(_walker(), rng, top=pick(rng, SHIRTS), legs=pick(rng, TROUSERS))
    return walker.moved(yaw=pick(rng, (0.0, SIDEWAYS, -SIDEWAYS)))


def _with_looks(body: Mesh, rng: np.random.Generator, **clothes: Colour) -> Mesh:
    """Return a body with hair and skin drawn, lips in proportion, and the clothes given."""
    skin = pick(rng, SKIN)
    lips = (skin[0] * 0.85, skin[1] * 0.5, skin[2] * 0.5)
    return bodies.dressed(body, skin=skin, lips=lips, hair=pick(rng, HAIR), **clothes)


@lru_cache(maxsize=1)
def _walker() -> Mesh:
    return bodies.with_hem(bodies.body_of("h_adult_walk"), at=0.93, reach=0.13, half_width=0.19)


def _in_other_shirt(name: str, colour: Colour) -> Mesh:
    """Return a standing adult whose shirt keeps its folds and pattern but not its colour."""
    body = _stander(name)
    shirt = body.materials[-1]
    return replace(body, materials=(*body.materials[:-1], replace(shirt, albedo=colour)))


@lru_cache(maxsize=len(STANDERS))
def _stander(name: str) -> Mesh:
    """Return a standing adult whose last material is the shirt, in grey of mean 1.

    The picture of the clothes holds the shirt in its upper half.
    """
    body = load_pack(name)
    clothes = body.materials[0]
    is_shirt = (body.material_of == 0) & (body.uvs[:, :, 1].mean(1) % 1 > 0.5)
    is_shirt &= bodies.heights(body) > LOWEST_SHIRT
    if clothes.texture is None:
        return body
    return covered(body, is_shirt, replace(clothes, texture=_in_grey(clothes.texture)))


def _in_grey(picture: Texture) -> Texture:
    """Return the upper half of a picture without colour, its mean 1; the lower half is not kept."""
    height, width = int(picture.heights[0]), int(picture.widths[0])
    full = picture.texels[: height * width, :3].reshape(height, width, 3)[: height // 2]
    grey = np.repeat(full @ LUMINANCE, 3).reshape(*full.shape)
    grey = grey / np.median(grey)
    return Texture.from_linear(np.clip(np.concatenate([grey, grey]), 0.2, 1.8).astype(np.float32))


def build_child(item: SceneObject, rng: np.random.Generator) -> Mesh:
    """Return a child of six to nine, standing, walking or running."""
    name = pick(rng, CHILD_POSES)
    has_shorts = rng.random() < 0.5
    body = _child(name, has_shorts=has_shorts and name != "h_child_run")
    child = _with_looks(
        body,
        rng,
        top=pick(rng, CHILD_TOPS),
        legs=pick(rng, CHILD_TROUSERS),
        shoes=pick(rng, CHILD_SHOES),
    )
    return child.moved(yaw=pick(rng, (0.0, 0.9, -0.9)))


@lru_cache(maxsize=8)
def _child(name: str, *, has_shorts: bool) -> Mesh:
    """Return a child's body with a straight hem, and bare knees when it wears shorts."""
    hem = CHILDREN[name]
    body = bodies.with_hem(bodies.body_of(name), at=hem, reach=ANYWHERE, half_width=ANYWHERE)
    if has_shorts:
        body = bodies.with_bare_legs(body, below=KNEE)
    return bodies.larger_head(body, growth=HEAD_GROWTH)


@lru_cache(maxsize=1)
def _sitter() -> Mesh:
    """Return a sitting person whose hands rest on the thighs (the pack holds them out to the sides)."""
    body = bodies.body_of("h_sitter")
    names = [material.name for material in body.materials]
    is_arm = np.isin(body.material_of, (names.index("skin"), names.index("top")))[:, None]
    x, y, z = np.moveaxis(body.corners, -1, 0)
    is_arm = is_arm & (np.abs(x) > 0.17) & (y < ELBOW[1]) & (z > 0.62) & (z < 0.92)
    bend = np.clip((ELBOW[1] - y) / 0.1, 0, 1) * is_arm
    side = np.sign(x)
    at = np.array(ELBOW, np.float32)
    mirror = np.stack([side, np.ones_like(side), np.ones_like(side)], -1)
    corners = _bent(body.corners * mirror - at, bend) + at
    normals = _bent(body.normals * mirror, bend)
    return replace(
        body,
        corners=np.where(is_arm[..., None], corners * mirror, body.corners).astype(np.float32),
        normals=np.where(is_arm[..., None], normals * mirror, body.normals).astype(np.float32),
    )


def _bent(vectors: Floats, share: Floats) -> Floats:
    """Turn ``(n, 3, 3)`` vectors inwards about Z and down about X by a share of the forearm's angles."""
    x, y, z = np.moveaxis(vectors, -1, 0)
    inwards, down = FOREARM_INWARDS * share, FOREARM_DOWN * share
    x, y = x * np.cos(inwards) + y * np.sin(inwards), y * np.cos(inwards) - x * np.sin(inwards)
    y, z = y * np.cos(down) - z * np.sin(down), y * np.sin(down) + z * np.cos(down)
    turned: Floats = np.stack([x, y, z], -1)
    return turned


def build_wheelchair_user(item: SceneObject, rng: np.random.Generator) -> Mesh:
    """Return a person who sits in a wheelchair, seen half from the side so that a wheel shows."""
    chair = load_pack("wheelchair").moved(scale=1.08)
    sitter = _with_looks(_sitter(), rng, top=pick(rng, SHIRTS), legs=pick(rng, TROUSERS))
    person = sitter.moved(y=0.10, z=0.06, scale=0.96)
    return merge([chair, person]).moved(yaw=pick(rng, (0.5, -0.5, 1.2, -1.2)))


def _police_cap() -> Mesh:
    """Return a peaked cap whose band lies on z = 0 about the origin."""
    navy = paint(0.012, 0.016, 0.05)
    crown = [[0.108, 0.0], [0.109, 0.035], [0.125, 0.058], [0.112, 0.076], [1e-3, 0.084]]
    band = paint(0.6, 0.6, 0.6, reflectance=0.2, roughness=0.3)
    badge = paint(0.85, 0.75, 0.25, reflectance=0.4, roughness=0.2)
    peak = lathe([[1e-3, 0.004], [0.086, 0.0]], paint(0.01, reflectance=0.05, roughness=0.2), around=24)
    return merge(
        [
            lathe(crown, navy, around=28).moved(scale=(1, 1.1, 1)),
            lathe([[0.11, 0.006], [0.11, 0.026]], band, around=28).moved(scale=(1, 1.1, 1)),
            peak.moved(y=-0.085, z=-0.002, pitch=0.25),
            sphere(0.016, badge, around=10).moved(y=-0.132, z=0.045),
        ]
    )


def _vested(officer: Mesh) -> Mesh:
    """Return the officer with a bright vest over the trunk, with a silver band and lettering."""
    for axis, places in ((0, (-VEST_HALF, VEST_HALF, *WORD_X)), (2, (*VEST_Z, *BAND_Z, *WORD_Z))):
        for at in places:
            officer = cut(officer, axis=axis, at=at)
    names = [material.name for material in officer.materials]
    is_cloth = np.isin(officer.material_of, (names.index("shirt"), names.index("legs")))
    x, y, z = np.moveaxis(officer.corners.mean(1), 1, 0)
    trunk = is_cloth & (np.abs(x) < VEST_HALF) & _between(z, VEST_Z) & (y > -0.2)
    word = textures.lettering("POLICE", width=256, height=80, ink=(255, 255, 255), ground=(8, 14, 60))
    label = Material(albedo=(1, 1, 1), texture=word)
    vested = covered(officer, trunk, paint(*SAFETY_YELLOW, roughness=0.8))
    vested = covered(vested, trunk & _between(z, BAND_Z), paint(1.0, reflectance=0.1))
    panel = trunk & _between(x, WORD_X) & _between(z, WORD_Z)
    for side, across in ((y < -0.03, WORD_X), (y >= -0.03, WORD_X[::-1])):
        vested = stencilled(vested, panel & side, label, axis=0, across=across, up=WORD_Z)
    corners = vested.corners.copy()
    corners[trunk] += vested.normals[trunk] * np.float32(0.008)
    return replace(vested, corners=corners)


def _between(values: Floats, ends: tuple[float, float]) -> Bools:
    return (values > ends[0]) & (values < ends[1])


def build_police_officer(item: SceneObject, rng: np.random.Generator) -> Mesh:
    """Return an officer with cap, bright vest and the word POLICE on chest and back, one arm raised."""
    return _with_looks(_police_officer(), rng)


@lru_cache(maxsize=1)
def _police_officer() -> Mesh:
    return merge(
        [
            _vested(bodies.body_of("h_police")),
            _police_cap().moved(y=-0.05, z=1.775),
            lathe([[0.175, -0.03], [0.175, 0.03]], paint(0.01), around=24).moved(z=1.0, scale=(1, 0.72, 1)),
        ]
    )


def _helmet(colour: Colour) -> Mesh:
    shell = paint(*colour, reflectance=0.08, roughness=0.2)
    profile = [[0.12, -0.02], [0.135, 0.02], [0.115, 0.09], [0.06, 0.135], [1e-3, 0.15]]
    peak = quad((0, -0.16, 0), (0.08, 0, 0), (0, 0.03, 0.02), paint(0.02))
    return merge([lathe(profile, shell, around=24).moved(scale=(0.9, 1.2, 1)), peak])


def build_cyclist(item: SceneObject, rng: np.random.Generator) -> Mesh:
    """Return a rider with helmet on a bicycle."""
    bicycle = repainted("bicycle", firstcolor=pick(rng, CLOTHES)).moved(scale=1.16)
    rider = _with_looks(bodies.body_of("h_cyclist"), rng, top=pick(rng, CYCLING_TOPS))
    points = rider.corners.reshape(-1, 3)
    highest = float(points[:, 2].max())
    crown = points[points[:, 2] > highest - 0.04].mean(0)
    helmet = _helmet(pick(rng, HELMETS)).moved(
        x=float(crown[0]), y=float(crown[1]) + 0.015, z=highest - 0.115
    )
    mounted = merge([rider, helmet]).moved(y=0.16, z=0.18)
    return merge([bicycle, mounted]).moved(yaw=pick(rng, (0.45, -0.45, SIDEWAYS, -SIDEWAYS, np.pi + 0.3)))
