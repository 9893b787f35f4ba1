"""Scenes that nobody draws: sets with made-up boxes, for learning the tasks before there are pictures."""

from functools import lru_cache

import numpy as np

from tools.pocket.rarity import DECIDING_SIZES, deciding_weight
from tools.pocket.sets import SetSampler
from tools.pocket.shards import Box, PictureRecord, SeenObject
from tools.pocket.truth import EMERGENCY_VEHICLES, states_of
from vlmlab.core.replies.probe_pictures import COLOURS
from vlmlab.core.scenes.asked_labels import LABELS
from vlmlab.core.scenes.catalogue import DOMAIN_SLUGS, load_domain
from vlmlab.core.scenes.concepts import Key
from vlmlab.core.scenes.driving import KIND_OF_CONCEPT, LIGHT_COLOURS
from vlmlab.core.seeding import pick

HIDDEN_SHARE = 0.04
PROBE_SHARE = 0.04


@lru_cache(maxsize=4)
def sampler_of(slug: str) -> SetSampler:
    """Return the sampler of a built-in domain."""
    return SetSampler(load_domain(slug))


def imagined_record(rng: np.random.Generator, *, decides: bool = False) -> PictureRecord:
    """Return a picture's truth without a picture, of either domain or, seldom, of the calibration.

    Args:
        rng: the source of all choices.
        decides: the record is to teach decisions: its set is one that pictures teach them with, as often.
    """
    if not decides and rng.random() < PROBE_SHARE:
        colour = pick(rng, list(COLOURS))
        name = f"{colour} rectangle"
        return PictureRecord("probe", (), 0, (SeenObject("", name, name, True, _any_box(rng)),))
    sampler = sampler_of(pick(rng, list(DOMAIN_SLUGS)))
    key = _decided_key(sampler, rng) if decides else sampler.draw(rng)
    bare = PictureRecord(sampler.domain.slug, key, 0, ())
    states = states_of(bare)
    objects = []
    for name in key:
        concept = sampler.domain.concept(name)
        if not (concept.is_thing or name in LIGHT_COLOURS) or rng.random() < HIDDEN_SHARE:
            continue
        kind = "traffic_light" if name in LIGHT_COLOURS else KIND_OF_CONCEPT.get(name, name)
        label = LABELS[kind].text if kind in LABELS else ""
        if kind == "emergency_vehicle":
            label = pick(rng, EMERGENCY_VEHICLES)
        objects.append(SeenObject(name, kind, label, False, _box(states.get(name, "other"), rng)))
    return PictureRecord(bare.domain, key, 0, tuple(_asked(objects)))


def _decided_key(sampler: SetSampler, rng: np.random.Generator) -> Key:
    action = pick(rng, list(sampler.domain.actions))
    while True:
        key = sampler.draw_by_answer(rng, action=action, largest=max(DECIDING_SIZES))
        if rng.random() < deciding_weight(PictureRecord(sampler.domain.slug, key, 0, ())):
            return key


def _asked(objects: list[SeenObject]) -> list[SeenObject]:
    labels = [one.label for one in objects]
    result = []
    for one in objects:
        others = {other.kind for other in objects if other is not one}
        is_plain = one.kind in LABELS and others.isdisjoint(LABELS[one.kind].mistaken_for)
        is_asked = is_plain and labels.count(one.label) == 1
        result.append(SeenObject(one.concept, one.kind, one.label, is_asked, one.box))
    return result


def _box(state: str, rng: np.random.Generator) -> Box:
    if state == "other":
        return _any_box(rng)
    small = state in ("far", "light")
    width, height = rng.uniform(0.04, 0.2 if small else 0.6, 2)
    x = rng.uniform(0.35, 0.65) if state in ("close", "far") else rng.uniform(0.5, 0.95)
    y = {"light": 0.25, "far": 0.45}.get(state, 0.6) + rng.uniform(-0.1, 0.1)
    return _inside(x, y, width, height)


def _any_box(rng: np.random.Generator) -> Box:
    side, aspect = np.exp(rng.uniform(np.log(0.05), np.log(0.55))), np.exp(rng.uniform(-0.7, 0.7))
    width, height = side * aspect, side / aspect
    x = rng.uniform(width / 2, 1 - width / 2) if width < 1 else 0.5
    y = rng.uniform(height / 2, 1 - height / 2) if height < 1 else 0.5
    return _inside(float(x), float(y), float(width), float(height))


def _inside(x: float, y: float, width: float, height: float) -> Box:
    x0, y0, x1, y1 = (
        float(min(1.0, max(0.0, value)))
        for value in (x - width / 2, y - height / 2, x + width / 2, y + height / 2)
    )
    return x0, y0, x1, y1
