"""What an explanation is about: a run, a system of a campaign, or all a system was asked in a domain."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from django.db.models import Count, Max, Q, QuerySet

from searches.enums import CONCEPT_METHOD, FOLLOW_UP_METHOD
from searches.models import Campaign, SceneFlag, SearchRun, SutRecord
from searches.services.concept_runs import concept_campaigns, concept_runs
from searches.services.domain_store import find_domain
from searches.services.finding_lists import mark_of, stops_early
from searches.services.live import config_of
from vlmlab.core.revelio.config import RevelioConfig
from vlmlab.core.scenes.concepts import Domain

SCOPES = ("run", "campaign", "system")


@dataclass(frozen=True)
class Scope:
    """The searches of one system in one version of a domain, with the follow-ups that settle them.

    Attributes:
        kind: ``run``, ``campaign`` or ``system``; ``pk`` is of that row.
        campaign: of a run or campaign; None for a system.
        sut: the one system.
        domain: the version that was searched.
        searches: runs of searches, oldest first.
        follow_ups: runs of follow-ups of the same system.
        suts: systems that the same page can show instead.
        domain_refs: versions of domains that the same page can show instead.
    """

    kind: str
    pk: int
    campaign: Campaign | None
    sut: SutRecord
    domain: Domain
    searches: tuple[SearchRun, ...]
    follow_ups: tuple[SearchRun, ...]
    suts: tuple[SutRecord, ...] = ()
    domain_refs: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """What it is, in words."""
        if self.kind == "run":
            return f"Run {self.pk}"
        return self.campaign.name if self.campaign else self.sut.name

    @property
    def origin(self) -> SearchRun | Campaign | SutRecord:
        """The row that the page belongs to."""
        if self.kind == "run":
            return self.searches[0]
        return self.campaign or self.sut

    @property
    def runs(self) -> tuple[SearchRun, ...]:
        """All runs."""
        return (*self.searches, *self.follow_ups)

    @property
    def whole(self) -> tuple[SearchRun, ...]:
        """Searches that ask every set as often as planned, so that k/n is a rate."""
        return tuple(run for run in self.searches if not stops_early(run.campaign.config))

    @cached_property
    def config(self) -> RevelioConfig:
        """Settings of the newest search.

        Raises:
            VlmLabError: they are not known to this version.
        """
        return config_of(self.searches[-1])

    @cached_property
    def mark(self) -> str:
        """A text that changes whenever a number may: a key for what is kept in memory (one query)."""
        flags = SceneFlag.objects.filter(sample__run__in=[run.pk for run in self.runs])
        said = flags.aggregate(last=Max("pk"), withdrawn=Count("withdrawn_at"))
        states = "|".join(mark_of(run) for run in self.runs)
        return f"{self.domain.ref}|{states}|{said['last']}|{said['withdrawn']}"

    @property
    def query(self) -> str:
        """What an address needs beside the scope."""
        if self.kind == "campaign":
            return f"sut={self.sut.slug}"
        return f"domain={self.domain.ref}" if self.kind == "system" else ""


def find_scope(kind: str, pk: int, *, sut: str = "", domain_ref: str = "") -> Scope | None:
    """Return what an address names, None where nothing was searched there.

    Args:
        kind: one of ``SCOPES``.
        pk: of run, campaign or system.
        sut: slug of the system of a campaign; the one with most answers otherwise.
        domain_ref: domain version of a system; that of its newest search otherwise.
    """
    if kind == "run":
        return _run_scope(pk)
    if kind == "campaign":
        return _campaign_scope(pk, sut)
    return _system_scope(pk, domain_ref) if kind == "system" else None


def follow_up_runs(sut_id: int, domain: Domain) -> QuerySet[SearchRun]:
    """Return the runs of follow-ups that asked a system in a version of a domain, oldest first."""
    rows = SearchRun.objects.filter(sut_id=sut_id, campaign__method=FOLLOW_UP_METHOD)
    rows = rows.filter(campaign__domain=domain.slug, campaign__domain_version=domain.version)
    return rows.select_related("campaign", "sut").order_by("pk")


def _run_scope(pk: int) -> Scope | None:
    run = concept_runs().select_related("campaign", "sut").filter(pk=pk).first()
    if run is None:
        return None
    domain = find_domain(run.campaign.domain_ref)
    later = tuple(_settling(run.campaign, run.sut_id, domain))
    return Scope("run", pk, run.campaign, run.sut, domain, (run,), later)


def _campaign_scope(pk: int, slug: str) -> Scope | None:
    campaign = concept_campaigns().filter(pk=pk).first()
    if campaign is None:
        return None
    runs = list(campaign.runs.select_related("campaign", "sut").order_by("pk"))
    if not runs:
        return None
    chosen = _chosen_sut(runs, slug)
    domain = find_domain(campaign.domain_ref)
    return Scope(
        "campaign",
        pk,
        campaign,
        chosen,
        domain,
        tuple(run for run in runs if run.sut_id == chosen.pk),
        tuple(_settling(campaign, chosen.pk, domain)),
        suts=tuple({run.sut_id: run.sut for run in runs}.values()),
    )


def _chosen_sut(runs: Sequence[SearchRun], slug: str) -> SutRecord:
    named = next((run.sut for run in runs if run.sut.slug == slug), None)
    return named or max(runs, key=lambda run: (run.n_observations, -run.pk)).sut


def _system_scope(pk: int, domain_ref: str) -> Scope | None:
    rows = concept_runs().filter(sut_id=pk).select_related("campaign", "sut").order_by("pk")
    runs = [run for run in rows if run.campaign.method == CONCEPT_METHOD]
    if not runs:
        return None
    refs = list(dict.fromkeys(run.campaign.domain_ref for run in reversed(runs)))
    ref = domain_ref if domain_ref in refs else refs[0]
    domain = find_domain(ref)
    own = tuple(run for run in runs if run.campaign.domain_ref == ref)
    later = tuple(follow_up_runs(pk, domain))
    return Scope("system", pk, None, own[0].sut, domain, own, later, domain_refs=tuple(refs))


def _settling(campaign: Campaign, sut_id: int, domain: Domain) -> QuerySet[SearchRun]:
    """Return the follow-ups of a campaign, and theirs: what an ablation finds is confirmed in turn."""
    follows = Q(campaign__follows=campaign) | Q(campaign__follows__follows=campaign)
    return follow_up_runs(sut_id, domain).filter(follows)
