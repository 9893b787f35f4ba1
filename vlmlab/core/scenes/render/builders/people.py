"""Builders of people: pedestrians, children, wheelchair users, police officers, cyclists."""

from functools import lru_cache

import numpy as np

from vlmlab.core.scenes.render import textures
from vlmlab.core.scenes.render.mesh import Colour, Material, Mesh, merge, paint
from vlmlab.core.scenes.render.packs import load_pack, repainted
from vlmlab.core.scenes.render.primitives import cylinder, lathe, quad, sphere
from vlmlab.core.scenes.scene import SceneObject

CLOTHES: tuple[Colour, ...] = (
    (0.5, 0.06, 0.06),
    (0.07, 0.15, 0.45),
    (0.65, 0.6, 0.5),
    (0.08, 0.3, 0.12),
    (0.7, 0.45, 0.05),
    (0.3, 0.3, 0.32),
)
CYCLING_TOPS: tuple[Colour, ...] = ((0.8, 0.7, 0.02), (0.7, 0.05, 0.05), (0.05, 0.4, 0.7))
SIDEWAYS = np.pi / 2


def pick(rng: np.random.Generator, choices: tuple[Colour, ...]) -> Colour:
    """Return one of the colours."""
    return choices[int(rng.integers(len(choices)))]


def _word(rng: np.random.Generator, choices: tuple[str, ...]) -> str:
    return choices[int(rng.integers(len(choices)))]


def _angle(rng: np.random.Generator, choices: tuple[float, ...]) -> float:
    return choices[int(rng.integers(len(choices)))]


def build_pedestrian(item: SceneObject, rng: np.random.Generator) -> Mesh:
    """Return a standing or walking adult."""
    if rng.random() < 0.6:
        return load_pack(_word(rng, ("male1", "male3", "female1", "female3")))
    walker = repainted("h_adult_walk", top=pick(rng, CLOTHES))
    return walker.moved(yaw=_angle(rng, (0.0, SIDEWAYS, -SIDEWAYS)))


def build_child(item: SceneObject, rng: np.random.Generator) -> Mesh:
    """Return a child of six to nine, standing or running."""
    name = _word(rng, ("h_child_run", "h_child_stand", "boy", "girl"))
    if name in ("boy", "girl"):
        return load_pack(name).moved(scale=0.74)
    return repainted(name, top=pick(rng, CLOTHES)).moved(yaw=_angle(rng, (0.0, 0.9, -0.9)))


def build_wheelchair_user(item: SceneObject, rng: np.random.Generator) -> Mesh:
    """Return a person who sits in a wheelchair, seen half from the side so that a wheel shows."""
    chair = load_pack("wheelchair").moved(scale=1.08)
    person = repainted("h_sitter", top=pick(rng, CLOTHES)).moved(y=0.10, z=0.06, scale=0.96)
    return merge([chair, person]).moved(yaw=_angle(rng, (0.5, -0.5, 1.2, -1.2)))


def _police_cap() -> Mesh:
    navy = paint(0.012, 0.016, 0.05)
    crown = [[0.115, -0.045], [0.118, 0], [0.165, 0.045], [0.16, 0.06], [1e-3, 0.075]]
    band = paint(0.75, 0.75, 0.75, reflectance=0.2, roughness=0.3)
    badge = paint(0.85, 0.75, 0.25, reflectance=0.4, roughness=0.2)
    return merge(
        [
            lathe(crown, navy, around=28),
            lathe([[0.119, -0.03], [0.119, -0.005]], band, around=28),
            quad((0, -0.15, -0.045), (0.085, 0, 0), (0, 0.045, 0.012), paint(0.01)),
            sphere(0.02, badge, around=10).moved(y=-0.15, z=0.02),
        ]
    )


def _vested(officer: Mesh) -> Mesh:
    """Return the officer with a bright vest over the trunk of the shirt, with a silver band."""
    shirt = [material.name for material in officer.materials].index("shirt")
    middle = officer.corners.mean(1)
    trunk = (officer.material_of == shirt) & (np.abs(middle[:, 0]) < 0.175)
    trunk &= (middle[:, 2] > 1.0) & (middle[:, 2] < 1.52)
    band = trunk & (middle[:, 2] > 1.1) & (middle[:, 2] < 1.16)
    material_of = officer.material_of.copy()
    material_of[trunk] = len(officer.materials)
    material_of[band] = len(officer.materials) + 1
    corners = officer.corners.copy()
    corners[trunk] += officer.normals[trunk] * np.float32(0.012)
    vest = paint(0.62, 0.85, 0.05, roughness=0.8)
    silver = paint(0.8, reflectance=0.2)
    return Mesh(corners, officer.normals, officer.uvs, material_of, (*officer.materials, vest, silver))


def build_police_officer(item: SceneObject, rng: np.random.Generator) -> Mesh:
    """Return an officer with cap, bright vest and the word POLICE on chest and back, one arm raised."""
    return _police_officer()


@lru_cache(maxsize=1)
def _police_officer() -> Mesh:
    word = textures.lettering("POLICE", width=256, height=80, ink=(255, 255, 255), ground=(8, 14, 60))
    label = Material(albedo=(1, 1, 1), texture=word)
    return merge(
        [
            _vested(load_pack("h_police")),
            _police_cap().moved(z=1.815),
            quad((0, -0.168, 1.33), (0.15, 0, 0), (0, 0.012, 0.05), label),
            quad((0, 0.162, 1.36), (-0.16, 0, 0), (0, -0.01, 0.052), label),
            lathe([[0.175, -0.03], [0.175, 0.03]], paint(0.01), around=24).moved(z=1.0, scale=(1, 0.72, 1)),
            cylinder(0.012, 0.1, paint(0.01), around=8).moved(x=0.13, y=-0.13, z=1.35),
        ]
    )


def _helmet() -> Mesh:
    shell = paint(0.75, 0.05, 0.05, reflectance=0.08, roughness=0.2)
    profile = [[0.12, -0.02], [0.135, 0.02], [0.115, 0.09], [0.06, 0.135], [1e-3, 0.15]]
    peak = quad((0, -0.16, 0), (0.08, 0, 0), (0, 0.03, 0.02), paint(0.02))
    return merge([lathe(profile, shell, around=24).moved(scale=(0.9, 1.2, 1)), peak])


def build_cyclist(item: SceneObject, rng: np.random.Generator) -> Mesh:
    """Return a rider with helmet on a bicycle."""
    bicycle = repainted("bicycle", firstcolor=pick(rng, CLOTHES)).moved(scale=1.16)
    rider = repainted("h_cyclist", top=pick(rng, CYCLING_TOPS))
    points = rider.corners.reshape(-1, 3)
    highest = float(points[:, 2].max())
    crown = points[points[:, 2] > highest - 0.04].mean(0)
    helmet = _helmet().moved(x=float(crown[0]), y=float(crown[1]) + 0.015, z=highest - 0.115)
    mounted = merge([rider, helmet]).moved(y=0.16, z=0.18)
    return merge([bicycle, mounted]).moved(yaw=_angle(rng, (0.45, -0.45, SIDEWAYS, -SIDEWAYS, np.pi + 0.3)))
