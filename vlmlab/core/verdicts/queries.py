"""The words of a follow-up: what is to be settled, what is asked freshly, and the contract of its search.

A follow-up looks again at suspects of a search (concept sets, or test cases of a modality search) and asks
only what nobody asked before. All questions of one item with the same number share the seeds of
layout and order of options, whatever is asked there, so arms of one item are paired (as closely as the
layout of another set allows); items and numbers are independent.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Literal, Protocol

from vlmlab.core.revelio.types import Verdict
from vlmlab.core.scenes.concepts import ErrorDirection, Key
from vlmlab.core.seeding import derive_seed

Variant = Literal["", "statements"]
"""How a scene is asked about: the question alone, or behind true and false statements."""


@dataclass(frozen=True)
class ItemSpec:
    """One thing that a follow-up settles, as it was stored before the first question.

    Attributes:
        order: position among the items of its run, from 0.
        block: what seeds its scenes; the same in every run of the campaign that has the item, so that systems
            are shown the same scenes.
        key: the concept set; () for a test case.
        arms: other sets that the search needs to know of from the start (cells of a design, members of an
            envelope's cell); a search may ask subsets of ``key`` beside them.
        settings: what only this item has (weight of a cell, words for people).
    """

    order: int
    block: str
    key: Key = ()
    arms: tuple[Key, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class FreshQuery:
    """One fresh question: scene ``number`` of an item, showing ``key``, asked in a variant."""

    item: int
    key: Key
    number: int
    variant: Variant = ""


@dataclass(frozen=True)
class FreshOutcome:
    """How one fresh question ended.

    Attributes:
        is_invalid: a FAIL because no option was named.
        statements: what was said of each statement, in the order shown; None where nothing was said. Empty
            without statements.
        picture: digest of what was shown; a test case whose operators draw nothing shows the same again, and
            such a repetition is no evidence.
        direction: in which direction a wrong answer errs; "" where it is right or names no option. Cells of
            an envelope may count some directions only.
    """

    query: FreshQuery
    verdict: Verdict
    is_invalid: bool = False
    statements: tuple[bool | None, ...] = ()
    picture: str = ""
    direction: ErrorDirection | Literal[""] = ""

    @property
    def is_answer(self) -> bool:
        """Whether it counts in rates."""
        return self.verdict in (Verdict.PASS, Verdict.FAIL)


@dataclass(frozen=True)
class ItemResult:
    """What is known of an item so far; stored with it after every batch.

    Attributes:
        state: "" while open, or suspected, confirmed, refuted, undetermined, or a word of its own.
        reason: why it ended, as a word of the follow-up ("crossed", "futile", "cap", "exhausted").
        fails, samples: wrong answers and answers of the item itself, without other arms.
        numbers: everything else, as JSON; its shape is the search's.
    """

    state: str
    reason: str
    fails: int
    samples: int
    numbers: Mapping[str, Any]


class FollowUpSearch(Protocol):
    """A follow-up as a search (see ``vlmlab.core.search.Search``), with the state of its items."""

    @property
    def stage(self) -> str:
        """The part that asks now, in words for people."""
        ...

    @property
    def observations(self) -> int:
        """Answers told so far."""
        ...

    def ask(self) -> Sequence[FreshQuery]:
        """Return the next batch; empty once everything is settled. Again before ``tell``: the same."""
        ...

    def tell(self, outcomes: Sequence[FreshOutcome]) -> None:
        """Take the outcomes of the batch last asked, in that order.

        Raises:
            ValueError: the outcomes do not answer the batch last asked.
        """
        ...

    def results(self) -> list[ItemResult]:
        """Return what is known of each item, in their order."""
        ...


def block_of(*parts: str) -> str:
    """Return the block of an item: 16 hex digits that name what its scenes are drawn for."""
    return sha256("\x1f".join(parts).encode()).hexdigest()[:16]


def fresh_scene_seed(run_seed: int, block: str, number: int) -> int:
    """Return the scene seed of a fresh question: shared by all arms of an item, by nothing else."""
    return derive_seed(run_seed, "fresh", block, number)


def fresh_options_seed(run_seed: int, block: str, number: int) -> int:
    """Return what seeds the order of options and statements of a fresh question."""
    return derive_seed(run_seed, "fresh options", block, number)
