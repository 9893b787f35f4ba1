"""A domain file while a person edits it: rows are added, removed, moved and changed in its parsed text."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vlmlab.core.scenes.domain_defaults import CONSTRAINT_TEXTS, ROW_MODELS

EDITED_SECTIONS = ("facts", "actions", "concepts", "constraints", "rules", "text")
ROW_SECTIONS = tuple(ROW_MODELS)
CONSTRAINT_WORDS = {
    "at_most_one": "At most one of",
    "excludes": "Not together",
    "requires_any": "Needs a partner",
    "rule_must_match": "A rule must speak of it",
}


@dataclass(frozen=True)
class RowLine:
    """A row as the list of its section shows it.

    Attributes:
        number: position from 0.
        title: what it is called.
        id: its id; "" where it has none.
        note: what else matters, in one line.
    """

    number: int
    title: str
    id: str
    note: str


def rows_of(content: Mapping[str, Any], section: str) -> list[dict[str, Any]]:
    """Return the rows of a section; anything that is no row is left out."""
    rows = content.get(section)
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def row_lines(content: Mapping[str, Any], section: str) -> list[RowLine]:
    """Return how the rows of a section are listed."""
    labels = {
        str(row.get("id", "")): str(row.get("label") or row.get("id", ""))
        for name in ("concepts", "actions")
        for row in rows_of(content, name)
    }
    return [
        RowLine(number, _title(section, row), str(row.get("id", "")), _note(section, row, labels))
        for number, row in enumerate(rows_of(content, section))
    ]


def with_row(content: Mapping[str, Any], section: str, number: int, row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content with one row replaced; a changed id of a concept or answer is changed everywhere."""
    rows = rows_of(content, section)
    if not 0 <= number < len(rows):
        return dict(content)
    old, new = rows[number].get("id"), row.get("id")
    changed = dict(content) | {section: [*rows[:number], dict(row), *rows[number + 1 :]]}
    is_renamed = isinstance(old, str) and isinstance(new, str) and old and new and old != new
    is_the_only_one = sum(one.get("id") == old for one in rows) == 1
    return _renamed(changed, section, str(old), str(new)) if is_renamed and is_the_only_one else changed


def with_new_row(content: Mapping[str, Any], section: str) -> tuple[dict[str, Any], int]:
    """Return the content with one more row, and its position: above a rule that catches all the rest."""
    rows = rows_of(content, section)
    place = len(rows)
    if (
        section == "rules"
        and rows
        and content.get("decides_by", "first") == "first"
        and not rows[-1].get("when")
    ):
        place -= 1
    return dict(content) | {section: [*rows[:place], _new_row(content, section), *rows[place:]]}, place


def without_row(content: Mapping[str, Any], section: str, number: int) -> dict[str, Any]:
    """Return the content without one row."""
    rows = rows_of(content, section)
    return dict(content) | {section: [row for place, row in enumerate(rows) if place != number]}


def with_moved_row(content: Mapping[str, Any], section: str, number: int, *, by: int) -> dict[str, Any]:
    """Return the content with a row one place up (-1) or down (1); nothing happens at the ends."""
    rows = rows_of(content, section)
    other = number + by
    if 0 <= number < len(rows) and 0 <= other < len(rows):
        rows[number], rows[other] = rows[other], rows[number]
    return dict(content) | {section: rows}


def _new_row(content: Mapping[str, Any], section: str) -> dict[str, Any]:
    taken = {str(row.get("id", "")) for row in rows_of(content, section)}
    stem = {"concepts": "new_concept", "actions": "new_answer", "constraints": "C", "rules": "R"}[section]
    number = len(taken) + 1
    name = stem if stem not in taken and len(stem) > 1 else f"{stem}{number}"
    while name in taken:
        number += 1
        name = f"{stem}{number}"
    row: dict[str, Any] = {"id": name}
    if section == "constraints":
        row["type"] = "at_most_one"
    if section == "rules":
        actions = rows_of(content, "actions")
        row |= {"action": str(actions[0].get("id", "")) if actions else ""}
    return row


def _renamed(content: dict[str, Any], section: str, old: str, new: str) -> dict[str, Any]:
    if section == "concepts":
        fields = {
            "concepts": ("implies",),
            "constraints": ("ids", "other_ids", "if", "any"),
            "rules": ("when",),
        }
        for name, keys in fields.items():
            content[name] = [
                {key: _swap(value, old, new) if key in keys else value for key, value in row.items()}
                for row in rows_of(content, name)
            ]
        for name in ("aliases", "macros", "default_weather"):
            if name in content:
                content[name] = _swap(content[name], old, new)
    if section == "actions":
        content["rules"] = [
            row | {"action": new} if row.get("action") == old else row for row in rows_of(content, "rules")
        ]
        kinematics = content.get("kinematics")
        shares = kinematics.get("brake_share") if isinstance(kinematics, dict) else None
        if isinstance(kinematics, dict) and isinstance(shares, dict):
            renamed = {new if key == old else key: value for key, value in shares.items()}
            content["kinematics"] = kinematics | {"brake_share": renamed}
    return content


def _swap(value: Any, old: str, new: str) -> Any:
    if isinstance(value, dict):
        return {key: _swap(one, old, new) for key, one in value.items()}
    if isinstance(value, list):
        return [_swap(one, old, new) for one in value]
    return new if value == old else value


def _title(section: str, row: Mapping[str, Any]) -> str:
    if section == "constraints":
        return CONSTRAINT_WORDS.get(str(row.get("type", "")), str(row.get("type", "") or "Constraint"))
    name = row.get("title") if section == "rules" else row.get("label")
    return str(name or str(row.get("id", "")).replace("_", " ").capitalize() or "Without a name")


def _note(section: str, row: Mapping[str, Any], labels: Mapping[str, str]) -> str:
    if section == "concepts":
        return str(row.get("category", ""))
    if section == "actions":
        return str(row.get("option", ""))
    if section == "constraints":
        sides = [_labels(row.get(key), labels) for key in ("ids", "other_ids", "if", "any")]
        return (
            " / ".join(side for side in sides if side)
            or CONSTRAINT_TEXTS.get(str(row.get("type", "")), ("", ""))[0]
        )
    return labels.get(str(row.get("action", "")), str(row.get("action", "")))


def _labels(ids: object, labels: Mapping[str, str]) -> str:
    if not isinstance(ids, Sequence) or isinstance(ids, str):
        return ""
    return ", ".join(labels.get(str(one), str(one)) for one in ids)
