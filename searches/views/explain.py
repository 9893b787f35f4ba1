"""Pages that explain the failures of a run, a campaign or a system."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from searches.charts import explain_answers as answer_charts
from searches.charts import explain_concepts as concept_charts
from searches.charts.explain_grids import pair_chart
from searches.forms.explain import ConceptForm, CoverageForm, ExplainForm, PairForm
from searches.services.explain_answers import OUTCOMES, answer_page, reason_page
from searches.services.explain_attribution import attribution_page
from searches.services.explain_concepts import concept_page
from searches.services.explain_coverage import coverage_page
from searches.services.explain_exports import FORMATS, Choices, explain_table
from searches.services.explain_pairs import pair_page
from searches.services.explain_rows import row_lines, rows_with
from searches.services.explain_scopes import Scope, find_scope
from searches.services.explain_wishes import probe_offer
from vlmlab.web.asked import asked_number, asked_slug
from vlmlab.web.figures import Chart
from vlmlab.web.streaming import stream_file

PAGE_SIZE = 50
MOST_CONCEPTS = 8
FILES = "vlmlab-explain"


@require_safe
def explain_concepts(request: HttpRequest, scope: str, pk: int) -> HttpResponse:
    """Show F, R and regime of every concept."""
    found = asked_scope(request, scope, pk)
    form = ConceptForm(request.GET)
    page = concept_page(found, thresholds=form.thresholds, source=form.source_chosen)
    charts = [concept_charts.failure_chart(page, address=_address(found, form))] if page.lines else []
    if any(line.recognition.value is not None for line in page.lines):
        charts.append(concept_charts.recognition_chart(page, address=_address(found, form)))
    offer = probe_offer(found)
    return _render(request, found, form, tab="concepts", page=page, charts=charts, offer=offer)


@require_safe
def explain_pairs(request: HttpRequest, scope: str, pk: int) -> HttpResponse:
    """Show lift and interaction of pairs of concepts."""
    found = asked_scope(request, scope, pk)
    form = PairForm(request.GET)
    page = pair_page(found, least_sets=form.number("least_sets"), source=form.source_chosen)
    address = _address(found, form)
    charts = []
    if page.lines:
        charts = [
            concept_charts.interaction_chart(page, address=address),
            concept_charts.lift_chart(page, address=address),
        ]
    return _render(request, found, form, tab="pairs", page=page, charts=charts)


@require_safe
def explain_answers(request: HttpRequest, scope: str, pk: int) -> HttpResponse:
    """Show answers by expected answer and by the direction of the error."""
    found = asked_scope(request, scope, pk)
    form = ExplainForm(request.GET)
    page = answer_page(found, form.source_chosen)
    charts = [answer_charts.outcome_chart(page)] if page.lines else []
    return _render(request, found, form, tab="answers", page=page, charts=charts, outcomes=OUTCOMES)


@require_safe
def explain_attribution(request: HttpRequest, scope: str, pk: int) -> HttpResponse:
    """Show where wrong answers come from."""
    found = asked_scope(request, scope, pk)
    form = ExplainForm(request.GET)
    page = attribution_page(found, form.source_chosen)
    charts = [answer_charts.waterfall_chart(page)] if page.found.calls else []
    return _render(request, found, form, tab="attribution", page=page, charts=charts)


@require_safe
def explain_coverage(request: HttpRequest, scope: str, pk: int) -> HttpResponse:
    """Show which pairs and triples were shown, and what more calls would buy."""
    found = asked_scope(request, scope, pk)
    form = CoverageForm(request.GET)
    page = coverage_page(found, is_alone=form.is_alone, wish=form.wish, source=form.source_chosen)
    files = [
        f"{reverse('explain_export', args=[scope, pk, 'coverage', fmt])}?{request.GET.urlencode()}"
        for fmt in FORMATS
    ]
    charts = [
        pair_chart(
            page.sizes[0],
            found.domain,
            address=_address(found, form, is_rated=False),
            csv_url=files[0],
            json_url=files[1],
        )
    ]
    return _render(request, found, form, tab="coverage", page=page, charts=charts)


@require_safe
def explain_reasons(request: HttpRequest, scope: str, pk: int) -> HttpResponse:
    """Show the reasons that the system gave for wrong answers."""
    found = asked_scope(request, scope, pk)
    return _render(request, found, None, tab="reasons", page=reason_page(found), charts=[])


@require_safe
def explain_sets(request: HttpRequest, scope: str, pk: int) -> HttpResponse:
    """Show the sets behind a mark: those that contain the concepts of the address."""
    found = asked_scope(request, scope, pk)
    form = ExplainForm(request.GET)
    concepts = [one for one in request.GET.getlist("c")[:MOST_CONCEPTS] if one.isidentifier()]
    rows = rows_with(found, concepts, source=form.source_chosen)
    part = Paginator(rows, PAGE_SIZE).get_page(request.GET.get("page"))
    context = {"page_obj": part, "lines": row_lines(list(part.object_list)), "concepts": concepts}
    return _render(request, found, None, tab="sets", page=None, charts=[], **context)


@require_safe
def explain_export(request: HttpRequest, scope: str, pk: int, what: str, fmt: str) -> HttpResponseBase:
    """Send one table of an explanation, counted as the page counts it."""
    found = asked_scope(request, scope, pk)
    if fmt not in FORMATS:
        raise Http404("no such format")
    concepts, pairs, coverage = ConceptForm(request.GET), PairForm(request.GET), CoverageForm(request.GET)
    choices = Choices(
        source=ExplainForm(request.GET).source_chosen,
        thresholds=concepts.thresholds,
        least_sets=pairs.number("least_sets"),
        is_alone=coverage.is_alone,
        wish=coverage.wish,
    )
    table = explain_table(found, what, choices)
    if table is None:
        raise Http404("no such table")
    name = f"{FILES}-{scope}-{pk}-{what}.{fmt}"
    return stream_file(table.lines(fmt), name=name, media_type=FORMATS[fmt])


def asked_scope(request: HttpRequest, scope: str, pk: int) -> Scope:
    """Return what an address is about, or answer 404."""
    said, found = request.GET, None
    if asked_number(str(pk)) is not None:
        found = find_scope(
            scope, pk, sut=asked_slug(said.get("sut", "")), domain_ref=said.get("domain", "")[:100]
        )
    if found is None:
        raise Http404("nothing was searched there")
    return found


def _render(
    request: HttpRequest,
    scope: Scope,
    form: ExplainForm | None,
    *,
    tab: str,
    page: Any,
    charts: Sequence[Chart],
    **more: Any,
) -> HttpResponse:
    context = {
        "scope": scope,
        "form": form,
        "tab": tab,
        "page": page,
        "charts": [chart.saved_for(FILES, scope.kind, scope.pk) for chart in charts],
        "query": scope.query,
        "full_query": request.GET.urlencode(),
        **more,
    }
    status = 422 if form is not None and form.errors else 200
    return render(request, f"searches/explain_{tab}.html", context, status=status)


def _address(scope: Scope, form: ExplainForm, *, is_rated: bool = True) -> Any:
    """Return what makes the address of the sets behind some concepts."""
    base = reverse("explain_sets", args=[scope.kind, scope.pk])
    source = form.source_chosen if is_rated else "all"
    kept = [scope.query] if scope.query else []
    kept += [urlencode({"source": source})] if source != "all" else []

    def address(concepts: Sequence[str]) -> str:
        return f"{base}?{'&'.join([*kept, urlencode([('c', one) for one in concepts])])}"

    return address
