"""What differs between two contents of a domain, row by row, in words."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vlmlab.core.scenes.domain_defaults import ROW_MODELS

SECTION_TITLES = {
    "concepts": "Concepts",
    "constraints": "Constraints",
    "rules": "Rules",
    "actions": "Answers",
    "": "Facts and question",
}


@dataclass(frozen=True)
class Change:
    """One difference.

    Attributes:
        kind: ``added``, ``removed``, ``changed`` or ``moved``.
        row: id of the row, or the key at the top level.
        field: key within the row; "" for the whole row.
        before, after: the values as text; "" where there was or is none.
    """

    kind: str
    row: str
    field: str = ""
    before: str = ""
    after: str = ""


@dataclass(frozen=True)
class ChangeGroup:
    """The changes of one section of the file."""

    title: str
    changes: tuple[Change, ...]


def compare_contents(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[ChangeGroup, ...]:
    """Return what changed, by section; empty when both say the same."""
    groups = []
    for section in ("", *ROW_MODELS):
        changes = (
            _row_changes(_rows(before, section), _rows(after, section))
            if section
            else _field_changes("", _facts(before), _facts(after))
        )
        if changes:
            groups.append(ChangeGroup(SECTION_TITLES[section], tuple(changes)))
    return tuple(groups)


def _row_changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Change]:
    found = [Change("removed", name, before=_words(before[name])) for name in before if name not in after]
    found += [Change("added", name, after=_words(after[name])) for name in after if name not in before]
    kept = [name for name in after if name in before]
    for name in kept:
        found += _field_changes(name, before[name], after[name])
    old_order = [name for name in before if name in after]
    moved = _moved(old_order, kept)
    found += [
        Change("moved", name, "", str(old_order.index(name) + 1), str(kept.index(name) + 1)) for name in moved
    ]
    return found


def _field_changes(row: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Change]:
    found = []
    for field in dict.fromkeys([*before, *after]):
        old, new = before.get(field), after.get(field)
        if old == new:
            continue
        kind = "added" if field not in before else "removed" if field not in after else "changed"
        name, inner = (row, field) if row else (field, "")
        found.append(Change(kind, name, inner, _words(old), _words(new)))
    return found


def _moved(before: Sequence[str], after: Sequence[str]) -> list[str]:
    """Return the names outside the longest common order: as few as explain the new order."""
    place = {name: number for number, name in enumerate(before)}
    best: list[list[str]] = []
    none: list[str] = []
    for number, name in enumerate(after):
        chains = [best[k] for k in range(number) if place[after[k]] < place[name]]
        longest: list[str] = max(chains, key=len, default=none)
        best.append([*longest, name])
    kept: list[str] = max(best, key=len, default=none)
    return [name for name in after if name not in kept]


def _facts(content: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in content.items() if key not in ROW_MODELS}


def _rows(content: Mapping[str, Any], section: str) -> dict[str, Any]:
    rows = content.get(section)
    if not isinstance(rows, Sequence) or isinstance(rows, str):
        return {}
    return {
        str(row.get("id", number)): row for number, row in enumerate(rows, start=1) if isinstance(row, dict)
    }


def _words(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, Mapping):
        return "; ".join(f"{key}: {_words(one)}" for key, one in value.items())
    if isinstance(value, list):
        return ", ".join(
            " | ".join(map(_words, one)) if isinstance(one, list) else _words(one) for one in value
        )
    return value if isinstance(value, str) else json.dumps(value)
