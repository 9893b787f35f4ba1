"""Searches: stored, resumed, and a worker woken for them."""

from collections.abc import Sequence
from typing import Any

from django.db import transaction

from searches.launch.waking import wake_for_campaign, wake_for_run
from searches.models import Campaign, Dataset, SearchRun, SutRecord, User
from searches.services import modality_campaigns, modality_steering, runs
from searches.services.domain_store import find_domain
from searches.services.seed_plans import SeedPlan
from searches.services.source_checks import check_launch
from searches.services.wanted_confirmations import WantedConfirmation
from vlmlab.core.most.config import MostConfig
from vlmlab.core.revelio.config import RevelioConfig


def start_campaign(
    *,
    config: RevelioConfig,
    suts: Sequence[SutRecord],
    domain_slug: str,
    name: str,
    run_seed: int,
    by: User | None,
    cloned_from: SearchRun | None = None,
    finds_twin: bool = True,
    confirm: WantedConfirmation | None = None,
) -> Campaign:
    """Store a campaign and wake a worker for each of its runs; a second click finds the first one's campaign.

    ``finds_twin`` is False for a program that says by itself which of its requests are one and the same.
    With ``confirm`` what is found is confirmed once the last run has ended.

    Raises:
        VlmLabError: see ``runs.create_campaign``, or its pictures cannot be had.
    """
    check_launch(find_domain(domain_slug), config)  # may connect, so it stands outside the transaction
    wish: dict[str, Any] = {
        "config": config,
        "suts": suts,
        "domain_slug": domain_slug,
        "name": name,
        "run_seed": run_seed,
        "by": by,
        "confirm": confirm,
    }
    with transaction.atomic():
        twin = runs.just_started(**wish)
        if finds_twin and twin is not None:
            return twin
        campaign = runs.create_campaign(**wish, cloned_from=cloned_from)
        for run in campaign.runs.all():
            wake_for_run(run)
    return campaign


def resume_run(run: SearchRun, *, by: User | None) -> None:
    """Queue a halted run again and wake a worker.

    Raises:
        VlmLabError: it is not halted.
    """
    with transaction.atomic():
        runs.resume_run(run, by=by)
        wake_for_run(run)


def raise_limit(run: SearchRun, *, new_limit: float | None, by: User | None) -> None:
    """Give a run that its spending limit halted a new one, queue it again and wake a worker.

    Raises:
        VlmLabError: it is not halted by spending, or the limit leaves no room for the next batch.
    """
    with transaction.atomic():
        runs.raise_limit(run, new_limit=new_limit, by=by)
        wake_for_run(run)


def retry_call_errors(run: SearchRun, *, by: User | None) -> None:
    """Queue the failed calls of a run again and wake a worker.

    Raises:
        VlmLabError: it has none, or is at work.
    """
    with transaction.atomic():
        runs.retry_call_errors(run, by=by)
        wake_for_run(run)


def start_modality_campaign(
    config: MostConfig,
    plan: SeedPlan,
    *,
    suts: Sequence[SutRecord],
    dataset: Dataset,
    name: str,
    by: User | None,
) -> Campaign:
    """Store a modality campaign and wake its workers; a second click finds the first one's campaign.

    Raises:
        VlmLabError: see ``modality_campaigns.create_modality_campaign``.
    """
    wish: dict[str, Any] = {"suts": suts, "dataset": dataset, "name": name, "by": by}
    with transaction.atomic():
        twin = modality_campaigns.just_started(config, plan, **wish)
        if twin is not None:
            return twin
        campaign = modality_campaigns.create_modality_campaign(config, plan, **wish)
        wake_for_campaign(campaign)
    return campaign


def resume_modality_campaign(campaign: Campaign, *, by: User | None) -> int:
    """Queue the halted runs of a modality campaign again, wake their workers, and return how many they are.

    Raises:
        VlmLabError: none is halted.
    """
    with transaction.atomic():
        moved = modality_steering.resume_campaign(campaign, by=by)
        wake_for_campaign(campaign)
    return moved
