"""Builders of the sink cabinet, open and closed.

The anchor is the middle of its front on the floor (y = 0); the body lies behind it (+Y), under the counter.
The parameter ``room_seed`` gives the doors the colour of the kitchen's other fronts.
"""

import numpy as np
from PIL import ImageDraw

from vlmlab.core.scenes.kitchen_frame import COUNTER_DEPTH, SINK_HALF_WIDTH
from vlmlab.core.scenes.render import textures
from vlmlab.core.scenes.render.kitchen_style import KitchenStyle, kitchen_style
from vlmlab.core.scenes.render.kitchen_units import BASE_HEIGHT, PLINTH, door
from vlmlab.core.scenes.render.mesh import Colour, Material, Mesh, merge, paint
from vlmlab.core.scenes.render.primitives import box, cylinder, lathe, quad, torus, tube
from vlmlab.core.scenes.scene import SceneObject

WIDTH, DEPTH = 2 * SINK_HALF_WIDTH, COUNTER_DEPTH - 0.03
BOTTLES: tuple[tuple[float, Colour, bool, str], ...] = (
    (-0.31, (0.04, 0.22, 0.6), False, "skull"),
    (-0.18, (0.8, 0.62, 0.03), True, "flame"),
    (-0.02, (0.72, 0.05, 0.04), False, "skull"),
    (0.14, (0.82, 0.82, 0.82), True, "drop"),
    (0.29, (0.05, 0.48, 0.16), False, "flame"),
)


def _style(item: SceneObject) -> KitchenStyle:
    seed = item.parameters.get("room_seed", 0)
    return kitchen_style(int(seed) if isinstance(seed, int | float) else 0)


def _body(style: KitchenStyle) -> list[Mesh]:
    inside = paint(0.5, 0.4, 0.28, roughness=0.7)
    middle = PLINTH + BASE_HEIGHT / 2
    parts = [
        box((WIDTH, DEPTH, 0.018), inside, centre=(0, DEPTH / 2, PLINTH + 0.009)),
        box((WIDTH, 0.018, BASE_HEIGHT), inside, centre=(0, DEPTH - 0.02, middle)),
        box((WIDTH, 0.06, PLINTH), paint(0.06), centre=(0, 0.06, PLINTH / 2)),
    ]
    for side in (-1, 1):
        parts.append(
            box(
                (0.018, DEPTH, BASE_HEIGHT),
                style.front,
                centre=(side * (WIDTH / 2 - 0.009), DEPTH / 2, middle),
            )
        )
    return parts


def _leaf(style: KitchenStyle, side: int, angle: float) -> Mesh:
    """Return one door (side -1 left, 1 right), turned open about its outer edge."""
    width, height = WIDTH / 2 - 0.005, BASE_HEIGHT - 0.012
    leaf = door(style, width, height, handle_x=-side * (width / 2 - 0.04), handle_z=height / 2 - 0.14)
    hinged = leaf.moved(x=-side * width / 2).moved(yaw=side * angle)
    return hinged.moved(side * WIDTH / 2, -0.001, PLINTH + BASE_HEIGHT / 2)


def _draw_hazard(sign: str, draw: ImageDraw.ImageDraw, width: int, height: int) -> None:
    """Draw a label: a red diamond with a black sign in it, bars of print under it."""
    middle, reach, y = width / 2, width * 0.44, width * 0.5
    for colour, share in (((215, 20, 20, 255), 1.0), ((255, 255, 255, 255), 0.74)):
        r = reach * share
        draw.polygon([(middle, y - r), (middle + r, y), (middle, y + r), (middle - r, y)], fill=colour)
    r, black = reach * 0.3, (10, 10, 10, 255)
    if sign == "skull":
        draw.ellipse([middle - r, y - r * 1.25, middle + r, y + r * 0.55], fill=black)
        draw.rectangle([middle - r * 0.5, y + r * 0.2, middle + r * 0.5, y + r], fill=black)
        for side in (-1, 1):
            x = middle + side * r * 0.42
            draw.ellipse([x - r * 0.24, y - r * 0.5, x + r * 0.24, y], fill=(255, 255, 255, 255))
    elif sign == "flame":
        draw.ellipse([middle - r * 0.75, y - r * 0.4, middle + r * 0.75, y + r], fill=black)
        draw.polygon(
            [(middle, y - r * 1.5), (middle + r * 0.7, y + r * 0.2), (middle - r * 0.7, y + r * 0.2)],
            fill=black,
        )
    else:
        draw.rectangle([middle - r * 0.22, y - r, middle + r * 0.22, y + r * 0.35], fill=black)
        draw.ellipse([middle - r * 0.25, y + r * 0.55, middle + r * 0.25, y + r * 1.05], fill=black)
    draw.rectangle([width * 0.12, width, width * 0.88, height * 0.98], fill=(250, 205, 20, 255))


