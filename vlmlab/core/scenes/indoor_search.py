"""Searches a kitchen layout in which nothing overlaps and everything required is large and unhidden."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from vlmlab.core.errors import GenerationError
from vlmlab.core.scenes.indoor_camera import Subjects, aim, image_boxes, rate
from vlmlab.core.scenes.indoor_places import (
    BURNER_X,
    COMPANY,
    FIRE_SLOTS,
    ORDER,
    FloatArray,
    Placed,
    Room,
    fits,
    propose,
)
from vlmlab.core.scenes.kitchen_frame import SINK_X
from vlmlab.core.scenes.scene import Camera
from vlmlab.core.seeding import rng_for

TRIALS = 48
TRIES = 14  # for each thing in each trial
CALM_TRIALS = 24  # the first trials keep things together
VIEWS = 4  # cameras tried for each layout
ROUNDS = 6  # rounds of trials with fresh draws; only a set that has found no room at all needs a second
DISTRACTOR_LOSS = 0.97  # a distractor may not make the worst seen thing worse than this
DISTRACTOR_TRIES = 30
IMAGE_GAP = 0.04  # between a distractor and what is required, in image coordinates from -1 to 1


@dataclass(frozen=True)
class KitchenLayout:
    """Where everything stands, the camera, and how well the worst seen thing is seen (1 = well enough)."""

    placed: dict[str, Placed]
    camera: Camera
    score: float


def find_kitchen_layout(kinds: Sequence[str], *, seed: int, attempt: int) -> KitchenLayout:
    """Return the first trial in which everything is seen well, or else the best one without overlaps.

    Args:
        kinds: the things of the set.
        seed: the scene seed.
        attempt: number of layouts that were rejected before.

    Raises:
        GenerationError: no trial was free of overlaps, there is nothing to see, or what a thing stands beside
            is missing.
    """
    _check_company(kinds)
    for round_number in range(ROUNDS):
        purpose = (attempt,) if round_number == 0 else (attempt, round_number)
        layout = _best_of_round(kinds, seed=seed, purpose=purpose, first_trial=round_number * TRIALS)
        if layout is not None:
            return layout
    raise GenerationError(
        "The things of this concept set do not fit into one kitchen.",
        hint="Take one thing or one person out.",
    )


def _check_company(kinds: Sequence[str]) -> None:
    if not kinds:
        raise GenerationError("This concept set puts nothing into the kitchen.", hint="Add a thing.")
    for kind in kinds:
        others = COMPANY.get(kind)
        if others and not set(others) & set(kinds):
            wanted = " or ".join(others)
            raise GenerationError(
                f"There is no place for {kind} without {wanted}.",
                hint=f"Add {wanted} to the set, or a constraint that asks for it to the domain.",
            )


def add_distractors(layout: KitchenLayout, kinds: Sequence[str], *, seed: int) -> dict[str, Placed]:
    """Return where further things stand on the counter: apart from everything required, in the picture too.

    A kind that finds no such place is left out.
    """
    placed = dict(layout.placed)
    subjects = Subjects.of(list(layout.placed.values()))
    taken = image_boxes(layout.camera, list(layout.placed.values()))
    found: dict[str, Placed] = {}
    for kind in kinds:
        draws = rng_for(seed, "surroundings", kind).random((DISTRACTOR_TRIES, 4))
        for draw in draws:
            room = Room(frozenset(placed), placed, focus_x=0.0, crowding=1)
            item = propose(kind, room, draw)
            if not fits(item, room) or _touches(image_boxes(layout.camera, [item])[0], taken):
                continue
            score = rate(layout.camera, subjects.joined_by([*found.values(), item]))
            if score >= layout.score * DISTRACTOR_LOSS:
                placed[kind] = found[kind] = item
                break
    return found


def _touches(box: FloatArray, taken: FloatArray) -> bool:
    """Return whether a box comes near one of others in the picture."""
    return bool(
        ((box[:2] < taken[:, 2:] + IMAGE_GAP) & (taken[:, :2] - IMAGE_GAP < box[2:])).all(axis=1).any()
    )


def _best_of_round(
    kinds: Sequence[str], *, seed: int, purpose: tuple[int, ...], first_trial: int
) -> KitchenLayout | None:
    draws = {kind: rng_for(seed, "layout", kind, *purpose).random((TRIALS, TRIES, 4)) for kind in kinds}
    views = rng_for(seed, "camera", *purpose).random((TRIALS, VIEWS, 4))
    best: KitchenLayout | None = None
    for trial in range(TRIALS):
        crowding = 0 if first_trial + trial < CALM_TRIALS else 1 if first_trial + trial < TRIALS else 2
        placed = _place_all(kinds, {kind: draws[kind][trial] for kind in kinds}, crowding=crowding)
        if placed is None:
            continue
        subjects = Subjects.of(list(placed.values()))
        for view in views[trial]:
            camera = aim(subjects, draws=view)
            score = rate(camera, subjects)
            if best is None or score > best.score:
                best = KitchenLayout(placed, camera, score)
            if score >= 1.0:
                return best
    return best


def _place_all(
    kinds: Sequence[str], draws: Mapping[str, FloatArray], *, crowding: int
) -> dict[str, Placed] | None:
    """Return where everything stands in one trial, or None when something finds no room."""
    placed: dict[str, Placed] = {}
    for kind in sorted(kinds, key=ORDER.index):
        room = Room(frozenset(kinds), placed, focus_x=_focus(kinds, placed), crowding=crowding)
        proposals = (propose(kind, room, draw) for draw in draws[kind])
        item = next((one for one in proposals if fits(one, room)), None)
        if item is None:
            return None
        placed[kind] = item
    return placed


def _focus(kinds: Sequence[str], placed: dict[str, Placed]) -> float:
    """Return the x around which free things gather: between what has a place of its own."""
    anchors = [item.position[0] for item in placed.values()]
    if {"cabinet_open", "cabinet_closed"} & set(kinds):
        anchors.append(SINK_X)
    if set(FIRE_SLOTS) & set(kinds):
        anchors.append(BURNER_X)
    return (min(anchors) + max(anchors)) / 2 if anchors else 0.0
