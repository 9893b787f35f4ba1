"""How the cases of a study are drawn: cells of strata, subsets, and the order each participant sees."""

from collections import Counter, defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from vlmlab.core.errors import VlmLabError
from vlmlab.core.sampling import shuffled
from vlmlab.core.seeding import rng_for

Stratum = Literal["sut", "scene_type", "regime", "operator", "severity"]
Preset = Literal["paper", "free", "severity"]
Cell = tuple[str, ...]
"""One value for each stratum, in the order of the design."""

PAPER_STRATA: tuple[Stratum, ...] = ("sut", "scene_type", "regime")
SEVERITY_STRATA: tuple[Stratum, ...] = ("operator", "severity")


class EmptyCellError(VlmLabError):
    """A cell of the design has fewer cases than it needs."""


class StudyDesign(BaseModel):
    """Which cases a localization study shows; frozen, stored with the study.

    The published design (MoST, section 4.6) is ``paper_design``: 48 cells of 4 systems, 4 scene types and
    3 regimes with one case each, and 2 attention checks.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    preset: Preset = Field(
        default="free", title="Design",
        description="The published design, a free one, or single operators over several severities.",
    )  # fmt: skip
    strata: tuple[Stratum, ...] = Field(
        default=PAPER_STRATA, min_length=0, title="Strata",
        description="What the cells of the design are crossed from.",
    )  # fmt: skip
    cases_per_cell: int = Field(
        default=1,
        ge=1,
        le=50,
        title="Cases a cell",
        description="How many of each cell a participant judges.",
    )
    n_subsets: int = Field(
        default=1, ge=1, le=200, title="Subsets",
        description="Different sets of cases; each participant judges one.",
    )  # fmt: skip
    controls: int = Field(
        default=0, ge=0, le=50, title="Clean controls",
        description="Unperturbed pictures with the clean prompt in each subset; they show what people do "
        "where nothing was changed.",
    )  # fmt: skip
    easy_checks: int = Field(
        default=1, ge=0, le=5, title="Easy checks",
        description="Clean pictures that anybody marks well; passed by boxes with a set IoU of at least 0.5.",
    )  # fmt: skip
    instructed_checks: int = Field(
        default=1, ge=0, le=5, title="Instructed checks",
        description="Cases whose prompt says what to do instead of drawing.",
    )  # fmt: skip
    valid_per_subset: int = Field(
        default=20, ge=1, le=10_000, title="Valid submissions a subset",
        description="A subset stays open until so many submissions are valid.",
    )  # fmt: skip
    only_failures: bool = Field(
        default=True, title="Only failures",
        description="Take test cases on which the system failed; otherwise those that it passed as well.",
    )  # fmt: skip
    seed: int = Field(
        default=0, ge=0, le=2**63 - 1, title="Seed", description="Decides which cases are drawn."
    )

    @model_validator(mode="after")
    def _check(self) -> "StudyDesign":
        if len(set(self.strata)) != len(self.strata):
            raise PydanticCustomError("strata", "Name each stratum once.")
        if self.preset == "severity" and self.strata != SEVERITY_STRATA:
            raise PydanticCustomError("strata", "This design is crossed from operators and severities.")
        if self.preset == "paper" and (self.strata != PAPER_STRATA or self.cases_per_cell != 1):
            raise PydanticCustomError(
                "strata", "The published design has one case for each system, scene type and regime."
            )
        return self

    @property
    def n_checks(self) -> int:
        """Attention checks in each subset."""
        return self.easy_checks + self.instructed_checks


def paper_design(*, seed: int, n_subsets: int = 1) -> StudyDesign:
    """Return the published design: one case a cell, one easy and one instructed check, 20 valid a subset."""
    return StudyDesign(preset="paper", strata=PAPER_STRATA, n_subsets=n_subsets, seed=seed)


@dataclass(frozen=True)
class Candidate:
    """A case that may be drawn.

    Attributes:
        key: names it; unique among the candidates.
        cell: its value in each stratum of the design.
        picture: the seed image behind it; a participant sees each as seldom as possible.
    """

    key: str
    cell: Cell
    picture: str


def draw_subsets(
    candidates: Sequence[Candidate], *, cells: Sequence[Cell], cases_per_cell: int, n_subsets: int, seed: int
) -> list[list[Candidate]]:
    """Return the cases of each subset, ``cases_per_cell`` of every cell, no case twice.

    Cells take their cases in a random order; in a cell a case whose picture the subset shows least is taken,
    ties at random, and then cases are exchanged until no exchange makes a picture rarer. So nobody learns a
    picture from one case for the next where what earlier subsets left can avoid it.

    Args:
        candidates: what there is.
        cells: every cell of the design.
        cases_per_cell: at least 1.
        n_subsets: at least 1.
        seed: decides the draw; the order of the candidates does not.

    Raises:
        EmptyCellError: a cell has too few cases; all such cells are named.
    """
    by_cell: defaultdict[Cell, list[Candidate]] = defaultdict(list)
    for one in sorted(candidates, key=lambda one: one.key):
        by_cell[one.cell].append(one)
    _check_cells(by_cell, cells, needed=cases_per_cell * n_subsets)
    pools = {cell: shuffled(by_cell[cell], rng_for(seed, "pool", *cell)) for cell in cells}
    return [
        _one_subset(pools, shuffled(cells, rng_for(seed, "cells", number)), cases_per_cell=cases_per_cell)
        for number in range(n_subsets)
    ]


def _one_subset(
    pools: dict[Cell, list[Candidate]], cells: Sequence[Cell], *, cases_per_cell: int
) -> list[Candidate]:
    chosen: list[Candidate] = []
    shown: Counter[str] = Counter()
    for cell in cells:
        for _ in range(cases_per_cell):
            pool = pools[cell]
            taken = min(range(len(pool)), key=lambda index: shown[pool[index].picture])
            chosen.append(pool.pop(taken))
            shown[chosen[-1].picture] += 1
    while _exchange(chosen, pools):
        pass
    return chosen


def _exchange(chosen: list[Candidate], pools: dict[Cell, list[Candidate]]) -> bool:
    """Make a picture that is shown often rarer; whether there was a way.

    From a picture with the most cases one of them can be replaced by a case of its cell with another picture,
    that one in turn by one of its own cell, and so on: a path that ends at a picture shown at least two times
    less makes the subset better. Where no such path is left nothing is better (semi-matching, Harvey et al.
    2006).
    """
    shown = Counter(one.picture for one in chosen)
    seen: set[str] = set()  # what cannot help one picture helps none that is shown as often or less
    for start in sorted(shown, key=lambda picture: (-shown[picture], picture)):
        if shown[start] < 2:
            break
        path = _path_to_a_rarer(start, chosen, pools, seen)
        for index, spare in path:
            pool = pools[spare.cell]
            pool[pool.index(spare)], chosen[index] = chosen[index], spare
        if path:
            return True
    return False


def _path_to_a_rarer(
    start: str, chosen: list[Candidate], pools: dict[Cell, list[Candidate]], seen: set[str]
) -> list[tuple[int, Candidate]]:
    """Return replacements, as places in ``chosen`` with what comes there; empty where there is no path.

    Pictures that were ``seen`` are passed over, and those that the search meets are added.
    """
    by_picture: defaultdict[str, list[int]] = defaultdict(list)
    for index, one in enumerate(chosen):
        by_picture[one.picture].append(index)
    seen.add(start)
    waiting: deque[tuple[str, list[tuple[int, Candidate]]]] = deque([(start, [])])
    while waiting:
        picture, path = waiting.popleft()
        for index in by_picture[picture]:
            for spare in pools[chosen[index].cell]:
                if spare.picture in seen:
                    continue
                seen.add(spare.picture)
                longer = [*path, (index, spare)]
                if len(by_picture.get(spare.picture, ())) <= len(by_picture[start]) - 2:
                    return longer
                waiting.append((spare.picture, longer))
    return []


def _check_cells(by_cell: dict[Cell, list[Candidate]], cells: Sequence[Cell], *, needed: int) -> None:
    short = [cell for cell in cells if len(by_cell.get(cell, ())) < needed]
    if not short:
        return
    names = "; ".join(f"{' / '.join(cell)} has {len(by_cell.get(cell, ()))}" for cell in short[:5])
    more = f"; and {len(short) - 5} more" if len(short) > 5 else ""
    raise EmptyCellError(
        f"The design needs {needed} cases in each cell, but {names}{more}.",
        hint="Choose further campaigns, fewer strata or fewer subsets, or search more in these cells.",
        field="campaigns",
    )


def case_order(cases: Sequence[int], checks: Sequence[int], *, seed: int) -> list[int]:
    """Return the order in which one participant sees cases and checks.

    Random, but no check comes first or last, as long as there are two cases.

    Args:
        cases: ids of cases and controls.
        checks: ids of attention checks.
        seed: of the participant.
    """
    rng = rng_for(seed, "order")
    ordered = shuffled(sorted(cases), rng)
    for check in shuffled(sorted(checks), rng):
        inner = len(ordered) - 1
        place = 1 + int(rng.integers(inner)) if inner > 0 else len(ordered)
        ordered.insert(place, check)
    return ordered
