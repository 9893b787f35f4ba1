"""Lists of follow-ups: what each follows, how far it is, what it came to and what it cost."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from django.db.models import Count, QuerySet, Sum

from searches.enums import CASE_METHOD, FOLLOW_UP_METHOD, LIVE_STATES, FollowUpName, RunState
from searches.models import Campaign, FollowUpItem, SearchRun
from searches.services.follow_up_wished import COVERAGE
from searches.services.modality_progress import progress_of_many, state_of

FOLLOW_UP_METHODS = (FOLLOW_UP_METHOD, CASE_METHOD)


@dataclass(frozen=True)
class FollowUpLine:
    """One row of the list.

    Attributes:
        suts: names of its systems.
        state: of the campaign as a whole.
        by_state: its items by their state, "" for open ones.
        n_inferences, spend_usd: what all its runs have taken.
    """

    campaign: Campaign
    suts: tuple[str, ...]
    state: RunState
    by_state: dict[str, int] = field(default_factory=dict)
    n_inferences: int = 0
    spend_usd: float = 0.0

    @property
    def kind_title(self) -> str:
        """What it does."""
        return kind_title(self.campaign)

    @property
    def follows(self) -> Campaign | None:
        """The search whose suspects it looks at; None where it looks at a system as a whole."""
        is_of_system = self.campaign.kind == FollowUpName.INTERACT or fills_coverage(self.campaign)
        return None if is_of_system else self.campaign.follows

    @property
    def n_items(self) -> int:
        """Everything that it settles."""
        return sum(self.by_state.values())

    @property
    def n_settled(self) -> int:
        """What it has settled so far."""
        return self.n_items - self.by_state.get("", 0)

    @property
    def is_at_work(self) -> bool:
        """Whether anything of it waits or works."""
        return self.state in LIVE_STATES

    @property
    def is_confirming(self) -> bool:
        """Whether it is a confirmation at work."""
        return self.is_at_work and self.campaign.kind == FollowUpName.CONFIRM

    @property
    def outcome(self) -> str:
        """What it came to, in words: ``7 confirmed, 2 refuted``."""
        return outcome_words(self.by_state)


def fills_coverage(campaign: Campaign) -> bool:
    """Return whether a follow-up asks sets that fill gaps of coverage, and so is no transfer."""
    source = getattr(campaign, "source", None)
    return source is not None and source.spec.get("purpose") == COVERAGE


def kind_title(campaign: Campaign) -> str:
    """Return the name of what a follow-up does: ``Confirmation``."""
    if fills_coverage(campaign):
        return "Gaps of coverage"
    return FollowUpName(campaign.kind).label if campaign.kind in FollowUpName.values else campaign.kind


def follow_up_campaigns() -> QuerySet[Campaign]:
    """Return all follow-ups with what they follow, newest first."""
    rows = Campaign.objects.filter(method__in=FOLLOW_UP_METHODS)
    return rows.select_related("follows", "created_by", "source").order_by("-id")


def follow_up_campaign(pk: int) -> Campaign | None:
    """Return one follow-up with what it follows and what it was started from."""
    rows = follow_up_campaigns().select_related("source__family", "source__envelope", "experiment")
    return rows.filter(pk=pk).first() if pk < 2**63 else None


def follow_ups_of(campaign: Campaign) -> QuerySet[Campaign]:
    """Return the follow-ups of a search, newest first."""
    return follow_up_campaigns().filter(follows=campaign)


def follow_up_lines(campaigns: Sequence[Campaign]) -> list[FollowUpLine]:
    """Return the rows of follow-ups (three queries however many they are)."""
    if not campaigns:
        return []
    states = progress_of_many(campaigns)
    items: dict[int, Counter[str]] = defaultdict(Counter)
    counted = FollowUpItem.objects.filter(campaign__in=campaigns).order_by().values("campaign_id", "state")
    for row in counted.annotate(number=Count("pk")):
        items[row["campaign_id"]][row["state"]] = row["number"]
    spent: dict[int, list[tuple[str, int, float]]] = defaultdict(list)
    by_sut = SearchRun.objects.filter(campaign__in=campaigns).order_by("sut__name")
    summed = by_sut.values_list("campaign_id", "sut__name").annotate(Sum("n_inferences"), Sum("spend_usd"))
    for campaign_id, name, asked, usd in summed:
        spent[campaign_id].append((name, asked or 0, usd or 0.0))
    return [
        FollowUpLine(
            campaign=one,
            suts=tuple(name for name, *_ in spent[one.pk]),
            state=state_of(states[one.pk]),
            by_state=dict(items[one.pk]),
            n_inferences=sum(asked for _, asked, _ in spent[one.pk]),
            spend_usd=sum(usd for *_, usd in spent[one.pk]),
        )
        for one in campaigns
    ]


def outcome_words(by_state: dict[str, int]) -> str:
    """Return what items came to, the weightiest first: ``7 confirmed, 2 refuted, 3 undetermined``."""
    known = ("confirmed", "refuted", "undetermined", "suspected")
    others = sorted(set(by_state) - {*known, ""})
    parts = [
        f"{by_state[state]:,} {state.replace('_', ' ')}" for state in (*known, *others) if by_state.get(state)
    ]
    return ", ".join(parts)
