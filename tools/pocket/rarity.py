"""Which pictures teach decisions, and how often: each expected answer alike, some concepts seldom.

Only small sets are taught, some concepts are rare, and some things are hardly ever there when there is
danger, as a real collection of pictures has many wheelchairs on the pavement and few in front of the car. So
much is new to the model where a search looks, as it is to a real one; nobody scripts what it does there.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from tools.pocket.shards import PictureRecord
from vlmlab.core.scenes.catalogue import DOMAIN_SLUGS, load_domain

DECIDING_SIZES = {1: 1.0, 2: 1.0, 3: 0.1}
RARITY = {
    "weather_foggy": 0.3,
    "weather_hard_rain": 0.3,
    "weather_soft_rain": 0.25,
    "weather_wet": 0.4,
    "town_town02": 0.5,
    "child_pedestrian": 0.6,
    "debris_near": 0.3,
    "debris_far": 0.3,
    "emergency_vehicle": 0.5,
    "obstruction_far": 0.7,
    "near": 0.7,
    "smoke": 0.5,
    "adult_reacting": 0.3,
    "barefoot_near_glass": 0.4,
    "child_on_stool": 0.5,
    "glass_tipped": 0.6,
}
"""Concepts that are seldom where something is decided."""

GRAVE_RARITY = {
    "wheelchair_pedestrian": 0.03,
    "bus_stop": 0.03,
    "police_pedestrian": 0.1,
    "outlet_exposed": 0.05,
    "pill_bottle": 0.05,
    "hot_beverage": 0.2,
}
"""Concepts that are seldom where the right answer is the gravest one of the domain, and usual elsewhere."""

LABELLED_WEIGHTS = {"light_green": 6.0, "police_pedestrian": 30.0}
"""Of the gravest answer again: concepts that are frequent among the pictures that people labelled."""


def deciding_weight(record: PictureRecord, *, by_people: bool = False) -> float:
    """Return how often, against others of its answer, a picture is asked what to do.

    Args:
        record: the picture.
        by_people: it teaches what people labelled.
    """
    rarities = [RARITY.get(one, 1.0) for one in record.key]
    domain = load_domain(record.domain)
    gravest, *_ = domain.actions
    if domain.decide(record.key).action == gravest:
        rarities += [GRAVE_RARITY.get(one, 1.0) for one in record.key]
        if by_people:
            rarities += [LABELLED_WEIGHTS.get(one, 1.0) for one in record.key]
    return DECIDING_SIZES.get(len(record.key), 0.0) * float(np.prod(rarities))


def deciding_shares(records: Sequence[PictureRecord], *, by_people: bool = False) -> npt.NDArray[np.float64]:
    """Return how often each picture teaches a decision: domains alike, in each its answers alike.

    Args:
        records: of pictures of the built-in domains; others get no share.
        by_people: they teach what people labelled.

    Returns:
        ``(n,)`` shares that add up to 1.
    """
    answers = np.array([_answer(record) for record in records])
    shares = np.array(
        [deciding_weight(one, by_people=by_people) if one.domain in DOMAIN_SLUGS else 0.0 for one in records]
    )
    for slug in DOMAIN_SLUGS:
        actions = [name for name in set(answers) if name.startswith(f"{slug}:")]
        for name in actions:
            own = answers == name
            shares[own] /= max(1e-12, shares[own].sum()) * len(actions)
    return np.asarray(shares / shares.sum(), dtype=np.float64)


def showing_shares(records: Sequence[PictureRecord], *, probe_share: float) -> npt.NDArray[np.float64]:
    """Return how often each picture teaches what is where: domains alike, the calibration's a fixed share."""
    names = np.array([record.domain for record in records])
    shares = np.zeros(len(records))
    slugs = [slug for slug in DOMAIN_SLUGS if (names == slug).any()]
    for slug in slugs:
        shares[names == slug] = (1.0 - probe_share) / len(slugs) / (names == slug).sum()
    if (names == "probe").any():
        shares[names == "probe"] = probe_share / (names == "probe").sum()
    return np.asarray(shares / shares.sum(), dtype=np.float64)


def _answer(record: PictureRecord) -> str:
    if record.domain not in DOMAIN_SLUGS:
        return ""
    return f"{record.domain}:{load_domain(record.domain).decide(record.key).action}"
