"""Which suspects are confirmed together: one family a campaign, and a line of those that come later."""

from collections.abc import Sequence
from dataclasses import dataclass

from searches.enums import CASE_METHOD, FOLLOW_UP_METHOD, FindingState, FollowUpName
from searches.models import Campaign, FollowUpItem
from vlmlab.core.complaints import checked_settings
from vlmlab.core.verdicts.config import ConfirmConfig

FOLLOW_UPS_OF = frozenset({FOLLOW_UP_METHOD, CASE_METHOD})
SET_WHEN_STORED = ("family_size", "later_index", "later_discoveries")
"""Settings of a confirmation that its place decides, not the person who starts it."""


@dataclass(frozen=True)
class FamilyPlace:
    """Where suspects stand that are to be confirmed now.

    Attributes:
        family_size: suspects of the family, which the first confirmation of a campaign fixes.
        later_index: place of the first of them in the line of later suspects, from 1; None for the family.
        later_discoveries: how many of those before them in the line were confirmed.
    """

    family_size: int
    later_index: int | None = None
    later_discoveries: int = 0


def root_of(campaign: Campaign) -> Campaign:
    """Return the search that suspects come from, also of follow-ups of follow-ups."""
    seen = {campaign.pk}
    while (
        campaign.method in FOLLOW_UPS_OF and campaign.follows is not None and campaign.follows_id not in seen
    ):
        campaign = campaign.follows
        seen.add(campaign.pk)
    return campaign


def campaigns_below(root: Campaign) -> list[int]:
    """Return the numbers of a search and of all follow-ups of it, those of follow-ups included."""
    found, wave = [root.pk], [root.pk]
    while wave:
        below = Campaign.objects.filter(follows__in=wave).exclude(pk__in=found).values_list("pk", flat=True)
        wave = list(below)
        found += wave
    return found


def family_place(root: Campaign, n_items: int) -> FamilyPlace:
    """Return where ``n_items`` suspects would stand that are confirmed next.

    The first confirmation fixes the family. What is confirmed later was not counted in it, so it stands in a
    line with its own part of the error rate (e-LOND), in the order in which confirmations were stored.
    """
    before = [one for one in _confirmations(root) if one.config.get("protocol") == "sequential"]
    if not before:
        return FamilyPlace(n_items)
    later = [one.pk for one in before if one.config.get("later_index") is not None]
    items = FollowUpItem.objects.filter(campaign__in=later)
    return FamilyPlace(
        int(before[0].config.get("family_size", 1)),
        items.count() + 1,
        items.filter(state=FindingState.CONFIRMED).count(),
    )


def placed(config: ConfirmConfig, place: FamilyPlace) -> ConfirmConfig:
    """Return the settings of a confirmation at its place.

    Raises:
        ConfigError: it is in the line of later suspects, which its settings leave nothing for.
    """
    values = {name: getattr(place, name) for name in SET_WHEN_STORED}
    return checked_settings(ConfirmConfig, config.model_dump() | values)


def hold_family(root: Campaign) -> None:
    """Let confirmations of a campaign be stored one after the other, inside the caller's transaction."""
    list(Campaign.objects.select_for_update().filter(pk=root.pk).values_list("pk"))


def _confirmations(root: Campaign) -> Sequence[Campaign]:
    rows = Campaign.objects.filter(method=FOLLOW_UP_METHOD, kind=FollowUpName.CONFIRM, follows=root)
    return list(rows.order_by("pk"))
