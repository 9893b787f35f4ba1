"""Every domain of the site: the built-in ones, those that people made, and each version that a run names."""

import re
import time
from functools import lru_cache

from django.db import IntegrityError, transaction
from django.db.models import Max

from searches.models import DomainRecord, DomainVersion
from vlmlab.core.errors import ConceptError
from vlmlab.core.scenes.catalogue import (
    DOMAIN_SLUGS,
    built_in_content,
    domain_from,
    load_domain,
    shipped_domain,
)
from vlmlab.core.scenes.concepts import Domain

TRIES_FOR_A_NUMBER = 5
MOST_MISSING = 1_000
MISSING_SECONDS = 10  # another process may keep the version any moment
VERSION = re.compile(r"[0-9a-f]{12}")


def find_domain(ref: str) -> Domain:
    """Return a domain.

    Args:
        ref: ``slug`` for the version that new searches use, or ``slug@version`` for one that a run names.
            A version that was never kept (older than this site) is shown as the domain is today, a
            built-in one as the lab comes with it.

    Raises:
        ConceptError: there is no such domain.
    """
    slug, _, version = ref.partition("@")
    if version:
        found = _kept_version(slug, version, was_missing_will_do=True)
        if found is not None:
            return found
        if slug in DOMAIN_SLUGS:
            return load_domain(slug)
    return current_domain(slug)


def current_domain(slug: str) -> Domain:
    """Return the version of a domain that new searches use.

    Raises:
        ConceptError: there is no such domain.
    """
    version = DomainRecord.objects.filter(slug=slug).values_list("version", flat=True).first()
    found = _kept_version(slug, version) if version else None
    if found is not None:
        return found
    if slug in DOMAIN_SLUGS:
        return load_domain(slug)
    raise ConceptError(
        f"There is no domain “{slug}”.", hint=f"Known: {', '.join(domain_slugs())}.", field="domain"
    )


def shell_domain(slug: str) -> Domain:
    """Return a built-in domain as the lab comes with it, which needs no database, or one that the site keeps.

    Raises:
        ConceptError: there is no such domain.
    """
    return load_domain(slug) if slug in DOMAIN_SLUGS else current_domain(slug)


def domain_slugs(*, with_archived: bool = False) -> tuple[str, ...]:
    """Return the slugs of all domains, the built-in ones first."""
    rows = DomainRecord.objects.all() if with_archived else DomainRecord.objects.filter(is_archived=False)
    own = [slug for slug in rows.values_list("slug", flat=True) if slug not in DOMAIN_SLUGS]
    return (*DOMAIN_SLUGS, *own)


def current_domains() -> tuple[Domain, ...]:
    """Return all domains as new searches use them, the built-in ones first."""
    versions = dict(DomainRecord.objects.filter(is_archived=False).values_list("slug", "version"))
    own = [slug for slug in versions if slug not in DOMAIN_SLUGS]
    found = []
    for slug in (*DOMAIN_SLUGS, *own):
        kept = _kept_version(slug, versions[slug]) if slug in versions else load_domain(slug)
        found.append(kept or current_domain(slug))
    return tuple(found)


def archived_domains() -> list[DomainRecord]:
    """Return the rows of the domains that nobody can choose for the time being."""
    return list(DomainRecord.objects.filter(is_archived=True))


def check_usable(domain: Domain) -> None:
    """Refuse a domain for new searches when it is archived.

    Raises:
        ConceptError: it is archived.
    """
    if DomainRecord.objects.filter(slug=domain.slug, is_archived=True).exists():
        raise ConceptError(
            f"The domain {domain.title} is archived.",
            hint="Bring it back on its page first, or choose another.",
            field="domain",
        )


def keep_domain(domain: Domain, *, by_id: int | None = None) -> None:
    """Store the content of a domain that a run will name: a later lab can still show and resume the run."""
    is_built_in = domain.slug in DOMAIN_SLUGS and load_domain(domain.slug).version == domain.version
    if is_built_in and not DomainVersion.objects.filter(slug=domain.slug, version=domain.version).exists():
        keep_version(built_in_content(domain.slug), note="As the lab brought it", by_id=by_id)


def content_of(slug: str, version: str = "") -> dict[str, object]:
    """Return the content of a version of a domain; of the one that new searches use without ``version``.

    Raises:
        ConceptError: there is no such domain or version.
    """
    wanted = version or current_domain(slug).version
    row = None
    if VERSION.fullmatch(wanted):
        row = DomainVersion.objects.filter(slug=slug, version=wanted).first()
    if row is not None:
        return dict(row.content)
    if slug in DOMAIN_SLUGS and load_domain(slug).version == wanted:
        return built_in_content(slug)
    raise ConceptError(
        f"The domain “{slug}” has no version “{wanted}”.", hint="Its page lists them.", field="version"
    )


def keep_version(content: dict[str, object], *, note: str = "", by_id: int | None = None) -> DomainVersion:
    """Store a domain's content unless this very content is stored; returns its row.

    Raises:
        ConceptError: the content is not a valid domain.
    """
    domain = domain_from(content)
    for tries_left in reversed(range(TRIES_FOR_A_NUMBER)):
        row = DomainVersion.objects.filter(slug=domain.slug, version=domain.version).first()
        if row is not None:
            return row
        last = DomainVersion.objects.filter(slug=domain.slug).aggregate(last=Max("number"))["last"] or 0
        try:
            with transaction.atomic():
                row = DomainVersion.objects.create(
                    slug=domain.slug,
                    version=domain.version,
                    number=last + 1,
                    content=content,
                    note=note,
                    created_by_id=by_id,
                )
        except IntegrityError:  # somebody else stored this content, or took the number, just now
            if not tries_left:
                raise
        else:
            _missing_until.pop((domain.slug, domain.version), None)
            return row
    raise AssertionError("unreachable")


def _kept_version(slug: str, version: str, *, was_missing_will_do: bool = False) -> Domain | None:
    """Return a kept version, or None.

    Args:
        slug: of the domain.
        version: which one.
        was_missing_will_do: whether a look of the last seconds that found nothing is believed: for lists that
            name a version row after row, never where a domain's current version is wanted.
    """
    found = shipped_domain(slug, version)
    if found is not None or not VERSION.fullmatch(version):
        return found
    now = time.monotonic()
    if was_missing_will_do and now < _missing_until.get((slug, version), now):
        return None
    try:
        return _stored(slug, version)
    except DomainVersion.DoesNotExist:
        if len(_missing_until) >= MOST_MISSING:
            _missing_until.clear()
        _missing_until[slug, version] = now + MISSING_SECONDS
        return None


_missing_until: dict[tuple[str, str], float] = {}


@lru_cache(maxsize=64)
def _stored(slug: str, version: str) -> Domain:
    """Return a kept version; only what is there is remembered for good, for it never changes."""
    return domain_from(DomainVersion.objects.get(slug=slug, version=version).content)
