"""The words of a concept-set search: what is asked, what comes back, what is known of a set."""

from dataclasses import dataclass
from enum import StrEnum

Key = tuple[str, ...]
"""A concept set as canonical ids in catalogue order."""


class Verdict(StrEnum):
    """What one sample said; an invalid answer is a FAIL here and is kept apart in the records."""

    PASS = "pass"  # noqa: S105 - a verdict, not a password
    FAIL = "fail"
    CALL_ERROR = "call_error"
    INCOMPATIBLE = "incompatible"


class TrialStatus(StrEnum):
    """What is known of a concept set so far."""

    OPEN = "open"
    DECIDED_FAIL = "decided_fail"
    DECIDED_PASS = "decided_pass"  # noqa: S105 - a status, not a password
    PARKED = "parked"
    INCOMPATIBLE = "incompatible"

    @property
    def is_decided(self) -> bool:
        """Whether the class that ``samples_per_set`` samples would give is known."""
        return self in (TrialStatus.DECIDED_FAIL, TrialStatus.DECIDED_PASS)


@dataclass(frozen=True)
class Query:
    """One sample of one concept set; ``number`` counts the samples asked of that set from 0."""

    key: Key
    number: int


@dataclass(frozen=True)
class Outcome:
    """The verdict of one query."""

    query: Query
    verdict: Verdict


@dataclass(frozen=True)
class TrialState:
    """A concept set with its samples, as a search knows it.

    Attributes:
        fails: samples answered wrongly.
        passes: samples answered as expected.
        call_errors: samples without an answer; outside every rate and every budget.
        is_curtailed: decided or parked before all ``samples_per_set`` samples: has no rate.
        stage: the part of the search that opened it ("level 2", "warm-up", "round 14").
        order: position among the sets opened, from 0.
    """

    key: Key
    fails: int
    passes: int
    call_errors: int
    status: TrialStatus
    is_curtailed: bool
    stage: str
    order: int

    @property
    def samples(self) -> int:
        """Samples with an answer."""
        return self.fails + self.passes
