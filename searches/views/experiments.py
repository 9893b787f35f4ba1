"""Pages of experiments: the list, the form, one experiment with its arms, what people do to one."""

from collections.abc import Callable
from typing import Any, cast

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods, require_POST, require_safe

from searches import launch
from searches.charts.experiment_curves import bands_chart, taus_chart
from searches.forms import experiments as experiment_form
from searches.forms.experiments import ExperimentForm
from searches.models import Experiment, User
from searches.services import experiments
from searches.services.domain_store import domain_slugs
from searches.services.experiment_exports import FORMATS, experiment_lines
from searches.services.experiment_pages import ExperimentPage, experiment_page
from searches.services.experiment_plans import ExperimentPlan, plan_experiment
from searches.services.experiment_progress import experiment_progress
from searches.services.experiment_published import NOT_THE_SAME
from searches.services.experiment_retests import retest_page
from searches.services.transfer_pages import transfer_lines
from searches.services.workers import workers_now
from searches.views.polling import polled
from vlmlab.core.errors import VlmLabError
from vlmlab.web.asked import asked_number
from vlmlab.web.figures import Chart
from vlmlab.web.numbers import write_many
from vlmlab.web.streaming import stream_file

PAGE_SIZE = 25


@require_safe
def experiment_list(request: HttpRequest) -> HttpResponse:
    """Show the experiments, newest first, and the transfer matrices."""
    page = Paginator(experiments.experiments(), PAGE_SIZE).get_page(request.GET.get("page"))
    context = {
        "page_obj": page,
        "lines": experiments.experiment_lines(list(page.object_list)),
        "transfers": transfer_lines(),
    }
    return render(request, "searches/experiment_list.html", context)


@require_http_methods(["GET", "POST"])
def experiment_create(request: HttpRequest) -> HttpResponse:
    """Show the form (``?preset=`` or ``?axis=`` fills it) or start the experiment."""
    if request.method == "POST":
        form = ExperimentForm(request.POST)
        if form.is_valid():
            try:
                found = launch.start_experiment(form.cleaned_data["wish"], by=cast(User, request.user))
            except VlmLabError as error:
                form.add_error(error.field if error.field in form.fields else None, str(error))
            else:
                return redirect(found)
        return render(request, "searches/experiment_create.html", _form_context(form), status=422)
    asked = request.GET
    domain = asked.get("domain", "")
    values = experiment_form.initial_values(
        asked.get("preset", ""),
        domain=domain if domain in domain_slugs() else "",
        scale=asked.get("scale", ""),
    )
    if "axis" in asked:
        values |= experiment_form.axis_values(asked["axis"])
    sut = asked_number(asked.get("sut", ""))
    if sut is not None:
        values["suts"] = [sut]
    return render(request, "searches/experiment_create.html", _form_context(ExperimentForm(initial=values)))


@require_GET
def experiment_estimate(request: HttpRequest) -> HttpResponse:
    """Draw the estimate for the form as it stands (polled while it changes)."""
    form = ExperimentForm(request.GET)
    context = {"plan": _plan(form), "form": form}
    return render(request, "searches/experiment_estimate.html", context)


@require_safe
def experiment_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """Show what an experiment found so far."""
    experiment = find_experiment(pk)
    page = experiment_page(experiment, sut=request.GET.get("sut", ""), measure=request.GET.get("measure", ""))
    context: dict[str, Any] = {
        "page": page,
        "experiment": experiment,
        "progress": page.progress,
        "charts": _charts(page),
        "not_the_same": NOT_THE_SAME,
        "formats": FORMATS,
        "retest": retest_page(experiment, page),
    }
    return render(request, "searches/experiment_detail.html", context)


@require_safe
def experiment_progress_part(request: HttpRequest, pk: int) -> HttpResponse:
    """Show how far an experiment is; 304 while nothing changed, 286 once nothing will."""
    experiment = find_experiment(pk)
    progress = experiment_progress(experiment)
    context = {"experiment": experiment, "progress": progress}
    return polled(
        request,
        etag=progress.etag,
        is_final=progress.is_final,
        draw=lambda: render(request, "searches/experiment_progress.html", context),
    )


@require_safe
def experiment_export(request: HttpRequest, pk: int, fmt: str) -> HttpResponseBase:
    """Send the numbers of an experiment."""
    experiment = find_experiment(pk)
    if fmt not in FORMATS:
        raise Http404("no such format")
    name = f"vlmlab-experiment-{experiment.pk}-{timezone.localtime(experiment.created_at):%Y-%m-%d}.{fmt}"
    return stream_file(experiment_lines(experiment, fmt), name=name, media_type=FORMATS[fmt])


@require_POST
def experiment_pause(request: HttpRequest, pk: int) -> HttpResponse:
    """Pause all runs of an experiment."""
    return _act(request, pk, experiments.pause_experiment, "paused")


@require_POST
def experiment_resume(request: HttpRequest, pk: int) -> HttpResponse:
    """Go on with all halted runs of an experiment."""
    return _act(request, pk, launch.resume_experiment, "queued again")


@require_POST
def experiment_cancel(request: HttpRequest, pk: int) -> HttpResponse:
    """End all runs of an experiment that have not ended."""
    return _act(request, pk, experiments.cancel_experiment, "ended early; what they found is kept")


@require_POST
def experiment_retest(request: HttpRequest, pk: int) -> HttpResponse:
    """Ask the top sets of every run that has ended again, as published."""
    experiment = find_experiment(pk)
    try:
        started = launch.start_retests(experiment, by=cast(User, request.user))
    except VlmLabError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"{write_many(len(started), 're-test is,re-tests are')} queued.")
    return redirect(experiment)


def find_experiment(pk: int) -> Experiment:
    """Return an experiment.

    Raises:
        Http404: there is none of this number.
    """
    experiment = experiments.find_experiment(pk)
    if experiment is None:
        raise Http404("no such experiment")
    return experiment


def _act(request: HttpRequest, pk: int, action: Callable[..., int], done: str) -> HttpResponse:
    experiment = find_experiment(pk)
    try:
        moved = action(experiment, by=cast(User, request.user))
    except VlmLabError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"{write_many(moved, 'run is,runs are')} {done}.")
    return redirect(experiment)


def _form_context(form: ExperimentForm) -> dict[str, Any]:
    return {
        "form": form,
        "axes": experiment_form.short_axes(),
        "scales": experiment_form.SCALES,
        "plan": _plan(form),
        "has_worker": any(worker.is_alive for worker in workers_now()),
        "has_shared_errors": any(field.errors for field in form.shared()),
    }


def _plan(form: ExperimentForm) -> ExperimentPlan | None:
    """Return what the experiment takes, or None while the form is not valid."""
    if not form.is_bound:
        form = ExperimentForm(dict(form.initial))
    if not form.is_valid():
        return None
    wish = form.cleaned_data["wish"]
    return plan_experiment(wish.spec, wish.suts)


def _charts(page: ExperimentPage) -> dict[str, Chart]:
    n_seeds = len(page.spec.run_seeds)
    charts = {"modes": bands_chart(page.bands, budget=page.budget, n_seeds=n_seeds)}
    if page.taus:
        charts["taus"] = taus_chart(page.taus)
    sut = page.sut.slug if page.sut is not None else ""
    return {name: chart.saved_for("experiment", page.experiment.pk, sut) for name, chart in charts.items()}
