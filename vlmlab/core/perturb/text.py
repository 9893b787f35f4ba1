"""The text operators in the order they act, and how a strategy's severities change a prompt."""

from collections.abc import Callable, Mapping, Sequence
from typing import Literal, Protocol

import numpy as np

TextFamily = Literal["wording", "additions", "spelling", "form"]


class TextOperator(Protocol):
    """One way to change a prompt; the same text, severity and generator state give the same text."""

    @property
    def name(self) -> str:
        """Key in ``TEXT_OPERATORS``."""
        ...

    @property
    def family(self) -> TextFamily:
        """What kind of change it is."""
        ...

    @property
    def parameter_name(self) -> str:
        """What the severity sets."""
        ...

    def parameter(self, severity: float) -> float:
        """Return what a severity in [0, 1] sets; grows with it."""
        ...

    def apply(
        self, text: str, severity: float, rng: np.random.Generator, *, protect: Sequence[str] = ()
    ) -> str:
        """Return the changed text; at severity 0 the text itself, without a draw.

        Args:
            text: any text, of any length.
            severity: in [0, 1].
            rng: source of every draw.
            protect: texts that stay as they are wherever they stand in ``text``.

        Raises:
            ValueError: the severity is outside [0, 1], or a protected text is empty.
        """
        ...


TEXT_OPERATORS: Mapping[str, TextOperator] = {}
"""Name -> operator, in the order they act."""


def perturb_text(
    text: str,
    severities: Mapping[str, float],
    *,
    rng_of: Callable[[str], np.random.Generator],
    protect: Sequence[str] = (),
) -> str:
    """Return a text changed by every operator with a severity above 0, in the order of ``TEXT_OPERATORS``.

    Args:
        text: the prompt.
        severities: operator name -> severity in [0, 1]; an operator that is missing does not act.
        rng_of: operator name -> a fresh generator; called for acting operators only.
        protect: texts that stay as they are, such as the instruction about the format of the answer.

    Raises:
        ValueError: a name is unknown, a severity is outside [0, 1], or a protected text is empty.
    """
    unknown = sorted(set(severities) - set(TEXT_OPERATORS))
    if unknown:
        raise ValueError(f"severities names unknown text operators: {', '.join(unknown)}")
    for name, operator in TEXT_OPERATORS.items():
        severity = severities.get(name, 0.0)
        if severity != 0.0:
            text = operator.apply(text, severity, rng_of(name), protect=protect)
    return text
