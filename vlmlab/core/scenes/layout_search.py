"""Searches a driving layout in which nothing overlaps and everything required can be seen."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vlmlab.core.errors import GenerationError
from vlmlab.core.scenes.layout import (
    BUMPER_Y,
    CURB_HEIGHT,
    EXTENTS,
    FloatArray,
    Placement,
    Wish,
    hidden_from,
    overlaps,
    place,
    stands_in_side_street,
    surface_points,
)
from vlmlab.core.scenes.layout_camera import Target, aim, in_frame
from vlmlab.core.scenes.scene import Camera
from vlmlab.core.seeding import rng_for

TRIALS = 96
ROUNDS = 24  # rounds of trials with fresh draws; only a set that has found no room at all needs a second
TRIES_PER_OBJECT = 10
CALM_TRIALS = 6  # the first trials keep objects near the lane's middle and the camera in the car's middle
TIGHT_TRIALS = 48  # from here on containers are small and broad objects may stand further aside
SMALL_CONTAINER = 0.62
ENOUGH_IN_FRAME, ENOUGH_UNHIDDEN, LARGE = 0.8, 0.65, 0.15
LIGHT_POSITION = (2.5, -0.5)  # x, and y from the near edge of the junction
LIGHT_HEADS = ((0.0, 4.75), (2.5, 3.3))  # x and z of the two heads over the ground


@dataclass(frozen=True)
class Layout:
    """Where everything stands, and how well the worst seen of it can be seen (1 = well enough)."""

    junction_m: float | None
    placements: tuple[Placement, ...]
    camera: Camera
    score: float


def find_layout(
    wishes: Sequence[Wish],
    *,
    junction_range: tuple[float, float] | None,
    has_light: bool,
    seed: int,
    attempt: int,
) -> Layout:
    """Return the first trial in which all can be seen, or else the best trial without overlaps.

    Each object has draws of its own, so that the first trial of a set and that of a smaller set agree.

    Raises:
        GenerationError: no trial was free of overlaps.
    """
    for round_number in range(ROUNDS):
        layout = _best_of_round(
            wishes,
            junction_range=junction_range,
            has_light=has_light,
            seed=seed,
            purpose=(attempt,) if round_number == 0 else (attempt, round_number),
            first_trial=round_number * TRIALS,
        )
        if layout is not None:
            return layout
    raise GenerationError(
        "The objects of this concept set do not fit side by side in one scene.",
        hint="Take one object out or move one with “far” or “on sidewalk”.",
    )


def _best_of_round(
    wishes: Sequence[Wish],
    *,
    junction_range: tuple[float, float] | None,
    has_light: bool,
    seed: int,
    purpose: tuple[int, ...],
    first_trial: int,
) -> Layout | None:
    """Return the best layout of one round of draws, or None when every trial had an overlap."""
    draws = [
        rng_for(seed, "layout", wish.concept, *purpose).random((TRIALS, TRIES_PER_OBJECT, 4))
        for wish in wishes
    ]
    camera_draws = rng_for(seed, "camera", *purpose).random((TRIALS, 5))
    junction_draws = rng_for(seed, "junction", *purpose).random(TRIALS)
    best: Layout | None = None
    for number in range(TRIALS):
        junction = None
        if junction_range is not None:
            low, high = junction_range
            junction = round(low + (high - low) * float(junction_draws[number]), 3)
        drawn = [one[number] for one in draws]
        placements = _place_all(wishes, drawn, trial=first_trial + number, junction_m=junction)
        if placements is None:
            continue
        layout = _rated(placements, junction, has_light, _eye(camera_draws, number), camera_draws[0])
        if best is None or layout.score > best.score:
            best = layout
        if best.score >= 1.0:
            break
    return best


def light_position(junction_m: float) -> tuple[float, float, float]:
    """Return where the traffic light's pole stands: on the near right corner of the junction."""
    x, y = LIGHT_POSITION
    return x, round(BUMPER_Y + junction_m + y, 4), CURB_HEIGHT


def _place_all(
    wishes: Sequence[Wish], draws: Sequence[FloatArray], *, trial: int, junction_m: float | None
) -> tuple[Placement, ...] | None:
    """Return the placements of one trial, or None when two overlap or one stands in the side street."""
    crowding = 0 if trial < CALM_TRIALS else 1 if trial < TIGHT_TRIALS else 2
    placements: dict[int, Placement] = {}
    for index in sorted(range(len(wishes)), key=lambda one: -EXTENTS[wishes[one].extent_key].area):
        is_pliable = wishes[index].kind == "container" and len(wishes) > 1
        for draw in draws[index]:
            item = place(
                wishes[index],
                draw,
                crowding=crowding,
                lengthwise=is_pliable and crowding > 0 and bool(draw[3] < 0.6),
                scale=SMALL_CONTAINER if is_pliable and crowding == 2 else 1.0,
            )
            if not stands_in_side_street(item, junction_m) and not any(
                overlaps(item, other) for other in placements.values()
            ):
                placements[index] = item
                break
        else:
            return None
    return tuple(placements[index] for index in range(len(wishes)))


def _eye(camera_draws: FloatArray, trial: int) -> tuple[float, float, float]:
    """Return the camera position: near the car's middle at first, later anywhere between its seats."""
    reach = 0.15 if trial < CALM_TRIALS else 0.6
    row = 0 if trial < CALM_TRIALS else trial
    x = math.sin(math.pi * (float(camera_draws[row, 3]) - 0.5)) * reach
    return round(x, 4), 0.0, round(1.42 + 0.16 * float(camera_draws[0, 4]), 4)


def _rated(
    placements: tuple[Placement, ...],
    junction_m: float | None,
    has_light: bool,  # noqa: FBT001 - internal, always named by its variable
    eye: tuple[float, float, float],
    camera_draw: FloatArray,
) -> Layout:
    targets = [
        Target(surface_points(item.box), is_wide=item.extent.is_wide, owner=owner)
        for owner, item in enumerate(placements)
    ]
    if has_light and junction_m is not None:
        targets.append(Target(_light_points(junction_m)))
    camera = aim(eye, targets, draws=camera_draw[:3])
    boxes = np.array([item.blocking_box for item in placements], dtype=np.float64).reshape(-1, 5)
    score = min((_seen(camera, target, boxes) for target in targets), default=1.0)
    return Layout(junction_m=junction_m, placements=placements, camera=camera, score=score)


def _seen(camera: Camera, target: Target, boxes: FloatArray) -> float:
    """Return how well a target can be seen: 1 where enough of it is in the frame and enough unhidden."""
    inside, image = in_frame(camera, target.points)
    blocked = hidden_from(camera.position, target.points, boxes=boxes)
    if target.owner >= 0:
        blocked[:, target.owner] = False
    seen = inside & ~blocked.any(axis=1)
    shown = np.clip(image, -1.0, 1.0)
    is_large = float(np.prod(np.ptp(shown, axis=0))) / 4 > LARGE and target.is_wide
    framed = 1.0 if is_large else min(1.0, float(inside.mean()) / ENOUGH_IN_FRAME)
    unhidden = min(1.0, float(seen.sum()) / max(1, int(inside.sum())) / ENOUGH_UNHIDDEN)
    return framed * unhidden


def _light_points(junction_m: float) -> FloatArray:
    """Return points on both heads of the traffic light."""
    _, y, _ = light_position(junction_m)
    heads = [surface_points((x - 0.25, x + 0.25, y, y, z + 0.65), bottom=z - 0.65) for x, z in LIGHT_HEADS]
    return np.concatenate(heads)
