"""Concepts, constraints and the other rows of which a domain consists."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Key = tuple[str, ...]
ConceptKind = Literal["map", "signal", "entity", "modifier", "scene", "object", "agent", "state"]
Glyph = Literal[
    "obstacle", "person", "vehicle", "prop", "signal", "map", "weather", "modifier",
    "room", "liquid", "blade", "chemical", "fire", "electric", "heat", "glass",
]  # fmt: skip
Stance = Literal["", "hazard", "safe", "neutral"]
ErrorWords = Literal["reaction", "hazard"]
ErrorDirection = Literal["under-reaction", "insufficient", "over-reaction", "missed-hazard", "over-caution"]
THING_KINDS = frozenset({"entity", "object", "agent", "state"})


@dataclass(frozen=True)
class Concept:
    """One row of the catalogue.

    Attributes:
        id: canonical id.
        category: heading it is listed under.
        kind: what it does to a scene.
        label: short name for people.
        description: one sentence.
        glyph: picture sign of its chip.
        group: concepts of one group fill the same slot.
        implies: concepts whose scene parts it brings along.
        cls: class of an entity (``obstacle``, ``vru``, ``vehicle``, ``prop``).
        stance: whether it is a hazard by itself, shows that all is safe, or neither; "" where nobody asks.
        distance: distance bucket of an entity before modifiers.
        placement: placement of an entity before modifiers.
        modifiable: whether place and distance modifiers act on it.
        adverse: whether this weather is a reason to slow down.
        sets: attribute -> value that a modifier gives its entity.
        snippet: words for image-generating models.
        statement_true: a sentence that is true where the concept is present; that of a place or distance
            has ``{entity}`` for what it changes (see ``Domain.statements``).
        statement_false: its counterpart, false there.
    """

    id: str
    category: str
    kind: ConceptKind
    label: str
    description: str
    glyph: Glyph
    group: str = ""
    implies: tuple[str, ...] = ()
    cls: str = ""
    distance: str = ""
    placement: str = ""
    modifiable: bool = False
    adverse: bool = False
    stance: Stance = ""
    sets: Mapping[str, str] = field(default_factory=dict)
    snippet: str = ""
    statement_true: str = ""
    statement_false: str = ""

    @property
    def is_thing(self) -> bool:
        """Whether it is something that can be pointed at (and not a place, a light or a weather)."""
        return self.kind in THING_KINDS

    @property
    def joins_entity(self) -> bool:
        """Whether it changes an entity (place or distance) and not the whole scene."""
        return bool(self.sets)


ConstraintType = Literal["at_most_one", "requires_any", "excludes", "rule_must_match"]


@dataclass(frozen=True)
class Constraint:
    """What a valid set must meet.

    Attributes:
        id: row id.
        type: ``at_most_one`` of ``ids``; ``requires_any`` of ``any_of`` where one of ``if_any`` is present;
            ``excludes``: none of ``ids`` together with one of ``other_ids``; ``rule_must_match``: a rule must
            say something about the set.
        ids: the concepts that exclude each other, or the one side of ``excludes``.
        other_ids: the other side of ``excludes``.
        if_any: the concepts that need something; empty = every set.
        any_of: what they need.
        explanation: one sentence: why.
        advice: one sentence: what to do.
    """

    id: str
    type: ConstraintType
    explanation: str
    advice: str
    ids: tuple[str, ...] = ()
    if_any: tuple[str, ...] = ()
    any_of: tuple[str, ...] = ()
    other_ids: tuple[str, ...] = ()


@dataclass(frozen=True)
class Kinematics:
    """What a driving domain says of the car.

    Attributes:
        ego_speed_mps: speed at the moment of the picture, in m/s.
        full_braking_mps2: deceleration of full braking, in m/s².
        brake_share: action id -> share of full braking in [0, 1].
    """

    ego_speed_mps: float
    full_braking_mps2: float
    brake_share: Mapping[str, float]


@dataclass(frozen=True)
class Chip:
    """What one chip of a set shows: a concept and the modifiers joined to it."""

    concept: Concept
    modifiers: tuple[Concept, ...] = ()

    @property
    def text(self) -> str:
        """The labels in one line, such as ``Cone | far``."""
        return " | ".join([self.concept.label, *(modifier.label for modifier in self.modifiers)])
