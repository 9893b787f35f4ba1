"""Whether the texts of a domain file fit: ids, lengths, lines, and the places that a question must have."""

import re
from collections.abc import Mapping

from pydantic import BaseModel

from vlmlab.core.scenes.catalogue import DomainFile
from vlmlab.core.scenes.domain_names import LineOf
from vlmlab.core.scenes.domain_problems import DomainProblem, shown
from vlmlab.core.scenes.domain_shape import row_name
from vlmlab.core.scenes.questions import LETTERS

RESERVED_SLUGS = frozenset({"new", "upload", "example", "examples", "check", "preview", "versions", "none"})
SLUG = re.compile(r"[a-z][a-z0-9]*([-_][a-z0-9]+)*")
ROW_ID = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*")
PLACEHOLDER = re.compile(r"\{[^{}\n]{0,40}\}")
MAX_SLUG = 60
MAX_RULES = 300
MAX_CONSTRAINTS = 200
MAX_ELEMENTS = 16  # of one rule; a set has at most 8 concepts
MAX_NAMES: Mapping[str, int] = {"aliases": 300, "macros": 100, "distances_m": 40}
NAME = re.compile(r"[^\s:,|@][^:,|\n]{0,59}")  # what the fields of the editor can hold, one a line
MAX_JOINING = 10  # each doubles what must be looked at for every rule
LONG_TEXTS = frozenset({"question", "answer_request", "reason_request", "description", "why"})
MAX_CHARACTERS: Mapping[str, Mapping[str, int]] = {
    "": {"title": 80, "question": 2_000, "answer_request": 600, "reason_request": 600},
    "concepts": {
        "id": 40, "category": 60, "label": 60, "description": 400, "snippet": 300, "statement_true": 300,
        "statement_false": 300, "group": 40, "cls": 40, "distance": 40, "placement": 40,
    },
    "constraints": {"id": 40, "explanation": 300, "advice": 300},
    "rules": {"id": 60, "title": 160, "why": 600, "question": 400, "topic": 40},
    "actions": {"id": 40, "label": 60, "option": 300},
}  # fmt: skip
MAY_BE_EMPTY = frozenset({"group", "cls", "distance", "placement", "question", "topic"})


def text_problems(file: DomainFile, line_of: LineOf) -> list[DomainProblem]:
    """Return what is wrong with slug, ids, lengths and the question of a file that is right in shape."""
    found = [*_slug(file, line_of), *_lengths(file, "", None, row=file, line_of=line_of)]
    for section in ("concepts", "constraints", "rules", "actions"):
        for number, row in enumerate(getattr(file, section)):
            found += _lengths(file, section, number, row=row, line_of=line_of)
            if section != "concepts" and not ROW_ID.fullmatch(row.id):
                found.append(
                    DomainProblem(
                        row_name(section, number, {"id": row.id}),
                        "id",
                        f"{shown(row.id)} cannot be an id.",
                        "Write letters, digits, “_”, “.” and “-”, a letter first.",
                        line=line_of((section, number, "id")),
                        section=section,
                    )
                )
    joining = sum(bool(row.sets) for row in file.concepts)
    counts = {
        "actions": (len(file.actions), len(LETTERS), "answers"),
        "constraints": (len(file.constraints), MAX_CONSTRAINTS, "constraints"),
        "rules": (len(file.rules), MAX_RULES, "rules"),
        "concepts": (joining, MAX_JOINING, "concepts that change another"),
    }
    for section, (number, most, words) in counts.items():
        if number > most:
            found.append(_top(section, f"There are {number:,} {words}.", f"At most {most}.", line_of))
    return [*found, *_names(file, line_of), *_parts(file, line_of), *_question(file, line_of)]


def _names(file: DomainFile, line_of: LineOf) -> list[DomainProblem]:
    found = []
    for section, most in MAX_NAMES.items():
        names = getattr(file, section)
        if len(names) > most:
            found.append(_top(section, f"There are {len(names):,}.", f"At most {most}.", line_of))
        for name in names:
            if not NAME.fullmatch(name) or name != name.strip():
                hint = "Write at most 60 characters without “:”, “,” and “|”."
                message = f"{shown(name)} cannot be a name."
                line = line_of((section, name))
                found.append(DomainProblem(section, "", message, hint, line=line, section=section))
    return found


