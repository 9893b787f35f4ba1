"""What every text operator is, and the part that all of them share: words are touched with a probability."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from vlmlab.core.perturb.text_tokens import ProtectedPlaces, protected_places

TextFamily = Literal["wording", "additions", "spelling", "form"]
LEAST_PROBABILITY, MOST_PROBABILITY = 0.1, 0.9


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


def token_probability(severity: float) -> float:
    """Return the probability that a token is touched: 0.1 + 0.8 s, and 0 at s = 0 (MoST).

    Raises:
        ValueError: the severity is outside [0, 1].
    """
    if not 0.0 <= severity <= 1.0:
        raise ValueError(f"severity must lie in [0, 1], got {severity}")
    if severity == 0.0:
        return 0.0
    return LEAST_PROBABILITY + (MOST_PROBABILITY - LEAST_PROBABILITY) * float(severity)


@dataclass(frozen=True)
class TokenOperator(ABC):
    """An operator that touches each of its tokens with the probability that the severity sets.

    Every token has its draws whether it is touched or not, so with the same generator state a higher severity
    touches what a lower one touched and more, and protecting one place changes nothing elsewhere.

    Attributes:
        name: key in ``TEXT_OPERATORS``.
        family: what kind of change it is.
    """

    name: str
    family: TextFamily

    @property
    def parameter_name(self) -> str:
        """What the severity sets."""
        return "token_probability"

    def parameter(self, severity: float) -> float:
        """Return the probability that a token is touched, see ``token_probability``."""
        return token_probability(severity)

    def apply(
        self, text: str, severity: float, rng: np.random.Generator, *, protect: Sequence[str] = ()
    ) -> str:
        """Return the changed text, see ``TextOperator.apply``."""
        probability = token_probability(severity)
        places = protected_places(text, protect)
        if probability == 0.0:
            return text
        return self._changed(text, probability, rng, places)

    @abstractmethod
    def _changed(
        self, text: str, probability: float, rng: np.random.Generator, places: ProtectedPlaces
    ) -> str: ...


def draws_for(n_tokens: int, n_draws: int, rng: np.random.Generator) -> list[list[float]]:
    """Return ``n_draws`` numbers in [0, 1) for each token; the first says whether it is touched."""
    rows: list[list[float]] = rng.random((n_tokens, n_draws)).tolist()
    return rows
