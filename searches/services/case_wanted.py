"""The confirmation that a modality campaign wished for: started once, when its last run has ended."""

from django.db import transaction
from django.db.models import Exists, OuterRef

from searches.enums import CASE_METHOD, FINAL_STATES, MODALITY_METHOD, FollowUpName, RunState
from searches.models import Campaign, SearchRun
from searches.services.case_wishes import confirm_cases_wish, confirmations_of
from searches.services.follow_ups import create_follow_up
from searches.services.run_log import log_event
from vlmlab.core.errors import VlmLabError

PLAN_KEY, OUTCOME_KEY = "confirm_most", "confirm_outcome"  # in Campaign.plan
MOST_AT_ONCE = 20
_NOT_ENDED = [state for state in RunState if state not in FINAL_STATES]


def wished_most(campaign: Campaign) -> int | None:
    """Return how many cases a campaign wishes to have confirmed at most; None where it wishes none."""
    most = campaign.plan.get(PLAN_KEY)
    return most if isinstance(most, int) and most > 0 and not campaign.plan.get(OUTCOME_KEY) else None


def start_wanted_cases(campaign: Campaign) -> Campaign | None:
    """Start the confirmation that a campaign wished for; None while it is not due, or where it cannot be.

    The family is what fails now: it is fixed here. Runs that end at the same time take turns. A confirmation
    that cannot be started leaves a line in the log and is not tried again. Call it inside a transaction.
    """
    if wished_most(campaign) is None or _is_unfinished(campaign):
        return None
    campaign = Campaign.objects.select_for_update().get(pk=campaign.pk)
    most = wished_most(campaign)
    if most is None or _is_unfinished(campaign):
        return None
    if confirmations_of(campaign).exists() or not campaign.runs.exclude(state=RunState.FAILED).exists():
        return None
    try:
        with transaction.atomic():
            return create_follow_up(confirm_cases_wish(campaign, most=most), by=campaign.created_by)
    except VlmLabError as error:
        text = f"No confirmation was started: {error}"
        campaign.plan = {**campaign.plan, OUTCOME_KEY: text}
        campaign.save(update_fields=["plan"])
        last = campaign.runs.order_by("-finished_at").values_list("pk", flat=True).first()
        if last is not None:
            log_event(last, text)
    return None


def start_missing_cases() -> list[Campaign]:
    """Start every confirmation that is due and was not started: campaigns may end by another way."""
    waiting = Campaign.objects.filter(method=MODALITY_METHOD, plan__has_key=PLAN_KEY)
    waiting = waiting.exclude(plan__has_key=OUTCOME_KEY).exclude(runs__state__in=_NOT_ENDED)
    ended_well = SearchRun.objects.filter(campaign=OuterRef("pk")).exclude(state=RunState.FAILED)
    waiting = waiting.filter(Exists(ended_well))  # one of which all runs failed waits and takes nobody's turn
    of_campaign = Campaign.objects.filter(
        follows=OuterRef("pk"), method=CASE_METHOD, kind=FollowUpName.CONFIRM
    )
    waiting = waiting.exclude(Exists(of_campaign.filter(config__later_index=None)))
    made = []
    for campaign in waiting.order_by("pk")[:MOST_AT_ONCE]:
        with transaction.atomic():
            started = start_wanted_cases(campaign)
        if started is not None:
            made.append(started)
    return made


def _is_unfinished(campaign: Campaign) -> bool:
    return campaign.runs.filter(state__in=_NOT_ENDED).exists()
