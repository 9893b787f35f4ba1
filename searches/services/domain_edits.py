"""What people do to domains: add one, change it, make another version current, archive it."""

from collections.abc import Mapping
from typing import Any

from django.db import IntegrityError, transaction

from searches.models import DomainRecord, DomainVersion, User
from searches.services.audit import record
from searches.services.domain_store import content_of, current_domain, keep_version
from vlmlab.core.errors import ConceptError
from vlmlab.core.scenes.catalogue import DOMAIN_SLUGS, load_domain
from vlmlab.core.scenes.concepts import Domain
from vlmlab.core.scenes.domain_files import CheckedDomain, check_content
from vlmlab.core.scenes.domain_problems import DomainFileError, DomainProblem

MAX_NOTE = 200


class DomainChangedError(ConceptError):
    """Somebody else changed a domain between a person's look at it and their change."""


def check_new_slug(checked: CheckedDomain) -> tuple[DomainProblem, ...]:
    """Return the problem of a file whose short name another domain has; empty when it is free."""
    slug = str(checked.content.get("slug", ""))
    if not slug or not _is_taken(slug):
        return ()
    return (
        DomainProblem(
            "",
            "slug",
            f"There is a domain “{slug}” already.",
            "Choose another short name, or put the text into that domain's editor as a new version.",
            section="slug",
        ),
    )


@transaction.atomic
def add_domain(
    checked: CheckedDomain, *, by: User | None, note: str = "", is_sample: bool = False
) -> DomainRecord:
    """Store a new domain as its version 1.

    Args:
        checked: its file, read and checked.
        by: who adds it.
        note: where it is from.
        is_sample: whether it comes with the lab.

    Raises:
        DomainFileError: the file is not valid, or its short name is taken.
    """
    domain = _valid(checked, (*checked.errors, *check_new_slug(checked)))
    note = _plain(note)
    keep_version(checked.content, note=note, by_id=by.pk if by else None)
    try:
        with transaction.atomic():
            row = DomainRecord.objects.create(
                slug=domain.slug,
                title=domain.title,
                version=domain.version,
                is_sample=is_sample,
                created_by=by,
            )
    except IntegrityError as error:
        raise DomainFileError(check_new_slug(checked)) from error
    record(by, "added", row, after={"version": domain.version, "note": note})
    return row


@transaction.atomic
def save_domain(
    slug: str, checked: CheckedDomain, *, base: str, by: User | None, note: str = ""
) -> DomainVersion:
    """Store a changed content as a new version, which new searches use from now on.

    Args:
        slug: the domain.
        checked: its changed file, read and checked.
        base: the version that was changed; "" takes whatever is current.
        by: who changes it.
        note: what was changed and why.

    Raises:
        ConceptError: there is no such domain, or nothing has changed.
        DomainFileError: the file is not valid, or names another domain.
        DomainChangedError: somebody else stored another version since ``base``.
    """
    row = DomainRecord.objects.select_for_update().filter(slug=slug).first()
    before = current_domain(slug)
    problems = list(checked.errors)
    if checked.content and checked.content.get("slug") != slug:
        message = f"The short name must stay “{slug}”."
        problems.append(
            DomainProblem("", "slug", message, "To make another domain, start from a copy.", section="slug")
        )
    domain = _valid(checked, tuple(problems))
    if base and base != before.version:
        raise _changed_meanwhile(before)
    if domain.version == before.version:
        raise ConceptError("Nothing has changed.", hint="There is no new version to save.", field="text")
    if row is None:
        keep_version(dict(content_of(slug)), note="As the lab brought it")
    note = _plain(note)
    kept = keep_version(checked.content, note=note, by_id=by.pk if by else None)
    _make_current(slug, domain, row=row, before=before, by=by, verb="changed", note=note)
    return kept


@transaction.atomic
def use_version(slug: str, version: str, *, by: User | None) -> Domain:
    """Make a stored version the one that new searches use.

    Raises:
        ConceptError: there is no such domain or version, or this lab does not understand it any more.
    """
    row = DomainRecord.objects.select_for_update().filter(slug=slug).first()
    before = current_domain(slug)
    content = content_of(slug, version)
    if slug in DOMAIN_SLUGS and load_domain(slug).version == version:
        if row is not None:
            record(by, "went back to the built-in version of", row, before={"version": before.version})
            row.delete()
        return load_domain(slug)
    checked = check_content(content)
    domain = _valid(checked, checked.errors)
    if before.version != domain.version:
        verb = "made another version current of"
        _make_current(slug, domain, row=row, before=before, by=by, verb=verb)
    return domain


@transaction.atomic
def set_archived(slug: str, *, is_archived: bool, by: User | None) -> DomainRecord:
    """Take an own domain out of every choice, or bring it back; its runs go on either way.

    Raises:
        ConceptError: it is built in, or there is no such domain.
    """
    row = DomainRecord.objects.select_for_update().filter(slug=slug).first()
    if slug in DOMAIN_SLUGS or row is None:
        raise ConceptError("Only a domain of one's own can be archived.", field="domain")
    if row.is_archived != is_archived:
        row.is_archived = is_archived
        row.save(update_fields=["is_archived"])
        record(by, "archived" if is_archived else "brought back", row)
    return row


def _make_current(
    slug: str,
    domain: Domain,
    *,
    row: DomainRecord | None,
    before: Domain,
    by: User | None,
    verb: str,
    note: str = "",
) -> None:
    if row is None:
        try:
            with transaction.atomic():
                row = DomainRecord.objects.create(
                    slug=slug, title=domain.title, version=domain.version, created_by=by
                )
        except IntegrityError as error:  # the first change of a built-in domain, by two people at once
            raise _changed_meanwhile(before) from error
    else:
        row.title, row.version = domain.title, domain.version
        row.save(update_fields=["title", "version"])
    after: Mapping[str, Any] = {"version": domain.version, "note": note}
    record(by, verb, row, before={"version": before.version}, after=after)


def _changed_meanwhile(domain: Domain) -> DomainChangedError:
    return DomainChangedError(
        f"{domain.title} was changed by somebody else since this page was opened; nothing is saved yet.",
        hint="Look at both changes below. Save again to put yours in place of theirs.",
    )


def _valid(checked: CheckedDomain, problems: tuple[DomainProblem, ...]) -> Domain:
    if problems or checked.domain is None:
        raise DomainFileError(problems)
    return checked.domain


def _plain(note: str) -> str:
    words = "".join(sign if sign.isprintable() else " " for sign in note)
    return " ".join(words.split())[:MAX_NOTE]


def _is_taken(slug: str) -> bool:
    return slug in DOMAIN_SLUGS or DomainRecord.objects.filter(slug=slug).exists()
