"""Severity-response curves for the page of operators, and the evaluations behind one of their marks."""

import re
from typing import Any
from urllib.parse import urlencode

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from searches.charts.severity_responses import failure_chart, iou_chart
from searches.models import Campaign, SutRecord
from searches.services import modality_responses
from searches.services.lone_strategies import Scope, lone_evaluations
from searches.services.modality_evaluations import lone_lines
from searches.services.modality_responses import ResponseCurve, ResponsePoint
from searches.services.seed_plans import NO_STRATUM
from searches.services.strategy_bars import operator_names, operator_title
from searches.views.modality import find_campaign
from vlmlab.core.most.outcomes import FailureCriterion
from vlmlab.web.asked import asked_number

PAGE_SIZE = 50
ROUNDING = 1e-6
FILES = "vlmlab-modality"
"""What files of a modality campaign begin with."""
MOST_LEVEL = 1_000


def responses_context(request: HttpRequest, campaign: Campaign, *, default_sut: str = "") -> dict[str, Any]:
    """Return what ``searches/modality_responses.html`` needs.

    Reads ``sut``, ``stratum``, ``replicate``, ``criterion`` and ``op`` (operators to highlight).
    """
    suts = modality_responses.asked_suts(campaign)
    sut = _chosen_sut(suts, request.GET.get("sut", "") or default_sut)
    if sut is None:
        return {"responses": None, "response_suts": suts}
    scope = _scope(request, campaign, sut)
    responses = modality_responses.severity_responses(
        campaign, sut, stratum=scope.stratum, replicate=scope.replicate
    )
    chosen = [name for name in request.GET.getlist("op") if responses.curve(name) is not None]
    criterion = _criterion(request.GET.get("criterion", ""))

    address = reverse("modality_evaluations", args=[campaign.pk])
    asked = {"sut": sut.slug} | {
        name: request.GET[name] for name in ("stratum", "replicate") if request.GET.get(name)
    }

    def address_of(curve: ResponseCurve, point: ResponsePoint) -> str:
        span = {"low": f"{point.low:.6f}", "high": f"{point.high:.6f}"}
        if point.level is not None:
            span["level"] = str(point.level)
        return f"{address}?{urlencode({**asked, 'operator': curve.operator, **span})}"

    charts = []
    if responses.curves:
        charts = [
            iou_chart(responses, chosen=chosen, address_of=address_of),
            failure_chart(responses, criterion=criterion, chosen=chosen, address_of=address_of),
        ]
        charts = [chart.saved_for(FILES, campaign.pk, sut.slug) for chart in charts]
    return {
        "responses": responses,
        "response_suts": suts,
        "response_charts": charts,
        "highlighted": [one.operator for one in responses.highlighted(chosen)],
        "most_highlighted": modality_responses.HIGHLIGHTED,
        "criterion": criterion,
        "kept_fields": [(name, value) for name, value in request.GET.items() if name not in ("op", "page")],
    }


@require_safe
def modality_evaluations(request: HttpRequest, pk: int) -> HttpResponse:
    """Show the evaluations in which one operator acts alone at some severities, the worst first."""
    campaign = find_campaign(pk)
    suts = modality_responses.asked_suts(campaign)
    sut = _chosen_sut(suts, request.GET.get("sut", ""))
    operator = request.GET.get("operator", "")
    kept = {name: request.GET[name] for name in ("stratum", "replicate") if request.GET.get(name)}
    low, high = _share(request.GET.get("low", "")), _share(request.GET.get("high", ""))
    level = asked_number(request.GET.get("level", ""), largest=MOST_LEVEL)
    is_known = operator in operator_names() and sut is not None
    context: dict[str, Any] = {
        "campaign": campaign,
        "suts": suts,
        "sut": sut,
        "operators": [(name, operator_title(name)) for name in operator_names()],
        "operator": operator if is_known else "",
        "title": operator_title(operator) if is_known else "",
        "low": low,
        "high": high,
        "level": level,
        "kept_fields": kept.items(),
    }
    if is_known and sut is not None:
        found = lone_evaluations(
            campaign,
            _scope(request, campaign, sut),
            operator=operator,
            low=(0.0 if low is None else low) - ROUNDING,
            high=(1.0 if high is None else high) + ROUNDING,
            level=level,
        )
        page = Paginator(found, PAGE_SIZE).get_page(request.GET.get("page"))
        context |= {"page_obj": page, "lines": lone_lines(list(page.object_list))}
    return render(request, "searches/modality_evaluations.html", context)


def _chosen_sut(suts: list[SutRecord], slug: str) -> SutRecord | None:
    return next((one for one in suts if one.slug == slug), suts[0] if suts else None)


def _scope(request: HttpRequest, campaign: Campaign, sut: SutRecord) -> Scope:
    """Return which answers an address asks for; a scene type that no picture has leaves none."""
    stratum = request.GET.get("stratum", "")[:64]
    return Scope(
        campaign.pk,
        sut.pk,
        stratum=None if not stratum else "" if stratum == NO_STRATUM else stratum,
        replicate=asked_number(request.GET.get("replicate", ""), largest=32_767) or 0,
    )


def _share(text: str) -> float | None:
    """Return a severity written with ASCII digits, None for everything else."""
    return float(text) if re.fullmatch(r"[01]|0\.[0-9]{1,12}|1\.0{1,12}", text, re.ASCII) else None


def _criterion(name: str) -> FailureCriterion:
    return next((one for one in FailureCriterion if one.value == name.upper()), FailureCriterion.C1)
