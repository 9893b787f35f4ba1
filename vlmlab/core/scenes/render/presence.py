"""Checks in two stages that a picture will show every required object: projected boxes, then primary rays.

Both stages look at a fixed grid of ``CHECK_WIDTH`` x ``CHECK_HEIGHT`` pixels, so that the layout of a scene
does not depend on the size of the picture that is asked for.
"""

from dataclasses import dataclass

import numpy as np

from vlmlab.core.scenes.render.camera import NEAREST_M, Pinhole
from vlmlab.core.scenes.render.mesh import Floats, Ints, Mesh
from vlmlab.core.scenes.render.tracer import FAR_AWAY, Geometry, LoneObject
from vlmlab.core.scenes.scene import SceneDescription, SceneObject

CHECK_WIDTH, CHECK_HEIGHT = 240, 180
NEAR_ENOUGH = np.float32(1e-3)  # two distances this close are the same surface


@dataclass(frozen=True)
class Threshold:
    """What counts as present.

    Attributes:
        pixels: smallest number of visible pixels of the check grid.
        in_frame: smallest share of the projected box that lies inside the frame.
        visible: smallest share of the object's own pixels that nothing hides.
        fills: an object whose box covers this share of the frame may leave it.
    """

    pixels: int = 24
    in_frame: float = 0.75
    visible: float = 0.5
    fills: float = 0.35


DEFAULT_THRESHOLD = Threshold()
THRESHOLDS: dict[str, Threshold] = {
    "cone": Threshold(pixels=8, in_frame=0.9, visible=0.6),
    "garbage_bin": Threshold(pixels=14, in_frame=0.8, visible=0.55),
    "chain_barrier": Threshold(pixels=14, in_frame=0.5, visible=0.4, fills=0.1),
    "debris": Threshold(pixels=20, in_frame=0.5, visible=0.45, fills=0.05),
    "container": Threshold(pixels=84, in_frame=0.5, visible=0.4, fills=0.15),
    "traffic_light": Threshold(pixels=34, in_frame=0.45, visible=0.5, fills=1.0),
    "bus_stop": Threshold(pixels=169, in_frame=0.5, visible=0.45),
    "emergency_vehicle": Threshold(pixels=84, in_frame=0.7, visible=0.45),
    "child_pedestrian": Threshold(pixels=14, visible=0.5),
    "pedestrian": Threshold(pixels=18, visible=0.5),
    "police_pedestrian": Threshold(pixels=22, visible=0.55),
    "wheelchair_pedestrian": Threshold(pixels=18, visible=0.55),
    "cyclist": Threshold(pixels=18, visible=0.5),
    "glass_upright": Threshold(pixels=50, in_frame=0.95, visible=0.8),
    "glass_tipped": Threshold(pixels=90, in_frame=0.4, visible=0.4),
    "coffee_spill": Threshold(pixels=90, in_frame=0.5, visible=0.6),
    "wet_floor": Threshold(pixels=260, in_frame=0.8, visible=0.7),
    "knife_edge": Threshold(pixels=30, in_frame=0.9, visible=0.75),
    "knife_block": Threshold(pixels=90, in_frame=0.9, visible=0.7),
    "scissors_open": Threshold(pixels=36, in_frame=0.9, visible=0.75),
    "cabinet_open": Threshold(pixels=600, in_frame=0.7, visible=0.4),
    "cabinet_closed": Threshold(pixels=600, in_frame=0.7, visible=0.5),
    "pill_bottle": Threshold(pixels=36, in_frame=0.9, visible=0.75),
    "stove_on": Threshold(pixels=24, in_frame=0.7, visible=0.25),
    "towel_near": Threshold(pixels=140, in_frame=0.8, visible=0.6),
    "towel_burning": Threshold(pixels=300, in_frame=0.6, visible=0.6),
    "smoke": Threshold(pixels=500, in_frame=0.3, visible=0.4, fills=0.1),
    "toddler_standing": Threshold(pixels=300, in_frame=0.85, visible=0.7),
    "child_running": Threshold(pixels=300, in_frame=0.85, visible=0.7),
    "child_far_microwave": Threshold(pixels=300, in_frame=0.85, visible=0.7),
    "child_near_microwave": Threshold(pixels=300, in_frame=0.8, visible=0.7),
    "child_near_pan": Threshold(pixels=300, in_frame=0.8, visible=0.7),
    "child_reaching": Threshold(pixels=300, in_frame=0.85, visible=0.6),
    "child_on_stool": Threshold(pixels=400, in_frame=0.8, visible=0.7),
    "barefoot_near_glass": Threshold(pixels=300, in_frame=0.85, visible=0.7),
    "barefoot_child_safe": Threshold(pixels=300, in_frame=0.85, visible=0.7),
    "adult_reacting": Threshold(pixels=500, in_frame=0.75, visible=0.6),
    "outlet_exposed": Threshold(pixels=60, in_frame=0.95, visible=0.8),
    "outlet_covered": Threshold(pixels=60, in_frame=0.95, visible=0.8),
    "loose_cord_floor": Threshold(pixels=60, in_frame=0.85, visible=0.7),
    "microwave_open_hot": Threshold(pixels=700, in_frame=0.75, visible=0.65),
    "pan_stove": Threshold(pixels=100, in_frame=0.8, visible=0.6),
    "pan_counter": Threshold(pixels=100, in_frame=0.6, visible=0.6),
    "hot_beverage": Threshold(pixels=40, in_frame=0.7, visible=0.7),
    "glass_floor": Threshold(pixels=200, in_frame=0.85, visible=0.7),
}


