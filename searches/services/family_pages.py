"""What the pages of regression families show: the list, one family with its members and its history."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ObjectDoesNotExist
from django.db.models import Count, OuterRef, QuerySet, Subquery

from searches.enums import FamilyKind, FollowUpName
from searches.models import (
    Campaign,
    Canary,
    FamilyMember,
    FollowUpSource,
    RegressionFamily,
    SearchRun,
    SutRecord,
)

SHOWN_REGRESSIONS = 20


@dataclass(frozen=True)
class RegressionLine:
    """One regression of a family in a list.

    Attributes:
        verdict: as it was stored when the last run ended; "" before.
        counts: modes by verdict, as stored with it.
        state: of its runs together, for the badge: "running", "queued", "paused", "failed" or "done".
    """

    campaign: Campaign
    baseline: SutRecord | None
    candidate: SutRecord | None
    verdict: str
    counts: tuple[tuple[str, int], ...]
    state: str


@dataclass(frozen=True)
class MemberLine:
    """One pinned mode or case, with its verdicts over the last regressions, newest first.

    Attributes:
        history: (campaign, verdict word, sentence) a regression.
    """

    member: FamilyMember
    history: tuple[tuple[int, str, str], ...]


@dataclass(frozen=True)
class FamilyPage:
    """A family as its page shows it."""

    family: RegressionFamily
    members: tuple[MemberLine, ...]
    regressions: tuple[RegressionLine, ...]
    n_regressions: int
    canaries: tuple[Canary, ...]

    @property
    def domain_ref(self) -> str:
        """Domain and version of its sets."""
        return f"{self.family.domain}@{self.family.domain_version}"

    @property
    def has_cases(self) -> bool:
        """Whether it pins test cases."""
        return self.family.kind == FamilyKind.CASES


def listed_families(*, with_archived: bool = False) -> QuerySet[RegressionFamily]:
    """Return families with what a row of the list needs: how many members, and the newest regression."""
    newest = FollowUpSource.objects.filter(
        family=OuterRef("pk"), campaign__kind=FollowUpName.REGRESS
    ).order_by("-campaign_id")
    rows = (
        RegressionFamily.objects.select_related("baseline")
        .order_by("name")
        .annotate(
            n_members=Count("members", distinct=True),
            last_campaign=Subquery(newest.values("campaign_id")[:1]),
            last_spec=Subquery(newest.values("spec")[:1]),
        )
    )
    return rows if with_archived else rows.filter(is_archived=False)


def find_family(slug: str) -> RegressionFamily | None:
    """Return a family by its short name."""
    return RegressionFamily.objects.select_related("baseline", "created_by").filter(slug=slug).first()


def family_page(family: RegressionFamily) -> FamilyPage:
    """Return what the page of a family shows, in a fixed number of queries."""
    sources = (
        FollowUpSource.objects.filter(family=family, campaign__kind=FollowUpName.REGRESS)
        .select_related("campaign")
        .order_by("-campaign_id")
    )
    total = sources.count()
    shown = list(sources[:SHOWN_REGRESSIONS])
    members = family.members.select_related(
        "finding__sut", "finding__run__campaign", "case__modality_run__run__sut"
    )  # fmt: skip
    canaries = family.canaries.select_related("sut", "last_campaign__source")
    return FamilyPage(
        family=family,
        members=tuple(MemberLine(member, _history(member, shown)) for member in members),
        regressions=tuple(regression_lines(shown)),
        n_regressions=total,
        canaries=tuple(canaries),
    )


def regression_lines(sources: Sequence[FollowUpSource]) -> list[RegressionLine]:
    """Return lines for regressions (two queries, whatever their number)."""
    suts = SutRecord.objects.in_bulk(
        {pk for one in sources for pk in (one.spec.get("baseline"), one.spec.get("candidate")) if pk}
    )
    states: dict[int, list[str]] = {}
    rows = SearchRun.objects.filter(campaign__in=[one.campaign_id for one in sources]).order_by()
    for campaign_id, state in rows.values_list("campaign_id", "state"):
        states.setdefault(campaign_id, []).append(state)
    return [
        RegressionLine(
            campaign=one.campaign,
            baseline=suts.get(one.spec.get("baseline")),
            candidate=suts.get(one.spec.get("candidate")),
            verdict=one.spec.get("verdict", ""),
            counts=tuple(dict(one.spec.get("counts", {})).items()),
            state=state_of(states.get(one.campaign_id, [])),
        )
        for one in sources
    ]


def state_of(states: Sequence[str]) -> str:
    """Return the state of several runs together, the one that needs a person first."""
    order = ("failed", "paused", "running", "cancelling", "queued", "cancelled", "succeeded")
    return next((state for state in order if state in states), "succeeded")


def source_of(campaign: Campaign) -> FollowUpSource | None:
    """Return what a follow-up was started from."""
    try:
        return campaign.source
    except ObjectDoesNotExist:
        return None


def _history(member: FamilyMember, sources: Sequence[FollowUpSource]) -> tuple[tuple[int, str, str], ...]:
    found = []
    for source in sources:
        modes: dict[str, Any] = source.spec.get("modes", {})
        one = modes.get(str(member.pk))
        if one:
            found.append((source.campaign_id, str(one["verdict"]), str(one["sentence"])))
    return tuple(found)
