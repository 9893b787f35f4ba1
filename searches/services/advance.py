"""Advances a claimed run by one slice: the table of methods, and the slice of a search over concept sets."""

import time
from collections.abc import Callable, Sequence

from django.conf import settings

from searches.enums import CONCEPT_METHOD, MODALITY_METHOD, RunState
from searches.models import SearchRun
from searches.services.batches import Batch, answer_batch
from searches.services.commits import commit_batch, keep_pictures, question_words
from searches.services.crashes import crash_point
from searches.services.endings import budget_ending, natural_ending, outage_of
from searches.services.leases import Lease
from searches.services.live import LiveSearch, keep, live_search
from searches.services.modality_slice import ModalitySlice
from searches.services.outages import is_unanswered, note_unanswered
from searches.services.paid_answers import keeping_paid
from searches.services.prerender import withdraw
from searches.services.retries import commit_retry, failed_calls, finish_retry, queries_of
from searches.services.slice_ends import SliceEnd, halt
from searches.services.slices import Slice, check_same_sut, never, work_through
from searches.services.spending import reserve
from searches.services.suts import LoadedSut, asking_of, load_sut
from searches.services.tallies import tally_batch
from vlmlab.core.errors import VlmLabError
from vlmlab.core.revelio.types import Outcome, Query

__all__ = ["SLICES", "ConceptSlice", "SliceEnd", "advance_run", "never"]

GOES_ON_ELSEWHERE = (SliceEnd.TIME_UP, SliceEnd.LEASE_LOST, SliceEnd.DATABASE_ERROR)
"""Ends after which what rendering workers draw ahead is still wanted, or nobody can say."""


def advance_run(
    lease: Lease,
    *,
    slice_seconds: float,
    should_stop: Callable[[], bool] = never,
    should_yield: Callable[[], bool] = never,
) -> SliceEnd:
    """Advance a claimed run until it ends or the slice does; the run is in good order whatever happens.

    Args:
        lease: the claim.
        slice_seconds: wall time after which the run goes back into the queue.
        should_stop: asked between pictures; the batch in hand is dropped and asked again later.
        should_yield: asked between batches; the run goes back into the queue.
    """
    slice_of_method = SLICES.get(lease.method)
    if slice_of_method is None:
        error = VlmLabError(
            f"This version of the lab knows no method called “{lease.method}”.",
            hint="Its results stay readable; start a new search with a method of this version.",
        )
        return halt(lease, error, to=RunState.FAILED)
    work = slice_of_method(
        lease, slice_seconds=slice_seconds, should_stop=should_stop, should_yield=should_yield
    )
    end = work_through(work)
    work.tidy(end)
    return end


class ConceptSlice(Slice):
    """A slice of a search over concept sets."""

    live: LiveSearch
    ask_seconds = 0.0

    def open(self, run: SearchRun) -> None:
        """Replay the stored samples, unless the search is in memory."""
        self.live = live_search(run)

    def keep(self, end: SliceEnd) -> None:
        """Keep the search; a finished one whose failed calls are asked again needs it, too."""
        keep(self.live)

    def tidy(self, end: SliceEnd) -> None:
        """Take back what was to be drawn ahead, once nobody goes on with the run."""
        if end not in GOES_ON_ELSEWHERE:
            withdraw(self.lease.run_id)

    def end_by_ending(self, run: SearchRun) -> SliceEnd | None:
        """End when a budget is used up, the search has nothing left to ask, or nothing gets answered."""
        outage = outage_of(run)
        if outage is not None:
            return self.halt(outage, to=RunState.PAUSED)
        ending = budget_ending(run, self.live.config)
        if not ending and not run.is_retrying_call_errors and not self.ask():
            ending = natural_ending(run, self.live)
        return self.finish(run, ending) if ending else None

    def advance(self, run: SearchRun) -> None:
        """Answer and write one batch, of the search or of failed calls."""
        started = time.monotonic()
        if run.is_retrying_call_errors:
            self.retry(run, started)
            return
        queries = self.live.search.ask()
        crash_point("after_ask")
        loading = time.monotonic()
        sut = _same_sut(run)
        load_seconds = time.monotonic() - loading
        batch = self.answer(run, queries, sut=sut)
        if is_unanswered(run, batch):
            note_unanswered(run, batch, lease=self.lease)
            return
        with keeping_paid(run, batch, lease=self.lease):
            self.write(run, batch, started=started, load_seconds=load_seconds)

    def write(self, run: SearchRun, batch: Batch, *, started: float, load_seconds: float) -> None:
        """Tell the search what a batch brought and write it."""
        live = self.live
        kept = keep_pictures(run, batch, settings.KEPT_PICTURES)
        told = time.monotonic()
        live.search.tell([Outcome(one.record.query, one.record.verdict) for one in batch.samples])
        tally_batch(live, batch)
        seconds = {
            "active_seconds": time.monotonic() - started + self.ask_seconds,
            "render_seconds": batch.render_seconds,
            "sut_seconds": batch.sut_seconds + load_seconds,
            "search_seconds": time.monotonic() - told + self.ask_seconds,
        }
        commit_batch(run, live, batch, lease=self.lease, seconds=seconds, kept=len(kept))
        live.step = run.step + 1
        crash_point("after_commit")

    def answer(self, run: SearchRun, queries: Sequence[Query], *, sut: LoadedSut) -> Batch:
        """Answer a batch if its calls fit into every spending limit."""
        return answer_batch(
            run,
            self.live,
            queries,
            sut=sut,
            should_stop=self.should_stop,
            may_send=lambda calls: reserve(run, self.live.config, calls, lease=self.lease),
        )

    def ask(self) -> Sequence[Query]:
        """Ask the search for its next batch and note how long it thought."""
        started = time.monotonic()
        queries = self.live.search.ask()
        self.ask_seconds = time.monotonic() - started
        return queries

    def retry(self, run: SearchRun, started: float) -> None:
        """Ask the next failed calls again, or note that all were asked."""
        live = self.live
        samples = failed_calls(run, limit=live.config.slots)
        if not samples:
            finish_retry(run, self.lease)
        else:
            sut = _same_sut(run)
            batch = self.answer(run, queries_of(samples), sut=sut)
            with keeping_paid(run, batch, lease=self.lease):
                keep_pictures(run, batch, 0)
                seconds = {
                    "active_seconds": time.monotonic() - started,
                    "render_seconds": batch.render_seconds,
                    "sut_seconds": batch.sut_seconds,
                }
                commit_retry(run, live, batch, samples=samples, lease=self.lease, seconds=seconds)
        live.step = run.step + 1


SLICES: dict[str, type[Slice]] = {CONCEPT_METHOD: ConceptSlice, MODALITY_METHOD: ModalitySlice}


def _same_sut(run: SearchRun) -> LoadedSut:
    """Return the system of a run, loaded.

    Raises:
        OtherSystemError: it is not the one that gave the answers so far.
    """
    sut = load_sut(run.sut)
    check_same_sut(run, sut, asked_in=question_words(asking_of(run.sut)))
    return sut
