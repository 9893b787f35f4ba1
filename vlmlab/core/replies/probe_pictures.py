"""Pictures with one rectangle whose place and colour are known, for asking how a system writes boxes."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from vlmlab.core.boxes import FloatArray
from vlmlab.core.images import encode_png
from vlmlab.core.seeding import rng_for

PROBE_SIZE = 20
PROBE_VERSION = "1"

COLOURS: dict[str, tuple[int, int, int]] = {
    "red": (214, 32, 40),
    "green": (28, 150, 64),
    "blue": (36, 80, 210),
    "yellow": (245, 214, 30),
    "purple": (128, 40, 160),
    "orange": (245, 130, 20),
}
_SIZES = (
    *((640, 480), (480, 640), (640, 360), (360, 640), (512, 384), (384, 512), (600, 400), (400, 600)),
    *((560, 320), (320, 560)),
)
_LETTERS = "ABCD"
_LEAST_SHARE, _MOST_SHARE = 0.18, 0.4
_MARGIN = 0.04
_GRAIN = 8
_LEAST_DISTANCE_FROM_DIAGONAL = 0.25


@dataclass(frozen=True)
class ProbePicture:
    """One picture with one rectangle, and one question about it.

    Attributes:
        number: its place in the probe, from 0.
        image_png: the picture.
        width: in pixels.
        height: in pixels; never the width.
        box: the rectangle: x0, y0, x1, y1 in pixels, edges as in ``Box``.
        target: how the rectangle is called in a prompt that asks for its box.
        colour: of the rectangle.
        question: asks for the colour, with lettered options.
        options: letter -> colour, in the order of the question.
        expected_letter: the letter of the rectangle's colour.
    """

    number: int
    image_png: bytes
    width: int
    height: int
    box: tuple[float, float, float, float]
    target: str
    colour: str
    question: str
    options: Mapping[str, str]
    expected_letter: str


def probe_pictures(seed: int = 0) -> tuple[ProbePicture, ...]:
    """Return the pictures of a probe; the same seed gives the same bytes.

    Rectangles lie far from the picture's diagonal and reach over most of the range of coordinates, so that
    another order or scale puts a box somewhere else.
    """
    return tuple(_picture(seed, number) for number in range(PROBE_SIZE))


def _picture(seed: int, number: int) -> ProbePicture:
    rng = rng_for(seed, "probe", number)
    width, height = _SIZES[number % len(_SIZES)]
    box = _place(rng, width, height, is_right_of_diagonal=(number // len(_SIZES) + number) % 2 == 0)
    names = list(COLOURS)
    colour = names[number % len(names)]
    pixels = _background(rng, width, height)
    x0, y0, x1, y1 = box
    pixels[y0:y1, x0:x1] = COLOURS[colour]
    options = _options(rng, colour)
    expected = next(letter for letter, name in options.items() if name == colour)
    listed = "\n".join(f"{letter}. {name}" for letter, name in options.items())
    return ProbePicture(
        number=number,
        image_png=encode_png(pixels),
        width=width,
        height=height,
        box=(float(x0), float(y0), float(x1), float(y1)),
        target=f"the {colour} rectangle",
        colour=colour,
        question=f"Which colour has the rectangle?\n{listed}\nAnswer with one letter only.",
        options=options,
        expected_letter=expected,
    )


def _place(
    rng: np.random.Generator, width: int, height: int, *, is_right_of_diagonal: bool
) -> tuple[int, int, int, int]:
    """Return a box inside of the picture whose centre lies on the given side, well off the diagonal."""
    while True:
        shares = rng.uniform(_LEAST_SHARE, _MOST_SHARE, 2)
        left, top = _MARGIN + rng.uniform(0, 1, 2) * (1 - 2 * _MARGIN - shares)
        distance = (left + shares[0] / 2) - (top + shares[1] / 2)
        if (distance if is_right_of_diagonal else -distance) >= _LEAST_DISTANCE_FROM_DIAGONAL:
            x0, y0 = round(left * width), round(top * height)
            return x0, y0, x0 + round(shares[0] * width), y0 + round(shares[1] * height)


def _background(rng: np.random.Generator, width: int, height: int) -> npt.NDArray[np.uint8]:
    """Return a pale ground: even, fading from edge to edge, striped or grained."""
    base = rng.uniform(150, 225) + rng.uniform(-12, 12, 3)
    y, x = np.mgrid[0:height, 0:width].astype(np.float64)
    kind = int(rng.integers(4))
    shade: FloatArray = np.zeros((height, width))
    if kind == 1:
        angle = rng.uniform(0, 2 * np.pi)
        shade = 40 * (np.cos(angle) * x / width + np.sin(angle) * y / height)
    elif kind == 2:
        shade = 14 * np.sin(2 * np.pi * (x if rng.integers(2) else y) / rng.uniform(24, 60))
    elif kind == 3:
        grain = rng.normal(0, 9, (height // _GRAIN + 1, width // _GRAIN + 1))
        shade = grain.repeat(_GRAIN, axis=0).repeat(_GRAIN, axis=1)[:height, :width]
    return np.clip(base + shade[:, :, None], 90, 245).astype(np.uint8)


def _options(rng: np.random.Generator, colour: str) -> dict[str, str]:
    others = [name for name in COLOURS if name != colour]
    shown = [colour, *(others[int(index)] for index in rng.permutation(len(others))[: len(_LETTERS) - 1])]
    return {letter: shown[int(i)] for letter, i in zip(_LETTERS, rng.permutation(len(shown)), strict=True)}
