"""Procedural textures of a kitchen: tiles, stone, cloth, flames and plumes; cached pure functions."""

from functools import lru_cache

import numpy as np
from PIL import ImageDraw

from vlmlab.core.scenes.render import textures
from vlmlab.core.scenes.render.mesh import Colour, Floats, Texture
from vlmlab.core.seeding import rng_for

Painted = tuple[int, int, int]
TOWEL_ROWS, TOWEL_COLUMNS = 256, 160


@lru_cache(maxsize=16)
def wall_tiles(colour: Colour, *, across: int, rows: int, staggered: bool) -> Texture:
    """Return glazed tiles with a darker joint; the picture covers ``across`` x ``rows`` tiles."""
    size = 256
    rng = rng_for(across * 100 + rows, "texture", "wall tiles")
    image = np.empty((size, size, 3), np.float32)
    image[:] = colour
    joint = np.array(colour, np.float32) * np.float32(0.55)
    for row in range(rows):
        top, bottom = row * size // rows, (row + 1) * size // rows
        shift = size // across // 2 if staggered and row % 2 else 0
        for column in range(across + 1):
            left, right = column * size // across - shift, (column + 1) * size // across - shift
            image[top:bottom, max(left, 0) : max(right, 0)] *= np.float32(1 + 0.05 * (rng.random() - 0.5))
            if 0 <= left < size:
                image[top:bottom, left : left + 2] = joint
        image[top : top + 2] = joint
    return Texture.from_linear(image)


@lru_cache(maxsize=8)
def checked_floor(light: Colour, dark: Colour) -> Texture:
    """Return four floor tiles in two colours with joints."""
    size = 256
    mottled = textures.fractal_noise(size, octaves=5, rng=rng_for(5, "texture", "checked floor"))
    image = np.empty((size, size, 3), np.float32)
    half = size // 2
    for row in range(2):
        for column in range(2):
            rows, columns = slice(row * half, (row + 1) * half), slice(column * half, (column + 1) * half)
            image[rows, columns] = light if (row + column) % 2 else dark
            image[row * half : row * half + 3] = 0.16
    image[:, 0:3] = image[:, half : half + 3] = 0.16
    return Texture.from_linear((image * (0.92 + 0.16 * mottled[..., None])).astype(np.float32))


@lru_cache(maxsize=8)
def stone(colour: Colour) -> Texture:
    """Return polished stone with light and dark grains."""
    size = 256
    rng = rng_for(11, "texture", "stone")
    smooth = textures.fractal_noise(size, octaves=6, rng=rng)
    grain = rng.random((size, size)).astype(np.float32)
    image = np.array(colour, np.float32) * (0.88 + 0.24 * smooth)[..., None]
    image[grain > 0.94] *= 1.3
    image[grain < 0.08] *= 0.6
    return Texture.from_linear(np.clip(image, 0, 0.85).astype(np.float32))


def _height_and_side(size: int) -> tuple[Floats, Floats]:
    """Return for each texel its height in [0, 1] from the bottom and its place across in [-1, 1]."""
    height = np.repeat(np.linspace(1, 0, size, dtype=np.float32)[:, None], size, 1)
    side = np.repeat(np.linspace(-1, 1, size, dtype=np.float32)[None], size, 0)
    return height, side


@lru_cache(maxsize=32)
def plume(seed: int) -> Texture:
    """Return white with the opacity of a rising, widening, curling plume."""
    size = 96
    rng = rng_for(seed, "texture", "plume")
    ragged = textures.fractal_noise(size, octaves=4, rng=rng)
    height, side = _height_and_side(size)
    middle = 0.22 * np.sin(height * 6 + seed)
    width = 0.2 + 0.34 * height
    body = np.exp(-(((side - middle) / width) ** 2)) * np.clip((1 - height) * 2.2, 0, 1)
    body *= np.clip(height * 9, 0, 1) * np.clip((1 - np.abs(side)) * 5, 0, 1)
    image = np.ones((size, size, 4), np.float32)
    image[..., 3] = np.clip(body * (ragged * 1.9 - 0.3), 0, 1)
    return Texture.from_linear(image)


