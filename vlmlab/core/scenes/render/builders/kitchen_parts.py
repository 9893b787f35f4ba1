"""Parts that several kitchen things share: glass, puddles, plumes, flames, mugs, pans."""

import numpy as np

from vlmlab.core.scenes.render import kitchen_textures
from vlmlab.core.scenes.render.kitchen_style import STEEL
from vlmlab.core.scenes.render.mesh import Colour, Material, Mesh, merge, paint
from vlmlab.core.scenes.render.primitives import box, lathe, quad, sphere, torus, triangles, tube
from vlmlab.core.seeding import pick

COFFEE = Material((0.06, 0.024, 0.009), reflectance=0.08, roughness=0.06, name="coffee")
MUGS: tuple[Colour, ...] = ((0.78, 0.77, 0.73), (0.62, 0.06, 0.05), (0.06, 0.22, 0.5), (0.85, 0.55, 0.05))
PAN_RADIUS = 0.14


def glass(opacity: float = 0.38) -> Material:
    """Return glass that a person can make out; thin sheets of it still count as seen."""
    return Material((0.5, 0.66, 0.72), opacity=opacity, reflectance=0.14, roughness=0.06, name="glass")


def water(opacity: float = 0.5) -> Material:
    """Return water that a person can make out on wood and stone."""
    return Material((0.5, 0.7, 0.8), opacity=opacity, reflectance=0.16, roughness=0.05, name="water")


def tumbler(*, filled: float = 0.0, height: float = 0.15) -> Mesh:
    """Return a drinking glass that stands on z = 0, with water up to a share of its height."""
    low, high = 0.033, 0.044
    rim = Material((0.85, 0.95, 0.98), opacity=0.96, reflectance=0.2, roughness=0.1, name="glass rim")
    parts = [
        lathe([[low, 0], [high, height]], glass(), around=32),
        torus(high, 0.0024, rim, around=32).moved(z=height),
        lathe([[low, 0.0], [low * 0.97, 0.012], [1e-4, 0.012]], glass(0.6), around=32),
        torus(low, 0.002, rim, around=28).moved(z=0.002),
    ]
    if filled > 0:
        level, blue = (
            height * filled,
            Material((0.2, 0.48, 0.68), opacity=0.6, reflectance=0.1, roughness=0.1),
        )
        reach = low + (high - low) * filled - 0.003
        parts.append(lathe([[low - 0.003, 0.013], [reach, level]], blue, around=28))
        parts.append(lathe([[reach, level], [1e-4, level]], water(0.75), around=28))
    return merge(parts)


def puddle(
    radius: float, material: Material, rng: np.random.Generator, *,
    stretch: tuple[float, float] = (1.0, 1.0), raggedness: float = 0.22, around: int = 56,
    thick: float = 0.0015,
) -> Mesh:  # fmt: skip
    """Return a flat pool with a wavy outline about the origin, on z = 0."""
    angle = np.linspace(0, 2 * np.pi, around, endpoint=False)
    wave = sum(
        share * np.sin(angle * lobes + rng.random() * 6) for share, lobes in ((0.6, 2), (0.6, 3), (0.35, 7))
    )
    reach = radius * (1 + raggedness * wave)
    rings = []
    for share, height in ((1.0, 0.0), (0.96, thick), (0.5, thick * 1.1), (0.02, thick * 1.15)):
        x, y = reach * share * np.cos(angle) * stretch[0], reach * share * np.sin(angle) * stretch[1]
        rings.append(np.stack([x, y, np.full(around, height)], -1))
    faces = []
    for ring in range(3):
        for step in range(around):
            here, there = ring * around + step, ring * around + (step + 1) % around
            faces += [[here, there, there + around], [here, there + around, here + around]]
    return triangles(np.concatenate(rings), faces, material)


