"""What people add to findings and test cases: notes, tags, and what is being done about them."""

from collections.abc import Sequence

from django.db import transaction

from searches.enums import TriageStatus
from searches.models import Finding, ModalityCase, Note, User
from searches.services.audit import record
from vlmlab.core.errors import VlmLabError
from vlmlab.web.roles import Role

MAX_NOTE = 4_000
MAX_TAGS = 12
MAX_TAG = 32

Noted = Finding | ModalityCase


@transaction.atomic
def add_note(of: Noted, text: str, *, by: User) -> Note:
    """Write a note beside a finding or a test case.

    Raises:
        VlmLabError: it is empty or too long.
    """
    text = text.strip()
    if not text:
        raise VlmLabError("The note is empty.", hint="Write a few words.", field="text")
    if len(text) > MAX_NOTE or "\x00" in text:
        raise VlmLabError(f"Write at most {MAX_NOTE:,} printable characters.", field="text")
    own = {"finding": of} if isinstance(of, Finding) else {"case": of}
    note = Note.objects.create(author=by, text=text, **own)
    record(by, "noted on", of, after={"text": text})
    return note


@transaction.atomic
def delete_note(note: Note, *, by: User) -> None:
    """Delete a note for good; the audit keeps its text.

    Raises:
        VlmLabError: it is another person's, and ``by`` is no admin.
    """
    if not may_delete(note, by):
        raise VlmLabError("This note is another person's.", hint="Its author or an admin deletes it.")
    record(by, "deleted a note on", note.finding or note.case or note, before={"text": note.text})
    note.delete()


def may_delete(note: Note, by: User) -> bool:
    """Whether a person may delete a note: its author and admins."""
    return note.author_id == by.pk or by.role == Role.ADMIN


def notes_of(of: Noted) -> list[Note]:
    """Return the notes of a finding or a test case with their authors, oldest first."""
    return list(of.notes.select_related("author").order_by("id"))


@transaction.atomic
def set_triage(of: Noted, status: str, *, tags: Sequence[str], by: User) -> None:
    """Say what is being done about a finding or a test case, and how it is tagged.

    Raises:
        VlmLabError: the status is unknown, or there are too many tags or too long ones.
    """
    if status not in TriageStatus.values:
        raise VlmLabError(f"There is no status “{status}”.", field="triage")
    cleaned = clean_tags(tags)
    before = {"triage": of.triage, "tags": of.tags}
    after = {"triage": status, "tags": cleaned}
    if before == after:
        return
    type(of)._default_manager.filter(pk=of.pk).update(triage=status, tags=cleaned)
    of.triage, of.tags = status, cleaned
    record(by, "triaged", of, before=before, after=after)


def clean_tags(tags: Sequence[str]) -> list[str]:
    """Return tags without blanks around them, empty ones and repetitions (in any case), in their order.

    Raises:
        VlmLabError: there are too many, or one is too long.
    """
    found: dict[str, str] = {}
    for tag in tags:
        words = " ".join(tag.split())
        if words:
            found.setdefault(words.casefold(), words)
    kept = list(found.values())
    if len(kept) > MAX_TAGS:
        raise VlmLabError(f"Use at most {MAX_TAGS} tags.", field="tags")
    if too_long := next((tag for tag in kept if len(tag) > MAX_TAG or "\x00" in tag), None):
        raise VlmLabError(f"The tag “{too_long[:MAX_TAG]}…” is too long.", field="tags")
    return kept


def known_tags() -> list[str]:
    """Return every tag that some finding has, in alphabetical order."""
    rows = Finding.objects.exclude(tags=[]).order_by().values_list("tags", flat=True).distinct()
    return sorted({tag for tags in rows for tag in tags}, key=str.casefold)
