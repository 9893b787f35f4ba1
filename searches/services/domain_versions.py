"""The versions of a domain as its page lists them, and what changed between two of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count

from searches.models import Campaign, DomainRecord, DomainVersion
from searches.services.domain_diffs import ChangeGroup, compare_contents
from searches.services.domain_store import content_of
from vlmlab.core.errors import ConceptError
from vlmlab.core.scenes.catalogue import DOMAIN_SLUGS, load_domain


@dataclass(frozen=True)
class VersionLine:
    """One version.

    Attributes:
        version: 12 hex digits.
        number: 1 is the first content stored here; 0 where it is not stored (the lab's own).
        note: what was changed.
        who, created_at: by whom and when; "" and None for the lab's own.
        is_current: whether new searches use it.
        is_built_in: whether this lab brings it.
        n_searches: searches that name it.
        previous: the version before it; "" for the first.
    """

    version: str
    number: int
    note: str
    who: str
    created_at: datetime | None
    is_current: bool
    is_built_in: bool
    n_searches: int
    previous: str


def find_record(slug: str) -> DomainRecord | None:
    """Return the row of a domain: none for a built-in one as the lab brings it.

    Raises:
        ConceptError: there is no such domain.
    """
    row = DomainRecord.objects.filter(slug=slug).first()
    if row is None and slug not in DOMAIN_SLUGS:
        raise ConceptError(f"There is no domain “{slug}”.", field="domain")
    return row


def version_lines(slug: str, record: DomainRecord | None) -> list[VersionLine]:
    """Return the versions of a domain, the newest first."""
    rows = list(
        DomainVersion.objects.filter(slug=slug)
        .select_related("created_by")
        .defer("content")
        .order_by("-number")
    )
    built_in = load_domain(slug).version if slug in DOMAIN_SLUGS else ""
    current = record.version if record else built_in
    searches: Mapping[str, int] = dict(
        Campaign.objects.filter(domain=slug).order_by().values_list("domain_version").annotate(n=Count("pk"))
    )
    before = [*(row.version for row in rows[1:]), *([""] if rows else [])]
    lines = [
        VersionLine(
            version=row.version,
            number=row.number,
            note=row.note,
            who=row.created_by.get_username() if row.created_by else "",
            created_at=row.created_at,
            is_current=row.version == current,
            is_built_in=row.version == built_in,
            n_searches=searches.get(row.version, 0),
            previous=previous,
        )
        for row, previous in zip(rows, before, strict=True)
    ]
    if built_in and all(line.version != built_in for line in lines):
        own = VersionLine(
            built_in, 0, "As the lab brings it", "", None, current == built_in, True,
            searches.get(built_in, 0), lines[0].version if lines else "",
        )  # fmt: skip
        lines.insert(0, own)
    return lines


def changes_between(slug: str, before: str, after: str) -> tuple[ChangeGroup, ...]:
    """Return what changed between two versions.

    Raises:
        ConceptError: there is no such version.
    """
    old: Mapping[str, Any] = content_of(slug, before)
    return compare_contents(old, content_of(slug, after))
