"""Procedural textures, each a cached pure function of its arguments."""

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from vlmlab.core.scenes.render.mesh import Colour, Floats, Texture, linear_rgb
from vlmlab.core.seeding import pick, rng_for

Pixel = tuple[int, int, int]
Painter = Callable[[ImageDraw.ImageDraw, int, int], None]


def fractal_noise(size: int, *, octaves: int, rng: np.random.Generator) -> Floats:
    """Return ``(size, size)`` tileable value noise in [0, 1]."""
    total = np.zeros((size, size), np.float32)
    amplitude = 1.0
    for octave in range(octaves):
        cells = 4 * 2**octave
        if cells > size:
            break
        grid = rng.random((cells, cells)).astype(np.float32)
        grid = np.pad(grid, ((0, 1), (0, 1)), mode="wrap")
        position = np.arange(size) * cells / size
        cell = position.astype(np.int64)
        t = (position - cell).astype(np.float32)
        t = t * t * (3 - 2 * t)
        rows = grid[cell] * (1 - t)[:, None] + grid[cell + 1] * t[:, None]
        total += np.float32(amplitude) * (rows[:, cell] * (1 - t) + rows[:, cell + 1] * t)
        amplitude *= 0.5
    total -= total.min()
    field: Floats = (total / total.max()).astype(np.float32)
    return field


def _tinted(colour: Colour, amplitude: float, *, seed: int, octaves: int = 6, size: int = 256) -> Floats:
    rng = rng_for(seed, "texture", "noise")
    smooth = fractal_noise(size, octaves=octaves, rng=rng)
    grain = rng.random((size, size)).astype(np.float32)
    factor = 1 + amplitude * ((smooth - 0.5) + 0.5 * (grain - 0.5))
    return (np.array(colour, np.float32) * factor[..., None]).astype(np.float32)


@lru_cache(maxsize=32)
def noise(colour: Colour, amplitude: float, *, seed: int = 0) -> Texture:
    """Return a mottled colour (earth, grass, plaster)."""
    return Texture.from_linear(_tinted(colour, amplitude, seed=seed))


@lru_cache(maxsize=32)
def clouds(seed: int) -> Texture:
    """Return one-channel cloud density."""
    field = fractal_noise(256, octaves=6, rng=rng_for(seed, "texture", "clouds"))
    return Texture.from_linear(np.repeat(field[..., None], 3, 2))


@lru_cache(maxsize=16)
def asphalt(seed: int, *, brightness: float) -> Texture:
    """Return worn asphalt with a few cracks."""
    rng = rng_for(seed, "texture", "asphalt")
    size = 512
    smooth = fractal_noise(size, octaves=5, rng=rng)
    grain = rng.random((size, size)).astype(np.float32)
    tone = brightness * (0.75 + 0.5 * smooth + 0.35 * (grain - 0.5))
    cracks = Image.new("L", (size, size), 0)
    draw = ImageDraw.Draw(cracks)
    for _ in range(3):
        x, y = (int(value) for value in rng.integers(0, size, 2))
        for _ in range(40):
            next_x, next_y = x + int(rng.integers(-12, 13)), y + int(rng.integers(2, 16))
            draw.line([x, y, next_x, next_y], fill=90, width=1)
            x, y = next_x, next_y
    tone = tone * (1 - np.asarray(cracks, np.float32) / 255)
    tinted = tone[..., None] * np.array([1, 1, 1.03], np.float32)
    return Texture.from_linear(tinted.astype(np.float32))


