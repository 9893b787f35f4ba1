"""A slice of whatever asks about scenes: what is drawn, kept and taken back with its batches."""

import time
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

from django.conf import settings

from searches.models import SearchRun
from searches.services.batch_slice import BatchSlice
from searches.services.batches import Batch, answer_batch
from searches.services.commits import keep_pictures, question_words
from searches.services.prerender import withdraw
from searches.services.slice_ends import SliceEnd
from searches.services.slices import check_same_sut
from searches.services.spending import reserve
from searches.services.suts import LoadedSut, asking_of, load_sut

GOES_ON_ELSEWHERE = (SliceEnd.TIME_UP, SliceEnd.LEASE_LOST, SliceEnd.DATABASE_ERROR)
"""Ends after which what rendering workers draw ahead is still wanted, or nobody can say."""


class SceneSlice(BatchSlice[Batch]):
    """A slice of a search whose queries are about scenes; ``live`` is the search in memory."""

    @abstractmethod
    def tell(self, queries: Sequence[Any], batch: Batch) -> None:
        """Tell the search what a batch brought, and count it in memory."""

    @abstractmethod
    def commit(
        self,
        run: SearchRun,
        queries: Sequence[Any],
        batch: Batch,
        *,
        seconds: dict[str, float],
        kept: int,
    ) -> None:
        """Write a batch that was told; all of it or nothing.

        Raises:
            LeaseLost: the claim does not hold any more; nothing was written.
        """

    def tidy(self, end: SliceEnd) -> None:
        """Take back what was to be drawn ahead, once nobody goes on with the run."""
        if end not in GOES_ON_ELSEWHERE:
            withdraw(self.lease.run_id)

    def write(
        self, run: SearchRun, queries: Sequence[Any], batch: Batch, *, started: float, load_seconds: float
    ) -> None:
        """Tell the search what a batch brought and write it."""
        kept = keep_pictures(run, batch, settings.KEPT_PICTURES)
        told = time.monotonic()
        self.tell(queries, batch)
        seconds = self.seconds(batch, started=started, told=told, load_seconds=load_seconds)
        self.commit(run, queries, batch, seconds=seconds, kept=len(kept))

    def answer(self, run: SearchRun, queries: Sequence[Any], *, sut: LoadedSut) -> Batch:
        """Answer a batch if its calls fit into every spending limit."""
        return answer_batch(
            run,
            self.live,
            queries,
            sut=sut,
            should_stop=self.should_stop,
            may_send=lambda calls: reserve(run, self.live.config, calls, lease=self.lease),
        )

    def same_sut(self, run: SearchRun) -> LoadedSut:
        """Return the system of a run, loaded.

        Raises:
            OtherSystemError: it is not the one that gave the answers so far.
        """
        sut = load_sut(run.sut)
        check_same_sut(run, sut, asked_in=question_words(asking_of(run.sut)))
        return sut
