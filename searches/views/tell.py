"""Can you tell? Pages where a person names what pictures show, and what became of it."""

from typing import cast
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from searches import launch
from searches.models import User
from searches.services.domain_store import current_domains, find_domain
from searches.services.domains import concept_groups
from searches.services.job_pages import job_wait
from searches.services.telling import GOAL, ROUND, tell, telling, told_concepts
from vlmlab.core.errors import ConceptError, VlmLabError
from vlmlab.core.scenes.concepts import Domain


@require_http_methods(["GET", "HEAD", "POST"])
def tell_start(request: HttpRequest) -> HttpResponse:
    """Say what this is for and begin a round of pictures of one domain."""
    domains = [domain for domain in current_domains() if domain.draws_as]
    if request.method == "POST":
        domain = _domain(request.POST.get("domain", ""))
        if not domain.draws_as:
            raise Http404("nothing draws this domain")
        return redirect("tell_picture", launch.start_telling(domain, by=cast(User, request.user)))
    return render(request, "searches/tell_start.html", {"domains": domains, "round": ROUND})


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def tell_picture(request: HttpRequest, group: UUID) -> HttpResponse:
    """Show the next picture of a round with the closed list of concepts, or how the round went."""
    user = cast(User, request.user)
    page = telling(group, by=user)
    if page is None:
        raise Http404("no such round")
    names, problem = request.POST.getlist("c"), None
    if request.method == "POST" and page.job is not None and request.POST.get("job") == str(page.job.pk):
        try:
            tell(page.job, [] if "unsure" in request.POST else names, by=user)
        except VlmLabError as error:
            problem = error
    if request.method == "POST" and problem is None:
        return redirect("tell_picture", group)
    context = {
        "page": page,
        "groups": concept_groups(page.domain),
        "chosen": names,
        "problem": problem,
        "wait": job_wait(page.job) if page.job is not None and not page.is_drawn else None,
    }
    return render(request, "searches/tell_picture.html", context, status=422 if problem else 200)


@require_safe
def tell_results(request: HttpRequest) -> HttpResponse:
    """Show how often each concept of a domain was told."""
    domain = _domain(request.GET.get("domain", "driving"))
    rows = told_concepts(domain)
    context = {
        "domain": domain,
        "domains": [one for one in current_domains() if one.draws_as],
        "rows": rows,
        "pictures": sum(row.pictures for row in rows),
        "named": sum(row.named for row in rows),
        "untried": sum(not row.pictures for row in rows),
        "goal": GOAL,
    }
    return render(request, "searches/tell_results.html", context)


def _domain(slug: str) -> Domain:
    try:
        return find_domain(slug)
    except ConceptError as error:
        raise Http404(error.message) from error
