"""The polled part that shows a short job: a scene being drawn, a system being asked or calibrated."""

from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from searches.enums import JobKind, JobState
from searches.models import Calibration, Job
from searches.services.job_pages import drawn_scene, job_wait
from searches.services.scene_facts import indented
from searches.services.stored_shapes import reading_stored
from searches.services.sut_pages import enabled_suts
from searches.services.tried_answers import read_answer
from vlmlab.web.downloads import send_description
from vlmlab.web.errors import is_fragment_request

PARTS = {
    JobKind.RENDER_SCENE: "searches/_job_scene.html",
    JobKind.TRY_SUT: "searches/_job_try.html",
    JobKind.CALIBRATE_SUT: "searches/_job_calibration.html",
    JobKind.MAKE_DATASET: "searches/_job_dataset.html",
    JobKind.IMPORT_SEEDS: "searches/_job_import.html",
    JobKind.WORD_TABLE: "searches/_job_word_table.html",
    JobKind.MINIMIZE_CASE: "searches/_job_minimal.html",
}


@never_cache
@require_safe
def job_detail(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Show a job; HTMX gets the part alone and asks again until the job has ended."""
    job = Job.objects.filter(pk=pk).first()
    if job is None:
        raise Http404("no such job")
    if request.GET.get("as") == "json" and job.kind == JobKind.RENDER_SCENE and job.state == JobState.DONE:
        return send_description(indented(job.result.get("description", {})), name=f"scene-{job.pk}")
    template = "searches/_job.html" if is_fragment_request(request) else "searches/job_detail.html"
    context = job_context(job) | {"is_rule_told": request.GET.get("rule") == "told"}
    response = render(request, template, context)
    if job.kind == JobKind.MINIMIZE_CASE and context["is_ended"] and is_fragment_request(request):
        response["HX-Refresh"] = "true"  # the page of its case as a whole has more to show now
    return response


def job_context(job: Job) -> dict[str, Any]:
    """Return what the part of a job needs."""
    is_ended = job.state in {JobState.DONE, JobState.FAILED}
    context: dict[str, Any] = {
        "job": job,
        "is_ended": is_ended,
        "part": PARTS.get(JobKind(job.kind), ""),
        "wait": None if is_ended else job_wait(job),
    }
    if job.state != JobState.DONE:
        return context
    if job.kind == JobKind.RENDER_SCENE:
        with reading_stored("scene", hint="Draw it again."):
            return context | {"scene": drawn_scene(job), "suts": enabled_suts()}
    if job.kind in (JobKind.MAKE_DATASET, JobKind.IMPORT_SEEDS):
        return context | {"dataset_slug": job.params.get("dataset", "")}
    if job.kind == JobKind.WORD_TABLE:
        return context | {"table_slug": job.params.get("table", "")}
    if job.kind == JobKind.MINIMIZE_CASE:
        return context | {"minimal_pk": job.result.get("case")}
    if job.kind == JobKind.CALIBRATE_SUT:
        return context | {"calibration": Calibration.objects.select_related("sut").filter(job=job).first()}
    with reading_stored("answer", hint="Ask again."):
        return context | {"answer": read_answer(job)}
