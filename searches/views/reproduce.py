"""Pages of reproductions: every table and figure of the papers, and one of them in full."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from searches.forms.experiments import SCALES
from searches.services.experiment_published import NOT_THE_SAME
from searches.services.experiment_reproductions import reproduction_cards, reproduction_page
from vlmlab.core.revelio.inconsistencies import KIND_TITLES


@require_safe
def reproduce(request: HttpRequest) -> HttpResponse:
    """Show what of the papers can be done again, as cards."""
    context = {"papers": reproduction_cards(), "not_the_same": NOT_THE_SAME}
    return render(request, "searches/experiment_reproduce.html", context)


@require_safe
def reproduce_detail(request: HttpRequest, slug: str) -> HttpResponse:
    """Show one table or figure: published numbers, guesses, what does not fit, and what was started."""
    page = reproduction_page(slug)
    if page is None:
        raise Http404("no such table or figure")
    context = {
        "page": page,
        "one": page.reproduction,
        "scales": SCALES,
        "kinds": KIND_TITLES,
        "not_the_same": NOT_THE_SAME,
    }
    return render(request, "searches/experiment_reproduction.html", context)
