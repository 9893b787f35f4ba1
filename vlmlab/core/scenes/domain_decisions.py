"""Which rule decides each of many concept sets, at once: the same answers as ``Domain.decide``."""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from vlmlab.core.scenes.concepts import Concept, Domain
from vlmlab.core.scenes.rules import EntityCondition, Rule, fit_rank
from vlmlab.core.scenes.universe import Masks

Deciders = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
NO_RULE = -1


def deciding_rules(domain: Domain, masks: Masks) -> Deciders:
    """Return for each set the position of the rule that decides it, or -1 where none does.

    Args:
        domain: gives the rules.
        masks: ``(n,)`` int64 sets.

    Returns:
        ``(n,)`` int64 positions in ``domain.rules``.
    """
    found: Deciders = np.full(masks.shape, NO_RULE, dtype=np.int64)
    placed = _PlacedEntities(domain, masks)
    for position in _in_deciding_order(domain):
        is_open = found == NO_RULE
        if not is_open.any():
            break
        found[is_open & _holds(domain, domain.rules[position], masks, placed=placed)] = position
    return found


def _in_deciding_order(domain: Domain) -> Sequence[int]:
    positions = range(len(domain.rules))
    if domain.decides_by == "first":
        return positions
    severities = tuple(domain.actions)
    return sorted(positions, key=lambda position: fit_rank(domain.rules[position], severities=severities))


def _holds(domain: Domain, rule: Rule, masks: Masks, *, placed: "_PlacedEntities") -> Flags:
    condition = rule.condition
    every = domain.mask(condition.has)
    met: Flags = ((masks & every) == every) & ((masks & domain.mask(condition.lacks)) == 0)
    if condition.has_any:
        met &= (masks & domain.mask(condition.has_any)) != 0
    for element in condition.elements:
        met &= (masks & domain.mask(element)) != 0
    if condition.any_entity is not None:
        met &= placed.match(condition.any_entity)
    if condition.no_adverse_weather and domain.decides_by == "first":
        adverse = domain.mask(one.id for one in domain.concepts if one.adverse)
        met &= (masks & adverse) == 0
    return met


class _PlacedEntities:
    """Where the entities of each set stand once its modifiers acted on the last modifiable one."""

    def __init__(self, domain: Domain, masks: Masks) -> None:
        self._domain, self._masks = domain, masks
        self._things = [one for one in domain.concepts if one.is_thing]
        self._target = np.zeros_like(masks)
        for concept in self._things:
            if concept.modifiable:
                bit = np.int64(domain.mask((concept.id,)))
                self._target[(masks & bit) != 0] = bit
        joining = domain.mask(one.id for one in domain.concepts if one.joins_entity)
        combinations, self._which = np.unique(masks & joining, return_inverse=True)
        self._changes = [
            {
                attribute: value
                for concept_id in domain.key_of(int(combination))
                for attribute, value in domain.concept(concept_id).sets.items()
            }
            for combination in combinations
        ]

    def match(self, wanted: EntityCondition) -> Flags:
        """Return for each set whether one of its entities stands as wanted (never with the best fit)."""
        if self._domain.decides_by == "best_fit":
            return np.zeros(self._masks.shape, dtype=np.bool_)
        unchanged = self._fitting(wanted, {})
        met: Flags = (self._masks & ~self._target & unchanged) != 0
        fitting = np.array([self._fitting(wanted, one) for one in self._changes], dtype=np.int64)
        met |= (self._target & fitting[self._which]) != 0
        return met

    def _fitting(self, wanted: EntityCondition, changes: Mapping[str, str]) -> int:
        def fits(concept: Concept) -> bool:
            placement = changes.get("placement", concept.placement)
            return (
                placement == wanted.placement
                and changes.get("distance", concept.distance) in wanted.distances
            )

        return self._domain.mask(one.id for one in self._things if fits(one))
