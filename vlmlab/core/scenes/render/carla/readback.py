"""Reads boxes and masks from the frame that a server delivered, and checks that everything required shows."""

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from vlmlab.core.scenes.render.carla.shots import ActorSeen, FloatArray, Shot
from vlmlab.core.scenes.render.presence import (
    CHECK_HEIGHT,
    CHECK_WIDTH,
    DEFAULT_THRESHOLD,
    THRESHOLDS,
    Threshold,
)
from vlmlab.core.scenes.scene import Annotation, SceneDescription, SceneObject

Mask = npt.NDArray[np.bool_]
Box = tuple[float, float, float, float]
CHECK_VERSION = "1"
NEAREST_M = 0.1
MARGIN_PX = 8  # an actor's pixels lie within this of its projected box
OWN_SHARE = 0.7  # of an unnamed instance's pixels must lie in an actor's box for it to be that actor
LEAST_SHARE = 0.05  # of an actor's box that an unnamed instance must cover
BACKGROUND_TAGS = frozenset({0, 1, 2, 3, 4, 6, 9, 10, 11, 23, 24, 25, 26, 27, 28})
"""Tags of what a scene does not place: roads, sidewalks, houses, poles, plants, sky, water and the like."""
TRAFFIC_LIGHT_TAG = 7


def read_annotations(
    description: SceneDescription, shot: Shot
) -> tuple[tuple[Annotation, ...], dict[str, Mask]]:
    """Return the ground truth of every object in the frame, and the masks of the required ones.

    The amodal box bounds the projected bounding boxes of an object's actors and what is seen of it. What
    hides an object is not known to the server, so the visible fraction is that of the boxes.
    """
    annotations, masks = [], {}
    for item in description.objects:
        actors = [actor for actor in shot.actors if actor.concept == item.concept]
        mask = _mask(actors, shot)
        amodal = _amodal(actors, mask, shot)
        if amodal is None:
            continue
        clipped = _clipped(amodal, shot)
        if clipped is None:
            continue
        visible = _bounds(mask)
        masks[item.id] = mask
        annotations.append(
            Annotation(
                object_id=item.id,
                kind=item.kind,
                concept=item.concept,
                is_required=item.is_required,
                visible_box=visible,
                amodal_box=clipped,
                visible_pixels=int(mask.sum()),
                visible_fraction=min(1.0, _area(visible) / _area(clipped)) if visible else 0.0,
            )
        )
    return tuple(annotations), masks


def presence_fault(
    description: SceneDescription, annotations: Sequence[Annotation], shot: Shot
) -> str | None:
    """Return one phrase that says which required object is not seen well enough; None when all are."""
    found = {annotation.object_id: annotation for annotation in annotations}
    for item in description.objects:
        if item.is_required:
            fault = _fault(item, found.get(item.id), shot)
            if fault is not None:
                return fault
    return None


def project(points: FloatArray, *, fov: float, width: int, height: int) -> FloatArray:
    """Return pixels ``(n, 2)`` of points in the camera's frame (ahead, right, up), all before the camera."""
    focal = width / 2 / math.tan(math.radians(fov) / 2)
    depth = points[:, 0]
    return np.stack(
        [width / 2 + focal * points[:, 1] / depth, height / 2 - focal * points[:, 2] / depth], axis=1
    )


def _fault(item: SceneObject, annotation: Annotation | None, shot: Shot) -> str | None:
    threshold = THRESHOLDS.get(item.kind, DEFAULT_THRESHOLD)
    height, width = shot.tags.shape
    if annotation is None or annotation.visible_box is None:
        return f"{item.kind} cannot be seen"
    if annotation.visible_pixels < threshold.pixels * width * height / (CHECK_WIDTH * CHECK_HEIGHT):
        return f"{item.kind} shows only {annotation.visible_pixels} pixels"
    if annotation.visible_fraction < threshold.visible and not _fills(annotation, threshold, shot):
        return f"{item.kind} is hidden to {1 - annotation.visible_fraction:.0%}"
    return None


