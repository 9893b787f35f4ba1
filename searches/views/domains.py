"""Pages of domains: what a scene can hold, what is expected there, and one scene composed by hand."""

from typing import cast
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from searches import launch
from searches.enums import JobKind
from searches.forms.compose import ComposeForm
from searches.models import Job, User
from searches.services.composing import compose, scene_params
from searches.services.domain_store import archived_domains, find_domain
from searches.services.domains import all_domains, domain_overview
from searches.services.job_pages import find_scene
from searches.services.source_obstacles import embedded_obstacle
from searches.views.jobs import job_context
from vlmlab.core.errors import ConceptError
from vlmlab.core.scenes.concepts import Domain

SECTIONS = ("concepts", "rules", "constraints", "sets")


@require_safe
def domain_list(request: HttpRequest) -> HttpResponse:
    """Show every domain."""
    context = {"overviews": all_domains(), "archived": archived_domains()}
    return render(request, "searches/domain_list.html", context)


@require_safe
def domain_detail(request: HttpRequest, slug: str) -> HttpResponse:
    """Show concepts, rules, constraints or counts of a domain."""
    version = request.GET.get("version", "")
    domain = _domain(f"{slug}@{version}" if version else slug)
    if version and domain.version != version:
        raise Http404("no such version")
    section = request.GET.get("show", SECTIONS[0])
    overview = domain_overview(domain.ref)
    topic, action = request.GET.get("topic", ""), request.GET.get("action", "")
    context = {
        "overview": overview,
        "domain": domain,
        "is_chosen_version": bool(version),
        "rules": overview.rules_about(topic=topic, action=action),
        "topic": topic,
        "action": action,
        "section": section if section in SECTIONS else SECTIONS[0],
    }
    return render(request, "searches/domain_detail.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def domain_compose(request: HttpRequest, slug: str) -> HttpResponse:
    """Choose concepts, see whether they fit and what is expected, draw the scene."""
    domain = _domain(slug)
    form = ComposeForm(request.POST if request.method == "POST" else request.GET or None, domain=domain)
    form.full_clean()
    wish = compose(domain, form.chosen, scene_seed=form.layout)
    if request.method == "POST" and form.is_valid() and wish.key and wish.is_valid:
        return _draw(request, domain, form)
    job = find_scene(request.GET.get("job", ""), domain.slug, wish.key)
    context = {
        "domain": domain,
        "form": form,
        "wish": wish,
        "seed": form.layout,
        "obstacle": embedded_obstacle(domain),
    }
    if job is not None:
        context |= job_context(job)
    is_refused = request.method == "POST"
    return render(request, "searches/domain_compose.html", context, status=422 if is_refused else 200)


def _draw(request: HttpRequest, domain: Domain, form: ComposeForm) -> HttpResponse:
    params = scene_params(domain, form.chosen, scene_seed=form.layout)
    job: Job = launch.start_job(JobKind.RENDER_SCENE, params, by=cast(User, request.user))
    query = [("c", one) for one in params["concepts"]] + [("seed", str(form.layout)), ("job", str(job.pk))]
    return redirect(f"{request.path}?{urlencode(query)}#scene")


def _domain(slug: str) -> Domain:
    try:
        return find_domain(slug)
    except ConceptError as error:
        raise Http404(error.message) from error
