"""Concepts of a cell as people type them, and envelopes as YAML or JSON files."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from vlmlab.core.errors import ConceptError, ConfigError
from vlmlab.core.scenes.concepts import THING_KINDS, Domain
from vlmlab.core.scenes.domain_problems import DomainFileError, did_you_mean, shown
from vlmlab.core.scenes.domain_text import read_text
from vlmlab.core.verdicts.envelope import WeightedSet

ALL_OF = "all "
BETWEEN = "; "
MOST_NAMES = 400
PAIR = 2


def read_group(domain: Domain, text: str) -> tuple[str, ...]:
    """Return the concepts of one line: ids or labels, and ``all Weather`` for a whole category.

    Names stand between semicolons or commas; labels that hold a comma ("Debris, near") are found as well.

    Raises:
        ConceptError: a name is unknown, or nothing is named.
    """
    known = _names(domain)
    found: list[str] = []
    for part in filter(None, (piece.strip() for piece in text.split(";"))):
        words = [word.strip() for word in part.split(",")]
        at = 0
        while at < len(words):
            taken = next(
                (size for size in range(len(words) - at, 0, -1) if _key(words[at : at + size]) in known), 0
            )
            if taken:
                found += known[_key(words[at : at + taken])]
            elif words[at]:
                found += _other_name(domain, words[at])
            at += max(1, taken)
    if len(found) > MOST_NAMES:
        raise ConceptError("Too many concepts are named here.", hint="Name each once.")
    return domain.canonical(found)


def check_alternatives(domain: Domain, text: str) -> None:
    """Refuse a changed thing in a line whose names are alternatives: "Cone, near" would be a cone or near.

    Findings write such a pair with a comma, so people copy it; in a line it would let all cones in.

    Raises:
        ConceptError: a modifier stands behind a thing and a comma, and the two together are no label.
    """
    known = _names(domain)
    for part in text.split(";"):
        words = [word.strip() for word in part.split(",")]
        if len(words) != PAIR or _key(words) in known:
            continue
        first, second = (known.get(_key([word]), ()) for word in words)
        if len(first) == len(second) == 1 and _changes(domain, first[0], second[0]):
            raise ConceptError(
                f"{shown(part.strip())} names two concepts, and a set needs only one of a line.",
                hint=f"Give {shown(words[0])} and {shown(words[1])} lines of their own to need both, "
                "or put a semicolon between them for either.",
            )


def write_group(domain: Domain, ids: Sequence[str]) -> str:
    """Return concepts as ``read_group`` reads them: a whole category by its name, others by their labels."""
    left = set(ids)
    parts = []
    for category in dict.fromkeys(one.category for one in domain.concepts):
        members = {one.id for one in domain.concepts if one.category == category}
        if len(members) > 1 and members <= left:
            parts.append(f"{ALL_OF}{category}")
            left -= members
    parts += [one.label for one in domain.concepts if one.id in left]
    return BETWEEN.join(parts)


def read_sets(domain: Domain, text: str) -> tuple[WeightedSet, ...]:
    """Return the sets of a text, one a line: ``Cone; near`` or ``Cone; near : 2.5`` with a weight.

    Raises:
        ConceptError: a name is unknown. ConfigError: a weight is no number above 0.
    """
    found = []
    for line in filter(None, (one.strip() for one in text.splitlines())):
        names, sign, weight = line.rpartition(":")
        if not sign:
            names, weight = line, "1"
        try:
            found.append(WeightedSet(concepts=read_group(domain, names), weight=float(weight)))
        except ValueError as error:
            raise ConfigError(
                f"{shown(weight)} is not a weight.", hint="Write a number above 0 behind the colon."
            ) from error
    return tuple(found)


def write_sets(domain: Domain, sets: Sequence[WeightedSet]) -> str:
    """Return sets as ``read_sets`` reads them."""
    return "\n".join(
        BETWEEN.join(domain.concept(one).label for one in domain.canonical(each.concepts))
        + ("" if each.weight == 1.0 else f" : {each.weight:g}")
        for each in sets
    )


def read_envelope_file(source: str | bytes) -> dict[str, Any]:
    """Return what an envelope file says: a mapping with ``name`` and ``cells`` at least.

    Raises:
        ConfigError: it is no YAML or JSON, or no mapping; ``field`` is "file".
    """
    try:
        content = read_text(source).content
    except DomainFileError as error:
        raise ConfigError(str(error), field="file") from error
    if not isinstance(content, Mapping):
        raise ConfigError(
            "The file is no envelope.",
            hint="At its top stand name, domain and cells; download one to see.",
            field="file",
        )
    return {str(name): value for name, value in content.items()}


def write_envelope_file(values: Mapping[str, Any], fmt: str) -> str:
    """Return an envelope as YAML or JSON; what stands at its default is left out of cells."""
    if fmt == "json":
        return json.dumps(values, indent=2, ensure_ascii=False) + "\n"
    return str(yaml.safe_dump(dict(values), sort_keys=False, allow_unicode=True, width=100))


def short_name(title: str, taken: Sequence[str]) -> str:
    """Return the short name of a cell made of its title, other than those taken."""
    base = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:32].strip("-") or "cell"
    return next(
        name
        for number in range(1, len(taken) + 2)
        if (name := base if number == 1 else f"{base}-{number}") not in taken
    )


def _names(domain: Domain) -> dict[str, tuple[str, ...]]:
    known: dict[str, tuple[str, ...]] = {}
    for category in dict.fromkeys(one.category for one in domain.concepts):
        known[f"{ALL_OF}{category}".lower()] = tuple(
            one.id for one in domain.concepts if one.category == category
        )
    for one in domain.concepts:
        known[one.label.lower()] = (one.id,)
        known[one.id.lower()] = (one.id,)
    return known


def _key(words: Sequence[str]) -> str:
    return " ".join(", ".join(words).lower().split())


def _changes(domain: Domain, thing: str, modifier: str) -> bool:
    kinds = domain.concept(thing).kind, domain.concept(modifier).kind
    return kinds[0] in THING_KINDS and kinds[1] == "modifier"


def _other_name(domain: Domain, name: str) -> tuple[str, ...]:
    """Return the concept of an alias.

    Raises:
        ConceptError: there is none.
    """
    try:
        return domain.canonical([name])
    except ConceptError as error:
        labels = [one.label for one in domain.concepts]
        hint = did_you_mean(name, [*labels, *(f"{ALL_OF}{one.category}" for one in domain.concepts)])
        raise ConceptError(
            f"The domain {domain.title} has no concept {shown(name)}.",
            hint=hint or "Its page lists all concepts.",
        ) from error