def drops(
    material: Material, rng: np.random.Generator, *, count: int, spread: float, sizes: tuple[float, float]
) -> Mesh:
    """Return small pools scattered about the origin."""
    parts = []
    for _ in range(count):
        x, y = np.clip(rng.standard_normal(2), -1.6, 1.6) * spread
        pool = puddle(float(rng.uniform(*sizes)), material, rng, around=12, raggedness=0.1)
        parts.append(pool.moved(float(x), float(y)))
    return merge(parts)


def trickle(
    material: Material, rng: np.random.Generator, *, x: float, y: float, drop: float, radius: float
) -> Mesh:
    """Return a stream that runs down a front from z = 0, swinging a little."""
    z = np.linspace(0.003, -drop, 24)
    phase = rng.random() * 6
    return tube(
        np.stack([x + 0.004 * np.sin(z * 18 + phase), np.full(24, y), z], -1), radius, material, around=7
    )


def plume(
    rng: np.random.Generator, *, width: float, height: float, sheets: int, shade: float, opacity: float,
    spacing: float = 0.025, lean: float = 0.0,
) -> Mesh:  # fmt: skip
    """Return steam or smoke that rises from the origin, as sheets that face the camera (-Y).

    Args:
        rng: source of the shapes.
        width: of a sheet, metres.
        height: of a sheet, metres.
        sheets: how many.
        shade: grey value, 0 black smoke to 1 white steam.
        opacity: of the thickest part; below 0.98.
        spacing: between sheets, metres.
        lean: how far the top lies nearer to the camera than the foot.
    """
    parts = []
    for number in range(sheets):
        texture = kitchen_textures.plume(int(rng.integers(12)))
        material = Material((shade, shade, shade), texture, opacity, 0.0, 1.0, name="plume")
        x = float(rng.uniform(-1, 1)) * width * 0.12
        half = width / 2 * float(rng.uniform(0.85, 1.1))
        centre = (x, -spacing * (number - sheets / 2) - lean / 2, height / 2)
        parts.append(quad(centre, (half, 0, 0), (0, -lean / 2, height / 2), material))
    return merge(parts)


def billow(
    rng: np.random.Generator,
    *,
    rise: float,
    lean: float,
    sizes: tuple[float, float],
    puffs: int,
    shade: float,
) -> Mesh:
    """Return a dark cloud of overlapping balls that widens as it rises and leans towards the camera (-Y)."""
    parts = []
    for number in range(puffs):
        share = (number + 0.5) / puffs
        half = (sizes[0] + (sizes[1] - sizes[0]) * share) * float(rng.uniform(0.85, 1.15))
        spread = half * 0.5
        x, z = float(rng.uniform(-spread, spread)), rise * share + float(rng.uniform(-0.03, 0.03))
        tone = shade * float(rng.uniform(0.6, 2.2))
        texture = kitchen_textures.puff(int(rng.integers(8)))
        material = Material((tone, tone, tone), texture, 0.88, 0.0, 1.0, name="smoke")
        y = -lean * share**0.6 - 0.012 * (number % 5)  # out from under a hood before it meets it
        parts.append(quad((x, y, z), (half, 0, 0), (0, 0, half), material))
    return merge(parts)


def tongue(number: int, *, is_gas: bool) -> Material:
    """Return the glowing picture of one flame."""
    glow = (1.5, 2.1, 4.2) if is_gas else (3.0, 2.7, 2.4)
    texture = kitchen_textures.flame(number % 7, is_gas=is_gas)
    return Material((1, 1, 1), texture, 0.92, 0.0, 1.0, glow, name="flame")


def gas_ring(rng: np.random.Generator, *, radius: float = 0.05, height: float = 0.055) -> Mesh:
    """Return the blue crown of a burner about the origin."""
    count, parts = 22, []
    for number in range(count):
        angle = 2 * np.pi * number / count
        cos, sin = float(np.cos(angle)), float(np.sin(angle))
        half = height * float(rng.uniform(0.8, 1.25)) / 2
        centre = (radius * cos, radius * sin, half)
        rise = (0.5 * half * cos, 0.5 * half * sin, half)
        for across in ((0.011, 0, 0), (-sin * 0.011, cos * 0.011, 0)):
            parts.append(quad(centre, across, rise, tongue(number, is_gas=True)))
    return merge(parts)


