"""Pauses the runs that wait for a system which cannot answer: thousands of them must not try in vain."""

from searches.enums import ModalityStatus, RunState
from searches.models import CleanAnswer, ModalityRun, SearchRun
from searches.services.leases import Lease
from searches.services.run_log import log_event
from searches.services.run_states import move_runs
from vlmlab.core.errors import SutError, VlmLabError
from vlmlab.web.numbers import write_many

FEWEST_NEVER_ANSWERED = 3
"""Seed images that a system has answered nothing about before its runs stop trying: one or two may fail for
their own pictures."""


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


def pause_where_nobody_answers(lease: Lease, run: SearchRun, *, because: str) -> int:
    """Pause the waiting runs of a campaign on a system that has never answered in it; return how many.

    Failures that no second call mends, such as a web page in place of an answer, end a run after its clean
    question. A wrong address would so end every run of the campaign, one after the other.

    Args:
        lease: the claim on the run that has just ended so.
        run: that run.
        because: why its last call failed.
    """
    here = {"campaign_id": run.campaign_id, "sut_id": run.sut_id}
    if CleanAnswer.objects.filter(**here).exists():
        return 0
    unasked = ModalityRun.objects.filter(**here, status=ModalityStatus.CALL_ERROR)
    n_pictures = unasked.order_by().values("picture_id").distinct().count()
    if n_pictures < FEWEST_NEVER_ANSWERED:
        return 0
    error = SutError(
        f"{run.sut.name} answered nothing about any of {write_many(n_pictures, 'seed image')}: {because}",
        hint="Put that right on its page, then resume the campaign: those seed images are asked about again.",
    )
    return pause_waiting_siblings(lease, error, is_halted_by_spending=False)