def _fills(annotation: Annotation, threshold: Threshold, shot: Shot) -> bool:
    height, width = shot.tags.shape
    return bool(annotation.visible_pixels >= threshold.fills * width * height)


def _mask(actors: Sequence[ActorSeen], shot: Shot) -> Mask:
    """Return the pixels of some actors.

    A server of 0.9.16 writes actor ids into the picture; before, and for what it does not register, it
    writes ids of its own, and then the instance that lies in the actor's box is taken. Ids of scenery may
    equal those of actors, so only pixels in the actor's box count; a traffic light, whose box does not
    bound its arm, is known by its tag.
    """
    mask = np.zeros(shot.tags.shape, np.bool_)
    for actor in actors:
        window = _window(actor, shot)
        is_near = window | (shot.tags == TRAFFIC_LIGHT_TAG)
        own = is_near & (shot.instances == np.uint16(actor.actor_id & 0xFFFF))
        mask |= own if own.any() else _unnamed(window, shot)
    return mask


def _unnamed(window: Mask, shot: Shot) -> Mask:
    named = np.array([actor.actor_id & 0xFFFF for actor in shot.actors], np.uint16)
    foreground = ~np.isin(shot.tags, np.array(sorted(BACKGROUND_TAGS), np.uint8)) & ~np.isin(
        shot.instances, named
    )
    best, most = np.zeros_like(window), LEAST_SHARE * max(1, int(window.sum()))
    for instance in np.unique(shot.instances[window & foreground]):
        own = foreground & (shot.instances == instance)
        inside = int((own & window).sum())
        if inside >= most and inside >= OWN_SHARE * int(own.sum()):
            best, most = own, inside
    return best


def _window(actor: ActorSeen, shot: Shot) -> Mask:
    """Return the frame's pixels in an actor's projected box and a little around it."""
    window = np.zeros(shot.tags.shape, np.bool_)
    box = _projected([actor], shot)
    if box is not None:
        height, width = shot.tags.shape
        left, right = (
            int(np.clip(value, 0, width)) for value in (box[0] - MARGIN_PX, box[2] + MARGIN_PX + 1)
        )
        top, bottom = (
            int(np.clip(value, 0, height)) for value in (box[1] - MARGIN_PX, box[3] + MARGIN_PX + 1)
        )
        window[top:bottom, left:right] = True
    return window


def _projected(actors: Sequence[ActorSeen], shot: Shot) -> Box | None:
    corners = [actor.corners[actor.corners[:, 0] > NEAREST_M] for actor in actors]
    points = np.concatenate(corners) if corners else np.zeros((0, 3))
    if not len(points):
        return None
    height, width = shot.tags.shape
    pixels = project(points, fov=shot.fov, width=width, height=height)
    low, high = pixels.min(0), pixels.max(0)
    return float(low[0]), float(low[1]), float(high[0]), float(high[1])


def _amodal(actors: Sequence[ActorSeen], mask: Mask, shot: Shot) -> Box | None:
    boxes = [box for box in (_projected(actors, shot), _bounds(mask)) if box is not None]
    if not boxes:
        return None
    table = np.array(boxes)
    low, high = table.min(0), table.max(0)
    return float(low[0]), float(low[1]), float(high[2]), float(high[3])


def _clipped(box: Box, shot: Shot) -> Box | None:
    height, width = shot.tags.shape
    x_min, x_max = (min(max(value, 0.0), float(width)) for value in (box[0], box[2]))
    y_min, y_max = (min(max(value, 0.0), float(height)) for value in (box[1], box[3]))
    return (x_min, y_min, x_max, y_max) if x_max > x_min and y_max > y_min else None


def _bounds(mask: Mask) -> Box | None:
    rows, columns = np.nonzero(mask.any(1))[0], np.nonzero(mask.any(0))[0]
    if not len(rows):
        return None
    return float(columns[0]), float(rows[0]), float(columns[-1] + 1), float(rows[-1] + 1)


def _area(box: Box) -> float:
    return (box[2] - box[0]) * (box[3] - box[1])
