"""The page that starts a search."""

from itertools import groupby
from typing import Any, cast

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from searches import launch
from searches.enums import CONCEPT_METHOD, MODALITY_METHOD
from searches.forms import run as run_form
from searches.forms.run import RunForm
from searches.models import SearchRun, User
from searches.services.concept_runs import concept_runs
from searches.services.domain_store import domain_slugs
from searches.services.runs import clone_values
from searches.services.search_plans import SearchPlan, plan_search
from searches.services.set_pages import trial_to_ask_again
from searches.services.workers import workers_now
from vlmlab.core.errors import VlmLabError
from vlmlab.core.revelio.config import PRESETS
from vlmlab.web.asked import asked_number, asked_slug


@require_http_methods(["GET", "POST"])
def run_create(request: HttpRequest) -> HttpResponse:
    """Show the form (``?preset=`` fills it) or start the search."""
    if request.method == "POST":
        form = RunForm(request.POST)
        if form.is_valid():
            cleaned = form.cleaned_data
            try:
                campaign = launch.start_campaign(
                    config=cleaned["config"],
                    suts=list(cleaned["suts"]),
                    domain_slug=cleaned["domain"],
                    name=cleaned["name"],
                    run_seed=cleaned["run_seed"],
                    by=cast(User, request.user),
                    cloned_from=_source(request.POST.get("cloned_from", "")),
                    confirm=cleaned["wanted"],
                )
            except VlmLabError as error:
                form.add_error(error.field if error.field in form.fields else None, str(error))
            else:
                runs = list(campaign.runs.all())
                if len(runs) == 1:
                    return redirect(runs[0])  # its page says by itself how the run does
                messages.success(request, f"{len(runs)} runs are queued.")
                return redirect(campaign)
        source = _source(request.POST.get("cloned_from", ""))
        context = _context(form) | {"cloned_from": source}
        return render(request, "searches/run_create.html", context, status=422)
    if "again" in request.GET:
        return _ask_again(request, request.GET["again"])
    preset = request.GET.get("preset", run_form.DEFAULT_PRESET)
    values = run_form.initial_values(preset if preset in PRESETS else run_form.DEFAULT_PRESET)
    if request.GET.get("domain") in domain_slugs():
        values |= run_form.domain_values(request.GET["domain"])
    if "source" in request.GET:
        values |= run_form.source_values(asked_slug(request.GET["source"]))
    sut_pk = asked_number(request.GET.get("sut", ""))
    if sut_pk is not None:
        values["suts"] = [sut_pk]
    return render(request, "searches/run_create.html", _context(RunForm(initial=values), preset=preset))


def _ask_again(request: HttpRequest, number: str) -> HttpResponse:
    """Show the form filled so that one concept set is asked again, and nothing else."""
    pk = asked_number(number)
    trial = trial_to_ask_again(pk) if pk is not None else None
    if trial is None:
        raise Http404("no such concept set")
    form = RunForm(initial=run_form.again_values(trial))
    return render(request, "searches/run_create.html", _context(form) | {"asked_again": trial})


@require_GET
def run_clone(request: HttpRequest, pk: int) -> HttpResponse:
    """Show the form filled with the settings of an earlier run."""
    run = get_object_or_404(SearchRun.objects.select_related("campaign"), pk=pk)
    if run.campaign.method == MODALITY_METHOD:
        return redirect("modality_clone", pk=run.campaign_id)
    if run.campaign.method != CONCEPT_METHOD:
        return redirect(run.campaign)
    form = RunForm(initial=run_form.config_values(clone_values(run)))
    return render(request, "searches/run_create.html", _context(form) | {"cloned_from": run})


@require_GET
def run_estimate(request: HttpRequest) -> HttpResponse:
    """Draw the estimate for the form as it stands (polled while it changes)."""
    form = RunForm(request.GET)
    return render(request, "searches/run_estimate.html", {"estimate": _plan(form), "form": form})


@require_GET
def run_concepts(request: HttpRequest) -> HttpResponse:
    """Draw the choice of concepts of the domain that the form names (when that changes)."""
    chosen = {name: request.GET.getlist(name) for name in run_form.CONCEPTS}
    form = RunForm(initial=chosen | {"domain": request.GET.get("domain", "")})
    return render(request, "searches/run_concepts.html", {"form": form} | _concepts(form))


def _source(number: str) -> SearchRun | None:
    """Return the run whose settings were copied."""
    pk = asked_number(number)
    return None if pk is None else concept_runs().filter(pk=pk).first()


def _context(form: RunForm, *, preset: str = "") -> dict[str, Any]:
    fine = [(title, form.group(names)) for title, names in run_form.FINE_SETTINGS.items()]
    return {
        "form": form,
        "presets": PRESETS,
        "preset": preset,
        "algorithms": _algorithms(form),
        "budget": form.group(run_form.BUDGET),
        "when_a_set_fails": form.group(run_form.WHEN_A_SET_FAILS),
        "afterwards": form.group(run_form.AFTERWARDS),
        "fine": fine,
        "has_fine_errors": any(field.errors for _, fields in fine for field in fields),
        "estimate": _plan(form),
        "has_worker": any(worker.is_alive for worker in workers_now()),
    } | _concepts(form)


def _concepts(form: RunForm) -> dict[str, Any]:
    """Return the concepts of the chosen domain; what another domain had chosen is left behind."""
    domain = form.chosen_domain
    chosen = {
        name: [one for one in form[name].value() or () if one in domain.index] for name in run_form.CONCEPTS
    }
    return {
        "has_concept_errors": any(form[name].errors for name in run_form.CONCEPTS),
        "domain": domain,
        "concept_groups": [
            (name, list(rows)) for name, rows in groupby(domain.concepts, lambda one: one.category)
        ],
        "chosen": chosen,
    }


def _algorithms(form: RunForm) -> list[tuple[Any, str]]:
    """Return the choices with a note each, what we recommend first."""
    widgets = {str(widget.data["value"]): widget for widget in form["algorithm"]}
    return [(widgets[name], note) for name, note in run_form.ALGORITHM_NOTES.items()]


def _plan(form: RunForm) -> SearchPlan | None:
    """Return what the search takes in all, or None while the form is not valid."""
    if not form.is_bound:
        form = RunForm(dict(form.initial))
    if not form.is_valid():
        return None
    cleaned = form.cleaned_data
    return plan_search(
        cleaned["config"],
        list(cleaned["suts"]),
        domain_slug=cleaned["domain"],
        run_seed=cleaned["run_seed"],
        wanted=cleaned["wanted"],
    )
