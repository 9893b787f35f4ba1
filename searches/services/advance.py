"""Advances a claimed run by one slice: the table of methods, and the slice of a search over concept sets."""

import time
from collections.abc import Callable, Sequence

from searches.enums import CASE_METHOD, CONCEPT_METHOD, FOLLOW_UP_METHOD, MODALITY_METHOD, RunState
from searches.models import SearchRun
from searches.services.batches import Batch
from searches.services.case_slice import CaseSlice
from searches.services.commits import commit_batch, keep_pictures
from searches.services.endings import budget_ending, natural_ending, outage_of
from searches.services.follow_up_slice import FollowUpSlice
from searches.services.leases import Lease
from searches.services.live import LiveSearch, keep, live_search
from searches.services.modality_slice import ModalitySlice
from searches.services.paid_answers import keeping_paid
from searches.services.retries import commit_retry, failed_calls, finish_retry, queries_of
from searches.services.scene_slice import SceneSlice
from searches.services.slice_ends import SliceEnd, halt
from searches.services.slices import Slice, never, work_through
from searches.services.tallies import tally_batch
from vlmlab.core.errors import VlmLabError
from vlmlab.core.revelio.types import Outcome, Query

__all__ = ["SLICES", "ConceptSlice", "SliceEnd", "advance_run", "never"]


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


class ConceptSlice(SceneSlice):
    """A slice of a search over concept sets."""

    live: LiveSearch

    def open(self, run: SearchRun) -> None:
        """Replay the stored samples, unless the search is in memory."""
        self.live = live_search(run)

    def keep(self, end: SliceEnd) -> None:
        """Keep the search; a finished one whose failed calls are asked again needs it, too."""
        keep(self.live)

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
        if run.is_retrying_call_errors:
            self.retry(run, time.monotonic())
        else:
            super().advance(run)

    def tell(self, queries: Sequence[Query], batch: Batch) -> None:
        """Tell the search what a batch brought, and count it in memory."""
        self.live.search.tell([Outcome(one.record.query, one.record.verdict) for one in batch.samples])
        tally_batch(self.live, batch)

    def commit(
        self,
        run: SearchRun,
        queries: Sequence[Query],
        batch: Batch,
        *,
        seconds: dict[str, float],
        kept: int,
    ) -> None:
        """Write a batch that was told; all of it or nothing.

        Raises:
            LeaseLost: the claim does not hold any more; nothing was written.
        """
        commit_batch(run, self.live, batch, lease=self.lease, seconds=seconds, kept=kept)

    def retry(self, run: SearchRun, started: float) -> None:
        """Ask the next failed calls again, or note that all were asked."""
        live = self.live
        samples = failed_calls(run, limit=live.config.slots)
        if not samples:
            finish_retry(run, self.lease)
        else:
            sut = self.same_sut(run)
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


SLICES: dict[str, type[Slice]] = {
    CONCEPT_METHOD: ConceptSlice,
    MODALITY_METHOD: ModalitySlice,
    FOLLOW_UP_METHOD: FollowUpSlice,
    CASE_METHOD: CaseSlice,
}
