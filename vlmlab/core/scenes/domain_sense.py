"""Whether a domain makes sense: how many sets are valid, which rule decides them, what never happens."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb

import numpy as np

from vlmlab.core.scenes.concepts import Domain, Key
from vlmlab.core.scenes.domain_decisions import NO_RULE, Deciders, deciding_rules
from vlmlab.core.scenes.domain_problems import DomainProblem, shown
from vlmlab.core.scenes.domain_shape import row_name
from vlmlab.core.scenes.universe import Masks, UniverseTooLargeError, enumerate_masks

MAX_SETS = 1_000_000
SHOWN_NAMES = 5


@dataclass(frozen=True)
class SizeCount:
    """How many valid sets have so many concepts, of how many combinations."""

    size: int
    valid_sets: int
    possible_sets: int


@dataclass(frozen=True)
class DomainSense:
    """What follows from a domain's constraints and rules.

    Attributes:
        sizes: valid sets by size; empty where there are too many to count.
        decided: rule id -> number of valid sets it decides.
        problems: what makes no sense.
    """

    sizes: tuple[SizeCount, ...]
    decided: dict[str, int]
    problems: tuple[DomainProblem, ...]

    @property
    def valid_sets(self) -> int:
        """Number of all valid sets."""
        return sum(one.valid_sets for one in self.sizes)


def make_sense(domain: Domain) -> DomainSense:
    """Count the valid sets of a domain and look for what can never happen, or never be decided."""
    try:
        masks = enumerate_masks(
            len(domain.concepts), domain.mask_constraints, max_size=domain.max_size, limit=MAX_SETS
        )
    except UniverseTooLargeError as error:
        problem = DomainProblem("", "max_size", error.message, error.hint, section="max_size")
        return DomainSense((), {}, (problem,))
    counts = np.bincount(np.bitwise_count(masks), minlength=domain.max_size + 1)
    sizes = tuple(
        SizeCount(size, int(counts[size]), comb(len(domain.concepts), size))
        for size in range(1, domain.max_size + 1)
    )
    if not len(masks):
        return DomainSense(sizes, {}, (_nothing_valid(domain),))
    deciders = deciding_rules(domain, masks)
    numbers = np.bincount(deciders[deciders >= 0], minlength=len(domain.rules))
    decided = {rule.id: int(numbers[place]) for place, rule in enumerate(domain.rules)}
    problems = [
        *_undecided(domain, masks, deciders),
        *_never_used(domain, masks),
        *_never_deciding(domain, decided),
        *_never_expected(domain, decided),
    ]
    return DomainSense(sizes, decided, tuple(problems))


def _nothing_valid(domain: Domain) -> DomainProblem:
    reason = domain.why_invalid((domain.concepts[0].id,)) or "Every set breaks a constraint."
    return DomainProblem(
        "",
        "constraints",
        "No set of concepts is valid.",
        f"Loosen the constraints. Of the first concept alone they say: {reason}",
        section="constraints",
    )


def _undecided(domain: Domain, masks: Masks, deciders: Deciders) -> list[DomainProblem]:
    without = masks[deciders == NO_RULE]
    if not len(without):
        return []
    example = _set_words(domain.key_of(int(without[0])))
    if domain.decides_by == "first":
        hint = "End the rules with one that has no condition, or add a rule for it."
    else:
        hint = "Add a rule for it, or the constraint “type: rule_must_match”."
    count = f"{len(without):,} valid {'set has' if len(without) == 1 else 'sets have'}"
    message = f"{count} no rule that decides, such as {example}."
    return [DomainProblem("", "rules", message, hint, section="rules")]


def _never_used(domain: Domain, masks: Masks) -> list[DomainProblem]:
    used = int(np.bitwise_or.reduce(masks))
    return [
        DomainProblem(
            row_name("concepts", place, {"id": concept.id}),
            "",
            "It is part of no valid set.",
            f"Loosen the constraints that name it. {domain.why_invalid((concept.id,)) or ''}".strip(),
            section="concepts",
            is_warning=True,
        )
        for place, concept in enumerate(domain.concepts)
        if not used >> place & 1
    ]


def _never_deciding(domain: Domain, decided: dict[str, int]) -> list[DomainProblem]:
    hint = (
        "A rule above it always holds first: move it up, or take it out."
        if domain.decides_by == "first"
        else "Another rule always fits better, or its elements are never together: change it or take it out."
    )
    return [
        DomainProblem(
            row_name("rules", place, {"id": rule.id}),
            "",
            "It decides no valid set.",
            hint,
            section="rules",
            is_warning=True,
        )
        for place, rule in enumerate(domain.rules)
        if not decided[rule.id]
    ]


def _never_expected(domain: Domain, decided: dict[str, int]) -> list[DomainProblem]:
    expected = {rule.action for rule in domain.rules if decided[rule.id]}
    return [
        DomainProblem(
            row_name("actions", place, {"id": action}),
            "",
            "No valid set expects this answer.",
            "Add a rule that expects it, or keep it as a wrong answer to choose.",
            section="actions",
            is_warning=True,
        )
        for place, action in enumerate(domain.actions)
        if action not in expected
    ]


def _set_words(key: Key) -> str:
    names: Sequence[str] = [shown(one) for one in key[:SHOWN_NAMES]]
    return " + ".join(names)