def _parts(file: DomainFile, line_of: LineOf) -> list[DomainProblem]:
    """Return what lets one row grow without bounds: each part is looked at for every set."""
    found = []
    for number, rule in enumerate(file.rules):
        if len(rule.when.elements) > MAX_ELEMENTS:
            message = f"There are {len(rule.when.elements):,} elements."
            found.append(
                DomainProblem(
                    row_name("rules", number, {"id": rule.id}),
                    "when.elements",
                    message,
                    f"At most {MAX_ELEMENTS}.",
                    line=line_of(("rules", number, "when", "elements")),
                    section="rules",
                )
            )
    matching = [number for number, one in enumerate(file.constraints) if one.type == "rule_must_match"]
    for number in matching[1:]:
        found.append(
            DomainProblem(
                row_name("constraints", number, {"id": file.constraints[number].id}),
                "type",
                f"Row {matching[0] + 1} asks for a rule already.",
                "Take one of them out.",
                line=line_of(("constraints", number, "type")),
                section="constraints",
            )
        )
    for number, concept in enumerate(file.concepts):
        for attribute, value in concept.sets.items():
            if not value.strip() or len(value) > MAX_CHARACTERS["concepts"]["distance"]:
                found.append(
                    DomainProblem(
                        row_name("concepts", number, {"id": concept.id}),
                        f"sets.{attribute}",
                        f"{shown(value)} cannot be a {attribute}.",
                        f"Write at most {MAX_CHARACTERS['concepts']['distance']} characters.",
                        line=line_of(("concepts", number, "sets", attribute)),
                        section="concepts",
                    )
                )
    return found


def _slug(file: DomainFile, line_of: LineOf) -> list[DomainProblem]:
    if not SLUG.fullmatch(file.slug) or len(file.slug) > MAX_SLUG:
        hint = f"Small letters, digits and “-”, a letter first, at most {MAX_SLUG} characters."
        return [_top("slug", f"{shown(file.slug)} cannot be the short name of a domain.", hint, line_of)]
    if file.slug in RESERVED_SLUGS:
        hint = "Choose another short name."
        return [_top("slug", f"{shown(file.slug)} is an address of the site itself.", hint, line_of)]
    return []


def _lengths(
    file: DomainFile, section: str, number: int | None, *, row: BaseModel, line_of: LineOf
) -> list[DomainProblem]:
    found = []
    for field, most in MAX_CHARACTERS[section].items():
        text = str(getattr(row, field))
        message, hint = "", ""
        if len(text) > most:
            message, hint = f"The text has {len(text):,} characters.", f"At most {most:,} fit."
        elif not text.strip() and (section == "" or field not in MAY_BE_EMPTY):
            message, hint = "The text is empty.", "Write it, or leave the key out."
        elif "\n" in text.strip() and field not in LONG_TEXTS:
            message, hint = "The text has several lines.", "Write it on one line."
        if message:
            name = row_name(section, number, {"id": getattr(row, "id", "")}) if number is not None else ""
            path = (field,) if number is None else (section, number, field)
            found.append(
                DomainProblem(name, field, message, hint, line=line_of(path), section=section or field)
            )
    return found


def _question(file: DomainFile, line_of: LineOf) -> list[DomainProblem]:
    found = []
    asking = [row.id for row in file.rules if row.question]
    silent = [row.id for row in file.rules if not row.question]
    if "{options}" not in file.question:
        hint = "Write {options} where the answers shall stand."
        found.append(_top("question", "The question has no place for the answers.", hint, line_of))
    if asking and "{question}" not in file.question:
        message = f"The rule {shown(asking[0])} asks a question of its own, which nobody would see."
        found.append(_top("question", message, "Write {question} where it shall stand.", line_of))
    if "{question}" in file.question and silent:
        message = f"The rule {shown(silent[0])} has no question to put in place of {{question}}."
        found.append(_top("question", message, "Give each rule its question.", line_of))
    if "{speed}" in file.question and file.kinematics is None:
        message = "The question names {speed}, but the domain has no speed."
        found.append(_top("question", message, "Write “kinematics”, or take {speed} out.", line_of))
    known = {"{options}", "{question}", "{speed}"}
    for place in dict.fromkeys(PLACEHOLDER.findall(file.question)):
        if place not in known:
            message = f"Nothing is put in place of {shown(place)}."
            hint = "Known: {options}, {question}, {speed}."
            found.append(_top("question", message, hint, line_of, is_warning=True))
    return found


def _top(field: str, message: str, hint: str, line_of: LineOf, *, is_warning: bool = False) -> DomainProblem:
    return DomainProblem(
        "", field, message, hint, line=line_of((field,)), section=field, is_warning=is_warning
    )
