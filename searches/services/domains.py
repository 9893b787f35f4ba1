"""What the domain pages show: concepts by heading, rules in words, how many valid sets there are."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from math import comb

import numpy as np
from django.contrib.staticfiles import finders
from django.contrib.staticfiles.storage import staticfiles_storage

from searches.services.domain_store import current_domains, find_domain
from vlmlab.core.scenes.concepts import Concept, Constraint, Domain, Key
from vlmlab.core.scenes.kinematics import KinematicRow, kinematic_table
from vlmlab.core.scenes.rules import Condition, Rule

PLACES = {"lane": "in the lane", "sidewalk": "on the sidewalk"}
MOSAIC = 18
DISTANCES = {"near": "near", "default": "at the usual distance", "far": "far"}


@dataclass(frozen=True)
class ConceptTile:
    """A concept with its picture.

    Attributes:
        picture: address below ``static/``; "" where none has been drawn.
        action, rule_id: what is expected where it stands alone; "" where it cannot stand alone.
    """

    concept: Concept
    picture: str
    action: str = ""
    rule_id: str = ""

    @property
    def rule_number(self) -> str:
        """The number in the rule's id: ``R1``; "" where ids have none."""
        first = self.rule_id.partition("_")[0]
        return first if first[:1] == "R" and first[1:].isdigit() else ""


@dataclass(frozen=True)
class ConceptGroup:
    """Concepts under one heading."""

    title: str
    tiles: tuple[ConceptTile, ...]


@dataclass(frozen=True)
class RuleLine:
    """A rule in words, with what physics says of it in each distance bucket.

    Attributes:
        place: from 1, as the table has it.
        elements: what must be seen, each as its alternatives; only where the best fit decides.
        lacks: what silences it.
    """

    rule: Rule
    place: int
    condition: str
    action_label: str
    checks: tuple[KinematicRow, ...]
    elements: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()


@dataclass(frozen=True)
class ConstraintLine:
    """A constraint in words: its kind, the concepts of its one side, and those of the other."""

    constraint: Constraint
    kind: str
    concepts: tuple[str, ...]
    between: str = ""
    others: tuple[str, ...] = ()


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
    constraints: tuple[ConstraintLine, ...]
    sizes: tuple[SizeLine, ...]

    @property
    def valid_sets(self) -> int:
        """Number of all valid sets."""
        return sum(line.valid_sets for line in self.sizes)

    @property
    def fits_best(self) -> bool:
        """Whether the rule that fits a set best decides, and not the first that matches."""
        return self.domain.decides_by == "best_fit"

    @property
    def topics(self) -> tuple[str, ...]:
        """What rules are about, in the order of the table."""
        return tuple(dict.fromkeys(line.rule.topic for line in self.rules if line.rule.topic))

    @property
    def has_questions(self) -> bool:
        """Whether rules ask questions of their own."""
        return any(line.rule.question for line in self.rules)

    @property
    def has_pictures(self) -> bool:
        """Whether any concept has its picture."""
        return any(tile.picture for group in self.groups for tile in group.tiles)

    def rules_about(self, *, topic: str = "", action: str = "") -> tuple[RuleLine, ...]:
        """Return the rules of a topic and an expected answer; "" takes every one."""
        return tuple(
            line for line in self.rules if topic in ("", line.rule.topic) and action in ("", line.rule.action)
        )

    @property
    def mosaic(self) -> tuple[ConceptTile, ...]:
        """The tiles whose pictures stand for the domain in a list."""
        tiles = [tile for group in self.groups for tile in group.tiles]
        return tuple(
            tile
            for tile in tiles
            if tile.picture and tile.concept.is_thing and tile.concept.distance != "far"
        )[:MOSAIC]


def all_domains() -> list[DomainOverview]:
    """Return every domain of the lab."""
    return [domain_overview(domain.ref) for domain in current_domains()]


@lru_cache(maxsize=128)  # the list shows every domain, so fewer places than domains would keep nothing
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
                place=place,
                condition=condition_in_words(rule.condition, domain),
                action_label=domain.actions[rule.action],
                checks=tuple(row for row in checks if row.rule_id == rule.id and row.bucket),
                elements=_elements(rule.condition, domain),
                lacks=tuple(domain.concept(one).label for one in rule.condition.lacks),
            )
            for place, rule in enumerate(domain.rules, start=1)
        ),
        constraints=tuple(_constraint_line(one) for one in domain.constraints),
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
    parts.extend(element.lower() for element in _elements(condition, domain))
    if condition.has:
        parts.append(" and ".join(labels[one] for one in condition.has))
    if condition.has_any:
        parts.append(" or ".join(labels[one] for one in condition.has_any))
    parts.extend(f"no {labels[one]}" for one in condition.lacks)
    if condition.no_adverse_weather:
        adverse = " or ".join(labels[one.id] for one in domain.concepts if one.adverse)
        parts.append(f"no {adverse}")
    return ", ".join(parts) or "always"


def _elements(condition: Condition, domain: Domain) -> tuple[str, ...]:
    return tuple(" or ".join(domain.concept(one).label for one in element) for element in condition.elements)


def _labels(domain: Domain) -> Mapping[str, str]:
    return {concept.id: concept.label.lower() for concept in domain.concepts}


def _tile(domain: Domain, concept: Concept) -> ConceptTile:
    picture = _picture(domain, concept)
    if not domain.is_compatible((concept.id,)):
        return ConceptTile(concept, picture)
    decision = domain.decide((concept.id,))
    return ConceptTile(concept, picture, decision.action, decision.rule_id)


def _picture(domain: Domain, concept: Concept) -> str:
    """Return the address of a concept's picture: its own, or that of the domain that draws its sets."""
    for slug in dict.fromkeys((domain.slug, domain.draws_as)):
        address = f"img/concepts/{slug}/{concept.id}.webp"
        if slug and finders.find(address) and _is_served(address):
            return address
    return ""


def _is_served(address: str) -> bool:
    """Whether a file below ``static/`` was collected; one that was drawn since then is not."""
    try:
        staticfiles_storage.url(address)
    except ValueError:
        return False
    return True


def _constraint_line(constraint: Constraint) -> ConstraintLine:
    if constraint.type == "requires_any":
        return ConstraintLine(constraint, "Needs one of", constraint.if_any, "needs", constraint.any_of)
    if constraint.type == "excludes":
        return ConstraintLine(constraint, "Not together", constraint.ids, "not with", constraint.other_ids)
    if constraint.type == "rule_must_match":
        return ConstraintLine(constraint, "A rule must match", ())
    return ConstraintLine(constraint, "At most one", constraint.ids)
