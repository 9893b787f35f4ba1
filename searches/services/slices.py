"""One slice of a run, whatever its method: batch after batch until it ends, time is up, or others decide."""

import logging
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from django.db import InterfaceError, OperationalError, transaction

from searches.enums import RunState
from searches.models import SearchRun
from searches.services import slice_ends
from searches.services.asked_calls import BatchInterrupted
from searches.services.blobs import FULL_DISK, StorageError, storage_error
from searches.services.commits import keep_answers
from searches.services.crashes import crash_point
from searches.services.kept_searches import Kept, keep
from searches.services.leases import Lease, LeaseLost, release_paused
from searches.services.presence import presence
from searches.services.run_endings import run_ended
from searches.services.run_log import log_event
from searches.services.run_states import move_run
from searches.services.slice_ends import SliceEnd, after_database_error, finish_cancel, let_go
from searches.services.spending import SpendingLimitError
from searches.services.suts import LoadedSut
from vlmlab.core.errors import SourceAwayError, VlmLabError
from vlmlab.core.search import ReplayMismatchError

logger = logging.getLogger(__name__)

GOES_ON = (SliceEnd.TIME_UP, SliceEnd.STOPPED, SliceEnd.PAUSED)
REPLAY_ERROR = "The stored samples are not what this version of the search would ask."
REPLAY_HINT = "Its results stay readable; copy its settings to search again."


class OtherSystemError(VlmLabError):
    """The system is not the one that gave the answers so far: one search never mixes two systems."""


def never() -> bool:
    """Return False: nobody asks this worker to stop."""
    return False


class Slice(ABC):
    """The state of one slice; a method says how its search is brought into memory, asked and ended.

    Args:
        lease: the claim.
        slice_seconds: wall time after which the run goes back into the queue.
        should_stop: asked between pictures; the batch in hand is dropped and asked again later.
        should_yield: asked between batches; the run goes back into the queue.

    Attributes:
        live: the search in memory.
    """

    live: Kept

    def __init__(
        self,
        lease: Lease,
        *,
        slice_seconds: float,
        should_stop: Callable[[], bool] = never,
        should_yield: Callable[[], bool] = never,
    ) -> None:
        self.lease = lease
        self.deadline = time.monotonic() + slice_seconds
        self.should_stop = should_stop
        self.should_yield = should_yield
        self.batches = 0

    @abstractmethod
    def open(self, run: SearchRun) -> None:
        """Bring the search into memory as its rows say it stands."""

    def keep(self, end: SliceEnd) -> None:
        """Keep the search in memory if the run goes on."""
        if end in GOES_ON:
            keep(self.live)

    @abstractmethod
    def end_by_ending(self, run: SearchRun) -> SliceEnd | None:
        """End when a budget is used up, the search has nothing left to ask, or nothing gets answered."""

    @abstractmethod
    def advance(self, run: SearchRun) -> None:
        """Answer and write one batch."""

    def tidy(self, end: SliceEnd) -> None:  # noqa: B027 - only some methods leave anything behind
        """Clean up once the slice has ended, whatever happened in it."""

    def halt(self, error: VlmLabError, *, to: RunState, is_halted_by_spending: bool = False) -> SliceEnd:
        """Stop the run with a sentence; it can be resumed."""
        return slice_ends.halt(self.lease, error, to=to, is_halted_by_spending=is_halted_by_spending)

    def work(self) -> SliceEnd:
        """Advance the run until it ends or the slice does.

        Raises:
            LeaseLost: another worker has the run.
            VlmLabError: it cannot go on.
        """
        run = self.read()
        end = self.end_by_state(run)
        if end is not None:
            return end
        self.open(run)
        crash_point("after_replay")
        while True:
            run = self.read()
            end = self.end_by_state(run) or self.end_by_ending(run) or self.end_by_time()
            if end is not None:
                self.keep(end)
                return end
            try:
                self.advance(run)
            except BatchInterrupted as cut:
                self.keep(SliceEnd.STOPPED)  # the batch stays asked and is answered in the next slice
                if cut.replies:
                    keep_answers(run, cut.replies, lease=self.lease)
                return let_go(self.lease, SliceEnd.STOPPED)
            self.batches += 1
            presence.progressed(self.lease)

    def read(self) -> SearchRun:
        """Return the row of the run as it stands."""
        return SearchRun.objects.select_related("campaign", "sut").get(pk=self.lease.run_id)

    def end_by_state(self, run: SearchRun) -> SliceEnd | None:
        """End when somebody else moved the run."""
        if run.state == RunState.PAUSED and run.fence == self.lease.fence:
            release_paused(self.lease)
            return SliceEnd.PAUSED
        if run.fence != self.lease.fence or run.state not in (RunState.RUNNING, RunState.CANCELLING):
            raise LeaseLost
        return finish_cancel(self.lease) if run.state == RunState.CANCELLING else None

    def end_by_time(self) -> SliceEnd | None:
        """End when this worker is asked to stop or the slice is full."""
        if self.should_stop():
            return let_go(self.lease, SliceEnd.STOPPED)
        if self.batches == 0:
            return None  # a slice that is shorter than the replay must still bring the run on
        if time.monotonic() >= self.deadline or self.should_yield():
            return let_go(self.lease, SliceEnd.TIME_UP)
        return None

    def finish(
        self, run: SearchRun, ending: str, *, write: Callable[[], None] | None = None, **values: Any
    ) -> SliceEnd:
        """End the run by itself, in one transaction.

        Args:
            run: the run.
            ending: why, as a sentence for people.
            write: what else becomes true with it.
            values: further columns of the run.

        Raises:
            LeaseLost: the claim does not hold any more; nothing was written.
        """
        crash_point("before_ending")
        with transaction.atomic():
            if not move_run(
                run.pk,
                frm=RunState.RUNNING,
                to=RunState.SUCCEEDED,
                held_fence=self.lease.fence,
                ending=ending,
                is_retrying_call_errors=False,
                **values,
            ):
                raise LeaseLost
            if write is not None:
                write()
            log_event(run.pk, f"Finished: {ending}")
            run_ended(run.pk)
        return SliceEnd.FINISHED


