"""What every follow-up does with a batch: asked until it is answered, answered whole and in its order."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from vlmlab.core.verdicts.queries import FreshOutcome, FreshQuery


class AskedInBatches(ABC):
    """The asking half of a ``FollowUpSearch``; a search says what is next, and what answers mean."""

    def __init__(self) -> None:
        self._asked: list[FreshQuery] | None = None
        self._observations = 0

    @property
    def observations(self) -> int:
        """Answers told so far."""
        return self._observations

    def ask(self) -> list[FreshQuery]:
        """Return the next batch; empty once everything is settled. Again before ``tell``: the same."""
        if self._asked is None:
            self._asked = self._next()
        return self._asked

    def tell(self, outcomes: Sequence[FreshOutcome]) -> None:
        """Take the outcomes of the batch last asked.

        Raises:
            ValueError: the outcomes do not answer the batch last asked.
        """
        if [outcome.query for outcome in outcomes] != self._asked:
            raise ValueError("outcomes must answer the batch last asked, in its order")
        self._observations += sum(outcome.is_answer for outcome in outcomes)
        self._asked = None
        self._take(outcomes)

    @abstractmethod
    def _next(self) -> list[FreshQuery]:
        """Return what is asked now, empty where nothing is left."""

    @abstractmethod
    def _take(self, outcomes: Sequence[FreshOutcome]) -> None:
        """Take the outcomes of a whole batch, in the order asked."""
