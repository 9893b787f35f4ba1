"""Where wrong answers come from: each call of a search in one place, from failed calls down to reasoning."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from vlmlab.core.revelio.types import Verdict
from vlmlab.core.stats import Interval, clopper_pearson

FlagGroup = Literal["", "artefact", "rule"]
Recognition = Literal["", "wrong", "right", "unclear"]
StepName = Literal[
    "call_error", "right", "invalid", "artefact", "rule", "recognition", "unclear", "not_probed",
    "under-reaction", "insufficient", "over-reaction", "missed-hazard", "over-caution", "other",
]  # fmt: skip
REASONING: tuple[StepName, ...] = (
    "under-reaction", "insufficient", "over-reaction", "missed-hazard", "over-caution", "other",
)  # fmt: skip
STEPS: tuple[StepName, ...] = (
    "call_error", "right", "invalid", "artefact", "rule", "recognition", "unclear", "not_probed", *REASONING,
)  # fmt: skip
"""Every place, in the order in which a call is asked whether it belongs there."""
RECOGNISED, NOT_RECOGNISED = 0.7, 0.3
"""R from which a concept of a set counts as recognised, and up to which as not; those of the paper."""


@dataclass(frozen=True)
class Call:
    """One call as the waterfall needs it.

    Attributes:
        is_invalid: a FAIL because no option was named.
        direction: in which direction a readable wrong answer errs.
        flag: what people say of its scene: ``artefact`` (the picture is to blame), ``rule`` (question or
            expected answer is).
        recognition: whether the system saw what the scene shows, "" where nobody asked.
    """

    verdict: Verdict
    is_invalid: bool = False
    direction: str = ""
    flag: FlagGroup = ""
    recognition: Recognition = ""


@dataclass(frozen=True)
class Waterfall:
    """How many calls went where.

    Attributes:
        counts: every step of ``STEPS`` -> calls; they add up to ``calls``.
    """

    counts: Mapping[StepName, int]

    @property
    def calls(self) -> int:
        """All calls that were sent for a scene."""
        return sum(self.counts.values())

    @property
    def answers(self) -> int:
        """Calls with an answer."""
        return self.calls - self.counts["call_error"]

    @property
    def fails(self) -> int:
        """Answers that were wrong or invalid."""
        return self.answers - self.counts["right"]

    @property
    def reasoning(self) -> int:
        """Wrong answers about scenes that the system saw right."""
        return sum(self.counts[name] for name in REASONING)

    def share(self, name: StepName) -> float | None:
        """Return the part of the wrong answers that a step takes; None without wrong answers."""
        return self.counts[name] / self.fails if self.fails else None

    def interval(self, name: StepName, level: float = 0.95) -> Interval:
        """Return the exact interval of that part, as if scenes were independent."""
        return clopper_pearson(self.counts[name], self.fails, level)


def step_of(call: Call) -> StepName:
    """Return the one place of a call; the first that fits, in the order of ``STEPS``.

    Raises:
        ValueError: the call stands for a scene that could not be drawn; nothing was asked.
    """
    if call.verdict is Verdict.INCOMPATIBLE:
        raise ValueError("verdict must be pass, fail or call_error, got incompatible")
    if call.verdict is Verdict.CALL_ERROR:
        return "call_error"
    if call.verdict is Verdict.PASS:
        return "right"
    if call.is_invalid:
        return "invalid"
    if call.flag:
        return call.flag
    if call.recognition == "wrong":
        return "recognition"
    if call.recognition == "unclear":
        return "unclear"
    if call.recognition == "":
        return "not_probed"
    return next((name for name in REASONING if name == call.direction), "other")


def waterfall(calls: Iterable[Call]) -> Waterfall:
    """Return how many calls went where; every call has exactly one place."""
    counts = Counter(step_of(call) for call in calls)
    return Waterfall({name: counts[name] for name in STEPS})
