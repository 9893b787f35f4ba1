"""The domain that ties concepts, constraints and rules together."""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

from vlmlab.core.errors import ConceptError
from vlmlab.core.scenes.domain_problems import did_you_mean
from vlmlab.core.scenes.domain_rows import (
    THING_KINDS,
    Chip,
    Concept,
    ConceptKind,
    Constraint,
    ConstraintType,
    ErrorDirection,
    ErrorWords,
    Glyph,
    Key,
    Kinematics,
    Stance,
)
from vlmlab.core.scenes.rules import (
    DecidesBy,
    Decision,
    PlacedEntity,
    Rule,
    Situation,
    best_decision,
    by_fit,
    first_decision,
)
from vlmlab.core.scenes.universe import MaskConstraint, MaskPattern, Masks, enumerate_masks

__all__ = [
    "THING_KINDS",
    "Chip",
    "Concept",
    "ConceptKind",
    "Constraint",
    "ConstraintType",
    "Domain",
    "ErrorDirection",
    "ErrorWords",
    "Glyph",
    "Key",
    "Kinematics",
    "Stance",
]


@dataclass(frozen=True, eq=False)
class Domain:
    """A catalogue of concepts with its constraints, rules and texts; immutable, compared by identity.

    Attributes:
        slug: key of the domain.
        version: first 12 hex digits of the content's SHA-256.
        title: for people.
        concepts: in catalogue order; bit j of a mask is the j-th.
        constraints: what a valid set must meet.
        rules: in order of priority.
        actions: id -> label, the most severe first.
        option_texts: id -> text of the answer option.
        max_size: largest set.
        aliases: other names of concepts -> canonical id.
        distances_m: bucket -> lowest and highest distance in metres.
        question, answer_request, reason_request: texts of the question; ``{options}`` in it stands for the
            answer options, ``{question}`` for what the deciding rule asks, ``{speed}`` for the car's speed.
        decides_by: whether the first rule that fires decides, or the one that fits the set best.
        error_words: how wrong answers are named: too weak and too strong reactions, or missed hazards and
            over-caution.
        draws_as: the built-in domain whose layouts and world draw its sets; "" where nothing built in can.
        kinematics: of a driving domain; None elsewhere.
    """

    slug: str
    version: str
    title: str
    concepts: tuple[Concept, ...]
    constraints: tuple[Constraint, ...]
    rules: tuple[Rule, ...]
    actions: Mapping[str, str]
    option_texts: Mapping[str, str]
    max_size: int
    aliases: Mapping[str, str]
    distances_m: Mapping[str, tuple[float, float]]
    question: str
    answer_request: str
    reason_request: str
    decides_by: DecidesBy = "first"
    error_words: ErrorWords = "reaction"
    draws_as: str = ""
    kinematics: Kinematics | None = None

    @property
    def ref(self) -> str:
        """Slug and version in one word: ``driving@02cac0cbc15c``."""
        return f"{self.slug}@{self.version}"

    @cached_property
    def index(self) -> Mapping[str, int]:
        """Canonical id -> position in the catalogue."""
        return {concept.id: position for position, concept in enumerate(self.concepts)}

    def concept(self, concept_id: str) -> Concept:
        """Return the concept of a canonical id; ConceptError where it is unknown."""
        position = self.index.get(concept_id)
        if position is None:
            raise self._unknown(concept_id)
        return self.concepts[position]

    def canonical(self, ids: Iterable[str]) -> Key:
        """Return the set as a key: aliases resolved, slot numbers dropped, no repeats, catalogue order.

        Args:
            ids: names as a person or a paper writes them (``weather_foggy_0``, ``dumpster_near``).

        Raises:
            ConceptError: a name is unknown; the message lists the nearest known ones.
        """
        return tuple(sorted({self._resolve(name) for name in ids}, key=self.index.__getitem__))

    def why_invalid(self, key: Key) -> str | None:
        """Return why a canonical set cannot be drawn and what to do, or None when it is valid."""
        if not key:
            return "The set is empty. Choose at least one concept."
        if len(key) > self.max_size:
            surplus = len(key) - self.max_size
            return f"A set has at most {self.max_size} concepts, this one has {len(key)}. Take {surplus} out."
        mask = self.mask(key)
        for constraint, compiled in zip(self.constraints, self._compiled, strict=True):
            if not _is_met(compiled, mask):
                if constraint.type == "rule_must_match":
                    return f"{constraint.explanation} {constraint.advice}"
                return f"{self._clash(constraint, key)}: {constraint.explanation} {constraint.advice}"
        return None

    def is_compatible(self, key: Key) -> bool:
        """Return whether the concepts of a canonical set can occur together."""
        return self.why_invalid(key) is None

    def mask(self, key: Iterable[str]) -> int:
        """Return the set as bits: bit j stands for the j-th concept of the catalogue."""
        mask = 0
        for concept_id in key:
            position = self.index.get(concept_id)
            if position is None:
                raise self._unknown(concept_id)
            mask |= 1 << position
        return mask

    def key_of(self, mask: int) -> Key:
        """Return the canonical key of a mask."""
        mask = int(mask)
        if mask < 0 or mask >> len(self.concepts):
            raise ValueError(f"mask must be in 0..2**{len(self.concepts)} - 1, got {mask}")
        return tuple(concept.id for position, concept in enumerate(self.concepts) if mask >> position & 1)

    def universe(
        self,
        max_size: int | None = None,
        *,
        excluded: Collection[str] = (),
        required: Collection[str] = (),
    ) -> Masks:
        """Return every valid set of size 1..max_size.

        Args:
            max_size: default and upper limit: the domain's.
            excluded: sets with one of these concepts are left out; other names of them will do.
            required: sets that lack one of these concepts are left out, as above.

        Returns:
            ``(n,)`` int64 masks, read-only, cached, sorted by size, then by mask.
        """
        size = self.max_size if max_size is None else min(max_size, self.max_size)
        unwanted, wanted = self.canonical(excluded), self.canonical(required)
        return _universe(self, size, self.mask(unwanted), self.mask(wanted))

    def entities(self, key: Key) -> tuple[PlacedEntity, ...]:
        """Return the entities of a set after its modifiers acted on the last modifiable one."""
        chosen = [self.concept(concept_id) for concept_id in key]
        entities = [concept for concept in chosen if concept.is_thing]
        joined = [concept for concept in chosen if concept.joins_entity]
        target = max(
            (position for position, concept in enumerate(entities) if concept.modifiable), default=None
        )
        placed = []
        for position, concept in enumerate(entities):
            acting = joined if position == target else []
            changed = {attribute: value for modifier in acting for attribute, value in modifier.sets.items()}
            placed.append(
                PlacedEntity(
                    concept_id=concept.id,
                    placement=changed.get("placement", concept.placement),
                    distance=changed.get("distance", concept.distance),
                    modifiers=tuple(modifier.id for modifier in acting),
                )
            )
        return tuple(placed)

    def decide(self, key: Key) -> Decision:
        """Return the expected action of a canonical set and the rule that decides it.

        Raises:
            ConceptError: no rule says anything about the set.
        """
        if self.decides_by == "best_fit":
            return best_decision(self.rules, key, severities=tuple(self.actions))
        adverse = any(self.concept(concept_id).adverse for concept_id in key)
        return first_decision(self.rules, Situation(frozenset(key), self.entities(key), adverse))

    def matching_rules(self, key: Key) -> tuple[Rule, ...]:
        """Return every rule whose condition holds for a canonical set, the one that decides first."""
        adverse = any(self.concept(concept_id).adverse for concept_id in key)
        situation = Situation(frozenset(key), self.entities(key), adverse)
        matching = [rule for rule in self.rules if rule.condition.holds(situation)]
        if self.decides_by == "best_fit":
            return tuple(by_fit(matching, severities=tuple(self.actions)))
        return tuple(matching)

    def error_direction(self, expected_action: str, answered_action: str) -> ErrorDirection | None:
        """Return in which direction an answer is wrong, or None when it is right.

        Actions are ordered by severity. ``under-reaction``: the mildest action although more was needed.
        ``insufficient``: a milder action than needed, but not the mildest. ``over-reaction``: more than was
        needed. In domains that ask for hazards: ``missed-hazard`` and ``over-caution``.

        Raises:
            ValueError: one of the two is no action of the domain.
        """
        order = list(self.actions)
        for name, action in (("expected_action", expected_action), ("answered_action", answered_action)):
            if action not in order:
                raise ValueError(f"{name} must be one of {', '.join(order)}, got {action!r}")
        expected, answered = order.index(expected_action), order.index(answered_action)
        if expected == answered:
            return None
        if self.error_words == "hazard":
            return "over-caution" if answered < expected else "missed-hazard"
        if answered < expected:
            return "over-reaction"
        return "under-reaction" if answered == len(order) - 1 else "insufficient"

    def statements(self, key: Key, concept_id: str) -> tuple[str, str]:
        """Return the true and the false statement about a concept of a set, its entity named."""
        concept = self.concept(concept_id)
        target = next((one for one in self.entities(key) if concept_id in one.modifiers), None)
        name = self.concept(target.concept_id).label.lower() if target else ""
        true, false = concept.statement_true, concept.statement_false
        return true.replace("{entity}", name), false.replace("{entity}", name)

    def groups_for_display(self, key: Key) -> tuple[Chip, ...]:
        """Return the chips of a set in catalogue order, place and distance joined to what they change."""
        acting = {entity.concept_id: entity.modifiers for entity in self.entities(key)}
        joined = {modifier for modifiers in acting.values() for modifier in modifiers}
        return tuple(
            Chip(self.concept(concept_id), tuple(self.concept(one) for one in acting.get(concept_id, ())))
            for concept_id in key
            if concept_id not in joined
        )

    @property
    def mask_constraints(self) -> tuple[MaskConstraint, ...]:
        """The constraints over bit masks, in the order of the catalogue."""
        return self._compiled

    @cached_property
    def _compiled(self) -> tuple[MaskConstraint, ...]:
        return tuple(
            MaskConstraint(
                exclusive=self.mask(one.ids) if one.type == "at_most_one" else 0,
                condition=self.mask(one.if_any) if one.if_any else -1,
                needed=self.mask(one.any_of),
                left=self.mask(one.ids) if one.type == "excludes" else 0,
                right=self.mask(one.other_ids),
                patterns=self._patterns if one.type == "rule_must_match" else (),
            )
            for one in self.constraints
        )

    @cached_property
    def _patterns(self) -> tuple[MaskPattern, ...]:
        return tuple(
            MaskPattern(
                elements=(
                    *(self.mask(element) for element in rule.condition.elements),
                    *(self.mask((one,)) for one in rule.condition.has),
                    *((self.mask(rule.condition.has_any),) if rule.condition.has_any else ()),
                ),
                forbidden=self.mask(rule.condition.lacks),
            )
            for rule in self.rules
        )

    def _resolve(self, name: str) -> str:
        name = name.strip()
        for candidate in (name, re.sub(r"_\d+$", "", name)):
            resolved = self.aliases.get(candidate, candidate)
            if resolved in self.index:
                return resolved
        raise self._unknown(name)

    def _unknown(self, name: str) -> ConceptError:
        known = [*self.index, *self.aliases]
        hint = did_you_mean(name, known, otherwise="The domain's page lists all concepts.")
        return ConceptError(f"The domain {self.title} has no concept “{name}”.", hint=hint, field="concepts")

    def _clash(self, constraint: Constraint, key: Key) -> str:
        suspects = (*constraint.ids, *constraint.other_ids) or constraint.if_any or key
        labels = [f"“{self.concept(one).label}”" for one in key if one in suspects]
        if constraint.type in ("at_most_one", "excludes"):
            return f"{_listed(labels)} exclude each other"
        verb = "needs" if len(labels) == 1 else "need"
        return f"{_listed(labels)} {verb} something else in the scene"


def _listed(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _is_met(constraint: MaskConstraint, mask: int) -> bool:
    chosen = mask & constraint.exclusive
    if chosen & (chosen - 1) or (mask & constraint.left and mask & constraint.right):
        return False
    if constraint.patterns and not any(_matches(pattern, mask) for pattern in constraint.patterns):
        return False
    return not (constraint.needed and mask & constraint.condition and not mask & constraint.needed)


def _matches(pattern: MaskPattern, mask: int) -> bool:
    return not mask & pattern.forbidden and all(mask & element for element in pattern.elements)


@lru_cache(maxsize=32)
def _universe(domain: Domain, max_size: int, excluded: int, required: int) -> Masks:
    if not excluded and not required:
        return enumerate_masks(len(domain.concepts), domain._compiled, max_size=max_size)
    masks = _universe(domain, max_size, 0, 0)
    kept: Masks = masks[((masks & excluded) == 0) & ((masks & required) == required)]
    kept.setflags(write=False)
    return kept
