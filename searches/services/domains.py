"""What the domain pages show: concepts by heading, rules in words, how many valid sets there are."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from math import comb

import numpy as np

from searches.services.domain_store import current_domains, find_domain
from vlmlab.core.scenes.concepts import Concept, Constraint, Domain, Key
from vlmlab.core.scenes.kinematics import KinematicRow, kinematic_table
from vlmlab.core.scenes.rules import Condition, Rule

PLACES = {"lane": "in the lane", "sidewalk": "on the sidewalk"}
DISTANCES = {"near": "near", "default": "at the usual distance", "far": "far"}


@dataclass(frozen=True)
class ConceptTile:
    """A concept with its picture.

    Attributes:
        picture: address below ``static/``.
        action, rule_id: what is expected where it stands alone; "" where it cannot stand alone.
    """

    concept: Concept
    picture: str
    action: str = ""
    rule_id: str = ""

    @property
    def rule_number(self) -> str:
        """The first part of the rule's id: ``R1``."""
        return self.rule_id.partition("_")[0]


@dataclass(frozen=True)
class ConceptGroup:
    """Concepts under one heading."""

    title: str
    tiles: tuple[ConceptTile, ...]


@dataclass(frozen=True)
class RuleLine:
    """A rule in words, with what physics says of it in each distance bucket."""

    rule: Rule
    priority: int
    condition: str
    action_label: str
    checks: tuple[KinematicRow, ...]


@dataclass(frozen=True)
class SizeLine:
    """How many valid sets have so many concepts."""

    size: int
    valid_sets: int
    possible_sets: int


@dataclass(frozen=True)
class DomainOverview:
    """Everything the page of a domain shows."""

    domain: Domain
    groups: tuple[ConceptGroup, ...]
    rules: tuple[RuleLine, ...]
    constraints: tuple[tuple[Constraint, tuple[str, ...]], ...]
    sizes: tuple[SizeLine, ...]

    @property
    def valid_sets(self) -> int:
        """Number of all valid sets."""
        return sum(line.valid_sets for line in self.sizes)


def all_domains() -> list[DomainOverview]:
    """Return every domain of the lab."""
    return [domain_overview(domain.ref) for domain in current_domains()]


@lru_cache(maxsize=16)
def domain_overview(ref: str) -> DomainOverview:
    """Return a domain version (``slug@version``, which never changes) with everything its page shows.

    Raises:
        ConceptError: there is no such domain.
    """
    domain = find_domain(ref)
    checks = kinematic_table(domain)
    return DomainOverview(
        domain=domain,
        groups=concept_groups(domain),
        rules=tuple(
            RuleLine(
                rule=rule,
                priority=place,
                condition=condition_in_words(rule.condition, domain),
                action_label=domain.actions[rule.action],
                checks=tuple(row for row in checks if row.rule_id == rule.id and row.bucket),
            )
            for place, rule in enumerate(domain.rules, start=1)
        ),
        constraints=tuple((one, _concepts_of(one)) for one in domain.constraints),
        sizes=sizes_of_universe(domain),
    )


def concept_groups(domain: Domain) -> tuple[ConceptGroup, ...]:
    """Return the concepts by heading, in catalogue order."""
    return tuple(
        ConceptGroup(title, tuple(_tile(domain, concept) for concept in concepts))
        for title, concepts in groupby(domain.concepts, key=lambda concept: concept.category)
    )


def sizes_of_universe(domain: Domain) -> tuple[SizeLine, ...]:
    """Return the number of valid sets of each size."""
    counts = np.bincount(np.bitwise_count(domain.universe()), minlength=domain.max_size + 1)
    return tuple(
        SizeLine(size, int(counts[size]), comb(len(domain.concepts), size))
        for size in range(1, domain.max_size + 1)
    )


def sets_that_contain(domain: Domain, key: Key) -> int:
    """Return how many valid sets contain all of these concepts."""
    return len(domain.universe(required=key)) if key else len(domain.universe())


def condition_in_words(condition: Condition, domain: Domain) -> str:
    """Return a rule's condition as a phrase."""
    parts = []
    if condition.any_entity is not None:
        where = PLACES.get(condition.any_entity.placement, condition.any_entity.placement)
        distances = " or ".join(DISTANCES.get(one, one) for one in condition.any_entity.distances)
        parts.append(f"something stands {where}, {distances}")
    labels = _labels(domain)
    if condition.has:
        parts.append(" and ".join(labels[one] for one in condition.has))
    if condition.has_any:
        parts.append(" or ".join(labels[one] for one in condition.has_any))
    parts.extend(f"no {labels[one]}" for one in condition.lacks)
    if condition.no_adverse_weather:
        adverse = " or ".join(labels[one.id] for one in domain.concepts if one.adverse)
        parts.append(f"no {adverse}")
    return ", ".join(parts) or "always"


def _labels(domain: Domain) -> Mapping[str, str]:
    return {concept.id: concept.label.lower() for concept in domain.concepts}


def _tile(domain: Domain, concept: Concept) -> ConceptTile:
    picture = f"img/concepts/{domain.slug}/{concept.id}.webp"
    if not domain.is_compatible((concept.id,)):
        return ConceptTile(concept, picture)
    decision = domain.decide((concept.id,))
    return ConceptTile(concept, picture, decision.action, decision.rule_id)


def _concepts_of(constraint: Constraint) -> tuple[str, ...]:
    return constraint.ids or constraint.if_any
