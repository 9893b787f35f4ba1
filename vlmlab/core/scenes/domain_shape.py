"""Whether a domain file has the right keys and kinds of values; every deviation becomes a problem."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from vlmlab.core.scenes.catalogue import DomainFile
from vlmlab.core.scenes.domain_defaults import INNER_MODELS, ROW_MODELS, keys_of
from vlmlab.core.scenes.domain_problems import DomainProblem, did_you_mean, shown
from vlmlab.core.scenes.domain_text import DomainText, Path

ROW_WORDS: Mapping[str, str] = {
    "concepts": "concept", "constraints": "constraint", "rules": "rule", "actions": "answer",
}  # fmt: skip
WANTED: Mapping[str, str] = {
    "string_type": "Write a text here; put numbers into quotes.",
    "tuple_type": "Write a list here, such as [first, second].",
    "dict_type": "Write keys with values here.",
    "model_type": "Write keys with values here.",
    "model_attributes_type": "Write keys with values here.",
    "bool_type": "Write true or false.",
    "bool_parsing": "Write true or false.",
    "int_type": "Write a whole number.",
    "int_parsing": "Write a whole number.",
    "int_from_float": "Write a whole number.",
    "float_type": "Write a number.",
    "float_parsing": "Write a number.",
}


def shape_problems(
    content: Mapping[str, Any], text: DomainText
) -> tuple[DomainFile | None, list[DomainProblem]]:
    """Return the file when its shape is right, else every problem with its shape."""
    try:
        return DomainFile.model_validate(content), []
    except ValidationError as error:
        found: dict[Path, DomainProblem] = {}
        for one in error.errors(include_url=False):
            path = _path(one, content)
            found.setdefault(path, _problem(one, path, content=content, line=text.line_of(path)))
        return None, list(found.values())


def row_name(section: str, number: int, row: object) -> str:
    """Return how a problem names a row: ``concept 3 “cone”``."""
    name = row.get("id") if isinstance(row, Mapping) else None
    words = f"{ROW_WORDS[section]} {number + 1}"
    return f"{words} {shown(name)}" if isinstance(name, str) and name else words


def _path(error: ErrorDetails, content: Mapping[str, Any]) -> Path:
    """Return the keys and positions that lead to a value; names of alternatives are left out."""
    path: list[str | int] = []
    value: Any = content
    is_missing = error["type"] == "missing"
    for place, part in enumerate(error["loc"]):
        is_last = place == len(error["loc"]) - 1
        if _has(value, part):
            value = value[part]
        elif not (is_missing and is_last):
            continue
        path.append(part)
    return tuple(path)


def _has(value: Any, part: str | int) -> bool:
    if isinstance(value, Mapping):
        return part in value
    return isinstance(value, Sequence) and isinstance(part, int) and part < len(value)


def _problem(
    error: ErrorDetails, path: Path, *, content: Mapping[str, Any], line: int | None
) -> DomainProblem:
    section = str(path[0]) if path else ""
    rest = path[1:]
    row = ""
    rows = content.get(section)
    if section in ROW_WORDS and rest and isinstance(rest[0], int) and isinstance(rows, list):
        row, rest = row_name(section, rest[0], rows[rest[0]]), rest[1:]
    elif section:
        rest = path
    field = ".".join(str(part + 1) if isinstance(part, int) else part for part in rest)
    message, hint = _words(error, path)
    return DomainProblem(row, field, message, hint, line=line, section=section)


def _words(error: ErrorDetails, path: Path) -> tuple[str, str]:
    kind, context, value = error["type"], error.get("ctx") or {}, error.get("input")
    name = str(path[-1]) if path else "file"
    if kind == "missing":
        return f"“{name}” is missing.", "Write it."
    if kind == "extra_forbidden":
        known = _known_keys(path)
        return f"There is no key {shown(name)} here.", did_you_mean(
            name, known, otherwise=f"Known: {', '.join(known)}."
        )
    if kind == "literal_error":
        expected = str(context.get("expected", "")).replace(" or ", ", ").replace("'", "")
        return f"{shown(value)} is not known here.", f"One of: {expected}."
    if kind == "string_pattern_mismatch":
        return (
            f"{shown(value)} cannot be an id.",
            "Write small letters, digits and underscores, a letter first.",
        )
    if kind == "too_short":
        least = context.get("min_length")
        return f"At least {least} {'is' if least == 1 else 'are'} needed.", "Add what is missing."
    if kind == "too_long":
        return f"There are more than {context.get('max_length')}.", "Take some out."
    if kind in WANTED:
        return f"{shown(value)} does not fit here.", WANTED[kind]
    return f"{shown(value)} does not fit here: {_small(error['msg'])}.", "Correct it."


def _known_keys(path: Path) -> tuple[str, ...]:
    for part in reversed(path[:-1]):
        model = INNER_MODELS.get(str(part)) or ROW_MODELS.get(str(part))
        if part == "any_entity":
            return ("placement", "distance")
        if model is not None:
            return keys_of(model)
    return keys_of(DomainFile)


def _small(message: str) -> str:
    words = message.removeprefix("Input ").rstrip(".")
    return f"it {words}" if message.startswith("Input ") else words[:1].lower() + words[1:]
