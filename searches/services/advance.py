"""One slice of a run: batch after batch until it ends, time is up, or somebody else decides."""

import logging
import time
from collections.abc import Callable, Sequence

from django.conf import settings
from django.db import InterfaceError, OperationalError, transaction

from searches.enums import RunState
from searches.models import SearchRun
from searches.services.batches import Batch, BatchInterrupted, answer_batch
from searches.services.blobs import FULL_DISK, StorageError, storage_error
from searches.services.commits import commit_batch, keep_answers, keep_pictures, question_words
from searches.services.crashes import crash_point
from searches.services.endings import budget_ending, natural_ending, outage_of
from searches.services.leases import Lease, LeaseLost, release_paused
from searches.services.live import LiveSearch, keep, live_search
from searches.services.outages import is_unanswered, note_unanswered
from searches.services.paid_answers import keeping_paid
from searches.services.prerender import withdraw
from searches.services.presence import presence
from searches.services.retries import commit_retry, failed_calls, finish_retry, queries_of
from searches.services.run_log import log_event
from searches.services.run_states import move_run
from searches.services.slice_ends import (
    SliceEnd,
    after_database_error,
    fail_with_reference,
    finish_cancel,
    halt,
    let_go,
)
from searches.services.spending import SpendingLimitError, reserve
from searches.services.suts import LoadedSut, asking_of, load_sut
from searches.services.tallies import tally_batch
from vlmlab.core.errors import SourceAwayError, VlmLabError
from vlmlab.core.revelio.types import Outcome, Query
from vlmlab.core.search import ReplayMismatchError

logger = logging.getLogger(__name__)

REPLAY_ERROR = "The stored samples are not what this version of the search would ask."
REPLAY_HINT = "Its results stay readable; copy its settings to search again."
GOES_ON_ELSEWHERE = (SliceEnd.TIME_UP, SliceEnd.LEASE_LOST, SliceEnd.DATABASE_ERROR)
"""Ends after which what rendering workers draw ahead is still wanted, or nobody can say."""


def never() -> bool:
    """Return False: nobody asks this worker to stop."""
    return False


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
    end = _end_of_slice(lease, _Slice(lease, slice_seconds, should_stop, should_yield))
    if end not in GOES_ON_ELSEWHERE:
        withdraw(lease.run_id)
    return end


def _end_of_slice(lease: Lease, work: "_Slice") -> SliceEnd:
    try:
        return work.work()
    except LeaseLost:
        return SliceEnd.LEASE_LOST
    except (OperationalError, InterfaceError) as error:
        logger.warning("run %s: the database did not answer: %s", lease.run_id, error)
        return after_database_error(lease)
    except SpendingLimitError as error:
        return halt(lease, error, to=RunState.PAUSED, is_halted_by_spending=True)
    except (StorageError, SourceAwayError) as error:
        return halt(lease, error, to=RunState.PAUSED)
    except ReplayMismatchError:
        logger.exception("run %s cannot be replayed", lease.run_id)
        return halt(lease, VlmLabError(REPLAY_ERROR, hint=REPLAY_HINT), to=RunState.FAILED)
    except VlmLabError as error:
        return halt(lease, error, to=RunState.FAILED)
    except OSError as error:
        if error.errno in FULL_DISK:
            return halt(lease, storage_error(error), to=RunState.PAUSED)
        return fail_with_reference(lease)
    except Exception:  # the edge of the work: a bug must not take the worker with it
        return fail_with_reference(lease)


