"""The strategies of a regime: one severity an operator, on a budget that image and text share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from vlmlab.core.most.types import FloatArray, Regime, Strategy

PERTURBATION_BUDGET = 1.0
SMALLEST_SEVERITY = 0.02
LARGEST_INITIAL_SEVERITY = 0.1
_NUDGE = 1.0 - 1e-14  # takes a sum that rounding left above the budget below it


@dataclass(frozen=True)
class SpentBudget:
    """Sums of the severities of one strategy.

    Attributes:
        image: b_I, over image operators.
        text: b_T, over text operators.
    """

    image: float
    text: float

    @property
    def total(self) -> float:
        """Over all operators."""
        return self.image + self.text


@dataclass(frozen=True)
class OperatorSpace:
    """The strategies of one regime (a ``StrategySpace``).

    Attributes:
        image_operators: active ones, in the order of the severities; none in the regime "text".
        text_operators: active ones, after those; none in the regime "image".
        perturbation_budget: largest sum of the severities.
        smallest_severity: a severity below it is 0.
        largest_initial_severity: severities of the first strategies are drawn between 0 and this.
        caps: largest severity of each operator, in their order; empty where all may go up to 1.
    """

    image_operators: tuple[str, ...]
    text_operators: tuple[str, ...]
    perturbation_budget: float = PERTURBATION_BUDGET
    smallest_severity: float = SMALLEST_SEVERITY
    largest_initial_severity: float = LARGEST_INITIAL_SEVERITY
    caps: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        names = self.operators
        if not names or len(set(names)) != len(names):
            raise ValueError(f"operators must be at least one name, each once, got {names}")
        if not self.perturbation_budget > 0.0:
            raise ValueError(f"perturbation_budget must be above 0, got {self.perturbation_budget}")
        if not 0.0 <= self.smallest_severity <= 1.0:
            raise ValueError(f"smallest_severity must lie in [0, 1], got {self.smallest_severity}")
        if not 0.0 < self.largest_initial_severity <= 1.0:
            raise ValueError(
                f"largest_initial_severity must be above 0 and at most 1, got {self.largest_initial_severity}"
            )
        if self.caps and len(self.caps) != len(names):
            raise ValueError(f"caps must be one for each of {len(names)} operators, got {len(self.caps)}")
        if not all(0.0 <= cap <= 1.0 for cap in self.caps):
            raise ValueError(f"caps must lie in [0, 1], got {self.caps}")

    @property
    def operators(self) -> tuple[str, ...]:
        """Names of all active operators, in the order of the severities: image, then text."""
        return self.image_operators + self.text_operators

    def capped(self, caps: Mapping[str, float]) -> "OperatorSpace":
        """Return the space with some operators held below a severity each, such as ``honest_caps`` finds.

        Args:
            caps: operator name to its largest severity in [0, 1]; names that are not active are passed over.
        """
        return replace(self, caps=tuple(float(caps.get(name, 1.0)) for name in self.operators))

    def repair(self, severities: FloatArray) -> FloatArray:
        """Return the strategies that rows stand for, to be written back into the search.

        Each severity is brought into [0, 1] and to its cap at most; one below the smallest is 0. A row whose
        sum is over the budget is shrunk towards no perturbation, all severities by one factor; what that
        takes below the smallest severity is 0 too.

        Args:
            severities: ``(m, n)``, any numbers.

        Returns:
            ``(m, n)``, C-ordered; an allowed row comes back bit by bit.

        Raises:
            ValueError: another number of columns, or a value is missing.
        """
        given = np.asarray(severities, dtype=np.float64)
        if given.ndim != 2 or given.shape[1] != len(self.operators):
            raise ValueError(f"severities must be (m, {len(self.operators)}), got {given.shape}")
        if np.isnan(given).any():
            raise ValueError("severities must have no missing values")
        most = np.array(self.caps) if self.caps else 1.0
        rows = self._without_small(np.clip(np.ascontiguousarray(given), 0.0, most))
        sums = rows.sum(axis=1, keepdims=True)
        is_over = sums > self.perturbation_budget
        rows = np.where(is_over, rows * (self.perturbation_budget / np.where(is_over, sums, 1.0)), rows)
        is_over = rows.sum(axis=1, keepdims=True) > self.perturbation_budget
        return self._without_small(np.where(is_over, rows * _NUDGE, rows))

    def initial(self, count: int, rng: np.random.Generator) -> FloatArray:
        """Return ``(count, n)`` strategies to begin with: no perturbation, then small uniform severities.

        Args:
            count: strategies, at least 1.
            rng: source of the severities.

        Raises:
            ValueError: the count is below 1.
        """
        if count < 1:
            raise ValueError(f"count must be at least 1, got {count}")
        rows = np.zeros((count, len(self.operators)))
        rows[1:] = rng.uniform(0.0, self.largest_initial_severity, size=(count - 1, len(self.operators)))
        return self.repair(rows)

    def spent(self, strategy: Strategy) -> SpentBudget:
        """Return what a strategy spends on image and text.

        Raises:
            ValueError: the strategy has another number of severities.
        """
        self._check_length(strategy)
        count = len(self.image_operators)
        return SpentBudget(float(sum(strategy[:count])), float(sum(strategy[count:])))

    def image_severities(self, strategy: Strategy) -> dict[str, float]:
        """Return the acting image operators of a strategy with their severities.

        Raises:
            ValueError: the strategy has another number of severities.
        """
        self._check_length(strategy)
        return _acting(self.image_operators, strategy[: len(self.image_operators)])

    def text_severities(self, strategy: Strategy) -> dict[str, float]:
        """Return the acting text operators of a strategy with their severities.

        Raises:
            ValueError: the strategy has another number of severities.
        """
        self._check_length(strategy)
        return _acting(self.text_operators, strategy[len(self.image_operators) :])

    def strategy(self, severities: Mapping[str, float]) -> Strategy:
        """Return named severities as a strategy; an operator that is not named does not act.

        Raises:
            ValueError: a name is not among the active operators.
        """
        unknown = sorted(set(severities) - set(self.operators))
        if unknown:
            raise ValueError(f"severities names operators that are not active: {', '.join(unknown)}")
        return tuple(float(severities.get(name, 0.0)) for name in self.operators)

    def _without_small(self, rows: FloatArray) -> FloatArray:
        return np.where(rows < self.smallest_severity, 0.0, rows)

    def _check_length(self, strategy: Strategy) -> None:
        if len(strategy) != len(self.operators):
            raise ValueError(f"strategy must have {len(self.operators)} severities, got {len(strategy)}")


def operator_space(
    regime: Regime,
    *,
    image_operators: Sequence[str],
    text_operators: Sequence[str],
    excluded: Sequence[str] = (),
    perturbation_budget: float = PERTURBATION_BUDGET,
    smallest_severity: float = SMALLEST_SEVERITY,
    largest_initial_severity: float = LARGEST_INITIAL_SEVERITY,
) -> OperatorSpace:
    """Return the strategies of a regime: those modalities act that it names.

    Args:
        regime: what may be perturbed.
        image_operators: all names, in their physical order.
        text_operators: all names, in their order.
        excluded: names that no strategy may use; those of the other modality are passed over.
        perturbation_budget: largest sum of the severities.
        smallest_severity: a severity below it is 0.
        largest_initial_severity: severities of the first strategies are drawn between 0 and this.

    Raises:
        ValueError: an excluded name is unknown, or no operator is left.
    """
    unknown = sorted(set(excluded) - set(image_operators) - set(text_operators))
    if unknown:
        raise ValueError(f"excluded names unknown operators: {', '.join(unknown)}")
    return OperatorSpace(
        tuple(name for name in image_operators if regime != "text" and name not in excluded),
        tuple(name for name in text_operators if regime != "image" and name not in excluded),
        perturbation_budget=perturbation_budget,
        smallest_severity=smallest_severity,
        largest_initial_severity=largest_initial_severity,
    )


def _acting(names: tuple[str, ...], severities: Strategy) -> dict[str, float]:
    return {name: severity for name, severity in zip(names, severities, strict=True) if severity > 0.0}
