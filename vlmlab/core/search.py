"""The contract of every search: ``ask`` for a batch, ``tell`` its outcomes, replay to resume."""

from collections.abc import Iterable, Sequence
from typing import Protocol, TypeVar

QueryT = TypeVar("QueryT")
OutcomeT = TypeVar("OutcomeT")
QueryT_co = TypeVar("QueryT_co", covariant=True)
OutcomeT_contra = TypeVar("OutcomeT_contra", contravariant=True)


class Search(Protocol[QueryT_co, OutcomeT_contra]):
    """A search that is a pure function of its configuration, its run seed and what it was told."""

    def ask(self) -> Sequence[QueryT_co]:
        """Return the next batch of queries; an empty batch means the search has ended.

        Calling it again before ``tell`` returns the same batch.
        """
        ...

    def tell(self, outcomes: Sequence[OutcomeT_contra]) -> None:
        """Take the outcomes of the batch last asked, in the order asked.

        Raises:
            ValueError: the outcomes do not answer the batch last asked.
        """
        ...


class ReplayMismatchError(RuntimeError):
    """Stored queries differ from what the search asks: another version or configuration wrote them."""


def replay(
    search: Search[QueryT, OutcomeT], batches: Iterable[tuple[Sequence[QueryT], Sequence[OutcomeT]]]
) -> None:
    """Bring a fresh search to the state it had after the stored batches.

    Args:
        search: a search just built from the stored configuration and run seed.
        batches: stored (queries, outcomes) in order.

    Raises:
        ReplayMismatchError: the search asks something else than what was stored.
    """
    for number, (queries, outcomes) in enumerate(batches):
        asked = search.ask()
        if list(asked) != list(queries):
            raise ReplayMismatchError(f"batch {number}: stored {list(queries)!r}, asked {list(asked)!r}")
        search.tell(outcomes)
