"""Pauses the runs that wait for a system which cannot answer: thousands of them must not try in vain."""

from searches.enums import RunState
from searches.models import SearchRun
from searches.services.leases import Lease
from searches.services.run_log import log_event
from searches.services.run_states import move_runs
from vlmlab.core.errors import VlmLabError
from vlmlab.web.numbers import write_many


def pause_waiting_siblings(lease: Lease, error: VlmLabError, *, is_halted_by_spending: bool) -> int:
    """Pause the waiting runs of the same campaign on the same system, and return how many.

    Args:
        lease: the claim on the run that was halted.
        error: why.
        is_halted_by_spending: whether the limit of the system did it.
    """
    place = SearchRun.objects.filter(pk=lease.run_id).values("campaign_id", "sut_id").first()
    if place is None:
        return 0
    moved = move_runs(
        SearchRun.objects.filter(**place),
        frm=RunState.QUEUED,
        to=RunState.PAUSED,
        error=error.message,
        hint=error.hint,
        is_halted_by_spending=is_halted_by_spending,
    )
    if moved:
        others = write_many(moved, "run that waited is,runs that waited are")
        log_event(lease.run_id, f"{others} paused for the same reason.", level="warning")
    return moved
