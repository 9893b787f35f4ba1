"""Which sets show each concept of a domain by itself, for sheets and for naming without labels."""

from dataclasses import dataclass

import numpy as np

from vlmlab.core.scenes.concepts import Domain, Key
from vlmlab.core.seeding import pick, rng_for


def showcase_sets(domain: Domain) -> tuple[Key, ...]:
    """Return one set for each concept, in catalogue order.

    A concept that needs company gets the smallest valid set that holds it, with things before other concepts
    and in catalogue order. A set that shows another concept already is used again rather than left out.
    """
    return tuple(_smallest_sets(domain, concept.id)[0] for concept in domain.concepts)


def _smallest_sets(domain: Domain, concept_id: str) -> list[Key]:
    """Return all valid sets of the smallest size that hold a concept, those with things in company first."""
    masks = domain.universe(required=(concept_id,))
    if not len(masks):
        return [(concept_id,)]
    sizes = np.bitwise_count(masks)
    rank = {one.id: (not one.is_thing, place) for place, one in enumerate(domain.concepts)}
    keys = [domain.key_of(int(mask)) for mask in masks[sizes == sizes.min()]]
    return sorted(keys, key=lambda key: [rank[one] for one in key if one != concept_id])


def _has_things_for_company(domain: Domain, key: Key, concept_id: str) -> bool:
    return all(domain.concept(one).is_thing for one in key if one != concept_id)


@dataclass(frozen=True)
class BlindItem:
    """One picture of a blind test: the concept to be named, the set that is drawn, its scene seed."""

    concept: str
    key: Key
    scene_seed: int


def blind_items(domain: Domain, *, repeats: int, seed: int) -> tuple[BlindItem, ...]:
    """Return ``repeats`` pictures of each concept in random order, for naming without labels.

    A concept that cannot stand alone gets random company; every picture has a seed of its own.
    """
    rng = rng_for(seed, "sheet", "blind")
    items = []
    for concept in domain.concepts:
        smallest = _smallest_sets(domain, concept.id)
        valid = [key for key in smallest if _has_things_for_company(domain, key, concept.id)] or smallest
        for _ in range(repeats):
            key = pick(rng, valid)
            items.append(BlindItem(concept.id, key, int(rng.integers(2**31))))
    return tuple(items[number] for number in rng.permutation(len(items)))
