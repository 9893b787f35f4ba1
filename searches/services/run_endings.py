"""What follows from the end of a run: a follow-up settles, a search may get the confirmation it wished."""

from django.db import transaction

from searches.enums import CASE_METHOD, CONCEPT_METHOD, FOLLOW_UP_METHOD, MODALITY_METHOD
from searches.models import SearchRun
from searches.services.case_wanted import start_wanted_cases
from searches.services.follow_up_endings import close_early
from searches.services.follow_up_settling import settle
from searches.services.follow_up_wanted import start_wanted

FOLLOWING = (FOLLOW_UP_METHOD, CASE_METHOD)


def run_ended(run_id: int) -> None:
    """Do what follows from the end of a run; call it in the transaction that ended it, after its rows.

    Doing it again changes nothing.
    """
    run = SearchRun.objects.select_related("campaign").get(pk=run_id)
    if not run.is_final:
        return
    with transaction.atomic():
        if run.campaign.method in FOLLOWING:
            close_early(run)
            settle(run.campaign)
        elif run.campaign.method == CONCEPT_METHOD:
            start_wanted(run.campaign)
        elif run.campaign.method == MODALITY_METHOD:
            start_wanted_cases(run.campaign)
