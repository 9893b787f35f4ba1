"""Pages of test cases of modality searches: one case with its relatives, its file, making it minimal."""

import json

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from searches.models import ModalityCase
from searches.services import modality_case_pages
from searches.services.modality_case_files import case_text, shell_command
from searches.services.modality_run_lists import neighbours
from searches.views.modality_runs import list_query, narrowed_runs


@never_cache
@require_safe
def modality_case(request: HttpRequest, pk: int) -> HttpResponse:
    """Show a case, or send it as a file of JSON."""
    case = _case(pk)
    if request.GET.get("as") == "json":
        return _send_file(case)
    page = modality_case_pages.case_page(case)
    narrowed, rows = narrowed_runs(request, page.run.campaign)
    context = {
        "page": page,
        "case": case,
        "around": neighbours(rows, case),
        "query": list_query(request, narrowed),
        "is_narrowed": narrowed.is_narrowed,
        "compared": modality_case_pages.compared_bars(page),
        "command": shell_command(case),
        "generator": json.dumps(case.generator, indent=1),
    }
    return render(request, "searches/modality_case.html", context)


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
