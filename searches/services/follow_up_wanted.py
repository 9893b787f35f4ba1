"""The confirmation that a search wished for: started once, when the last run of its campaign has ended."""

from django.db import transaction

from searches.enums import CONCEPT_METHOD, FINAL_STATES, FOLLOW_UP_METHOD, FollowUpName, RunState
from searches.models import Campaign, SearchRun
from searches.services.follow_up_wishes import confirm_wish, suspects_of
from searches.services.follow_ups import create_follow_up
from searches.services.run_log import log_event
from searches.services.wanted_confirmations import PLAN_KEY, wanted_of
from vlmlab.core.errors import VlmLabError

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
    if wanted is None or wanted.outcome or not _is_due(runs) or _confirmation_of(campaign):
        return None
    if not suspects_of(campaign):
        _decline(campaign, NOTHING, level="info")
        return None
    try:
        with transaction.atomic():
            wish = confirm_wish(
                campaign=campaign, values=wanted.values, name=f"Confirmation of {campaign.name}"[:120]
            )
            made = create_follow_up(wish, by=campaign.created_by)
    except VlmLabError as error:
        _decline(campaign, f"No confirmation was started: {error}", level="warning")
        return None
    for run in runs:
        log_event(run.pk, f"The confirmation of what was found is follow-up {made.pk}.")
    return made


def start_missing() -> list[Campaign]:
    """Start every confirmation that is due and was not started; a run may have ended by another way."""
    waiting = Campaign.objects.filter(method=CONCEPT_METHOD, plan__has_key=PLAN_KEY)
    waiting = waiting.filter(**{f"plan__{PLAN_KEY}__outcome": ""}).exclude(runs__state__in=_NOT_ENDED)
    made = []
    for campaign in waiting.exclude(follow_ups__kind=FollowUpName.CONFIRM).order_by("pk")[:20]:
        with transaction.atomic():
            started = start_wanted(campaign)
        if started is not None:
            made.append(started)
    return made


_NOT_ENDED = [state for state in RunState if state not in FINAL_STATES]


def _is_due(runs: list[SearchRun]) -> bool:
    """Whether every run has ended, and one of them not by failing: a failed one waits to be resumed."""
    return all(run.is_final for run in runs) and any(run.state != RunState.FAILED for run in runs)


def _confirmation_of(campaign: Campaign) -> bool:
    return campaign.follow_ups.filter(method=FOLLOW_UP_METHOD, kind=FollowUpName.CONFIRM).exists()


def _decline(campaign: Campaign, text: str, *, level: str) -> None:
    campaign.plan = {**campaign.plan, PLAN_KEY: {**campaign.plan[PLAN_KEY], "outcome": text}}
    campaign.save(update_fields=["plan"])
    for run_id in campaign.runs.values_list("pk", flat=True):
        log_event(run_id, text, level=level)
