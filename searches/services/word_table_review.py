"""The review of a word table: what a person decides, the final table, and deleting one that nobody uses."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now

from searches.enums import MODALITY_METHOD, WordTableState
from searches.models import Campaign, User, WordTableRecord
from searches.services.audit import record
from searches.services.word_table_drafts import StoredDraft, draft_of, kind_of
from vlmlab.core.errors import VlmLabError
from vlmlab.core.perturb.word_table_requests import (
    ReviewedAlternative,
    TableDraft,
    read_table_reply,
    reviewed_table,
    with_decision,
    with_proposal,
)
from vlmlab.core.perturb.word_tables import label_key, shipped_table


@dataclass(frozen=True)
class Decision:
    """What a person decided of one proposal.

    Attributes:
        text: the proposal as it stands; "" for one of the person's own.
        wanted: what shall stand there instead; the same text where nothing was changed.
        is_accepted: whether it may be used.
    """

    label: str
    text: str
    wanted: str
    is_accepted: bool


@transaction.atomic
def decide(row: WordTableRecord, decisions: Sequence[Decision], *, by: User) -> None:
    """Write down what a person decided of some proposals.

    Raises:
        VlmLabError: the review is over, a proposal is not there any more, or a changed text cannot be used.
    """
    locked = _open_row(row)
    draft = draft_of(locked)
    table = draft.table
    for one in decisions:
        table = _decided(table, one, by=by.get_username())
    _save_draft(locked, draft.model_copy(update={"table": table}))


@transaction.atomic
def finish_review(row: WordTableRecord, *, by: User) -> None:
    """Make the accepted proposals the final table, on top of the shipped one; it never changes again.

    Raises:
        VlmLabError: it is finished already, still being asked for, or nothing was accepted.
    """
    locked = _open_row(row)
    if locked.state == WordTableState.ASKING:
        raise VlmLabError("The table is still being asked for.", hint="Stop it, or wait until it is done.")
    draft = draft_of(locked)
    accepted = reviewed_table(draft.table)
    if not accepted.entries:
        raise VlmLabError("Nothing is accepted yet.", hint="Accept at least one proposal, then finish.")
    final = reviewed_table(draft.table, base=shipped_table(kind_of(locked)))
    locked.table = {
        label: [one.model_dump(mode="json") for one in some] for label, some in sorted(final.entries.items())
    }
    locked.state = WordTableState.REVIEWED
    locked.error = ""
    locked.save(update_fields=["table", "state", "error"])
    WordTableRecord.objects.filter(pk=locked.pk).update(reviewed_at=Now())
    record(by, "finished the review of", locked, after={"labels": len(accepted.entries)})


@transaction.atomic
def delete_word_table(row: WordTableRecord, *, by: User) -> None:
    """Delete a table that no search names.

    Raises:
        VlmLabError: a search names it, or it is being asked for.
    """
    locked = WordTableRecord.objects.select_for_update().get(pk=row.pk)
    if locked.state == WordTableState.ASKING:
        raise VlmLabError("The table is still being asked for.", hint="Stop it first.")
    if uses_of(locked):
        raise VlmLabError("A search names this table, so it stays.", hint="Make another one for other words.")
    record(by, "deleted", locked)
    locked.delete()


def uses_of(row: WordTableRecord) -> int:
    """Return how many campaigns name a table."""
    named = Q(config__homophone_table=row.slug) | Q(config__synonym_table=row.slug)
    return Campaign.objects.filter(named, method=MODALITY_METHOD).count()


def _decided(table: TableDraft, one: Decision, *, by: str) -> TableDraft:
    wanted = " ".join(one.wanted.split())
    if one.text and (wanted == one.text or not wanted):
        is_accepted = one.is_accepted and bool(wanted)
        return with_decision(table, one.label, text=one.text, status="accepted" if is_accepted else "refused")
    if one.text:
        table = with_decision(table, one.label, text=one.text, status="refused")
    if not wanted:
        return table
    return _with_own(table, one.label, wanted, is_accepted=one.is_accepted or not one.text, by=by)


def _with_own(table: TableDraft, label: str, text: str, *, is_accepted: bool, by: str) -> TableDraft:
    """Return a draft with an alternative in a person's own words, checked as a system's is."""
    key = label_key(label)
    if key not in table.labels:
        raise VlmLabError(f"“{label}” is no label of this table.", hint="Load the page again.")
    proposal = read_table_reply(json.dumps({key: [text]}), [key])
    if proposal.problems:
        why = next(iter(proposal.problems.values()))
        raise VlmLabError(
            f"“{text[:80]}” cannot stand for “{label}”: {why[:1].lower()}{why[1:]}",
            hint="Write other words, or refuse the proposal.",
        )
    table = with_proposal(table, proposal, source=by)
    [stored] = proposal.alternatives[key]
    same = next(one.text for one in table.labels[key] if label_key(one.text) == label_key(stored))
    return with_decision(table, label, text=same, status="accepted" if is_accepted else "refused")


def _open_row(row: WordTableRecord) -> WordTableRecord:
    locked = WordTableRecord.objects.select_for_update().get(pk=row.pk)
    if locked.state == WordTableState.REVIEWED:
        raise VlmLabError(
            "The review of this table is finished; it never changes again.", hint="Make another one."
        )
    return locked


def _save_draft(row: WordTableRecord, draft: StoredDraft) -> None:
    row.draft = draft.model_dump(mode="json")
    row.save(update_fields=["draft"])


def known_statuses(draft: Mapping[str, tuple[ReviewedAlternative, ...]]) -> dict[str, int]:
    """Return how many proposals have each status."""
    counts = {"proposed": 0, "accepted": 0, "refused": 0}
    for some in draft.values():
        for one in some:
            counts[one.status] += 1
    return counts
