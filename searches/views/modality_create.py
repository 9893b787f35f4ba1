"""The page that starts a modality search, and the parts of it that follow what is chosen."""

from typing import Any, cast

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from searches import launch
from searches.forms import modality as modality_form
from searches.forms.errors import add_lab_error
from searches.forms.modality import ModalityForm
from searches.models import Campaign, User
from searches.services.modality_pages import PlannedSeed, first_seeds, modality_campaign
from searches.services.modality_plans import CampaignPlan, plan_campaign
from searches.services.modality_steering import clone_values
from searches.services.workers import workers_now
from searches.views.modality import find_campaign
from vlmlab.core.errors import VlmLabError
from vlmlab.core.most.config import PRESETS
from vlmlab.web.asked import asked_number, asked_slug


@require_http_methods(["GET", "HEAD", "POST"])
def modality_create(request: HttpRequest) -> HttpResponse:
    """Show the form (``?preset=`` and ``?dataset=`` fill it) or start the campaign."""
    if request.method == "POST":
        return _start(request)
    preset = request.GET.get("preset", modality_form.DEFAULT_PRESET)
    values = modality_form.initial_values(preset if preset in PRESETS else modality_form.DEFAULT_PRESET)
    if "dataset" in request.GET:
        values["dataset"] = asked_slug(request.GET["dataset"])
    sut_pk = asked_number(request.GET.get("sut", ""))
    if sut_pk is not None:
        values["suts"] = [sut_pk]
    form = ModalityForm(initial=values)
    return render(request, "searches/modality_create.html", _context(form) | {"preset": preset})


@require_safe
def modality_clone(request: HttpRequest, pk: int) -> HttpResponse:
    """Show the form filled with the settings of an earlier campaign."""
    campaign = find_campaign(pk)
    values = clone_values(campaign)
    values["strata"] = modality_form.form_strata(values.get("strata", []))
    context = _context(ModalityForm(initial=values)) | {"cloned_from": campaign}
    return render(request, "searches/modality_create.html", context)


@require_safe
def modality_estimate(request: HttpRequest) -> HttpResponse:
    """Draw the estimate for the form as it stands (fetched while it changes)."""
    form = ModalityForm(request.GET)
    return render(request, "searches/modality_estimate_parts.html", {"form": form} | _plan(form))


@require_safe
def modality_seeds(request: HttpRequest) -> HttpResponse:
    """Draw the choice of strata of the dataset that the form names (when that changes)."""
    form = ModalityForm(initial={"dataset": request.GET.get("dataset", "")})
    return render(request, "searches/modality_seeds.html", {"form": form} | _strata(form))


def _start(request: HttpRequest) -> HttpResponse:
    form = ModalityForm(request.POST)
    source = _source(request.POST.get("cloned_from", ""))
    if form.is_valid():
        cleaned = form.cleaned_data
        try:
            campaign = launch.start_modality_campaign(
                cleaned["config"],
                cleaned["plan"],
                suts=list(cleaned["suts"]),
                dataset=cleaned["dataset"],
                name=cleaned["name"],
                by=cast(User, request.user),
            )
        except VlmLabError as error:
            add_lab_error(form, error)
        else:
            messages.success(request, f"{campaign.runs.count():,} runs are queued.")
            return redirect(campaign)
    context = _context(form) | {"cloned_from": source}
    return render(request, "searches/modality_create.html", context, status=422)


def _source(number: str) -> Campaign | None:
    """Return the campaign whose settings were copied."""
    pk = asked_number(number)
    return None if pk is None else modality_campaign(pk)


def _context(form: ModalityForm) -> dict[str, Any]:
    fine = [(title, form.group(names)) for title, names in modality_form.FINE_SETTINGS.items()]
    remaining = modality_form.remaining_settings()
    fine += [("others", form.group(remaining))] if remaining else []
    groups = {
        "budget": modality_form.BUDGET,
        "failure": modality_form.FAILURE,
        "failure_checks": modality_form.FAILURE_CHECKS,
        "perturbation": modality_form.PERTURBATION,
        "perturbation_checks": modality_form.PERTURBATION_CHECKS,
    }
    return (
        {
            "form": form,
            "presets": PRESETS,
            "algorithms": _choices(form, "algorithm", modality_form.ALGORITHM_NOTES),
            "regimes": _choices(form, "regimes", modality_form.REGIME_NOTES),
            "fine": fine,
            "has_fine_errors": any(field.errors for _, fields in fine for field in fields),
            "has_worker": any(worker.is_alive for worker in workers_now()),
        }
        | {name: form.group(fields) for name, fields in groups.items()}
        | _strata(form)
        | _plan(form)
    )


def _choices(form: ModalityForm, name: str, notes: dict[str, str]) -> list[tuple[Any, str]]:
    """Return the choices of a field with a note each."""
    return [(widget, notes.get(str(widget.data["value"]), "")) for widget in form[name]]


def _strata(form: ModalityForm) -> dict[str, Any]:
    """Return the strata of the chosen dataset; what another dataset had chosen is left behind."""
    return {
        "strata": list(zip(form["strata"], form.strata_counts, strict=True)),
        "n_askable": sum(one.n_pictures for one in form.strata_counts),
        "dataset": form.chosen_dataset,
    }


def _plan(form: ModalityForm) -> dict[str, Any]:
    """Return what the campaign takes and its first seed images, or nothing while the form is not valid."""
    if not form.is_bound:
        form = ModalityForm(dict(form.initial))
    plan: CampaignPlan | None = None
    seeds: tuple[PlannedSeed, ...] = ()
    if form.is_valid():
        cleaned = form.cleaned_data
        dataset, suts = cleaned["dataset"], list(cleaned["suts"])
        plan = plan_campaign(cleaned["config"], cleaned["plan"], suts=suts, dataset=dataset)
        seeds = first_seeds(dataset, cleaned["plan"])
    return {"estimate": plan, "first_seeds": seeds}