class _Slice:
    """The state of one slice."""

    def __init__(
        self,
        lease: Lease,
        slice_seconds: float,
        should_stop: Callable[[], bool],
        should_yield: Callable[[], bool],
    ) -> None:
        self.lease = lease
        self.deadline = time.monotonic() + slice_seconds
        self.should_stop = should_stop
        self.should_yield = should_yield
        self.ask_seconds = 0.0
        self.batches = 0

    def work(self) -> SliceEnd:
        run = self.read()
        end = self.end_by_state(run)
        if end is not None:
            return end
        live = live_search(run)
        crash_point("after_replay")
        while True:
            run = self.read()
            end = self.end_by_state(run) or self.end_by_ending(run, live) or self.end_by_time()
            if end is not None:
                keep(live)
                return end
            try:
                self.advance(run, live)
            except BatchInterrupted as cut:
                keep(live)  # the batch stays asked and is answered in the next slice
                if cut.replies:
                    keep_answers(run, cut.replies, lease=self.lease)
                return let_go(self.lease, SliceEnd.STOPPED)
            self.batches += 1
            presence.progressed(self.lease)

    def read(self) -> SearchRun:
        return SearchRun.objects.select_related("campaign", "sut").get(pk=self.lease.run_id)

    def end_by_state(self, run: SearchRun) -> SliceEnd | None:
        """End when somebody else moved the run."""
        if run.state == RunState.PAUSED and run.fence == self.lease.fence:
            release_paused(self.lease)
            return SliceEnd.PAUSED
        if run.fence != self.lease.fence or run.state not in (RunState.RUNNING, RunState.CANCELLING):
            raise LeaseLost
        return finish_cancel(self.lease) if run.state == RunState.CANCELLING else None

    def end_by_ending(self, run: SearchRun, live: LiveSearch) -> SliceEnd | None:
        """End when a budget is used up, the search has nothing left to ask, or nothing gets answered."""
        outage = outage_of(run)
        if outage is not None:
            return halt(self.lease, outage, to=RunState.PAUSED)
        ending = budget_ending(run, live.config)
        if not ending and not run.is_retrying_call_errors and not self.ask(live):
            ending = natural_ending(run, live)
        if not ending:
            return None
        crash_point("before_ending")
        with transaction.atomic():
            if not move_run(
                run.pk,
                frm=RunState.RUNNING,
                to=RunState.SUCCEEDED,
                held_fence=self.lease.fence,
                ending=ending,
                is_retrying_call_errors=False,
            ):
                raise LeaseLost
            log_event(run.pk, f"Finished: {ending}")
        return SliceEnd.FINISHED

    def end_by_time(self) -> SliceEnd | None:
        """End when this worker is asked to stop or the slice is full."""
        if self.should_stop():
            return let_go(self.lease, SliceEnd.STOPPED)
        if self.batches == 0:
            return None  # a slice that is shorter than the replay must still bring the run on
        if time.monotonic() >= self.deadline or self.should_yield():
            return let_go(self.lease, SliceEnd.TIME_UP)
        return None

    def advance(self, run: SearchRun, live: LiveSearch) -> None:
        """Answer and write one batch, of the search or of failed calls."""
        started = time.monotonic()
        if run.is_retrying_call_errors:
            self.retry(run, live, started)
            return
        queries = live.search.ask()
        crash_point("after_ask")
        loading = time.monotonic()
        sut = _same_sut(run)
        load_seconds = time.monotonic() - loading
        batch = self.answer(run, live, queries, sut=sut)
        if is_unanswered(run, batch):
            note_unanswered(run, batch, lease=self.lease)
            return
        with keeping_paid(run, batch, lease=self.lease):
            self.write(run, live, batch, started=started, load_seconds=load_seconds)

    def write(
        self, run: SearchRun, live: LiveSearch, batch: Batch, *, started: float, load_seconds: float
    ) -> None:
        """Tell the search what a batch brought and write it."""
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

    def answer(self, run: SearchRun, live: LiveSearch, queries: Sequence[Query], *, sut: LoadedSut) -> Batch:
        """Answer a batch if its calls fit into every spending limit."""
        return answer_batch(
            run,
            live,
            queries,
            sut=sut,
            should_stop=self.should_stop,
            may_send=lambda calls: reserve(run, live.config, calls, lease=self.lease),
        )

    def ask(self, live: LiveSearch) -> Sequence[Query]:
        """Ask the search for its next batch and note how long it thought."""
        started = time.monotonic()
        queries = live.search.ask()
        self.ask_seconds = time.monotonic() - started
        return queries

    def retry(self, run: SearchRun, live: LiveSearch, started: float) -> None:
        """Ask the next failed calls again, or note that all were asked."""
        samples = failed_calls(run, limit=live.config.slots)
        if not samples:
            finish_retry(run, self.lease)
        else:
            sut = _same_sut(run)
            batch = self.answer(run, live, queries_of(samples), sut=sut)
            with keeping_paid(run, batch, lease=self.lease):
                keep_pictures(run, batch, 0)
                seconds = {
                    "active_seconds": time.monotonic() - started,
                    "render_seconds": batch.render_seconds,
                    "sut_seconds": batch.sut_seconds,
                }
                commit_retry(run, live, batch, samples=samples, lease=self.lease, seconds=seconds)
        live.step = run.step + 1


def _same_sut(run: SearchRun) -> LoadedSut:
    """Return the system of a run, loaded.

    Raises:
        VlmLabError: it is not the one that gave the answers so far: one run never mixes two systems.
    """
    sut = load_sut(run.sut)
    if run.checkpoint.get("fingerprint", sut.fingerprint) != sut.fingerprint:
        raise VlmLabError(
            f"{run.sut.name} is not the system any more that this run began with.",
            hint="Its files, settings, device or libraries have changed. Undo that and resume, or copy the "
            "settings to search the system as it is now.",
        )
    words = question_words(asking_of(run.sut))
    if run.checkpoint.get("asked_in", words) != words:
        raise VlmLabError(
            f"{run.sut.name} is asked in other words now than when this run began.",
            hint="Put its question prompt back and resume, or copy the settings to search in the new words.",
        )
    return sut
