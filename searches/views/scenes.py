"""Scenes as downloads: those of a run, of one of its concept sets, and one that was drawn by hand."""

from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.views.decorators.http import require_safe

from searches.enums import JobKind, JobState
from searches.models import Job
from searches.services import run_pages
from searches.services.dataset_exports import job_export, run_export
from searches.services.set_pages import find_trial
from searches.services.stored_shapes import reading_stored
from searches.views.datasets import send_masks, send_scenes


@require_safe
def run_scenes(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Send the scenes of a run whose pictures are kept."""
    run = run_pages.run_for_page(pk)
    if run is None:
        raise Http404("no such run")
    return send_scenes(run_export(run))


@require_safe
def trial_scenes(request: HttpRequest, pk: int, trial_pk: int) -> HttpResponseBase:
    """Send the scenes of one concept set whose pictures are kept."""
    trial = find_trial(pk, trial_pk)
    if trial is None:
        raise Http404("no such concept set")
    return send_scenes(run_export(trial.run, trial))


@require_safe
def job_scene(request: HttpRequest, pk: UUID) -> HttpResponseBase:
    """Send a drawn scene as an archive of one picture."""
    job = _drawn(pk)
    with reading_stored("scene", hint="Draw it again."):
        return send_scenes(job_export(job))


@require_safe
def job_masks(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Send the masks of a drawn scene as one transparent picture."""
    job = _drawn(pk)
    with reading_stored("scene", hint="Draw it again."):
        masks = list(job.result.get("masks", {}).values())
        return send_masks(masks, width=int(job.params["width"]), height=int(job.params["height"]))


def _drawn(pk: UUID) -> Job:
    job = Job.objects.filter(pk=pk, kind=JobKind.RENDER_SCENE, state=JobState.DONE).first()
    if job is None:
        raise Http404("no such scene")
    return job
