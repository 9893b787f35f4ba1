"""What only one kind of follow-up shows: drops of an ablation, recognition of a probe, cells of a design."""

from collections.abc import Mapping
from dataclasses import dataclass

from searches.enums import CASE_METHOD, FollowUpName
from searches.models import Campaign, FollowUpItem, Trial
from searches.services.follow_up_lists import fills_coverage
from searches.services.follow_up_pages import FollowUpPage, ItemLine, item_lines, trials_in_block
from vlmlab.web.asked import asked_number

ITEMS = "searches/follow_up_items.html"
KIND_PARTS: Mapping[str, str] = {
    FollowUpName.ABLATE: "searches/follow_up_ablate.html",
    FollowUpName.PROBE: "searches/follow_up_probe.html",
    FollowUpName.INTERACT: "searches/follow_up_interact.html",
    FollowUpName.TRANSFER: "searches/follow_up_transfer.html",
    FollowUpName.REGRESS: "searches/follow_up_regress.html",
    FollowUpName.ENVELOPE: "searches/follow_up_envelope.html",
}


@dataclass(frozen=True)
class Arm:
    """One set, asked in one way, on the scenes of an item."""

    trial: Trial
    label: str


@dataclass(frozen=True)
class ItemPage:
    """One item with the sets that were asked on its scenes.

    Attributes:
        trial: the one whose scenes are shown; None where none was asked.
        arms: all of them, the item's own set first.
    """

    line: ItemLine
    trial: Trial | None
    arms: list[Arm]


def item_page(campaign: Campaign, item: FollowUpItem, *, of: str) -> ItemPage:
    """Return one item with its arms.

    Args:
        campaign: its follow-up.
        item: with run, system and campaign fetched.
        of: number of the trial whose scenes are shown; anything else shows those of the item itself.
    """
    [line] = item_lines([item])
    trials = [] if campaign.method == CASE_METHOD else trials_in_block(item)
    arms = [Arm(trial, _label(trial, item)) for trial in trials]
    wanted = asked_number(of)
    shown = next((arm.trial for arm in arms if arm.trial.pk == wanted), arms[0].trial if arms else None)
    if shown is not None:
        shown.run = item.run
    return ItemPage(line, shown, arms)


def kind_parts(page: FollowUpPage) -> tuple[str, ...]:
    """Return the templates of its items, what only this kind shows first; the first that exists is drawn."""
    if page.is_of_cases:
        return "searches/follow_up_cases.html", ITEMS
    own = None if fills_coverage(page.campaign) else KIND_PARTS.get(page.campaign.kind)
    return (own, ITEMS) if own else (ITEMS,)


def _label(trial: Trial, item: FollowUpItem) -> str:
    own, shown = set(item.concepts), set(trial.concepts)
    how = ", with statements" if trial.variant == "statements" else ""
    if own == shown:
        return f"The set itself{how}"
    if shown < own:
        return f"Without {len(own - shown)}{how}"
    return f"Another set{how}"
