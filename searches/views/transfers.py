"""Pages of transfers: the form, and the matrix of one."""

import json
from collections.abc import Iterator
from typing import Any, cast

from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_safe

from searches import launch
from searches.charts.transfer_matrix import matrix_chart, write_ratio
from searches.forms.transfers import TransferForm, initial_values
from searches.models import Campaign, User
from searches.services.experiment_published import NOT_THE_SAME
from searches.services.transfer_pages import (
    FORMATS,
    TransferPage,
    transfer_campaign,
    transfer_csv,
    transfer_page,
    transfer_rows,
)
from searches.services.transfer_plans import TransferPlan, plan_transfer
from searches.services.workers import workers_now
from vlmlab.core.errors import VlmLabError
from vlmlab.web.asked import asked_number
from vlmlab.web.streaming import stream_file


@require_http_methods(["GET", "POST"])
def transfer_create(request: HttpRequest) -> HttpResponse:
    """Show the form (``?run=`` chooses runs) or start the transfer."""
    if request.method == "POST":
        form = TransferForm(request.POST)
        if form.is_valid():
            try:
                campaign = launch.start_follow_up(form.cleaned_data["wish"], by=cast(User, request.user))
            except VlmLabError as error:
                form.add_error(error.field if error.field in form.fields else None, str(error))
            else:
                return redirect("transfer_detail", pk=campaign.pk)
        return render(request, "searches/transfer_create.html", _form_context(form), status=422)
    asked = [number for text in request.GET.getlist("run") if (number := asked_number(text)) is not None]
    form = TransferForm(initial=initial_values(asked))
    return render(request, "searches/transfer_create.html", _form_context(form))


@require_GET
def transfer_estimate(request: HttpRequest) -> HttpResponse:
    """Draw the estimate for the form as it stands (polled while it changes)."""
    form = TransferForm(request.GET)
    return render(request, "searches/transfer_estimate.html", {"plan": _plan(form), "form": form})


@require_safe
def transfer_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """Show the matrix of a transfer and every set on every target."""
    campaign = find_transfer(pk)
    page = transfer_page(campaign)
    chart = matrix_chart(page).saved_for("transfer", campaign.pk)
    context: dict[str, Any] = {
        "page": page,
        "campaign": campaign,
        "chart": chart if page.matrix.cells else None,
        "cells": _cells(page),
        "not_the_same": NOT_THE_SAME,
    }
    return render(request, "searches/transfer_detail.html", context)


@require_safe
def transfer_export(request: HttpRequest, pk: int, fmt: str) -> HttpResponseBase:
    """Send every set on every target."""
    campaign = find_transfer(pk)
    if fmt not in FORMATS:
        raise Http404("no such format")
    lines = transfer_csv(campaign) if fmt == "csv" else _json(campaign)
    return stream_file(lines, name=f"vlmlab-transfer-{campaign.pk}.{fmt}", media_type=FORMATS[fmt])


def find_transfer(pk: int) -> Campaign:
    """Return a transfer.

    Raises:
        Http404: there is none of this number.
    """
    campaign = transfer_campaign(pk)
    if campaign is None:
        raise Http404("no such transfer")
    return campaign


def _json(campaign: Campaign) -> Iterator[str]:
    yield json.dumps({"transfer": campaign.pk, "sets": transfer_rows(campaign)}, ensure_ascii=False, indent=1)


def _cells(page: TransferPage) -> list[dict[str, Any]]:
    """Return rows of the matrix for the table: a source with a cell a target."""
    return [
        {
            "source": page.names.get(source, source),
            "cells": [
                {"cell": cell, "ratio": write_ratio(cell.ratio) if cell else ""}
                for target in page.matrix.targets
                for cell in [page.matrix.cells.get((source, target))]
            ],
        }
        for source in page.matrix.sources
    ]


def _form_context(form: TransferForm) -> dict[str, Any]:
    return {
        "form": form,
        "plan": _plan(form),
        "has_worker": any(worker.is_alive for worker in workers_now()),
    }


def _plan(form: TransferForm) -> TransferPlan | None:
    if not form.is_bound:
        return None
    if not form.is_valid():
        return None
    return plan_transfer(form.cleaned_data["wish"])
