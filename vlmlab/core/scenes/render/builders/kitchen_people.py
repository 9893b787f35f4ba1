"""Builders of the people of a kitchen. Each stands on z = 0 at the anchor and faces -Y."""

from functools import lru_cache

import numpy as np

from vlmlab.core.scenes.render.builders import bodies
from vlmlab.core.scenes.render.mesh import Colour, Mesh, merge, paint
from vlmlab.core.scenes.render.packs import load_pack
from vlmlab.core.scenes.render.primitives import sphere
from vlmlab.core.scenes.scene import SceneObject
from vlmlab.core.seeding import pick

HAIR: tuple[Colour, ...] = ((0.02, 0.013, 0.009), (0.12, 0.05, 0.02), (0.38, 0.22, 0.08), (0.25, 0.08, 0.02))
SKIN: tuple[Colour, ...] = ((0.60, 0.36, 0.25), (0.66, 0.42, 0.31), (0.36, 0.19, 0.11))
BRIGHT: tuple[Colour, ...] = ((0.7, 0.05, 0.05), (0.8, 0.4, 0.03), (0.05, 0.4, 0.15), (0.7, 0.12, 0.3))
DARK: tuple[Colour, ...] = ((0.04, 0.07, 0.22), (0.06, 0.06, 0.07), (0.22, 0.14, 0.08))
PYJAMAS: tuple[Colour, ...] = ((0.03, 0.11, 0.55), (0.05, 0.2, 0.62))
SEAT = 0.40
STOOL_SCALE = 0.85


def _person(body: Mesh, rng: np.random.Generator, **clothes: Colour) -> Mesh:
    """Return a body with hair and skin drawn, lips in proportion, and the clothes given."""
    skin = pick(rng, SKIN)
    lips = (skin[0] * 0.85, skin[1] * 0.5, skin[2] * 0.5)
    return bodies.dressed(body, hair=pick(rng, HAIR), skin=skin, lips=lips, **clothes)


@lru_cache(maxsize=1)
def _toddler_in_slippers() -> Mesh:
    return bodies.with_slippers(bodies.body_of("h_toddler_pj"), (0.75, 0.12, 0.1), below=0.07)


def build_toddler_standing(item: SceneObject, rng: np.random.Generator) -> Mesh:
    """Return a toddler in blue pyjamas and red slippers who stands still."""
    blue = pick(rng, PYJAMAS)
    return _person(_toddler_in_slippers(), rng, top=blue, legs=blue)


@lru_cache(maxsize=1)
def _runner() -> Mesh:
    return bodies.larger_head(bodies.with_hem(bodies.body_of("h_child_run"), at=0.53), growth=0.08)


def build_child_running(item: SceneObject, rng: np.random.Generator) -> Mesh:
    """Return an older child in shirt, trousers and shoes, in the middle of a run."""
    return _person(_runner(), rng, top=pick(rng, BRIGHT), legs=pick(rng, DARK)).moved(scale=1.12)


@lru_cache(maxsize=1)
def _toddler_in_nappy() -> Mesh:
    return bodies.with_hem(bodies.body_of("h_toddler_diaper"), at=0.475, lower="diaper")


def build_child_reaching(item: SceneObject, rng: np.random.Generator) -> Mesh:
    """Return a toddler in a nappy and a yellow shirt who stretches both arms forwards."""
    return _person(_toddler_in_nappy(), rng, top=(0.8, 0.55, 0.06))


@lru_cache(maxsize=1)
def _watcher() -> Mesh:
    body = bodies.with_hem(bodies.body_of("h_child_stand"), at=0.63)
    body = bodies.larger_head(body, growth=0.16)
    return bodies.with_stripes(body, "top", (0.85, 0.62, 0.05), (0.85, 0.82, 0.75))


def build_child_far_microwave(item: SceneObject, rng: np.random.Generator) -> Mesh:
    """Return a small child in a yellow striped shirt and green trousers who keeps away."""
    return _person(_watcher(), rng, legs=(0.08, 0.24, 0.12), shoes=(0.8, 0.8, 0.78)).moved(scale=0.84)


@lru_cache(maxsize=1)
def _stretching() -> Mesh:
    body = bodies.with_hem(bodies.body_of("h_child_reachup"), at=0.63)
    return bodies.larger_head(body, growth=0.2)


def build_child_near_microwave(item: SceneObject, rng: np.random.Generator) -> Mesh:
    """Return a small child in a red striped shirt who reaches up with both hands."""
    body = bodies.with_stripes(_stretching(), "top", (0.72, 0.06, 0.05), (0.85, 0.83, 0.78))
    return _person(body, rng, legs=pick(rng, DARK), shoes=(0.7, 0.7, 0.7)).moved(scale=0.84)


@lru_cache(maxsize=1)
def _toddler_in_trousers() -> Mesh:
    body = bodies.with_trousers(_toddler_in_nappy(), DARK[0], waist=0.475, ankle=0.05)
    return bodies.with_slippers(body, (0.8, 0.8, 0.78), below=0.06)


def build_child_near_pan(item: SceneObject, rng: np.random.Generator) -> Mesh:
    """Return a toddler in a green shirt and long trousers who stretches both arms up and forwards."""
    return _person(_toddler_in_trousers(), rng, top=(0.08, 0.45, 0.12)).moved(scale=1.08)


@lru_cache(maxsize=2)
def _barefoot(pack: str) -> Mesh:
    body = bodies.with_hem(bodies.body_of(pack), at=0.4, reach=0.12, half_width=0.105)
    return bodies.with_bare_legs(body, below=0.28)


def build_barefoot_near_glass(item: SceneObject, rng: np.random.Generator) -> Mesh:
    """Return a toddler in shirt and shorts, legs and feet bare, in the middle of a step."""
    return _person(_barefoot("h_toddler_walk"), rng, top=(0.75, 0.16, 0.32), legs=(0.12, 0.14, 0.3))


def build_barefoot_child_safe(item: SceneObject, rng: np.random.Generator) -> Mesh:
    """Return a toddler in a white and green shirt and shorts who stands barefoot."""
    body = bodies.with_stripes(_barefoot("h_toddler_pj"), "top", (0.1, 0.45, 0.25), (0.82, 0.82, 0.78))
    return _person(body, rng, legs=(0.1, 0.22, 0.5))


def build_child_on_stool(item: SceneObject, rng: np.random.Generator) -> Mesh:
    """Return a child who stands on a chair and reaches up with both hands; the chair is about the anchor."""
    chair = load_pack("chair").moved(scale=STOOL_SCALE, yaw=np.pi / 2)
    child = _person(_stretching(), rng, top=pick(rng, BRIGHT), legs=pick(rng, DARK), shoes=(0.8, 0.8, 0.8))
    return merge([chair, child.moved(z=SEAT)])


@lru_cache(maxsize=1)
def _alarmed() -> Mesh:
    body = bodies.with_hem(bodies.body_of("h_woman_reach"), at=0.97, half_width=0.25)
    mouth = sphere(0.016, paint(0.05, 0.01, 0.01), around=10).moved(scale=(0.9, 0.4, 1.1))
    return merge([body, mouth.moved(0, -0.209, 1.477)])


def build_adult_reacting(item: SceneObject, rng: np.random.Generator) -> Mesh:
    """Return an alarmed adult, mouth open, who holds up a hand and a red fire extinguisher."""
    adult = _person(_alarmed(), rng, top=(0.25, 0.4, 0.6), legs=pick(rng, DARK))
    bottle = load_pack("extinguisher").moved(scale=0.75, yaw=-0.4)
    return merge([adult, bottle.moved(x=-0.35, y=-0.64, z=1.08)])
