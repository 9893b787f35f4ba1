"""Campaigns: start a search on one or more systems, and look at what was started."""

from collections.abc import Callable
from functools import partial
from typing import Any

from django.db import transaction
from django.http import Http404, HttpRequest
from ninja import HeaderEx, P, Query, Router, Status
from pydantic import Field

from searches import launch
from searches.api.errors import conflict_of
from searches.api.operations import operation, person_of
from searches.api.paging import Page, Paging, page_of
from searches.api.shapes.runs import (
    CampaignShape,
    CampaignWithRuns,
    NewCampaign,
    campaign_shapes,
    campaign_values,
    counted,
    run_shapes,
)
from searches.forms.run import default_name
from searches.models import Campaign, SutRecord, User
from searches.services.concept_runs import concept_campaigns
from searches.services.domain_store import find_domain
from searches.services.request_keys import RequestKey, RequestKeyError, remember, started_before
from searches.services.run_pages import runs_for_list
from searches.services.wanted_confirmations import read_wanted
from vlmlab.core.errors import ConfigError
from vlmlab.core.revelio.config import PRESETS, RevelioConfig, config_from_values

router = Router(tags=["Campaigns"])


class CampaignFilters(Paging):
    """Which campaigns."""

    domain: str = Field("", max_length=64, description="Only this domain.")
    name: str = Field("", max_length=120, description="Only campaigns of exactly this name.")


@operation(router, "GET", "/campaigns", response=Page[CampaignShape], errors=(422,))
def list_campaigns(request: HttpRequest, filters: Query[CampaignFilters]) -> dict[str, Any]:
    """List the campaigns over concept sets, newest first."""
    rows = counted(concept_campaigns())
    rows = rows.filter(domain=filters.domain) if filters.domain else rows
    rows = rows.filter(name=filters.name) if filters.name else rows
    return page_of(rows, filters, request, shape=campaign_shapes)


@operation(router, "POST", "/campaigns", response=CampaignWithRuns, status=201, errors=(400, 409, 422))
def start_campaign(
    request: HttpRequest,
    payload: NewCampaign,
    key: HeaderEx[
        str, P(alias="Idempotency-Key", description="Own name of this request, such as a UUID.")
    ] = "",
) -> Status[CampaignWithRuns]:
    """Start a search.

    One run for each system, queued at once. With an `Idempotency-Key` the same request may be sent again
    after a broken connection: it returns the campaign that it started. The same key with another body is
    refused with 409. Without a key, the same search sent again within ten seconds starts nothing new.
    """
    config, person, confirm = _config(payload), person_of(request), read_wanted(payload.confirm)
    suts = _suts(payload.suts)
    start = partial(
        launch.start_campaign,
        config=config,
        suts=suts,
        domain_slug=payload.domain,
        name=payload.name or default_name(config, find_domain(payload.domain)),
        run_seed=payload.seed,
        by=person,
        finds_twin=not key,
        confirm=confirm,
    )
    if not key:
        return Status(201, _shape(start().pk))
    try:
        campaign = _start_once(RequestKey.of(key, payload.model_dump()), start, by=person)
    except RequestKeyError as error:
        raise conflict_of(error) from error
    return Status(201, _shape(campaign.pk))


@operation(router, "GET", "/campaigns/{int:campaign_id}", response=CampaignWithRuns, errors=(404,))
def read_campaign(request: HttpRequest, campaign_id: int) -> CampaignWithRuns:
    """Read a campaign with its runs."""
    return _shape(campaign_id)


@transaction.atomic
def _start_once(key: RequestKey, start: Callable[[], Campaign], *, by: User) -> Campaign:
    before = started_before(key, by=by)
    if before is not None:
        return before
    campaign = start()
    remember(campaign, key)
    return campaign


def _shape(campaign_id: int) -> CampaignWithRuns:
    campaign = concept_campaigns().select_related("created_by").filter(pk=campaign_id).first()
    if campaign is None:
        raise Http404(f"There is no campaign {campaign_id}.")
    rows = runs_for_list().select_related("created_by").filter(campaign=campaign).order_by("id")
    runs = run_shapes(list(rows))
    return CampaignWithRuns(**campaign_values(campaign, n_runs=len(runs)), runs=runs)


def _config(payload: NewCampaign) -> RevelioConfig:
    if payload.method != "revelio":
        raise ConfigError(f"There is no method “{payload.method}”.", hint="Known: revelio.", field="method")
    if payload.preset and payload.preset not in PRESETS:
        hint = f"Known: {', '.join(PRESETS)}."
        raise ConfigError(f"There is no preset “{payload.preset}”.", hint=hint, field="preset")
    start = PRESETS[payload.preset].values if payload.preset else {}
    try:
        return config_from_values({**start, **payload.config})
    except ConfigError as error:
        field = f"config.{error.field}" if error.field else "config"
        raise ConfigError(error.message, hint=error.hint, field=field) from error


def _suts(slugs: list[str]) -> list[SutRecord]:
    found = {sut.slug: sut for sut in SutRecord.objects.filter(slug__in=slugs)}
    missing = [slug for slug in slugs if slug not in found]
    if missing:
        raise ConfigError(f"There is no system “{missing[0]}”.", hint="GET suts lists them.", field="suts")
    return [found[slug] for slug in dict.fromkeys(slugs)]
