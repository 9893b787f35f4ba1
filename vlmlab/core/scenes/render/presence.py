"""Checks in two stages that a picture will show every required object: projected boxes, then primary rays.

Both stages look at a fixed grid of ``CHECK_WIDTH`` x ``CHECK_HEIGHT`` pixels, so that the layout of a scene
does not depend on the size of the picture that is asked for.
"""

from dataclasses import dataclass

import numpy as np

from vlmlab.core.scenes.render.camera import NEAREST_M, Pinhole
from vlmlab.core.scenes.render.mesh import Floats, Mesh
from vlmlab.core.scenes.render.tracer import SKY, Geometry, LoneObject
from vlmlab.core.scenes.scene import SceneDescription, SceneObject

CHECK_WIDTH, CHECK_HEIGHT = 240, 180


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

    Args:
        objects: the scene's objects.
        meshes: theirs, in the same order.
        geometry: all of the scene; object n + 1 is the n-th scene object.
        pinhole: camera on the check grid.
    """
    directions = grid_rays(pinhole)
    hits = geometry.first_solid(np.repeat(pinhole.origin[None], len(directions), 0), directions)
    seen = np.where(hits.triangle >= 0, geometry.object_of[hits.triangle], SKY)
    result = {}
    for number, (item, mesh) in enumerate(zip(objects, meshes, strict=True)):
        if item.is_required:
            pixels = int((seen == number + 1).sum())
            alone = _own_pixels(mesh, pinhole, directions)
            result[item.id] = Visibility(pixels, min(1.0, pixels / alone) if alone else 0.0)
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


def _own_pixels(mesh: Mesh, pinhole: Pinhole, directions: Floats) -> int:
    """Return how many pixel centres a mesh would cover with nothing else in the scene."""
    box = pinhole.box_of(mesh.outline)
    if box is None:
        return 0
    left, right = int(np.clip(box[0], 0, pinhole.width)), int(np.clip(np.ceil(box[2]), 0, pinhole.width))
    top, bottom = int(np.clip(box[1], 0, pinhole.height)), int(np.clip(np.ceil(box[3]), 0, pinhole.height))
    window = directions.reshape(pinhole.height, pinhole.width, 3)[top:bottom, left:right].reshape(-1, 3)
    if not len(window):
        return 0
    hit = LoneObject(mesh).is_hit(
        np.repeat(pinhole.origin[None], len(window), 0), np.ascontiguousarray(window)
    )
    return int(hit.sum())
