"""Deleting a modality campaign with all that it found; its pictures are left to the collection of garbage."""

from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Now

from searches.enums import LIVE_STATES, JobKind
from searches.models import (
    Campaign,
    CleanAnswer,
    Evaluation,
    Job,
    ModalityCase,
    ModalityRun,
    RunEvent,
    SearchRun,
    User,
)
from searches.services.audit import record
from searches.services.job_queue import UNFINISHED
from vlmlab.core.errors import VlmLabError


@transaction.atomic
def delete_campaign(campaign: Campaign, *, by: User | None) -> int:
    """Delete a campaign with its runs, evaluations, clean answers and cases, and return how many runs it had.

    A campaign may have thousands of runs and hundreds of thousands of evaluations, so their rows are deleted
    by a few statements, those that refer to others first.

    Raises:
        VlmLabError: it was deleted meanwhile, or a worker has or will take something of it.
    """
    locked = Campaign.objects.select_for_update().filter(pk=campaign.pk).first()
    if locked is None:
        raise VlmLabError(f"“{campaign.name}” is deleted already.", hint="Look at the list.")
    runs = SearchRun.objects.filter(campaign=locked)
    n_runs = len(runs.order_by("pk").select_for_update().values_list("pk"))  # nobody resumes one meanwhile
    reason = _why_kept(locked)
    if reason:
        raise VlmLabError(f"“{locked.name}” is not deleted. {reason}", hint="Then delete it.")
    dataset = locked.dataset.slug if locked.dataset is not None else ""
    record(by, "deleted", locked, before={"runs": n_runs, "dataset": dataset, "config": locked.config})
    _delete_rows(locked, runs)
    locked.delete()
    return n_runs


def _why_kept(campaign: Campaign) -> str:
    """Return what keeps a campaign from being deleted and what to do; "" when nothing does."""
    runs = SearchRun.objects.filter(campaign=campaign)
    if runs.filter(state__in=LIVE_STATES).exists():
        return "Some of its runs wait or are at work: end the campaign first."
    if runs.exclude(owner="").filter(lease_expires__gt=Now()).exists():
        return "A worker still writes its last answers: wait a moment."
    cases = ModalityCase.objects.filter(modality_run__campaign=campaign)
    jobs = Job.objects.filter(kind=JobKind.MINIMIZE_CASE, state__in=UNFINISHED)
    wanted = [case for case in jobs.values_list("params__case", flat=True) if isinstance(case, int)]
    if wanted and cases.filter(pk__in=wanted).exists():
        return "One of its cases is being made minimal: wait until that is done."
    return ""


def _delete_rows(campaign: Campaign, runs: QuerySet[SearchRun]) -> None:
    ids = runs.order_by().values("pk")
    places = ModalityRun.objects.filter(campaign=campaign)
    SearchRun.objects.filter(cloned_from__in=ids).update(cloned_from=None)
    in_order: tuple[QuerySet[Any], ...] = (
        ModalityCase.objects.filter(modality_run__in=places.order_by().values("pk")),
        places,
        CleanAnswer.objects.filter(campaign=campaign),
        Evaluation.objects.filter(run__in=ids),
        RunEvent.objects.filter(run__in=ids),
        runs,
    )
    for rows in in_order:
        rows.order_by()._raw_delete(rows.db)