def _slabs(
    colour: Colour, grout: Colour, *, across: int, rows: int, seed: int, brick: bool, amplitude: float
) -> Floats:
    size = 256
    rng = rng_for(seed, "texture", "slabs")
    image = _tinted(colour, 0.15, seed=seed, octaves=5, size=size)
    joint = max(1, size // 128)
    for row in range(rows):
        top, bottom = row * size // rows, (row + 1) * size // rows
        shift = size // across // 2 if brick and row % 2 else 0
        for column in range(across + 1):
            left, right = column * size // across - shift, (column + 1) * size // across - shift
            image[top:bottom, max(left, 0) : max(right, 0)] *= 1 + amplitude * (rng.random() - 0.5) * 2
            if 0 <= left < size:
                image[top:bottom, left : left + joint] = grout
        image[top : top + joint] = grout
    return image


@lru_cache(maxsize=16)
def slabs(colour: Colour, grout: Colour, *, across: int = 4, seed: int = 1) -> Texture:
    """Return paving slabs."""
    return Texture.from_linear(
        _slabs(colour, grout, across=across, rows=across, seed=seed, brick=False, amplitude=0.12)
    )


@lru_cache(maxsize=8)
def wood(colour: Colour, *, planks: int, seed: int = 0) -> Texture:
    """Return planks with grain."""
    size = 256
    rng = rng_for(seed, "texture", "wood")
    base = fractal_noise(size, octaves=6, rng=rng)
    image = np.zeros((size, size, 3), np.float32)
    for plank in range(planks):
        rows = slice(plank * size // planks, (plank + 1) * size // planks)
        strip = np.roll(base, int(rng.integers(0, size)), 0)[rows]
        wave = (np.arange(strip.shape[0]) * 0.35)[:, None].astype(np.float32)
        grain = np.sin(strip * 40 + wave) * 0.06 + strip * 0.25
        image[rows] = np.array(colour, np.float32) * (0.8 + grain + 0.18 * (rng.random() - 0.5))[..., None]
        image[plank * size // planks] *= 0.45
    return Texture.from_linear(image)


@lru_cache(maxsize=48)
def facade(seed: int, *, floors: int, columns: int, walls: tuple[Colour, ...]) -> Texture:
    """Return a house front with windows; some are bricks, some plaster."""
    size = 256
    rng = rng_for(seed, "texture", "facade")
    tint = np.array(pick(rng, walls)) * rng.uniform(0.8, 1.1)
    wall = (float(tint[0]), float(tint[1]), float(tint[2]))
    if rng.random() < 0.5:
        joint = (wall[0] * 0.8, wall[1] * 0.8, wall[2] * 0.8)
        image = _slabs(wall, joint, across=16, rows=32, seed=seed, brick=True, amplitude=0.05)
    else:
        image = _tinted(wall, 0.12, seed=seed, octaves=5, size=size)
    width, height = int(size / columns * 0.5), int(size / floors * 0.55)
    shade = np.linspace(1.8, 0.7, height)[:, None, None]
    for floor in range(floors):
        for column in range(columns):
            x, y = int((column + 0.25) * size / columns), int((floor + 0.2) * size / floors)
            image[y - 3 : y + height + 3, x - 3 : x + width + 3] = (0.75, 0.74, 0.7)
            image[y : y + height, x : x + width] = (
                np.array([0.06, 0.09, 0.13]) + rng.random() * 0.08
            ) * shade
            image[y : y + height, x + width // 2 - 1 : x + width // 2 + 1] = 0.6
            image[y + height // 2 : y + height // 2 + 2, x : x + width] = 0.6
            if rng.random() < 0.3:
                image[y : y + height // 2, x : x + width] = (0.6, 0.55, 0.45)
    return Texture.from_linear(image)


def _from_pillow(image: Image.Image, *, keep_alpha: bool) -> Texture:
    values = np.asarray(image, np.float32) / 255
    colour = linear_rgb(values[..., :3])
    return Texture.from_linear(np.concatenate([colour, values[..., 3:]], -1) if keep_alpha else colour)


@lru_cache(maxsize=32)
def lettering(text: str, *, width: int, height: int, ink: Pixel, ground: Pixel) -> Texture:
    """Return one line of bold text that fills the panel."""
    image = Image.new("RGBA", (width, height), (*ground, 255))
    draw = ImageDraw.Draw(image)
    size = int(height * 0.8)
    while True:
        font = ImageFont.load_default(size)
        left, top, right, bottom = draw.textbbox((0, 0), text, font=font)
        if (right - left < width * 0.94 and bottom - top < height * 0.94) or size < 6:
            break
        size -= 2
    corner = ((width - right - left) / 2, (height - bottom - top) / 2)
    stroke = max(1, size // 18)
    draw.text(corner, text, font=font, fill=(*ink, 255), stroke_width=stroke, stroke_fill=(*ink, 255))
    return _from_pillow(image, keep_alpha=False)


def painted(
    paint_on: Painter, *, width: int, height: int, ground: tuple[int, int, int, int] = (255, 255, 255, 255)
) -> Texture:
    """Return what ``paint_on(draw, width, height)`` draws; RGBA when the ground is transparent."""
    image = Image.new("RGBA", (width, height), ground)
    paint_on(ImageDraw.Draw(image), width, height)
    return _from_pillow(image, keep_alpha=ground[3] < 255)
