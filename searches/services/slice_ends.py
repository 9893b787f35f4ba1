"""How a slice of a run stops: the run goes back into the queue, is cancelled, or halts with a sentence."""

import logging
import uuid
from enum import StrEnum

from django.db import DatabaseError, connection, transaction

from searches.enums import RunState
from searches.services.leases import Lease, LeaseLost, release_lease, release_paused
from searches.services.run_endings import run_ended
from searches.services.run_log import log_event
from searches.services.run_states import move_run
from vlmlab.core.errors import VlmLabError

logger = logging.getLogger(__name__)


class SliceEnd(StrEnum):
    """Why a slice stopped."""

    FINISHED = "finished"
    CANCELLED = "cancelled"
    PAUSED = "paused"
    FAILED = "failed"
    TIME_UP = "time up"
    STOPPED = "stopped"
    LEASE_LOST = "lease lost"
    DATABASE_ERROR = "database error"


def halt(
    lease: Lease,
    error: VlmLabError,
    *,
    to: RunState,
    reference: str = "",
    is_halted_by_spending: bool = False,
) -> SliceEnd:
    """Stop a run with a sentence; it can be resumed."""
    try:
        with transaction.atomic():
            if not move_run(
                lease.run_id,
                frm=RunState.RUNNING,
                to=to,
                held_fence=lease.fence,
                error=error.message,
                hint=error.hint,
                error_reference=reference,
                is_halted_by_spending=is_halted_by_spending,
                reserved_usd=0.0,
                owner="",
                lease_expires=None,
            ):
                return SliceEnd.PAUSED if release_paused(lease) else finish_cancel(lease)
            log_event(lease.run_id, str(error), level="error")
            run_ended(lease.run_id)
    except LeaseLost:
        return SliceEnd.LEASE_LOST
    except DatabaseError:
        return after_database_error(lease)
    return SliceEnd.PAUSED if to == RunState.PAUSED else SliceEnd.FAILED


def finish_cancel(lease: Lease) -> SliceEnd:
    """Complete a cancel that was asked for while this worker had the run.

    Raises:
        LeaseLost: no cancel was asked for, or another worker has the run.
    """
    with transaction.atomic():
        if not move_run(lease.run_id, frm=RunState.CANCELLING, to=RunState.CANCELLED, held_fence=lease.fence):
            raise LeaseLost
        log_event(lease.run_id, "Ended early.")
        run_ended(lease.run_id)
    return SliceEnd.CANCELLED


def let_go(lease: Lease, end: SliceEnd) -> SliceEnd:
    """Put the run back into the queue; somebody may have cancelled or paused it a moment ago.

    Raises:
        LeaseLost: another worker has the run.
    """
    if release_lease(lease):
        return end
    if release_paused(lease):
        return SliceEnd.PAUSED
    return finish_cancel(lease)


def fail_with_reference(lease: Lease) -> SliceEnd:
    """Stop a run that met a bug; the traceback goes to the log under a number that its page shows."""
    reference = uuid.uuid4().hex[:8]
    logger.exception("run %s failed, reference %s", lease.run_id, reference)
    error = VlmLabError(
        "Something went wrong inside the lab.",
        hint=f"Nothing that was answered is lost. Look for {reference} in the worker's log, then resume.",
    )
    return halt(lease, error, to=RunState.FAILED, reference=reference)


def after_database_error(lease: Lease) -> SliceEnd:
    """Give up the claim if the database answers again; else the reaper frees it when the lease is over."""
    connection.close()
    try:
        if not release_lease(lease):
            release_paused(lease)
    except DatabaseError:
        connection.close()
    return SliceEnd.DATABASE_ERROR