def mug(colour: Colour, *, is_full: bool) -> Mesh:
    """Return a mug with its handle towards +X."""
    clay = paint(*colour, reflectance=0.06, roughness=0.18)
    radius, height, thick = 0.043, 0.098, 0.004
    profile = [[radius * 0.9, 0], [radius, 0.012], [radius, height], [radius - thick, height + 0.001],
               [radius - thick, 0.01], [1e-4, 0.01]]  # fmt: skip
    angle = np.linspace(-1.3, 1.3, 14)
    bow = np.stack([radius + 0.03 * np.cos(angle) - 0.006, 0 * angle, height / 2 + 0.033 * np.sin(angle)], -1)
    parts = [
        lathe(profile, clay, around=32),
        lathe([[1e-4, 0], [radius * 0.9, 0]], clay, around=24),
        tube(bow, 0.0068, clay, around=8),
    ]
    if is_full:
        parts.append(lathe([[radius - thick, height - 0.012], [1e-4, height - 0.012]], COFFEE, around=28))
    return merge(parts)


def pick_mug(rng: np.random.Generator) -> Colour:
    """Return the colour of a mug."""
    return pick(rng, MUGS)


def pan(*, is_burnt: bool = False) -> Mesh:
    """Return a frying pan about the origin on z = 0, handle towards -Y."""
    iron = paint(0.022, 0.022, 0.024, reflectance=0.06, roughness=0.28)
    r = PAN_RADIUS
    profile = [[1e-4, 0], [r * 0.82, 0], [r * 0.88, 0.004], [r, 0.05], [r + 0.004, 0.05],
               [r - 0.004, 0.049], [r * 0.82, 0.006], [1e-4, 0.005]]  # fmt: skip
    along = np.linspace(0, 1, 10)
    grip = np.stack([0 * along, -r - 0.02 - along * 0.2, 0.046 + 0.03 * np.sin(along * 1.7)], -1)
    red = paint(0.45, 0.03, 0.02, reflectance=0.05, roughness=0.3)
    inside = iron if is_burnt else paint(0.09, 0.09, 0.095, reflectance=0.2, roughness=0.3)
    return merge(
        [
            lathe(profile[:5], iron, around=40),
            lathe(profile[4:], inside, around=40),
            torus(r + 0.001, 0.003, STEEL, around=40).moved(z=0.05),
            tube(grip, 0.0135, iron if is_burnt else red, around=10),
            sphere(0.0135, iron if is_burnt else red, around=10).moved(*(float(v) for v in grip[-1])),
            box((0.03, 0.05, 0.014), STEEL, centre=(0, -r - 0.015, 0.047)),
        ]
    )


def sheet(points: np.ndarray, material: Material) -> Mesh:
    """Return a cloth from an ``(rows, columns, 3)`` grid of points; row 0 is the top of its texture."""
    rows, columns = points.shape[:2]
    index = np.arange(rows * columns).reshape(rows, columns)
    a, b, c, d = (part.ravel() for part in (index[:-1, :-1], index[:-1, 1:], index[1:, :-1], index[1:, 1:]))
    faces = np.concatenate([np.stack([a, c, d], -1), np.stack([a, d, b], -1)])
    along, down = np.gradient(points, axis=1), np.gradient(points, axis=0)
    normals = np.cross(down, along)
    normals /= np.maximum(np.sqrt((normals**2).sum(-1, keepdims=True)), 1e-9)
    across, height = np.meshgrid(np.linspace(0, 1, columns), np.linspace(1, 0, rows))
    uvs = np.stack([across, height], -1) * 0.998 + 0.001
    return triangles(
        points.reshape(-1, 3), faces, material, uvs=uvs.reshape(-1, 2), normals=normals.reshape(-1, 3)
    )
