"""The words of a MoST search: what is asked, what comes back, and when an answer counts as a hit."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]

Regime = Literal["image", "text", "joint"]
REGIMES: tuple[Regime, ...] = ("image", "text", "joint")

Strategy = tuple[float, ...]
"""One severity in [0, 1] for each operator of the active modalities, in the order of the space."""


class AnswerStatus(StrEnum):
    """How the system answered; a failed call is outside every rate and every budget."""

    BOXES = "boxes"
    EMPTY = "empty"
    MALFORMED = "malformed"
    CALL_ERROR = "call_error"

    @property
    def is_answer(self) -> bool:
        """Whether the system said anything at all."""
        return self is not AnswerStatus.CALL_ERROR


@dataclass(frozen=True)
class Query:
    """One strategy to show; ``attempt`` counts the calls that failed for it before."""

    strategy: Strategy
    attempt: int = 0


@dataclass(frozen=True)
class Fidelity:
    """How far a strategy moves the input; known without asking the system.

    Attributes:
        image_distance: f2, Frobenius distance of the pictures over 255 sqrt(h w 3), in [0, 1].
        prompt_distance: f3, one minus the cosine of the prompts' embeddings, in [0, 1].
        is_admissible: False where the truth itself is lost, such as a box moved out of the picture.
    """

    image_distance: float
    prompt_distance: float
    is_admissible: bool = True


class FidelityOf(Protocol):
    """Measures a strategy without the system: a pure function of strategy and seed image."""

    def __call__(self, strategy: Strategy) -> Fidelity:
        """Return how far the strategy moves picture and prompt."""
        ...


@dataclass(frozen=True)
class Outcome:
    """What came back for one query.

    Attributes:
        query: what was asked.
        status: how the system answered.
        iou: set IoU of the boxes it gave against the (moved) truth; 0 for every other status.
        fidelity: how far the strategy moved the input.
        swtd: the similarity-weighted drop, for the choice of the test case.
    """

    query: Query
    status: AnswerStatus
    iou: float
    fidelity: Fidelity
    swtd: float = 0.0


@dataclass(frozen=True)
class Thresholds:
    """When an answer is a failure that a person would call one.

    Attributes:
        iou: boxes below this IoU are wrong.
        image_distance: the largest f2 of an input that is still the same picture.
        prompt_distance: the largest f3 of a prompt that still asks the same.
    """

    iou: float = 0.5
    image_distance: float = 0.2
    prompt_distance: float = 0.15

    def admits(self, fidelity: Fidelity) -> bool:
        """Return whether an input is close enough to the clean one."""
        return (
            fidelity.is_admissible
            and fidelity.image_distance <= self.image_distance
            and fidelity.prompt_distance <= self.prompt_distance
        )

    def is_hit(self, outcome: Outcome) -> bool:
        """Return whether boxes are wrong on an input that is close enough."""
        return (
            outcome.status is AnswerStatus.BOXES and outcome.iou < self.iou and self.admits(outcome.fidelity)
        )


class StrategySpace(Protocol):
    """The strategies of one regime: what searches draw from and repair to."""

    @property
    def operators(self) -> tuple[str, ...]:
        """Names of the active operators, in the order of the severities."""
        ...

    def repair(self, severities: FloatArray) -> FloatArray:
        """Return the nearest strategies that are allowed.

        Args:
            severities: ``(m, n)``, any numbers.

        Returns:
            ``(m, n)``: each row in [0, 1], small severities 0, the sum within the budget; a row that is
            allowed comes back as it is.
        """
        ...

    def initial(self, count: int, rng: np.random.Generator) -> FloatArray:
        """Return ``(count, n)`` strategies to begin with, the zero vector first."""
        ...


@dataclass(frozen=True)
class SearchTarget:
    """What a search works on: one seed image in one regime, asked of one system.

    Attributes:
        space: the strategies of the regime.
        fidelity: how far a strategy moves the input; repeatable.
        clean_iou: IoU of the answer to the clean input, in (0, 1].
    """

    space: StrategySpace
    fidelity: FidelityOf
    clean_iou: float

    def __post_init__(self) -> None:
        if not 0.0 < self.clean_iou <= 1.0:
            raise ValueError(f"clean_iou must be above 0 and at most 1, got {self.clean_iou}")
