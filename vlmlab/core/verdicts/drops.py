"""Which smaller sets may be compared with a set, and which modes are explained by a smaller one.

Leaving a concept out may change what the rules expect, or what is asked. Then the smaller set poses another
question: that it is answered rightly says nothing about the larger one. Such a drop is *label-changing*.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

from vlmlab.core.scenes.concepts import Domain, Key

DropKind = Literal["comparable", "label_changing", "invalid"]


@dataclass(frozen=True)
class Drop:
    """A set without one concept, or without several that only go together.

    Attributes:
        concepts: what is left out.
        key: the rest, canonical.
        kind: comparable: same expected action, same question. label_changing: one of them is another.
            invalid: the rest cannot be drawn.
        action: what the rest expects; "" where it is invalid.
        question: what the deciding rule asks of the rest; "" where the domain asks the same of every set.
        why: why it is no comparison, for people; "" where it is one.
    """

    concepts: tuple[str, ...]
    key: Key
    kind: DropKind
    action: str
    question: str
    why: str


@dataclass(frozen=True)
class DropPlan:
    """Everything that an ablation of a set needs of its domain.

    Attributes:
        action: what the set expects.
        question: what its deciding rule asks.
        drops: each single concept left out, in catalogue order; then what goes together: the least that must
            go with a concept whose rest cannot be drawn (a thing and its place), and comparable sets that
            lack several concepts and lie in no other comparable set.
        smaller: every non-empty proper subset that is comparable, the largest first.
    """

    key: Key
    action: str
    question: str
    drops: tuple[Drop, ...]
    smaller: tuple[Key, ...]

    @property
    def arms(self) -> tuple[Key, ...]:
        """The sets that are compared with the whole one."""
        return tuple(drop.key for drop in self.drops if drop.kind == "comparable")

    @property
    def settings(self) -> dict[str, Any]:
        """What is stored with the item (``ItemSpec.settings``)."""
        return {
            "action": self.action,
            "question": self.question,
            "drops": [
                {
                    "concepts": list(drop.concepts),
                    "key": list(drop.key),
                    "kind": drop.kind,
                    "action": drop.action,
                    "question": drop.question,
                    "why": drop.why,
                }
                for drop in self.drops
            ],
            "smaller": [list(key) for key in self.smaller],
        }


@dataclass(frozen=True)
class AskedMode:
    """A failure mode with what it is asked."""

    key: Key
    action: str
    question: str = ""


def plan_drops(domain: Domain, key: Key) -> DropPlan:
    """Return which smaller sets may be compared with a canonical, valid set.

    Raises:
        ConceptError: a concept is unknown or no rule covers the set.
    """
    whole = domain.decide(key)
    rated = {
        frozenset(rest): _drop(domain, key, rest, expected=(whole.action, whole.question))
        for size in range(len(key) - 1, -1, -1)
        for rest in combinations(key, size)
    }
    single = [rated[frozenset(key) - {concept}] for concept in key]
    smaller = tuple(drop.key for drop in rated.values() if drop.kind == "comparable")
    wanted = neighbours(key, smaller)
    for drop in single:
        if drop.kind == "invalid":
            wanted += [one for one in smaller if drop.concepts[0] not in one][:1]
    together = [rated[frozenset(one)] for one in dict.fromkeys(wanted) if len(key) - len(one) > 1]
    return DropPlan(key, whole.action, whole.question, (*single, *together), smaller)


def neighbours(key: Key, smaller: Iterable[Key]) -> list[Key]:
    """Return the largest of the sets inside a set: those that lie in no other of them.

    Args:
        key: the set.
        smaller: comparable sets, in any order; those that are no proper part of ``key`` are passed over.
    """
    inside = [frozenset(one) for one in smaller if set(one) < set(key)]
    largest = [one for one in inside if not any(one < other for other in inside)]
    order = {concept: position for position, concept in enumerate(key)}
    keys = [tuple(sorted(one, key=order.__getitem__)) for one in dict.fromkeys(largest)]
    return sorted(keys, key=lambda one: (-len(one), tuple(order[concept] for concept in one)))


def collapse(modes: Sequence[AskedMode]) -> dict[Key, Key]:
    """Return for each mode that contains a smaller one with the same question the smallest such mode.

    Of several smallest ones the first in order of ids stands for all. Modes that contain none are left out.

    Args:
        modes: failure modes with their expected action and question.
    """
    found = {}
    ordered = sorted(set(modes), key=lambda mode: (len(mode.key), mode.key))
    for mode in ordered:
        for other in ordered:
            is_same = (other.action, other.question) == (mode.action, mode.question)
            if is_same and set(other.key) < set(mode.key):
                found[mode.key] = other.key
                break
    return found


def _drop(domain: Domain, key: Key, rest: Key, *, expected: tuple[str, str]) -> Drop:
    out = tuple(concept for concept in key if concept not in rest)
    why = domain.why_invalid(rest)
    if why is not None:
        return Drop(out, rest, "invalid", "", "", why)
    decision = domain.decide(rest)
    if decision.action != expected[0]:
        labels: Mapping[str, str] = domain.actions
        words = f"Without it {labels[decision.action]} is right instead of {labels[expected[0]]}."
        return Drop(out, rest, "label_changing", decision.action, decision.question, words)
    if decision.question != expected[1]:
        words = "Without it another question is asked."
        return Drop(out, rest, "label_changing", decision.action, decision.question, words)
    return Drop(out, rest, "comparable", decision.action, decision.question, "")