def work_through(work: Slice) -> SliceEnd:
    """Do a slice; the run is in good order whatever happens."""
    lease = work.lease
    try:
        return work.work()
    except LeaseLost:
        return SliceEnd.LEASE_LOST
    except (OperationalError, InterfaceError) as error:
        logger.warning("run %s: the database did not answer: %s", lease.run_id, error)
        return after_database_error(lease)
    except SpendingLimitError as error:
        return work.halt(error, to=RunState.PAUSED, is_halted_by_spending=True)
    except (StorageError, SourceAwayError) as error:
        return work.halt(error, to=RunState.PAUSED)
    except ReplayMismatchError:
        logger.exception("run %s cannot be replayed", lease.run_id)
        return work.halt(VlmLabError(REPLAY_ERROR, hint=REPLAY_HINT), to=RunState.FAILED)
    except VlmLabError as error:
        return work.halt(error, to=RunState.FAILED)
    except OSError as error:
        if error.errno in FULL_DISK:
            return work.halt(storage_error(error), to=RunState.PAUSED)
        return slice_ends.fail_with_reference(lease)
    except Exception:  # the edge of the work: a bug must not take the worker with it
        return slice_ends.fail_with_reference(lease)


def check_same_sut(run: SearchRun, sut: LoadedSut, *, asked_in: str) -> None:
    """Make sure that a system is the one that gave the answers of a run so far.

    Args:
        run: the run; its checkpoint knows the system once it has answered.
        sut: the system, loaded.
        asked_in: the words around the questions now.

    Raises:
        OtherSystemError: it has changed, or is asked in other words.
    """
    if run.checkpoint.get("fingerprint", sut.fingerprint) != sut.fingerprint:
        raise OtherSystemError(
            f"{run.sut.name} is not the system any more that this run began with.",
            hint="Its files, settings, device or libraries have changed. Undo that and resume, or copy the "
            "settings to search the system as it is now.",
        )
    if run.checkpoint.get("asked_in", asked_in) != asked_in:
        raise OtherSystemError(
            f"{run.sut.name} is asked in other words now than when this run began.",
            hint="Put its question prompt back and resume, or copy the settings to search in the new words.",
        )
