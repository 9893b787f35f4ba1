"""Which pictures teach decisions, and how often: each expected answer alike, some concepts seldom.

Small sets are shown most, large ones hardly ever, and some concepts are rare: so a combination of rare things
is new to the model, as it is to a real one, and nobody scripts what it does there.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from tools.pocket.shards import PictureRecord
from vlmlab.core.scenes.catalogue import DOMAIN_SLUGS, load_domain

DECIDING_SIZES = {1: 1.0, 2: 1.0, 3: 0.25, 4: 0.05}
RARITY = {
    "weather_foggy": 0.3,
    "weather_hard_rain": 0.3,
    "weather_soft_rain": 0.25,
    "weather_wet": 0.4,
    "town_town02": 0.5,
    "wheelchair_pedestrian": 0.15,
    "police_pedestrian": 0.3,
    "child_pedestrian": 0.6,
    "debris_near": 0.3,
    "debris_far": 0.3,
    "bus_stop": 0.3,
    "emergency_vehicle": 0.5,
    "obstruction_far": 0.7,
    "near": 0.7,
    "smoke": 0.5,
    "adult_reacting": 0.3,
    "outlet_exposed": 0.4,
    "barefoot_near_glass": 0.4,
    "pill_bottle": 0.4,
    "child_on_stool": 0.5,
    "glass_tipped": 0.6,
    "hot_beverage": 0.6,
}


def deciding_weight(record: PictureRecord) -> float:
    """Return how often, against others of its answer, a picture is asked what to do."""
    return DECIDING_SIZES.get(len(record.key), 0.0) * float(
        np.prod([RARITY.get(one, 1.0) for one in record.key])
    )


def deciding_shares(records: Sequence[PictureRecord]) -> npt.NDArray[np.float64]:
    """Return how often each picture teaches a decision: domains alike, in each its answers alike.

    Args:
        records: of pictures of the built-in domains; others get no share.

    Returns:
        ``(n,)`` shares that add up to 1.
    """
    answers = np.array([_answer(record) for record in records])
    shares = np.array([deciding_weight(record) for record in records])
    for slug in DOMAIN_SLUGS:
        actions = [name for name in set(answers) if name.startswith(f"{slug}:")]
        for name in actions:
            own = answers == name
            shares[own] /= max(1e-12, shares[own].sum()) * len(actions)
    shares[answers == ""] = 0.0
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
