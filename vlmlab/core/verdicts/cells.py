"""Planning the four cells of two concepts: neither, one, the other, both, on a base that they share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from vlmlab.core.scenes.concepts import Domain, Key
from vlmlab.core.scenes.domain_decisions import deciding_rules
from vlmlab.core.verdicts.drops import DropKind

CELLS: tuple[str, ...] = ("both", "neither", "first", "second")  # as they are asked


@dataclass(frozen=True)
class CellsPlan:
    """The four cells of a pair on a base.

    Attributes:
        first, second: the concepts.
        base: what all cells share; may be empty.
        kind: comparable: all cells can be drawn, ask the same and expect the same. label_changing, invalid:
            otherwise, and then an interaction cannot be told from a change of the question.
        keys: the cells in the order of ``CELLS``.
        why: what stands in the way, for people; "" where nothing does.
    """

    first: str
    second: str
    base: Key
    kind: DropKind
    keys: tuple[Key, Key, Key, Key]
    why: str

    @property
    def settings(self) -> dict[str, Any]:
        """What is stored with the item."""
        return {"first": self.first, "second": self.second, "base": list(self.base), "kind": self.kind}


def plan_cells(domain: Domain, first: str, second: str, *, base: Key = ()) -> CellsPlan:
    """Return the four cells of two concepts on a base; the empty base is no set that could be drawn.

    Raises:
        ConceptError: a concept is unknown.
        ValueError: the concepts are the same, or one is part of the base.
    """
    (one,), (other,) = domain.canonical([first]), domain.canonical([second])
    shared = domain.canonical(base)
    if one == other or one in shared or other in shared:
        raise ValueError(f"two concepts beside the base are needed, got {one}, {other} and {shared}")
    keys = (
        domain.canonical([*shared, one, other]),
        shared,
        domain.canonical([*shared, one]),
        domain.canonical([*shared, other]),
    )

    def plan(kind: DropKind, why: str = "") -> CellsPlan:
        return CellsPlan(one, other, shared, kind, keys, why)

    for key in keys:
        why = domain.why_invalid(key)
        if why is not None:
            labels = ", ".join(domain.concept(concept).label for concept in key) or "nothing"
            return plan("invalid", f"A cell with {labels} cannot be drawn: {why}")
    decisions = [domain.decide(key) for key in keys]
    if len({decision.action for decision in decisions}) > 1:
        words = ", ".join(
            f"{name}: {domain.actions[decision.action]}"
            for name, decision in zip(CELLS, decisions, strict=True)
        )
        return plan("label_changing", f"The cells expect different answers ({words}).")
    if len({decision.question for decision in decisions}) > 1:
        return plan("label_changing", "The cells are asked different questions.")
    return plan("comparable")


def find_bases(
    domain: Domain, first: str, second: str, *, most: int = 10, prefer: Sequence[str] = ()
) -> list[Key]:
    """Return bases on which all four cells of a pair are comparable, the smallest first.

    Args:
        domain: of the pair.
        first: a concept.
        second: another one.
        most: how many bases are returned.
        prefer: concepts of the set at hand; among bases of a size those with more of them come first.

    Raises:
        ConceptError: a concept is unknown.
    """
    (one,), (other,) = domain.canonical([first]), domain.canonical([second])
    if one == other:
        raise ValueError(f"two different concepts are needed, got {one} twice")
    bits = [domain.mask([one]), domain.mask([other])]
    everything = domain.universe()
    bases = domain.universe(domain.max_size - 2, excluded=[one, other])
    labels = _labels(domain)
    cells = [bases, bases | bits[0], bases | bits[1], bases | bits[0] | bits[1]]
    fits = np.ones(len(bases), dtype=np.bool_)
    for cell in cells[1:]:
        fits &= np.isin(cell, everything)
    cells = [cell[fits] for cell in cells]
    asked = [labels[deciding_rules(domain, cell)] for cell in cells]
    same = (asked[0] == asked[1]) & (asked[0] == asked[2]) & (asked[0] == asked[3])
    wanted = domain.mask(domain.canonical(prefer))
    found = sorted(
        (int(mask) for mask in cells[0][same]),
        key=lambda mask: (mask.bit_count(), -(mask & wanted).bit_count(), mask),
    )
    return [domain.key_of(mask) for mask in found[:most]]


def _labels(domain: Domain) -> "np.ndarray[Any, np.dtype[np.int64]]":
    """Return for each rule a number that stands for its answer and question; the last one for no rule."""
    names: Mapping[tuple[str, str], int]
    names = {
        pair: number
        for number, pair in enumerate(dict.fromkeys((r.action, r.question) for r in domain.rules))
    }
    return np.array([names[rule.action, rule.question] for rule in domain.rules] + [-1], dtype=np.int64)
