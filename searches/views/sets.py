"""Pages of the concept sets of a run: all as a table, one with its scenes; and the exports of a run."""

from typing import Any, cast

from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from searches import launch
from searches.filters.runs import TrialFilter
from searches.models import User
from searches.services import exports, run_pages
from searches.services.domain_store import find_domain
from searches.services.job_pages import find_scene
from searches.services.live import config_of
from searches.services.set_lists import trial_page
from searches.services.set_pages import SetPage, find_sample, find_trial, is_same_scene, set_page
from searches.views.jobs import job_context
from vlmlab.web.asked import asked_number
from vlmlab.web.downloads import send_description
from vlmlab.web.streaming import stream_file


@require_safe
def trial_list(request: HttpRequest, pk: int) -> HttpResponse:
    """Show every concept set of a run in the order it was opened, fifty at a time."""
    run = run_pages.concept_run_for_page(pk)
    if run is None:
        raise Http404("no such run")
    domain = find_domain(run.campaign.domain_ref)
    narrowed = TrialFilter(request.GET, queryset=run.trials.select_related("finding"), domain=domain)
    page = trial_page(narrowed.qs, after=asked_number(request.GET.get("after", "")))
    config = config_of(run)
    context = {
        "run": run,
        "filter": narrowed,
        "part": page,
        "lines": run_pages.set_lines(page.trials, run=run, samples_per_set=config.samples_per_set),
        "config": config,
        "is_filtered": any(request.GET.get(name) for name in narrowed.filters),
    }
    return render(request, "searches/trial_list.html", context)


@require_safe
def trial_detail(request: HttpRequest, pk: int, trial_pk: int) -> HttpResponse:
    """Show one concept set of a run with its scenes."""
    trial = find_trial(pk, trial_pk)
    if trial is None:
        raise Http404("no such concept set")
    page = set_page(
        trial, show=request.GET.get("show", ""), number=chosen_number(request), shows_all=shows_all(request)
    )
    if request.GET.get("as") == "json" and page.chosen is not None and page.chosen.facts.description:
        name = f"run-{pk}-set-{trial.order + 1}-sample-{page.chosen.sample.number + 1}"
        return send_description(page.chosen.facts.description, name=name)
    context: dict[str, Any] = {"page": page, "run": trial.run, "finding": getattr(trial, "finding", None)}
    return render(request, "searches/trial_detail.html", context | redrawn(request, page))


@require_POST
def sample_redraw(request: HttpRequest, pk: int, trial_pk: int, number: int) -> HttpResponse:
    """Draw a scene again whose picture was not kept."""
    trial = find_trial(pk, trial_pk)
    sample = find_sample(trial, number) if trial else None
    if trial is None or sample is None:
        raise Http404("no such sample")
    job = launch.redraw_sample(sample, by=cast(User, request.user))
    url = reverse("trial_detail", args=[pk, trial_pk])
    return redirect(f"{url}?sample={number}&job={job.pk}#sample")


@require_safe
def run_export(request: HttpRequest, pk: int, what: str, fmt: str) -> HttpResponseBase:
    """Send a run: everything as JSON, or its sets, samples or findings as CSV or JSON."""
    run = run_pages.run_for_page(pk)
    write = exports.RUN_EXPORTS.get((what, fmt))
    if run is None or write is None:
        raise Http404("no such export")
    moment = run.finished_at or run.created_at
    name = f"vlmlab-run-{run.pk}-{what}-{timezone.localtime(moment):%Y-%m-%d}.{fmt}"
    return stream_file(write(run), name=name, media_type=exports.MEDIA_TYPES[fmt])


def chosen_number(request: HttpRequest) -> int | None:
    """Return the number of the sample that the address asks for."""
    return asked_number(request.GET.get("sample", ""), largest=99_999)


def shows_all(request: HttpRequest) -> bool:
    """Return whether the address asks for every scene."""
    return request.GET.get("all") == "1"


def redrawn(request: HttpRequest, page: SetPage) -> dict[str, Any]:
    """Return the job that draws the chosen scene again, if the address names it."""
    job = find_scene(request.GET.get("job", ""), page.view.domain.slug, tuple(page.trial.concepts))
    if job is None or page.chosen is None or not is_same_scene(job, page.chosen.sample):
        return {}
    seen = page.chosen.sample.image_sha256
    return job_context(job) | {"differs": job.result.get("image_sha256", seen) != seen}
