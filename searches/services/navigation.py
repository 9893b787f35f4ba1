"""Cheap counts for the navigation: one query a page."""

from dataclasses import dataclass
from datetime import timedelta
from typing import TypeVar

from django.conf import settings
from django.db.models import CharField, Count, Model, QuerySet, Value
from django.utils import timezone

from searches.enums import CASE_METHOD, FOLLOW_UP_METHOD, LIVE_STATES, MODALITY_METHOD
from searches.models import (
    Campaign,
    Dataset,
    DomainRecord,
    Finding,
    PictureSource,
    SutRecord,
    WorkerHeartbeat,
)
from searches.services.concept_runs import concept_runs
from vlmlab.core.scenes.catalogue import DOMAIN_SLUGS

Row = TypeVar("Row", bound=Model)


@dataclass(frozen=True)
class NavCounts:
    """Numbers beside the links of the navigation; a text is empty where there is nothing to say."""

    suts: int
    domains: int
    sources: int
    datasets: int
    runs: str
    findings: int
    follow_ups: int
    profiles: int
    workers: str


def alive_workers() -> QuerySet[WorkerHeartbeat]:
    """Return the workers that reported themselves within a lease's time."""
    return WorkerHeartbeat.objects.filter(
        seen_at__gt=timezone.now() - timedelta(seconds=settings.LEASE_SECONDS), is_stopping=False
    )


def count_for_nav() -> NavCounts:
    """Return the counts of everything the navigation names, in one query."""
    own_domains = DomainRecord.objects.filter(is_archived=False).exclude(slug__in=DOMAIN_SLUGS)
    counts: dict[str, int] = dict(
        _counted(SutRecord.objects.all(), "suts").union(
            _counted(concept_runs().filter(state__in=LIVE_STATES), "live"),
            _counted(Finding.objects.all(), "findings"),
            _counted(Campaign.objects.filter(method__in=(FOLLOW_UP_METHOD, CASE_METHOD)), "follow_ups"),
            _counted(Campaign.objects.filter(method=MODALITY_METHOD), "profiles"),
            _counted(alive_workers(), "workers"),
            _counted(own_domains, "domains"),
            _counted(PictureSource.objects.all(), "sources"),
            _counted(Dataset.objects.all(), "datasets"),
            all=True,
        )
    )
    live, workers = counts.get("live", 0), counts.get("workers", 0)
    return NavCounts(
        suts=counts.get("suts", 0),
        domains=len(DOMAIN_SLUGS) + counts.get("domains", 0),
        sources=counts.get("sources", 0),
        datasets=counts.get("datasets", 0),
        runs=f"{live} live" if live else "",
        findings=counts.get("findings", 0),
        follow_ups=counts.get("follow_ups", 0),
        profiles=counts.get("profiles", 0),
        workers=str(workers) if workers else "none",
    )


def _counted(rows: QuerySet[Row], what: str) -> QuerySet[Row, tuple[str, int]]:
    counted: QuerySet[Row, tuple[str, int]] = (
        rows.order_by()
        .annotate(what=Value(what, output_field=CharField()))
        .values("what")
        .annotate(number=Count("pk"))
        .values_list("what", "number")
    )
    return counted
