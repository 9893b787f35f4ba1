"""What a domain file may leave out: every text and sign that follows from what it does say."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from vlmlab.core.scenes.catalogue import (
    ActionRow,
    ConceptRow,
    ConditionRow,
    ConstraintRow,
    DomainFile,
    KinematicsRow,
    RuleRow,
)

GLYPH_OF_KIND = {
    "map": "map", "signal": "signal", "entity": "prop", "modifier": "modifier",
    "scene": "room", "object": "prop", "agent": "person", "state": "prop",
}  # fmt: skip
CONSTRAINT_TEXTS = {
    "at_most_one": ("They cannot be in one scene.", "Keep one of them."),
    "excludes": ("They cannot be in one scene.", "Take one of them out."),
    "requires_any": ("It needs one of the others.", "Add one of them."),
    "rule_must_match": ("No rule says what is right here.", "Add something that a rule speaks of."),
}
ANSWER_REQUEST = "Reply with the letter of one option and nothing else."
REASON_REQUEST = (
    "Reply with the letter of one option on the first line, "
    "and on the second line give the reason in one sentence."
)
DEFAULT_MAX_SIZE = 4
ROW_MODELS: Mapping[str, type[BaseModel]] = {
    "concepts": ConceptRow,
    "constraints": ConstraintRow,
    "rules": RuleRow,
    "actions": ActionRow,
}
INNER_MODELS: Mapping[str, type[BaseModel]] = {"when": ConditionRow, "kinematics": KinematicsRow}


def completed(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content with everything filled in that was left out; what is there stays as it is."""
    slug = content.get("slug")
    top: dict[str, Any] = {
        "title": _words(slug),
        "max_size": DEFAULT_MAX_SIZE,
        "answer_request": ANSWER_REQUEST,
        "reason_request": REASON_REQUEST,
    }
    found = dict(content)
    found |= {name: value for name, value in top.items() if value and name not in content}
    for section, complete in (
        ("concepts", _concept),
        ("actions", _action),
        ("constraints", _constraint),
        ("rules", _rule),
    ):
        rows = content.get(section)
        if isinstance(rows, list):
            found[section] = [
                {**complete(row, number), **row} if isinstance(row, dict) else row
                for number, row in enumerate(rows, start=1)
            ]
    return found


def in_order(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content with its keys in the order in which a person reads them."""
    found = _sorted(content, DomainFile)
    for section, model in ROW_MODELS.items():
        if isinstance(found.get(section), list):
            found[section] = [_row(row, model) for row in found[section]]
    if isinstance(found.get("kinematics"), dict):
        found["kinematics"] = _sorted(found["kinematics"], INNER_MODELS["kinematics"])
    return found


def keys_of(model: type[BaseModel]) -> tuple[str, ...]:
    """Return the keys of a row as a file writes them."""
    return tuple(info.alias or name for name, info in model.model_fields.items())


def _row(row: object, model: type[BaseModel]) -> object:
    if not isinstance(row, dict):
        return row
    found = _sorted(row, model)
    if isinstance(found.get("when"), dict):
        found["when"] = _sorted(found["when"], INNER_MODELS["when"])
    return found


def _sorted(content: Mapping[str, Any], model: type[BaseModel]) -> dict[str, Any]:
    order = {key: place for place, key in enumerate(keys_of(model))}
    return {key: content[key] for key in sorted(content, key=lambda key: (order.get(key, 999), key))}


def _concept(row: Mapping[str, Any], number: int) -> dict[str, Any]:
    label = _text(row.get("label")) or _words(row.get("id"))
    kind = _text(row.get("kind")) or "object"
    if not label:
        return {}
    low = label[:1].lower() + label[1:]
    return {
        "category": "Concepts",
        "kind": kind,
        "label": label,
        "glyph": GLYPH_OF_KIND.get(kind, "prop"),
        "description": f"{label}.",
        "snippet": low,
        "statement_true": f"The picture shows: {low}.",
        "statement_false": f"The picture does not show: {low}.",
    }


def _action(row: Mapping[str, Any], number: int) -> dict[str, Any]:
    label = _text(row.get("label")) or _words(row.get("id"))
    return {"label": label, "option": label} if label else {}


def _constraint(row: Mapping[str, Any], number: int) -> dict[str, Any]:
    texts = CONSTRAINT_TEXTS.get(_text(row.get("type")))
    found: dict[str, Any] = {"id": f"C{number}"}
    return found | ({"explanation": texts[0], "advice": texts[1]} if texts else {})


def _rule(row: Mapping[str, Any], number: int) -> dict[str, Any]:
    name = _text(row.get("id")) or f"R{number}"
    title = _text(row.get("title")) or _words(name)
    return {"id": name, "title": title, "when": {}, "why": f"{title.rstrip('.')}."}


def _words(name: object) -> str:
    text = _text(name).replace("_", " ").replace("-", " ").strip()
    return text[:1].upper() + text[1:]


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
