"""What a follow-up decides once a run of it has ended: one function for each kind, written into findings."""

from collections.abc import Callable

from searches.enums import CASE_METHOD, FOLLOW_UP_METHOD
from searches.models import Campaign
from searches.services.cards import settle_cards
from searches.services.case_settling import settle_cases
from searches.services.follow_up_ablating import settle_ablation
from searches.services.follow_up_confirming import settle_confirmation
from searches.services.follow_up_families import root_of
from searches.services.regression_settling import settle_regression

Settler = Callable[[Campaign], None]

SETTLERS: dict[str, Settler] = {
    "confirm": settle_confirmation,
    "ablate": settle_ablation,
    "regress": settle_regression,
    "envelope": settle_cards,
}
"""Kind of a follow-up of concept sets -> what it decides; kinds without one only measure.

Each sees all items of the campaign, is called in the transaction that ends a run, and may be called again.
"""

CASE_SETTLERS: dict[str, Settler] = {"confirm": settle_cases, "regress": settle_regression}
"""The same for follow-ups of test cases."""

_TABLES = {FOLLOW_UP_METHOD: SETTLERS, CASE_METHOD: CASE_SETTLERS}


def settle(campaign: Campaign) -> None:
    """Write what a follow-up has decided, inside the caller's transaction; again does no harm.

    Runs that end at the same time take turns, so that the last one sees all others ended; so do follow-ups of
    one search, because they write into the same findings.
    """
    settler = _TABLES.get(campaign.method, {}).get(campaign.kind)
    if settler is None:
        return
    held = Campaign.objects.filter(pk__in={campaign.pk, root_of(campaign).pk}).order_by("pk")
    list(held.select_for_update().values_list("pk"))
    settler(campaign)
