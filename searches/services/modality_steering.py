"""What people do to a whole modality campaign: pause, resume and end all of its runs, copy its settings."""

from typing import Any

from django.db import transaction
from django.db.models import Q, QuerySet

from searches.enums import ModalityStatus, RunState
from searches.models import Campaign, ModalityRun, SearchRun, User
from searches.services.audit import record
from searches.services.run_states import move_run, move_runs
from searches.services.runs import FRESH_START, MAX_NAME, RESUMABLE
from vlmlab.core.errors import VlmLabError

AT_WORK = frozenset({RunState.QUEUED, RunState.RUNNING})
CLEAN_FAILURE = frozenset({"clean_failures", "clean_error"})
"""What its checkpoint knows of clean questions that failed."""


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

    Runs that ended because the clean question failed each time are asked it again, too.

    Raises:
        VlmLabError: there is none.
    """
    _forget_outages(_runs(campaign).filter(state__in=RESUMABLE))
    values: dict[str, Any] = {
        "stalls": 0, "error": "", "hint": "", "error_reference": "", "ending": "", "dispatched_at": None,
    }  # fmt: skip
    moved = move_runs(_runs(campaign), frm=RESUMABLE, to=RunState.QUEUED, **values)
    moved += _ask_clean_again(campaign, values)
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
        **{name: value for name, value in campaign.plan.items() if name != "confirm_outcome"},
        "name": f"{campaign.name} (copy)"[:MAX_NAME],
        "dataset": campaign.dataset.slug if campaign.dataset is not None else "",
        "suts": sorted(suts),
    }


def _runs(campaign: Campaign) -> QuerySet[SearchRun]:
    return SearchRun.objects.filter(campaign=campaign)


def unasked_runs(campaign: Campaign) -> QuerySet[ModalityRun]:
    """Return the runs that ended before their search began, because the clean question failed each time."""
    return ModalityRun.objects.filter(
        campaign=campaign,
        status=ModalityStatus.CALL_ERROR,
        clean_answer__isnull=True,
        run__state=RunState.SUCCEEDED,
    )


def _ask_clean_again(campaign: Campaign, values: dict[str, Any]) -> int:
    moved = 0
    found = unasked_runs(campaign).order_by().values_list("pk", "run_id", "run__checkpoint")
    for pk, run_id, checkpoint in list(found):
        fresh = {name: one for name, one in checkpoint.items() if name not in CLEAN_FAILURE} | FRESH_START
        if move_run(run_id, frm=RunState.SUCCEEDED, to=RunState.QUEUED, checkpoint=fresh, **values):
            ModalityRun.objects.filter(pk=pk).update(status=ModalityStatus.UNFINISHED, end_reason="")
            moved += 1
    return moved


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
