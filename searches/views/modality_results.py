"""What a modality campaign found: its page, the ranking of operators, comparisons, files."""

from collections.abc import Callable
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from searches.charts.modality_operators import budget_chart, ranking_chart
from searches.charts.modality_profile import asr_chart, outcome_chart
from searches.charts.modality_shape import shape_bars, shape_chart
from searches.forms.case_follow_ups import ConfirmCasesForm
from searches.forms.modality_results import ChoiceForm, SidesForm
from searches.models import Campaign
from searches.services.case_follow_ups import case_follow_ups
from searches.services.modality_exports import EXPORTS, FORMATS, export_lines
from searches.services.modality_profiles import (
    PICTURED_OPERATORS,
    CampaignOffer,
    ProfilePage,
    campaign_offer,
    left_out_sentence,
    operators_by_regime,
    profile_page,
)
from searches.services.modality_progress import campaign_progress
from searches.services.modality_results import runs_address
from searches.services.modality_tables import REGIME_TITLES, Choice, families_of, family_sizes
from searches.services.modality_tables_claims import judged_claims
from searches.services.modality_tables_comparison import all_sides, compare_sides
from searches.views.modality import find_campaign
from searches.views.modality_responses import FILES, responses_context
from vlmlab.web.streaming import stream_file


@require_safe
def modality_campaign(request: HttpRequest, pk: int) -> HttpResponse:
    """Show what a campaign found of one of its systems, and how far it is."""
    campaign = find_campaign(pk)
    offer = campaign_offer(campaign)
    form = _choice_form(request, offer)
    context: dict[str, Any] = {
        "campaign": campaign,
        "offer": offer,
        "form": form,
        "progress": campaign_progress(campaign),
        "left_out": left_out_sentence(campaign, offer, form.choice),
        "exports": EXPORTS,
        "query": request.GET.urlencode(),
        "followed": case_follow_ups(campaign),
        "confirm_form": ConfirmCasesForm(auto_id="confirm_%s"),
    }
    if offer.suts:
        page = profile_page(campaign, form.choice)
        context |= {"page": page} | _charts(campaign, page)
    return render(request, "searches/modality_campaign.html", context)


@require_safe
def modality_operators(request: HttpRequest, pk: int) -> HttpResponse:
    """Show which operators act in the failures of a campaign, over all regimes and in each."""
    campaign = find_campaign(pk)
    offer = campaign_offer(campaign)
    form = _choice_form(request, offer)
    choice = form.choice
    ranked = operators_by_regime(campaign, choice)
    regime = next((one for one in ranked if one == request.GET.get("regime")), None)
    context: dict[str, Any] = {
        "campaign": campaign,
        "offer": offer,
        "form": form,
        "choice": choice,
        "regime": regime or "",
        "regimes": [(one, REGIME_TITLES[one]) for one in ranked if one is not None],
        "lines": [
            (line, _operator_address(campaign, choice)(regime or "", line.name)) for line in ranked[regime]
        ],
        "chart": ranking_chart(
            ranked[regime], regime=regime, address=_operator_address(campaign, choice)
        ).saved_for(FILES, campaign.pk, choice.sut),
        "query": request.GET.urlencode(),
    }
    context |= responses_context(request, campaign, default_sut=choice.sut)
    return render(request, "searches/modality_operators.html", context)


@require_safe
def modality_compare(request: HttpRequest) -> HttpResponse:
    """Show two systems of modality campaigns on common seed images, and claims on the first campaign."""
    sides = all_sides()
    is_asked = bool(request.GET.get("a") and request.GET.get("b"))
    form = SidesForm(request.GET if is_asked else None, sides=sides, first=request.GET.get("a", ""))
    context: dict[str, Any] = {"form": form, "sides": sides}
    if form.is_bound and form.is_valid():
        first, second = form.chosen
        context["comparison"] = compare_sides(
            first, second, criterion=form.criterion_chosen, reading=form.reading_chosen
        )
        campaign = find_campaign(first.campaign_id)
        families = families_of(campaign, Choice(reading=form.reading_chosen), is_pooled=False)
        context |= {"campaign": campaign, "claims": judged_claims(families, criterion=form.criterion_chosen)}
    return render(request, "searches/modality_compare.html", context, status=422 if form.errors else 200)


@require_safe
def modality_export(request: HttpRequest, pk: int, what: str, fmt: str) -> HttpResponseBase:
    """Send a table of a campaign: all systems, or what the address narrows it to."""
    campaign = find_campaign(pk)
    form = _choice_form(request, campaign_offer(campaign), has_all_suts=True)
    lines = export_lines(campaign, form.choice, what=what, fmt=fmt)
    if lines is None:
        raise Http404("no such export")
    name = f"{FILES}-{campaign.pk}-{what}-{timezone.localtime(campaign.created_at):%Y-%m-%d}.{fmt}"
    return stream_file(lines, name=name, media_type=FORMATS[fmt])


def _choice_form(request: HttpRequest, offer: CampaignOffer, *, has_all_suts: bool = False) -> ChoiceForm:
    return ChoiceForm(
        request.GET,
        suts=offer.suts,
        strata=offer.strata,
        replicates=offer.replicates,
        has_all_suts=has_all_suts,
    )


def _charts(campaign: Campaign, page: ProfilePage) -> dict[str, Any]:
    source, criterion, budget = page.source, page.choice.criterion, page.config.perturbation_budget
    choice = page.choice

    def address(regime: str, operator: str) -> str:
        return runs_address(campaign.pk, **choice.run_filters, regime=regime, operator=operator)

    charts = {
        "asr": asr_chart(source, criterion),
        "outcomes": outcome_chart(source),
        "shape": shape_chart(source, criterion, budget=budget),
        "bars": shape_bars(source, criterion, budget=budget),
        "budget": budget_chart(page.budget, page.regimes, address=address),
        "operators": ranking_chart(
            page.operators,
            regime=None,
            address=_operator_address(campaign, choice),
            most=PICTURED_OPERATORS,
        ),
    }
    return {name: chart.saved_for(FILES, campaign.pk, choice.sut) for name, chart in charts.items()} | {
        "rate_tests": family_sizes(page.rates),
        "likeness_tests": family_sizes(page.likeness),
        "cost_tests": family_sizes(page.costs),
    }


def _operator_address(campaign: Campaign, choice: Choice) -> Callable[[str, str], str]:
    outcome = choice.criterion.value.lower() if choice.reading == "strict" else ""

    def address(regime: str, operator: str) -> str:
        return runs_address(
            campaign.pk,
            **choice.run_filters,
            regime=regime,
            operator=operator,
            outcome=outcome,
        )

    return address
