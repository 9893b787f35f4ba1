"""A forklift from simple solids: forks towards -Y, standing on z = 0."""

import numpy as np

from tools.warehouse_pool.loads import loaded_pallet
from vlmlab.core.scenes.render.mesh import Colour, Mesh, merge, paint
from vlmlab.core.scenes.render.primitives import box, cylinder, torus

PAINTS: tuple[Colour, ...] = ((0.8, 0.42, 0.02), (0.65, 0.05, 0.03), (0.75, 0.6, 0.03), (0.05, 0.32, 0.16))
SEAT_Z, SEAT_Y, MAST_Y = 0.92, 0.28, -0.92
RAISED, LOWERED = 0.55, 0.04


def build_forklift(rng: np.random.Generator, *, is_moving: bool, driver: Mesh | None) -> Mesh:
    """Return a forklift.

    Args:
        rng: draws the paint and the load.
        is_moving: it carries a load, and its beacon is lit; otherwise the forks lie on the floor.
        driver: a sitting person whose seat is on z = 0 about the origin; None for nobody.
    """
    colour = PAINTS[int(rng.integers(len(PAINTS)))]
    forks_z = RAISED if is_moving else LOWERED
    parts = [*_body(colour), *_cage(is_lit=is_moving), *_mast(forks_z)]
    if is_moving:
        load = loaded_pallet(rng, height=0.6)
        parts.append(load.moved(0, MAST_Y - 0.72, forks_z + 0.05))
    if driver is not None:
        parts.append(driver.moved(0, SEAT_Y, SEAT_Z))
    return merge(parts)


def _body(colour: Colour) -> list[Mesh]:
    hull = paint(*colour, reflectance=0.06, roughness=0.3)
    dark, tyre = paint(0.025), paint(0.012, roughness=0.9)
    parts = [
        box((1.06, 1.5, 0.34), hull, centre=(0, 0.0, 0.42)),
        box((1.1, 0.62, 0.78), hull, centre=(0, 0.86, 0.66)),
        box((0.92, 0.7, 0.24), hull, centre=(0, 0.4, 0.7)),
        box((1.0, 0.1, 0.42), hull, centre=(0, -0.66, 0.72)),
        box((0.56, 0.5, 0.1), dark, centre=(0, SEAT_Y, SEAT_Z - 0.05)),
        box((0.54, 0.1, 0.5), dark, centre=(0, SEAT_Y + 0.3, SEAT_Z + 0.25)),
    ]
    for x in (-0.5, 0.5):
        for y, radius in ((-0.55, 0.33), (0.85, 0.27)):
            wheel = cylinder(radius, 0.22, tyre).moved(tilt=np.pi / 2).moved(x - 0.11, y, radius)
            hub = cylinder(radius * 0.45, 0.24, paint(0.55)).moved(tilt=np.pi / 2).moved(x - 0.12, y, radius)
            parts += [wheel, hub]
    wheel = torus(0.16, 0.02, dark).moved(pitch=-0.7).moved(0, -0.42, 1.16)
    column = box((0.05, 0.05, 0.5), dark).moved(pitch=0.5).moved(0, -0.52, 0.95)
    return [*parts, wheel, column]


def _cage(*, is_lit: bool) -> list[Mesh]:
    """Return the guard over the seat, with its beacon."""
    steel = paint(0.035, roughness=0.4)
    parts = []
    for x in (-0.48, 0.48):
        parts.append(box((0.06, 0.06, 1.5), steel, centre=(x, 0.72, 1.45)))
        parts.append(box((0.06, 0.06, 1.45), steel).moved(pitch=-0.14).moved(x, -0.55, 1.5))
        parts.append(box((0.06, 1.2, 0.06), steel, centre=(x, 0.12, 2.2)))
    parts += [box((0.98, 0.05, 0.05), steel, centre=(0, y, 2.2)) for y in (-0.45, -0.2, 0.05, 0.3, 0.55, 0.7)]
    glow = (3.2, 1.1, 0.05) if is_lit else (0.0, 0.0, 0.0)
    beacon = cylinder(0.08, 0.16, paint(0.7, 0.25, 0.02, emission=glow), around=12)
    return [*parts, beacon.moved(0.3, 0.6, 2.24)]


def _mast(forks_z: float) -> list[Mesh]:
    steel, fork = paint(0.05, 0.05, 0.055, roughness=0.4), paint(0.2, 0.2, 0.21, reflectance=0.15)
    top = 2.15
    parts = [box((0.1, 0.12, top), steel, centre=(x, MAST_Y, top / 2 + 0.05)) for x in (-0.34, 0.34)]
    parts += [box((0.7, 0.1, 0.08), steel, centre=(0, MAST_Y, z)) for z in (0.35, top - 0.02)]
    parts.append(box((0.9, 0.06, 0.4), steel, centre=(0, MAST_Y - 0.09, forks_z + 0.24)))
    for x in (-0.28, 0.28):
        parts.append(box((0.12, 1.1, 0.05), fork, centre=(x, MAST_Y - 0.68, forks_z)))
        parts.append(box((0.12, 0.05, 0.5), fork, centre=(x, MAST_Y - 0.14, forks_z + 0.22)))
    return parts
