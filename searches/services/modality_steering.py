"""What people do to a whole modality campaign: pause, resume and end all of its runs, copy its settings."""

from typing import Any

from django.db import transaction
from django.db.models import Q, QuerySet

from searches.enums import RunState
from searches.models import Campaign, SearchRun, User
from searches.services.audit import record
from searches.services.run_states import move_runs
from searches.services.runs import MAX_NAME, RESUMABLE
from vlmlab.core.errors import VlmLabError

AT_WORK = frozenset({RunState.QUEUED, RunState.RUNNING})
FRESH_START: dict[str, object] = {
    "fruitless_batches": 0,
    "is_refused": False,
    "unanswered_because": "",
}
"""What a resumed run forgets of its checkpoint: why nobody answered before it was halted."""


@transaction.atomic
def pause_campaign(campaign: Campaign, *, by: User | None) -> int:
    """Halt all runs that wait or work, and return how many; batches in hand are still kept.

    Raises:
        VlmLabError: nothing of it waits or works.
    """
    moved = move_runs(_runs(campaign), frm=AT_WORK, to=RunState.PAUSED, error="", hint="")
    if not moved:
        if _runs(campaign).filter(state=RunState.PAUSED).exists():
            return 0
        raise _too_late("paused")
    record(by, "paused", campaign, after={"runs": moved})
    return moved


@transaction.atomic
def resume_campaign(campaign: Campaign, *, by: User | None) -> int:
    """Queue all runs again that were paused, failed or ended early, and return how many.

    Raises:
        VlmLabError: there is none.
    """
    _forget_outages(_runs(campaign).filter(state__in=RESUMABLE))
    moved = move_runs(
        _runs(campaign),
        frm=RESUMABLE,
        to=RunState.QUEUED,
        stalls=0,
        error="",
        hint="",
        error_reference="",
        ending="",
        dispatched_at=None,
    )
    if not moved:
        if _runs(campaign).filter(state__in=AT_WORK).exists():
            return 0
        raise _too_late("resumed")
    record(by, "resumed", campaign, after={"runs": moved})
    return moved


@transaction.atomic
def cancel_campaign(campaign: Campaign, *, by: User | None) -> int:
    """End all runs that have not ended, those at work after the batch in hand, and return how many.

    Raises:
        VlmLabError: all have ended already.
    """
    moved = move_runs(_runs(campaign), frm=(RunState.QUEUED, RunState.PAUSED), to=RunState.CANCELLED)
    moved += move_runs(_runs(campaign), frm=RunState.RUNNING, to=RunState.CANCELLING)
    if not moved:
        if _runs(campaign).filter(state__in=(RunState.CANCELLING, RunState.CANCELLED)).exists():
            return 0
        raise _too_late("ended")
    record(by, "ended", campaign, after={"runs": moved})
    return moved


def queues_of(campaign: Campaign) -> list[str]:
    """Return the queues in which runs of a campaign wait."""
    waiting = _runs(campaign).filter(state=RunState.QUEUED)
    return sorted(waiting.order_by().values_list("queue", flat=True).distinct())


def clone_values(campaign: Campaign) -> dict[str, Any]:
    """Return the form values that would start the same campaign again."""
    suts = campaign.modality_runs.order_by().values_list("sut_id", flat=True).distinct()
    return {
        **campaign.config,
        **campaign.plan,
        "name": f"{campaign.name} (copy)"[:MAX_NAME],
        "dataset": campaign.dataset.slug if campaign.dataset is not None else "",
        "suts": sorted(suts),
    }


def _runs(campaign: Campaign) -> QuerySet[SearchRun]:
    return SearchRun.objects.filter(campaign=campaign)


def _forget_outages(rows: QuerySet[SearchRun]) -> None:
    """Take from the checkpoints why nobody answered: few runs have any, so they are written one by one."""
    halted = rows.filter(Q(checkpoint__fruitless_batches__gt=0) | Q(checkpoint__is_refused=True))
    for pk, checkpoint in halted.order_by().values_list("pk", "checkpoint"):
        rows.filter(pk=pk).update(checkpoint=dict(checkpoint) | FRESH_START)


def _too_late(verb: str) -> VlmLabError:
    return VlmLabError(
        f"No run of this campaign can be {verb}.",
        hint="Reload the page to see what happened meanwhile.",
    )
