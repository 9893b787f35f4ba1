"""A declared operating envelope: cells of concept sets, each with a limit, and what belongs to a cell."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, Self

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, Field, model_validator

from vlmlab.core.errors import ConceptError, ConfigError
from vlmlab.core.scenes.concepts import Domain, Key
from vlmlab.core.scenes.domain_decisions import NO_RULE, deciding_rules
from vlmlab.core.scenes.universe import Masks
from vlmlab.core.seeding import rng_for

CountedError = Literal[
    "under-reaction", "insufficient", "over-reaction", "missed-hazard", "over-caution", "invalid"
]
MOST_CELLS = 50
MOST_WEIGHT = 1e6  # sums and products of weights stay far from overflow
MOST_SETS = 2_000
MOST_GROUPS, MOST_IN_GROUP = 20, 400
Group = Annotated[tuple[str, ...], Field(max_length=MOST_IN_GROUP)]


class _Stored(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class WeightedSet(_Stored):
    """A set that a cell names itself, and how often it is met beside the others."""

    concepts: tuple[str, ...] = Field(min_length=1)
    weight: float = Field(default=1.0, gt=0.0, le=MOST_WEIGHT)


class EnvelopeCell(_Stored):
    """One part of the envelope, with the limit that is claimed of it."""

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,39}$", title="Short name")
    title: str = Field(min_length=1, max_length=120, title="Title")
    requirement: str = Field(
        default="", max_length=60, title="Requirement", description="Its id in your list of requirements."
    )  # fmt: skip
    includes: tuple[Group, ...] = Field(
        default=(), max_length=MOST_GROUPS, title="Includes",
        description="Groups of concepts; a set has at least one of each group."
    )  # fmt: skip
    excludes: Group = Field(
        default=(), title="Excludes", description="Concepts that no set of the cell has."
    )  # fmt: skip
    sets: tuple[WeightedSet, ...] = Field(
        default=(), max_length=MOST_SETS, title="Sets",
        description="These sets only, with their weights; empty: all that fit."
    )  # fmt: skip
    min_size: int = Field(default=1, ge=1, le=20, title="Smallest set")
    max_size: int | None = Field(default=None, ge=1, le=20, title="Largest set")
    spread: Literal["sizes", "sets"] = Field(
        default="sizes", title="Drawn from",
        description="sizes: each size of set as often as the others. sets: each set as often as the others, "
        "so mostly the largest.",
    )  # fmt: skip
    expected_actions: tuple[str, ...] = Field(
        default=(), title="Expected answers", description="Only sets that expect one of these; empty: any."
    )  # fmt: skip
    counts: tuple[CountedError, ...] = Field(
        default=(), title="Counted errors",
        description="Directions of wrong answers that count, and invalid; empty: every wrong answer.",
    )  # fmt: skip
    limit: float = Field(
        default=0.02, gt=0.0, lt=1.0, title="Limit", description="Share of counted errors to stay below."
    )  # fmt: skip
    errors_allowed: int = Field(
        default=0, ge=0, le=1_000, title="Errors allowed",
        description="Errors with which the cell may still pass; more need more scenes, and forgive bad luck.",
    )  # fmt: skip
    exposure: float = Field(
        default=1.0, ge=0.0, le=MOST_WEIGHT, title="Exposure",
        description="How often the cell is met, beside the others.",
    )  # fmt: skip
    harm: float = Field(
        default=1.0, ge=0.0, le=MOST_WEIGHT, title="Harm",
        description="How bad an error is, beside the others.",
    )  # fmt: skip

    @model_validator(mode="after")
    def _sizes_in_order(self) -> Self:
        if self.max_size is not None and self.max_size < self.min_size:
            raise ValueError("the largest set must not be smaller than the smallest")
        if any(not group for group in self.includes):
            raise ValueError("a group of concepts must not be empty")
        return self


class EnvelopeSpec(_Stored):
    """A named envelope; what it claims holds of all its cells together."""

    name: str = Field(min_length=1, max_length=120, title="Name")
    cells: tuple[EnvelopeCell, ...] = Field(min_length=1, max_length=MOST_CELLS)

    @model_validator(mode="after")
    def _cells_differ(self) -> Self:
        names = [cell.id for cell in self.cells]
        if len(set(names)) < len(names):
            raise ValueError("two cells have the same short name")
        return self


@dataclass(frozen=True, eq=False)
class CellMembers:
    """The sets of a cell.

    Attributes:
        masks: ``(n,)`` int64, sorted by size, then by mask.
        weights: ``(n,)``, above 0, sum 1: the chance of each with every draw.
    """

    masks: Masks
    weights: npt.NDArray[np.float64]

    def __len__(self) -> int:
        """Return how many sets there are."""
        return len(self.masks)


@dataclass(frozen=True)
class EnvelopeCoverage:
    """How much of a domain an envelope speaks of.

    Attributes:
        sets: valid sets of the domain.
        covered: those in at least one cell.
        covered_by_size: size -> (covered, all).
        overlaps: (cell, cell) -> sets in both; totals over cells count those twice.
    """

    sets: int
    covered: int
    covered_by_size: Mapping[int, tuple[int, int]]
    overlaps: Mapping[tuple[str, str], int]


def cell_members(domain: Domain, cell: EnvelopeCell) -> CellMembers:
    """Return the valid sets of a cell with their weights.

    Raises:
        ConceptError: a concept is unknown, a set of its own is not valid, or nothing fits; ``field`` says
            which entry of the cell is meant.
        ConfigError: an expected answer is none of the domain's.
    """
    unknown = [action for action in cell.expected_actions if action not in domain.actions]
    if unknown:
        raise ConfigError(
            f"“{unknown[0]}” is no answer of the domain {domain.title}.",
            hint=f"Choose among {', '.join(domain.actions)}.",
            field="expected_actions",
        )
    if cell.sets:
        return _named_members(domain, cell)
    masks = domain.universe(cell.max_size, excluded=_canonical(domain, cell.excludes, field="excludes"))
    fits = _fits(domain, cell, masks)
    if not fits.any():
        raise ConceptError(
            f"No valid set fits the cell “{cell.title}”.",
            hint="Take a group or an excluded concept away, or allow larger sets or other answers.",
            field="includes",
        )
    masks = masks[fits]
    if cell.spread == "sets":
        return CellMembers(masks, np.full(len(masks), 1.0 / len(masks)))
    _, which, counts = np.unique(_sizes(masks), return_inverse=True, return_counts=True)
    return CellMembers(masks, 1.0 / (len(counts) * counts[which].astype(np.float64)))


def draw_sets(domain: Domain, members: CellMembers, *, n: int, seed: int) -> tuple[Key, ...]:
    """Return ``n`` sets drawn independently, with replacement, by their weights.

    Args:
        domain: of the sets.
        members: of the cell.
        n: draws.
        seed: the same seed gives the same draws; a new card needs a new one.
    """
    drawn = rng_for(seed, "envelope draws").choice(len(members), size=n, p=members.weights)
    return tuple(domain.key_of(int(members.masks[index])) for index in drawn)


def check_envelope(domain: Domain, spec: EnvelopeSpec) -> dict[str, CellMembers]:
    """Return the members of each cell by its short name.

    Raises:
        ConceptError, ConfigError: as ``cell_members``, ``field`` prefixed with ``cells.<position>.``.
    """
    found = {}
    for position, cell in enumerate(spec.cells):
        try:
            found[cell.id] = cell_members(domain, cell)
        except (ConceptError, ConfigError) as error:
            where = f"cells.{position}.{error.field or 'includes'}"
            raise type(error)(error.message, hint=error.hint, field=where) from error
    return found


def envelope_coverage(domain: Domain, members: Mapping[str, CellMembers]) -> EnvelopeCoverage:
    """Return which share of a domain's valid sets lies in a cell, and what cells share."""
    everything = domain.universe()
    is_covered = np.zeros(len(everything), dtype=np.bool_)
    for cell in members.values():
        is_covered |= np.isin(everything, cell.masks)
    sizes = _sizes(everything)
    by_size = {
        int(size): (int(is_covered[sizes == size].sum()), int((sizes == size).sum()))
        for size in np.unique(sizes)
    }
    names = list(members)
    overlaps = {}
    for position, first in enumerate(names):
        for second in names[position + 1 :]:
            shared = len(np.intersect1d(members[first].masks, members[second].masks))
            if shared:
                overlaps[first, second] = shared
    return EnvelopeCoverage(len(everything), int(is_covered.sum()), by_size, overlaps)


