"""Reads domain files and checks them with messages that name the row."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from importlib import resources
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from vlmlab.core.errors import ConceptError
from vlmlab.core.scenes.concepts import (
    Concept,
    ConceptKind,
    Constraint,
    ConstraintType,
    Domain,
    ErrorWords,
    Glyph,
    Kinematics,
    Stance,
)
from vlmlab.core.scenes.rules import Condition, DecidesBy, EntityCondition, Rule

DOMAIN_SLUGS = ("driving", "indoor")
"""The domains that come with the lab; a site keeps others, and changed ones, as rows of its database."""

FORMER_VERSIONS: Mapping[str, tuple[str, ...]] = {"driving": ("396be804ab18",)}
"""Versions of earlier releases whose concepts, rules and texts are word for word those of today's file."""


class _Row(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ConceptRow(_Row):
    """A concept as a domain file writes it."""

    id: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    category: str
    kind: ConceptKind
    label: str
    glyph: Glyph
    description: str
    snippet: str
    statement_true: str
    statement_false: str
    group: str = ""
    implies: tuple[str, ...] = ()
    cls: str = ""
    distance: str = ""
    placement: str = ""
    modifiable: bool = False
    adverse: bool = False
    stance: Stance = ""
    sets: dict[str, str] = Field(default_factory=dict)


class ConstraintRow(_Row):
    """A constraint as a domain file writes it."""

    id: str
    type: ConstraintType
    explanation: str
    advice: str
    ids: tuple[str, ...] = ()
    if_any: tuple[str, ...] = Field(default=(), alias="if")
    any_of: tuple[str, ...] = Field(default=(), alias="any")
    other_ids: tuple[str, ...] = ()


class EntityConditionRow(_Row):
    """Where an entity must stand for a rule to fire."""

    placement: str
    distance: tuple[str, ...]


class ConditionRow(_Row):
    """The condition of a rule."""

    any_entity: EntityConditionRow | None = None
    has: tuple[str, ...] = ()
    has_any: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    no_adverse_weather: bool = False
    elements: tuple[str | tuple[str, ...], ...] = ()


class RuleRow(_Row):
    """A rule as a domain file writes it."""

    id: str
    title: str
    when: ConditionRow
    action: str
    why: str
    question: str = ""
    priority: int = 0
    topic: str = ""


class ActionRow(_Row):
    """An action: its label and the text of its answer option."""

    id: str
    label: str
    option: str


class KinematicsRow(_Row):
    """Speed and braking of a driving domain."""

    ego_speed_mps: float = Field(gt=0, le=100)
    full_braking_mps2: float = Field(gt=0, le=20)
    brake_share: dict[str, float]


class DomainFile(_Row):
    """A whole domain file.

    An element of a rule is a concept, ``@name`` for one of the concepts of ``macros``, or a list of
    alternatives.
    """

    slug: str
    title: str
    max_size: int = Field(ge=1, le=8)
    default_weather: str = ""
    aliases: dict[str, str] = Field(default_factory=dict)
    distances_m: dict[str, tuple[float, float]] = Field(default_factory=dict)
    macros: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    decides_by: DecidesBy = "first"
    error_words: ErrorWords = "reaction"
    draws_as: str = ""
    kinematics: KinematicsRow | None = None
    actions: tuple[ActionRow, ...] = Field(min_length=2)
    question: str
    answer_request: str
    reason_request: str
    concepts: tuple[ConceptRow, ...] = Field(min_length=1, max_length=62)
    constraints: tuple[ConstraintRow, ...] = ()
    rules: tuple[RuleRow, ...] = Field(min_length=1)


@lru_cache(maxsize=8)
def load_domain(slug: str) -> Domain:
    """Return a built-in domain.

    Raises:
        ConceptError: there is no such domain.
    """
    return domain_from(built_in_content(slug))


def built_in_content(slug: str) -> dict[str, Any]:
    """Return the parsed file of a built-in domain.

    Raises:
        ConceptError: there is no such domain.
    """
    if slug not in DOMAIN_SLUGS:
        raise ConceptError(
            f"There is no domain “{slug}”.", hint=f"Known: {', '.join(DOMAIN_SLUGS)}.", field="domain"
        )
    text = resources.files("vlmlab.core.scenes.domains").joinpath(f"{slug}.json").read_text(encoding="utf-8")
    content: dict[str, Any] = json.loads(text)
    return content


@lru_cache(maxsize=8)
def shipped_domain(slug: str, version: str) -> Domain | None:
    """Return a built-in domain where the lab comes with this version of it, or came with an equal one."""
    if slug not in DOMAIN_SLUGS:
        return None
    domain = load_domain(slug)
    if domain.version == version:
        return domain
    return replace(domain, version=version) if version in FORMER_VERSIONS.get(slug, ()) else None


def domain_from(content: dict[str, Any]) -> Domain:
    """Return the domain that a parsed domain file describes.

    Args:
        content: the parsed JSON.

    Raises:
        ConceptError: the content is malformed or names unknown concepts; the message names the row.
    """
    try:
        file = DomainFile.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        place = " > ".join(str(part) for part in first["loc"])
        raise ConceptError(
            f"The domain file is not valid at {place}: {first['msg']}.", field=place
        ) from error
    _check_references(file)
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return Domain(
        slug=file.slug,
        version=hashlib.sha256(text.encode()).hexdigest()[:12],
        title=file.title,
        concepts=tuple(Concept(**row.model_dump()) for row in file.concepts),
        constraints=tuple(Constraint(**row.model_dump()) for row in file.constraints),
        rules=tuple(_rule(row, file.macros) for row in file.rules),
        actions={row.id: row.label for row in file.actions},
        option_texts={row.id: row.option for row in file.actions},
        max_size=file.max_size,
        aliases=file.aliases,
        distances_m=file.distances_m,
        question=file.question,
        answer_request=file.answer_request,
        reason_request=file.reason_request,
        decides_by=file.decides_by,
        error_words=file.error_words,
        draws_as=file.draws_as,
        kinematics=Kinematics(**file.kinematics.model_dump()) if file.kinematics else None,
    )


def _rule(row: RuleRow, macros: Mapping[str, tuple[str, ...]]) -> Rule:
    when = row.when
    entity = when.any_entity
    condition = Condition(
        any_entity=EntityCondition(entity.placement, entity.distance) if entity else None,
        has=when.has,
        has_any=when.has_any,
        lacks=when.lacks,
        no_adverse_weather=when.no_adverse_weather,
        elements=tuple(_alternatives(element, macros) for element in when.elements),
    )
    return Rule(
        id=row.id,
        title=row.title,
        condition=condition,
        action=row.action,
        why=row.why,
        question=row.question,
        priority=row.priority,
        topic=row.topic,
    )


def _alternatives(element: str | tuple[str, ...], macros: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    if not isinstance(element, str):
        return element
    return macros.get(element.removeprefix("@"), ()) if element.startswith("@") else (element,)


def _check_references(file: DomainFile) -> None:
    known = {row.id for row in file.concepts}
    if len(known) != len(file.concepts):
        every = [row.id for row in file.concepts]
        twice = next(one for one in every if every.count(one) > 1)
        raise ConceptError(f"The concept “{twice}” stands in the file twice.", field="concepts")
    named = [(f"alias {alias}", target) for alias, target in file.aliases.items()]
    named += [(f"concept {row.id}", other) for row in file.concepts for other in row.implies]
    for constraint in file.constraints:
        ids = (*constraint.ids, *constraint.other_ids, *constraint.if_any, *constraint.any_of)
        named += [(f"constraint {constraint.id}", other) for other in ids]
    for rule in file.rules:
        elements = [one for element in rule.when.elements for one in _alternatives(element, file.macros)]
        ids = (*rule.when.has, *rule.when.has_any, *rule.when.lacks, *elements)
        named += [(f"rule {rule.id}", other) for other in ids]
    for row_name, concept_id in named:
        if concept_id not in known:
            raise ConceptError(f"The {row_name} names the unknown concept “{concept_id}”.", field=row_name)
    actions = {row.id for row in file.actions}
    for rule in file.rules:
        if rule.action not in actions:
            raise ConceptError(f"The rule {rule.id} names the unknown action “{rule.action}”.", field=rule.id)
