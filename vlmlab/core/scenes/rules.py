"""Rules that turn what is in a scene into the expected action: the first, or the one that fits best."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from vlmlab.core.errors import ConceptError

DecidesBy = Literal["first", "best_fit"]


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
        elements: what must be seen, one tuple of alternatives an element; each needs one of them present.
    """

    any_entity: EntityCondition | None = None
    has: tuple[str, ...] = ()
    has_any: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    no_adverse_weather: bool = False
    elements: tuple[tuple[str, ...], ...] = ()

    def holds(self, situation: Situation) -> bool:
        """Return whether every part holds in the situation."""
        ids = situation.ids
        return (
            (self.any_entity is None or self.any_entity.holds(situation))
            and ids.issuperset(self.has)
            and (not self.has_any or not ids.isdisjoint(self.has_any))
            and ids.isdisjoint(self.lacks)
            and not (self.no_adverse_weather and situation.has_adverse_weather)
            and all(not ids.isdisjoint(element) for element in self.elements)
        )


@dataclass(frozen=True)
class Rule:
    """One row of the rule table: when the condition holds, the action is expected, because of ``why``.

    Attributes:
        question: what the rule asks about the scene; "" where the domain asks the same of every scene.
        priority: among rules that fit equally well the smaller number decides.
        topic: what it is about (``spill``, ``cut``, ...), for filters; "" for none.
    """

    id: str
    title: str
    condition: Condition
    action: str
    why: str
    question: str = ""
    priority: int = 0
    topic: str = ""

    @property
    def is_unconditional(self) -> bool:
        """Whether it matches every set."""
        return self.condition == Condition()

    @property
    def words(self) -> str:
        """The title where it stands alone: that of the last rule speaks of the rows above it."""
        return "Nothing to react to" if self.is_unconditional else self.title


@dataclass(frozen=True)
class Decision:
    """The expected action and the rule that gave it.

    Attributes:
        question: what that rule asks, "" where the domain asks the same of every scene.
        covered: the concepts of the set that the rule speaks of, one an element, in catalogue order; only
            with ``best_fit``.
        fit: share of the set that the rule speaks of, in (0, 1]; None where the first rule decides.
    """

    rule_id: str
    action: str
    why: str
    question: str = ""
    covered: tuple[str, ...] = ()
    fit: float | None = None


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
            return Decision(rule_id=rule.id, action=rule.action, why=rule.why, question=rule.question)
    raise ConceptError(
        "No rule of the domain covers this concept set.",
        hint="End the rule table with a rule that has no condition.",
    )


def best_decision(rules: Sequence[Rule], key: Sequence[str], *, severities: Sequence[str]) -> Decision:
    """Return the decision of the rule that speaks of the largest share of a set.

    With every element covered the fit |V covered|² / (|V| |C|) is |V| / |C| (squared cosine of the rule's
    elements V and the set C), so the rule with the most elements decides. Ties: the more severe action, then
    the smaller priority number, then the id.

    Args:
        rules: the rule table in any order.
        key: a canonical set.
        severities: action ids, the most severe first.

    Raises:
        ConceptError: no rule matches.
    """
    situation = Situation(frozenset(key), (), has_adverse_weather=False)
    matching = [rule for rule in rules if rule.condition.holds(situation)]
    if not matching:
        raise ConceptError(
            "No rule of the domain says anything about this concept set.",
            hint="Add a concept that a rule speaks of, or a rule for the set.",
            field="concepts",
        )
    best = by_fit(matching, severities=severities)[0]
    spoken_of = {next(one for one in key if one in element) for element in best.condition.elements}
    return Decision(
        rule_id=best.id,
        action=best.action,
        why=best.why,
        question=best.question,
        covered=tuple(one for one in key if one in spoken_of),
        fit=min(1.0, len(best.condition.elements) / len(key)) if key else None,
    )


def by_fit(rules: Sequence[Rule], *, severities: Sequence[str]) -> list[Rule]:
    """Return rules that match one set, the one that decides first, as ``best_decision`` orders them."""
    return sorted(rules, key=lambda rule: fit_rank(rule, severities=severities))


def fit_rank(rule: Rule, *, severities: Sequence[str]) -> tuple[int, int, int, str]:
    """Return what rules that match one set are sorted by; the smallest decides."""
    return (-len(rule.condition.elements), severities.index(rule.action), rule.priority, rule.id)