def _named_members(domain: Domain, cell: EnvelopeCell) -> CellMembers:
    weights: dict[int, float] = {}
    for one in cell.sets:
        key = domain.canonical(one.concepts)
        why = domain.why_invalid(key)
        if why is not None:
            raise ConceptError(why, hint="Change or remove this set.", field="sets")
        mask = domain.mask(key)
        weights[mask] = weights.get(mask, 0.0) + one.weight
    masks = np.array(sorted(weights, key=lambda mask: (mask.bit_count(), mask)), dtype=np.int64)
    fits = _fits(domain, cell, masks)
    if not fits.all():
        wrong = domain.key_of(int(masks[~fits][0]))
        labels = ", ".join(domain.concept(one).label for one in wrong)
        raise ConceptError(
            f"The set {labels} does not fit what the cell “{cell.title}” includes and excludes.",
            hint="Change the set, or the groups, sizes or expected answers of the cell.",
            field="sets",
        )
    shares = np.array([weights[int(mask)] for mask in masks])
    return CellMembers(masks, shares / shares.sum())


def _fits(domain: Domain, cell: EnvelopeCell, masks: Masks) -> npt.NDArray[np.bool_]:
    sizes = _sizes(masks)
    fits: npt.NDArray[np.bool_] = sizes >= cell.min_size
    if cell.max_size is not None:
        fits &= sizes <= cell.max_size
    fits &= (masks & domain.mask(_canonical(domain, cell.excludes, field="excludes"))) == 0
    for group in cell.includes:
        fits &= (masks & domain.mask(_canonical(domain, group, field="includes"))) != 0
    if cell.expected_actions:
        is_wanted = np.array([rule.action in cell.expected_actions for rule in domain.rules] + [False])
        deciding = np.full(len(masks), NO_RULE, dtype=np.int64)
        deciding[fits] = deciding_rules(domain, masks[fits])
        fits &= is_wanted[deciding]  # no rule is -1: the last entry
    return fits


def _canonical(domain: Domain, names: Sequence[str], *, field: str) -> Key:
    try:
        return domain.canonical(names)
    except ConceptError as error:
        raise ConceptError(error.message, hint=error.hint, field=field) from error


def _sizes(masks: Masks) -> npt.NDArray[np.int64]:
    return np.bitwise_count(masks).astype(np.int64)