@lru_cache(maxsize=16)
def puff(seed: int) -> Texture:
    """Return white with the opacity of one ragged ball of smoke."""
    size = 96
    ragged = textures.fractal_noise(size, octaves=4, rng=rng_for(seed, "texture", "puff"))
    height, side = _height_and_side(size)
    reach = np.sqrt(side**2 + (2 * height - 1) ** 2)
    body = np.clip((0.98 - reach) * 2.6, 0, 1) * np.clip((ragged + 0.75 - reach) * 2.2, 0, 1)
    image = np.ones((size, size, 4), np.float32)
    image[..., 3] = body
    return Texture.from_linear(image)


@lru_cache(maxsize=32)
def flame(seed: int, *, is_gas: bool) -> Texture:
    """Return one tongue of fire: yellow in the middle and orange outside, or the blue of burning gas."""
    size = 64 if is_gas else 96
    rng = rng_for(seed, "texture", "flame")
    ragged = textures.fractal_noise(size, octaves=4, rng=rng)
    height, side = _height_and_side(size)
    bent = side + (ragged - 0.5) * (0.3 if is_gas else 1.0) * height
    width = 0.7 * np.power(np.maximum(1 - height, 0), 0.7) * (0.35 + 1.2 * np.minimum(height * 3, 1)) + 1e-3
    body = np.power(np.clip(1.25 - np.abs(bent) / width, 0, 1), 0.8) * np.clip(height * 12, 0, 1)
    body *= np.clip((1 - np.abs(side)) * 6, 0, 1)
    heat = np.clip(body * (1.25 - height), 0, 1)
    image = np.empty((size, size, 4), np.float32)
    if is_gas:
        image[..., 0], image[..., 1], image[..., 2] = 0.06 + 0.25 * heat**3, 0.22 + 0.4 * heat, 1.0
    else:
        image[..., 0], image[..., 1], image[..., 2] = 1.0, 0.1 + 0.72 * heat, 0.01 + 0.4 * heat**3
    image[..., 3] = np.clip(body * 1.3, 0, 1) * (0.35 + 0.65 * heat)
    return Texture.from_linear(image)


@lru_cache(maxsize=8)
def towel(ink: Painted, *, is_charred: bool) -> Texture:
    """Return checked cloth, top edge first; a charred one is black towards the top with a glowing seam."""

    def draw(draw: ImageDraw.ImageDraw, width: int, height: int) -> None:
        pale = (ink[0] // 2 + 120, ink[1] // 2 + 120, ink[2] // 2 + 120, 255)
        for x in range(0, width, 32):
            draw.rectangle([x, 0, x + 9, height], fill=pale)
        for y in range(0, height, 32):
            draw.rectangle([0, y, width, y + 9], fill=pale)
        for x in range(0, width, 32):
            for y in range(0, height, 32):
                draw.rectangle([x, y, x + 9, y + 9], fill=(*ink, 255))

    cloth = textures.painted(draw, width=TOWEL_COLUMNS, height=TOWEL_ROWS, ground=(238, 234, 224, 255))
    if not is_charred:
        return cloth
    image = cloth.texels[: TOWEL_ROWS * TOWEL_COLUMNS].reshape(TOWEL_ROWS, TOWEL_COLUMNS, 3).copy()
    ragged = textures.fractal_noise(256, octaves=5, rng=rng_for(4, "texture", "char"))[:, :TOWEL_COLUMNS]
    depth = np.linspace(1.5, -0.7, TOWEL_ROWS, dtype=np.float32)[:, None] + (ragged - 0.5) * 0.9
    burnt = np.clip(depth * 4, 0, 1)[..., None]
    image = image * (1 - burnt) + np.float32(0.012) * burnt
    seam = np.exp(-((depth / 0.05) ** 2))[..., None]
    image = image * (1 - seam) + np.array([0.5, 0.12, 0.01], np.float32) * seam
    return Texture.from_linear(image.astype(np.float32))
