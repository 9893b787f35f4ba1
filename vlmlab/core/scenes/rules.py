"""Rules that turn what stands where into the expected action: the first rule that fires decides."""

from collections.abc import Sequence
from dataclasses import dataclass

from vlmlab.core.errors import ConceptError


@dataclass(frozen=True)
class PlacedEntity:
    """An entity of a set after the modifiers of the set have acted.

    Attributes:
        concept_id: the entity.
        placement: ``lane`` or ``sidewalk``.
        distance: a bucket of the domain: ``near``, ``default`` or ``far``.
        modifiers: ids of the modifiers that act on it, in catalogue order.
    """

    concept_id: str
    placement: str
    distance: str
    modifiers: tuple[str, ...] = ()


@dataclass(frozen=True)
class Situation:
    """What the rules look at: the ids present, the placed entities, and whether the weather is adverse."""

    ids: frozenset[str]
    entities: tuple[PlacedEntity, ...]
    has_adverse_weather: bool


@dataclass(frozen=True)
class EntityCondition:
    """Holds when one entity has this placement and one of these distances."""

    placement: str
    distances: tuple[str, ...]

    def holds(self, situation: Situation) -> bool:
        """Return whether some entity of the situation fits."""
        return any(
            entity.placement == self.placement and entity.distance in self.distances
            for entity in situation.entities
        )


@dataclass(frozen=True)
class Condition:
    """All parts must hold; an empty condition always holds.

    Attributes:
        any_entity: some entity stands there.
        has: all of these ids are present.
        has_any: at least one of these ids is present.
        lacks: none of these ids is present.
        no_adverse_weather: the weather is not adverse.
    """

    any_entity: EntityCondition | None = None
    has: tuple[str, ...] = ()
    has_any: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    no_adverse_weather: bool = False

    def holds(self, situation: Situation) -> bool:
        """Return whether every part holds in the situation."""
        ids = situation.ids
        return (
            (self.any_entity is None or self.any_entity.holds(situation))
            and ids.issuperset(self.has)
            and (not self.has_any or not ids.isdisjoint(self.has_any))
            and ids.isdisjoint(self.lacks)
            and not (self.no_adverse_weather and situation.has_adverse_weather)
        )


@dataclass(frozen=True)
class Rule:
    """One row of the rule table: when the condition holds, the action is expected, because of ``why``."""

    id: str
    title: str
    condition: Condition
    action: str
    why: str

    @property
    def words(self) -> str:
        """The title where it stands alone: that of the last rule speaks of the rows above it."""
        return "Nothing to react to" if self.condition == Condition() else self.title


@dataclass(frozen=True)
class Decision:
    """The expected action and the rule that gave it."""

    rule_id: str
    action: str
    why: str


def first_decision(rules: Sequence[Rule], situation: Situation) -> Decision:
    """Return the decision of the first rule whose condition holds.

    Args:
        rules: in order of priority.
        situation: what stands where.

    Raises:
        ConceptError: no rule holds; a complete rule table ends with an empty condition.
    """
    for rule in rules:
        if rule.condition.holds(situation):
            return Decision(rule_id=rule.id, action=rule.action, why=rule.why)
    raise ConceptError(
        "No rule of the domain covers this concept set.",
        hint="End the rule table with a rule that has no condition.",
    )
