"""The confirmation that a search wished for: started once, when the last run of its campaign has ended."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from searches.enums import CONCEPT_METHOD, FINAL_STATES, FOLLOW_UP_METHOD, FollowUpName, RunState
from searches.models import Campaign, Finding, RunEvent, SearchRun
from searches.services.follow_up_wishes import confirm_wish, follow_up_config, suspects_of
from searches.services.follow_ups import create_follow_up
from searches.services.run_log import log_event
from searches.services.wanted_confirmations import PLAN_KEY, wanted_of
from vlmlab.core.errors import VlmLabError
from vlmlab.core.verdicts.config import ConfirmConfig
from vlmlab.core.verdicts.planner import affordable_suspects

STARTED = "The confirmation of what was found is follow-up"
BY_HAND = "Follow-up {number} was started before the search had ended, so none was started by itself."
NOTHING = "Nothing was found that could be confirmed."


def start_wanted(campaign: Campaign) -> Campaign | None:
    """Start the confirmation that a search wished for, unless it was; None while it is not due, or cannot be.

    Runs that end at the same time take turns. A confirmation that cannot be started leaves a line in the log
    and is not tried again. Workers find the new runs by themselves; call it inside a transaction.
    """
    if wanted_of(campaign.plan) is None:
        return None
    campaign = Campaign.objects.select_for_update().get(pk=campaign.pk)
    wanted = wanted_of(campaign.plan)
    runs = list(campaign.runs.order_by("pk"))
    if wanted is None or wanted.outcome or not _is_due(runs):
        return None
    before = _confirmations_of().filter(follows=campaign).order_by("pk").first()
    if before is not None:
        if not RunEvent.objects.filter(run__in=runs, text__startswith=STARTED).exists():
            _decline(campaign, BY_HAND.format(number=before.pk), level="info")
        return None
    suspects = suspects_of(campaign)
    if not suspects:
        _decline(campaign, NOTHING, level="info")
        return None
    name = f"Confirmation of {campaign.name}"[:120]
    try:
        with transaction.atomic():
            chosen = affordable(suspects, wanted.values)
            made = create_follow_up(
                confirm_wish(chosen, values=wanted.values, name=name), by=campaign.created_by
            )
    except VlmLabError as error:
        _decline(campaign, f"No confirmation was started: {error}", level="warning")
        return None
    for run in runs:
        log_event(run.pk, f"{STARTED} {made.pk}.{_left(suspects, chosen)}")
    return made


def affordable(suspects: Sequence[Finding], values: Mapping[str, Any]) -> list[Finding]:
    """Return those suspects that the budget of a confirmation can settle, of each system the surest ones.

    Suspects that could never be asked would only raise the bar for the others. All of them without a budget,
    and for the published re-test, which has no family.

    Args:
        suspects: of one search, of each run the surest first.
        values: settings of the confirmation that differ from those of its search and the defaults.

    Raises:
        VlmLabError: a setting is out of range.
    """
    if not suspects:
        return []
    config = follow_up_config("confirm", suspects[0].run.campaign, values)
    if (
        not isinstance(config, ConfirmConfig)
        or config.protocol != "sequential"
        or not config.inference_budget
    ):
        return list(suspects)
    by_system: dict[int, dict[str, Finding]] = {}
    for one in sorted(suspects, key=lambda one: (-one.fails, one.n, one.pk)):
        by_system.setdefault(one.sut_id, {}).setdefault(one.key, one)
    most = affordable_suspects(config.inference_budget, config, runs=len(by_system))
    return [one for found in by_system.values() for one in list(found.values())[:most]]


def start_missing() -> list[Campaign]:
    """Start every confirmation that is due and was not started; a run may have ended by another way."""
    waiting = Campaign.objects.filter(method=CONCEPT_METHOD, plan__has_key=PLAN_KEY)
    waiting = waiting.filter(**{f"plan__{PLAN_KEY}__outcome": ""}).exclude(runs__state__in=_NOT_ENDED)
    ended_well = SearchRun.objects.filter(campaign=OuterRef("pk")).exclude(state=RunState.FAILED)
    waiting = waiting.filter(Exists(ended_well))  # one of which all runs failed waits and takes nobody's turn
    waiting = waiting.exclude(Exists(_confirmations_of().filter(follows=OuterRef("pk"))))
    made = []
    for campaign in waiting.order_by("pk")[:20]:
        with transaction.atomic():
            started = start_wanted(campaign)
        if started is not None:
            made.append(started)
    return made


_NOT_ENDED = [state for state in RunState if state not in FINAL_STATES]


def _left(suspects: Sequence[Finding], chosen: Sequence[Finding]) -> str:
    """Return a sentence on suspects that the budget cannot settle; "" if there are none."""
    if len(chosen) == len(suspects):
        return ""
    return (
        f" It takes up {len(chosen):,} of {len(suspects):,}, about as many as its budget settles, those that "
        "failed most; the others stay suspected."
    )


def _is_due(runs: list[SearchRun]) -> bool:
    """Whether every run has ended, and one of them not by failing: a failed one waits to be resumed."""
    return all(run.is_final for run in runs) and any(run.state != RunState.FAILED for run in runs)


def _confirmations_of() -> QuerySet[Campaign]:
    """Return confirmations that decide; a published re-test does not, and stands beside them."""
    rows = Campaign.objects.filter(method=FOLLOW_UP_METHOD, kind=FollowUpName.CONFIRM)
    return rows.filter(config__protocol="sequential")


def _decline(campaign: Campaign, text: str, *, level: str) -> None:
    campaign.plan = {**campaign.plan, PLAN_KEY: {**campaign.plan[PLAN_KEY], "outcome": text}}
    campaign.save(update_fields=["plan"])
    for run_id in campaign.runs.values_list("pk", flat=True):
        log_event(run_id, text, level=level)
