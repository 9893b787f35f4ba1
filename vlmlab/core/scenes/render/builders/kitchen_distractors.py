"""Builders of everyday things that are no concept; each stands on z = 0 about its anchor."""

import numpy as np

from vlmlab.core.scenes.render.mesh import Colour, Mesh
from vlmlab.core.scenes.render.packs import load_pack, repainted
from vlmlab.core.scenes.scene import SceneObject
from vlmlab.core.seeding import pick

BODIES: tuple[Colour, ...] = ((0.7, 0.35, 0.02), (0.6, 0.05, 0.04), (0.7, 0.7, 0.68), (0.1, 0.25, 0.3))
KETTLES: tuple[Colour, ...] = ((0.0, 0.2, 0.024), (0.55, 0.03, 0.03), (0.05, 0.12, 0.4), (0.6, 0.6, 0.6))


def build_toaster(item: SceneObject, rng: np.random.Generator) -> Mesh:
    """Return a toaster."""
    return repainted("toaster", orangebody=pick(rng, BODIES))


def build_kettle(item: SceneObject, rng: np.random.Generator) -> Mesh:
    """Return a cold kettle."""
    return repainted("kettle", **{"kettle-red-metal": pick(rng, KETTLES)})


def build_apples(item: SceneObject, rng: np.random.Generator) -> Mesh:
    """Return a bowl of apples."""
    return load_pack("apples")


def build_plant(item: SceneObject, rng: np.random.Generator) -> Mesh:
    """Return a small plant in a pot."""
    return load_pack("plant1")


def build_utensils(item: SceneObject, rng: np.random.Generator) -> Mesh:
    """Return a pot of wooden spoons."""
    return load_pack("utensils").moved(scale=0.85)


def build_bread(item: SceneObject, rng: np.random.Generator) -> Mesh:
    """Return a loaf of bread."""
    return load_pack("bread").moved(scale=1.2)
