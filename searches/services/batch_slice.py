"""A slice whose batches are asked for, answered, told and written, all in one way."""

import time
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Generic, Protocol, TypeVar

from searches.models import SearchRun
from searches.services.asked_calls import AnsweredBatch
from searches.services.crashes import crash_point
from searches.services.outages import is_unanswered, note_unanswered
from searches.services.paid_answers import keeping_paid
from searches.services.slices import Slice
from searches.services.suts import LoadedSut


class TimedBatch(AnsweredBatch, Protocol):
    """A batch that knows the wall seconds its parts took."""

    @property
    def render_seconds(self) -> float:
        """Of its pictures."""
        ...

    @property
    def sut_seconds(self) -> float:
        """Of the calls and of reading them."""
        ...


BatchT = TypeVar("BatchT", bound=TimedBatch)


class BatchSlice(Slice, Generic[BatchT]):
    """A slice of whatever asks in batches; ``live`` is the search in memory."""

    live: Any
    ask_seconds = 0.0

    @abstractmethod
    def same_sut(self, run: SearchRun) -> LoadedSut:
        """Return the system of a run, loaded.

        Raises:
            OtherSystemError: it is not the one that gave the answers so far.
        """

    @abstractmethod
    def answer(self, run: SearchRun, queries: Sequence[Any], *, sut: LoadedSut) -> BatchT:
        """Answer a batch if its calls fit into every spending limit."""

    @abstractmethod
    def write(
        self, run: SearchRun, queries: Sequence[Any], batch: BatchT, *, started: float, load_seconds: float
    ) -> None:
        """Tell the search what a batch brought and write it.

        Raises:
            LeaseLost: the claim does not hold any more; nothing was written.
        """

    def advance(self, run: SearchRun) -> None:
        """Answer and write one batch."""
        started = time.monotonic()
        queries = self.live.search.ask()
        crash_point("after_ask")
        loading = time.monotonic()
        sut = self.same_sut(run)
        load_seconds = time.monotonic() - loading
        batch = self.answer(run, queries, sut=sut)
        if is_unanswered(run, batch):
            note_unanswered(run, batch, lease=self.lease)
            return
        with keeping_paid(run, batch, lease=self.lease):
            self.write(run, queries, batch, started=started, load_seconds=load_seconds)
        self.live.step = run.step + 1
        crash_point("after_commit")

    def ask(self) -> Sequence[Any]:
        """Ask the search for its next batch and note how long it thought."""
        started = time.monotonic()
        queries: Sequence[Any] = self.live.search.ask()
        self.ask_seconds = time.monotonic() - started
        return queries

    def seconds(self, batch: BatchT, *, started: float, told: float, load_seconds: float) -> dict[str, float]:
        """Return the wall times of a batch by column, once the search was told it.

        Args:
            batch: what was answered.
            started: when the batch was begun.
            told: when the search began to be told.
            load_seconds: what loading the system took.
        """
        return {
            "active_seconds": time.monotonic() - started + self.ask_seconds,
            "render_seconds": batch.render_seconds,
            "sut_seconds": batch.sut_seconds + load_seconds,
            "search_seconds": time.monotonic() - told + self.ask_seconds,
        }
