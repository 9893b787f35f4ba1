"""A strategy for people: which operators act and how strongly, image before text."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from vlmlab.core.perturb.image_operators import IMAGE_OPERATORS
from vlmlab.core.perturb.text import TEXT_OPERATORS

Modality = Literal["image", "text"]


@dataclass(frozen=True)
class StrategyBar:
    """One operator of a strategy.

    Attributes:
        operator: its name.
        modality: what it changes.
        severity: in [0, 1]; 0 where it does not act.
        before: its severity in the strategy that this one is compared with; None where there is none.
    """

    operator: str
    modality: Modality
    severity: float
    before: float | None = None

    @property
    def title(self) -> str:
        """The name as words."""
        return operator_title(self.operator)

    @property
    def length(self) -> float:
        """The severity in hundredths, as long as its bar is."""
        return round(100.0 * self.severity, 1)

    @property
    def length_before(self) -> float:
        """The same of the strategy it is compared with; 0 where there is none."""
        return round(100.0 * (self.before or 0.0), 1)

    @property
    def is_removed(self) -> bool:
        """Whether it acted before and does no more."""
        return self.severity == 0.0 and bool(self.before)


def operator_title(name: str) -> str:
    """Return the name of an operator as words, as they stand within a sentence."""
    return name.replace("_", " ").replace("jpeg ", "JPEG ").replace("ocr ", "OCR ")


@cache
def operator_names() -> tuple[str, ...]:
    """Return the names of all operators: image in their physical order, then text in theirs."""
    return (*IMAGE_OPERATORS, *TEXT_OPERATORS)


def modality_of(operator: str) -> Modality:
    """Return what an operator changes; one that is no longer known counts as an image operator."""
    return "text" if operator in TEXT_OPERATORS else "image"


def strategy_bars(
    severities: Mapping[str, float], *, before: Mapping[str, float] | None = None
) -> list[StrategyBar]:
    """Return the acting operators in the order in which they act.

    Args:
        severities: operator name to severity.
        before: another strategy to compare with; what acted there and does no more is told too.
    """
    named = {name for strategy in (severities, before or {}) for name, value in strategy.items() if value}
    known = operator_names()
    ordered = [name for name in known if name in named] + sorted(named - set(known))
    return [
        StrategyBar(
            operator=name,
            modality=modality_of(name),
            severity=float(severities.get(name, 0.0)),
            before=None if before is None else float(before.get(name, 0.0)),
        )
        for name in ordered
    ]


def named_severities(strategy: Sequence[float], operators: Sequence[str]) -> dict[str, float]:
    """Return the acting operators of a stored strategy with their severities.

    Raises:
        ValueError: it has another number of severities.
    """
    return {name: float(value) for name, value in zip(operators, strategy, strict=True) if float(value) > 0.0}
