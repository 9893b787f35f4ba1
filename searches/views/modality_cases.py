"""Pages of test cases of modality searches: one case with its relatives, its file, making it minimal."""

import json
from typing import Any, cast

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from searches import launch
from searches.charts.evidence import sequential_chart
from searches.models import ModalityCase, User
from searches.services import modality_case_pages
from searches.services.case_pages import case_evidence
from searches.services.follow_up_traces import trace_of
from searches.services.modality_case_files import case_text, repeat_command
from searches.services.modality_inputs import case_picture
from searches.services.modality_minimal import minimal_job
from searches.services.modality_run_lists import neighbours
from searches.services.notes import notes_of
from searches.views.jobs import job_context
from searches.views.modality_runs import list_query, narrowed_runs, send_picture
from vlmlab.core.errors import VlmLabError


@never_cache
@require_safe
def modality_case(request: HttpRequest, pk: int) -> HttpResponse:
    """Show a case, or send it as a file of JSON."""
    case = _case(pk)
    if request.GET.get("as") == "json":
        return _send_file(case)
    page = modality_case_pages.case_page(case)
    narrowed, rows = narrowed_runs(request, page.run.campaign)
    context: dict[str, Any] = {
        "page": page,
        "case": case,
        "around": neighbours(rows, case),
        "query": list_query(request, narrowed),
        "is_narrowed": narrowed.is_narrowed,
        "compared": modality_case_pages.compared_bars(page),
        "command": repeat_command(case),
        "generator": json.dumps(case.generator, indent=1),
        "evidence": case_evidence(case, shows_all=request.GET.get("draws") == "all"),
        "notes": notes_of(case),
    }
    trace = trace_of(context["evidence"].item) if context["evidence"].item else None
    if trace is not None:
        context["chart"] = sequential_chart(trace, slug=f"case-{pk}-evidence")
    job = None if page.is_minimal or page.other else minimal_job(case)
    if job is not None:
        context |= job_context(job)
    return render(request, "searches/modality_case.html", context)


@require_safe
def modality_case_picture(request: HttpRequest, pk: int) -> HttpResponse:
    """Send the perturbed picture of a case, made again from its strategy."""
    return send_picture(lambda: case_picture(_case(pk)))


@require_POST
def modality_minimize(request: HttpRequest, pk: int) -> HttpResponse:
    """Ask for the minimal perturbation of a case."""
    case = _case(pk)
    try:
        launch.minimize_case(case, by=cast(User, request.user))
    except VlmLabError as error:
        messages.error(request, str(error))
    return redirect(f"{case.get_absolute_url()}#minimal")


def _send_file(case: ModalityCase) -> HttpResponse:
    response = HttpResponse(case_text(case), content_type="application/json; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="modality-case-{case.pk}.json"'
    response["X-Content-Type-Options"] = "nosniff"
    return response


def _case(pk: int) -> ModalityCase:
    case = modality_case_pages.find_case(pk)
    if case is None:
        raise Http404("no such case")
    return case
