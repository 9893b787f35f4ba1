"""The page that sets concepts across systems, and its file."""

from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from searches.charts.explain_grids import system_chart
from searches.forms.explain import SystemsForm
from searches.services.explain_exports import FORMATS, grid_table
from searches.services.explain_systems import SystemGrid, searched_domains, system_grid
from vlmlab.web.streaming import stream_file

FILES = "vlmlab-explain"


@require_safe
def explain_systems(request: HttpRequest) -> HttpResponse:
    """Show F, rank or R of each concept on each system of a domain."""
    domains = searched_domains()
    form = SystemsForm(request.GET, domains=[(one.ref, one.title) for one in domains])
    context: dict[str, Any] = {"form": form, "domains": domains, "full_query": request.GET.urlencode()}
    if domains:
        grid = _grid(form)
        context["grid"] = grid
        if grid.rows:
            address = _address(grid)
            context["chart"] = system_chart(grid, address=address).saved_for(FILES, grid.domain.slug)
            context["grid_links"] = [
                (
                    concept,
                    label,
                    own,
                    [
                        (address(concept, sut.slug) if cell.count else "", cell)
                        for sut, cell in zip(grid.suts, own, strict=True)
                    ],
                )
                for concept, label, own in grid.rows
            ]
    status = 422 if domains and form.errors else 200
    return render(request, "searches/explain_systems.html", context, status=status)


@require_safe
def explain_systems_export(request: HttpRequest, fmt: str) -> HttpResponseBase:
    """Send the cells, one a row."""
    domains = searched_domains()
    if fmt not in FORMATS or not domains:
        raise Http404("no such export")
    grid = _grid(SystemsForm(request.GET, domains=[(one.ref, one.title) for one in domains]))
    name = f"{FILES}-systems-{grid.domain.slug}-{grid.measure}.{fmt}"
    return stream_file(grid_table(grid).lines(fmt), name=name, media_type=FORMATS[fmt])


def _grid(form: SystemsForm) -> SystemGrid:
    return system_grid(
        form.domain_chosen,
        measure=form.measure_chosen,
        least_sets=form.number("least_sets"),
        least_systems=form.number("least_systems"),
        source=form.source_chosen,
    )


def _address(grid: SystemGrid) -> Any:
    """Return what makes the address of the sets behind a cell; "" for a concept on all systems."""
    numbers = {sut.slug: sut.pk for sut in grid.suts}

    def address(concept: str, slug: str) -> str:
        if slug not in numbers:
            return ""
        base = reverse("explain_sets", args=["system", numbers[slug]])
        return f"{base}?{urlencode({'domain': grid.domain.ref, 'c': concept})}"

    return address