def _bottle(colour: Colour, *, has_trigger: bool, sign: str) -> Mesh:
    """Return a bottle of cleaner that stands on z = 0 with a hazard label in front."""
    plastic = paint(*colour, reflectance=0.06, roughness=0.25)
    body = [[1e-4, 0], [0.048, 0], [0.05, 0.01], [0.05, 0.17], [0.02, 0.22], [0.02, 0.25], [1e-4, 0.25]]
    label = textures.painted(lambda d, w, h: _draw_hazard(sign, d, w, h), width=64, height=80)
    parts = [
        lathe(body, plastic, around=22),
        quad((0, -0.0525, 0.09), (0.042, 0, 0), (0, 0, 0.055), Material((1, 1, 1), label, roughness=0.6)),
    ]
    if has_trigger:
        parts.append(box((0.024, 0.075, 0.034), paint(0.7, 0.05, 0.04), centre=(0, -0.012, 0.265)))
        parts.append(box((0.014, 0.012, 0.045), paint(0.05), centre=(0, -0.04, 0.235)))
    else:
        parts.append(cylinder(0.023, 0.034, paint(0.8), around=14).moved(z=0.245))
    return merge(parts)


def build_cabinet_open(item: SceneObject, rng: np.random.Generator) -> Mesh:
    """Return the cabinet with both doors wide open: bottles with hazard labels, the sink's drain behind."""
    style = _style(item)
    parts = _body(style)
    parts += [_leaf(style, side, 1.8 + float(rng.uniform(-0.1, 0.15))) for side in (-1, 1)]
    for x, colour, has_trigger, sign in BOTTLES:
        bottle = _bottle(colour, has_trigger=has_trigger, sign=sign).moved(scale=1.22)
        parts.append(bottle.moved(x, 0.12 + 0.07 * float(rng.random()), PLINTH + 0.018))
    drain = [[0, 0.35, PLINTH + BASE_HEIGHT], [0, 0.35, 0.55], [0.05, 0.35, 0.47], [0.1, 0.36, 0.47],
             [0.13, 0.38, 0.55], [0.13, DEPTH - 0.03, 0.57]]  # fmt: skip
    parts.append(tube(drain, 0.022, paint(0.75), around=10))
    return merge(parts)


def build_cabinet_closed(item: SceneObject, rng: np.random.Generator) -> Mesh:
    """Return the cabinet shut; one that realises a concept has a child lock on its handles."""
    style = _style(item)
    parts = [*_body(style), *(_leaf(style, side, 0.0) for side in (-1, 1))]
    if item.concept:
        parts.append(_child_lock().moved(z=PLINTH + BASE_HEIGHT - 0.15))
    return merge(parts)


def _child_lock() -> Mesh:
    """Return a white loop with a blue button across the gap between the doors."""
    white, blue = paint(0.85, roughness=0.4), paint(0.05, 0.3, 0.8)
    loop = torus(0.05, 0.009, white, around=20, stretch=1.3).moved(y=-0.045, pitch=np.pi / 2)
    return merge(
        [
            loop,
            box((0.05, 0.03, 0.06), white, centre=(0, -0.05, -0.05)),
            box((0.024, 0.01, 0.03), blue, centre=(0, -0.068, -0.05)),
        ]
    )