@dataclass(frozen=True)
class Visibility:
    """How much of one object shows on the check grid: pixels, and their share of its own pixels in [0, 1]."""

    pixels: int
    fraction: float


def check_pinhole(description: SceneDescription) -> Pinhole:
    """Return the scene's camera on the check grid."""
    return Pinhole.of(description.camera, width=CHECK_WIDTH, height=CHECK_HEIGHT)


def projection_fault(item: SceneObject, mesh: Mesh, pinhole: Pinhole) -> str | None:
    """First stage: say what is wrong with an object's projected box; None when it may be visible."""
    threshold = THRESHOLDS.get(item.kind, DEFAULT_THRESHOLD)
    points = mesh.outline
    projected = pinhole.project(points)
    ahead = projected[projected[:, 2] > NEAREST_M]
    if not len(ahead):
        return f"{item.kind} is behind the camera"
    low, high = ahead[:, :2].min(0), ahead[:, :2].max(0)
    frame = np.array([pinhole.width, pinhole.height], np.float32)
    inside = np.clip(high, 0, frame) - np.clip(low, 0, frame)
    whole, shown = float(np.prod(high - low)), float(np.prod(inside))
    if shown < threshold.pixels:
        return f"{item.kind} would be too small or out of the frame"
    fills = shown >= threshold.fills * pinhole.width * pinhole.height
    if shown < threshold.in_frame * whole and not fills:
        return f"{item.kind} would be cut by the frame"
    return None


def measure_visibility(
    objects: tuple[SceneObject, ...], meshes: tuple[Mesh, ...], geometry: Geometry, pinhole: Pinhole
) -> dict[str, Visibility]:
    """Cast one ray a check pixel and count, for each required object, what is seen and what there is to see.

    A pixel shows an object when nothing solid stands before it. So glass, water and steam count like anything
    else where they are, and hide nothing.

    Args:
        objects: the scene's objects.
        meshes: theirs, in the same order.
        geometry: all of the scene; object n + 1 is the n-th scene object.
        pinhole: camera on the check grid.
    """
    directions = grid_rays(pinhole)
    solid = geometry.first_solid(np.repeat(pinhole.origin[None], len(directions), 0), directions).distance
    reach = solid * (1 + NEAR_ENOUGH) + NEAR_ENOUGH
    result = {}
    for item, mesh in zip(objects, meshes, strict=True):
        if item.is_required:
            window = _window(mesh, pinhole)
            own = _own_distances(mesh, pinhole, directions[window])
            there = own < FAR_AWAY
            alone, pixels = int(there.sum()), int((there & (own <= reach[window])).sum())
            result[item.id] = Visibility(pixels, pixels / alone if alone else 0.0)
    return result


def visibility_fault(item: SceneObject, visibility: Visibility) -> str | None:
    """Second stage: say why an object does not count as visible; None when it does."""
    threshold = THRESHOLDS.get(item.kind, DEFAULT_THRESHOLD)
    if visibility.pixels < threshold.pixels:
        return f"{item.kind} shows only {visibility.pixels} pixels"
    if visibility.fraction < threshold.visible:
        return f"{item.kind} is hidden to {1 - visibility.fraction:.0%}"
    return None


def grid_rays(pinhole: Pinhole) -> Floats:
    """Return one unit direction a pixel centre, ``(height * width, 3)``, row by row."""
    pixels = np.arange(pinhole.height * pinhole.width)
    x = (pixels % pinhole.width).astype(np.float32) + np.float32(0.5)
    y = (pixels // pinhole.width).astype(np.float32) + np.float32(0.5)
    return pinhole.rays(x, y)


def _window(mesh: Mesh, pinhole: Pinhole) -> Ints:
    """Return the numbers of the pixels inside the box of a mesh."""
    box = pinhole.box_of(mesh.outline)
    if box is None:
        return np.zeros(0, np.int64)
    left, right = int(np.clip(box[0], 0, pinhole.width)), int(np.clip(np.ceil(box[2]), 0, pinhole.width))
    top, bottom = int(np.clip(box[1], 0, pinhole.height)), int(np.clip(np.ceil(box[3]), 0, pinhole.height))
    pixels = np.arange(pinhole.height * pinhole.width).reshape(pinhole.height, pinhole.width)
    return pixels[top:bottom, left:right].ravel()


def _own_distances(mesh: Mesh, pinhole: Pinhole, directions: Floats) -> Floats:
    """Return the distance to a mesh along each ray with nothing else in the scene."""
    if not len(directions):
        return np.zeros(0, np.float32)
    origins = np.repeat(pinhole.origin[None], len(directions), 0)
    return LoneObject(mesh).distances(origins, np.ascontiguousarray(directions))
