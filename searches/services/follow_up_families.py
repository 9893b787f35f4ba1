"""Which suspects are confirmed together: one family a campaign, and a line of those that come later."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from searches.enums import CASE_METHOD, FOLLOW_UP_METHOD, FindingState, FollowUpName
from searches.models import Campaign, FollowUpItem
from vlmlab.core.complaints import checked_settings
from vlmlab.core.verdicts.config import ConfirmConfig

FOLLOW_UPS_OF = frozenset({FOLLOW_UP_METHOD, CASE_METHOD})
SET_WHEN_STORED = ("family_size", "later_index", "later_discoveries")
"""Settings of a confirmation that its place decides, not the person who starts it."""
LEVELS = ("fdr_level", "later_share")
"""Settings that the first confirmation of a campaign fixes for all later ones: they share one error rate."""


@dataclass(frozen=True)
class FamilyPlace:
    """Where suspects stand that are to be confirmed now.

    Attributes:
        family_size: suspects of the family, which the first confirmation of a campaign fixes.
        later_index: place of the first of them in the line of later suspects, from 1; None for the family.
        later_discoveries: how many of those before them in the line were confirmed.
        levels: false discovery rate and its split, as the first confirmation fixed them; none before it.
    """

    family_size: int
    later_index: int | None = None
    later_discoveries: int = 0
    levels: Mapping[str, float] = field(default_factory=dict)


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


def family_place(
    root: Campaign, n_items: int, *, method: str = FOLLOW_UP_METHOD, is_later: bool = False
) -> FamilyPlace:
    """Return where ``n_items`` suspects would stand that are confirmed next.

    The first confirmation fixes the family. What is confirmed later was not counted in it, so it stands in a
    line with its own part of the error rate (e-LOND), in the order in which confirmations were stored. The
    rate itself and its split are those of the first: otherwise the parts would not add up to it.

    Args:
        root: the search.
        n_items: how many suspects.
        method: of the follow-up.
        is_later: they stand in the line even if no family is fixed yet.
    """
    before = _confirmations(root, method)
    levels = levels_of(before[0].config) if before else {}
    family = [one for one in before if one.config.get("later_index") is None]
    if not family and not is_later:
        return FamilyPlace(n_items, levels=levels)
    items = FollowUpItem.objects.filter(campaign__in=[one.pk for one in before if one not in family])
    return FamilyPlace(
        int(family[0].config.get("family_size", 1)) if family else n_items,
        items.count() + 1,
        items.filter(state=FindingState.CONFIRMED).count(),
        levels,
    )


def fixed_levels(root: Campaign, *, method: str = FOLLOW_UP_METHOD) -> dict[str, float]:
    """Return the false discovery rate and its split that a campaign is held to; nothing while it is free."""
    before = _confirmations(root, method)
    return levels_of(before[0].config) if before else {}


def levels_of(config: Mapping[str, Any]) -> dict[str, float]:
    """Return the settings of a confirmation that those after it share."""
    return {name: config[name] for name in LEVELS if name in config}


def placed(config: ConfirmConfig, place: FamilyPlace) -> ConfirmConfig:
    """Return the settings of a confirmation at its place.

    Raises:
        ConfigError: it is in the line of later suspects, which its settings leave nothing for.
    """
    values = {name: getattr(place, name) for name in SET_WHEN_STORED} | dict(place.levels)
    return checked_settings(ConfirmConfig, config.model_dump() | values)


def hold_family(root: Campaign) -> None:
    """Let confirmations of a campaign be stored one after the other, inside the caller's transaction."""
    list(Campaign.objects.select_for_update().filter(pk=root.pk).values_list("pk"))


def _confirmations(root: Campaign, method: str) -> Sequence[Campaign]:
    """Return the sequential confirmations of a campaign, the first one first."""
    rows = Campaign.objects.filter(method=method, kind=FollowUpName.CONFIRM, follows=root).order_by("pk")
    return [one for one in rows if one.config.get("protocol") == "sequential"]
