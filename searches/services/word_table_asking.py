"""Asks a system for a word table, a few labels at a time; what was answered is never asked again."""

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from django.conf import settings
from django.db import transaction

from searches.enums import JobKind, JobState, Queue, WordTableState
from searches.models import Job, SutRecord, User, WordTableRecord
from searches.services.audit import record
from searches.services.call_counts import count_calls
from searches.services.dataset_making import JobGoesOn
from searches.services.job_holds import HELD
from searches.services.job_queue import UNFINISHED, start_job
from searches.services.leases import JobLease, has_waiting_job, own_job
from searches.services.spending import check_may_spend
from searches.services.suts import LoadedSut, load_sut
from searches.services.word_table_drafts import (
    StoredDraft,
    create_word_table,
    draft_of,
    kind_of,
    open_labels,
    with_answer,
)
from vlmlab.core.errors import VlmLabError
from vlmlab.core.images import encode_png
from vlmlab.core.perturb.word_table_requests import (
    TableProposal,
    WordTableError,
    read_table_reply,
    table_prompt,
)
from vlmlab.core.perturb.word_tables import TableKind
from vlmlab.core.suts.base import SutReply, SutRequest

BATCH = 10
"""Labels a question: an answer about ten fits into the longest reply that most registrations allow."""

BLANK_SIDE = 64
GREY = 128
MOST_FAILURES = 3
"""Failed calls in a row after which a server counts as away."""

STOPPED = "It was stopped."
GO_ON = "What was answered is kept; go on whenever you like."
INTRODUCTION = "The picture is an empty grey square and has nothing to do with this. "


@transaction.atomic
def start_word_table(
    *, title: str, kind: TableKind, labels: Sequence[str], sut: SutRecord, by: User | None
) -> tuple[WordTableRecord, Job]:
    """Store a table and the job that asks for it.

    Raises:
        VlmLabError: the title is empty, or the system is switched off.
    """
    _check_enabled(sut)
    row = create_word_table(title=title, kind=kind, labels=labels, sut=sut, by=by)
    return row, _queue(row, sut, by=by)


@transaction.atomic
def go_on_asking(row: WordTableRecord, *, by: User | None) -> Job:
    """Queue what is left of a table that was stopped or failed; while a job is at it, that one is returned.

    Raises:
        VlmLabError: nothing is left to ask, or the system is switched off.
    """
    locked = WordTableRecord.objects.select_for_update().get(pk=row.pk)
    job = asking_job(locked)
    if job is not None and job.state in UNFINISHED:
        return job
    is_open = locked.state in (WordTableState.FAILED, WordTableState.ASKING)
    if locked.sut is None or not is_open:
        raise VlmLabError("There is nothing left to ask for.", hint="Review what was proposed.")
    _check_enabled(locked.sut)
    locked.state, locked.error = WordTableState.ASKING, ""
    locked.save(update_fields=["state", "error"])
    record(by, "went on with", locked)
    return _queue(locked, locked.sut, by=by)


@transaction.atomic
def stop_asking(row: WordTableRecord, *, by: User | None) -> None:
    """End the asking; the answer of a call that is under way is paid and still kept.

    Raises:
        VlmLabError: nobody asks.
    """
    locked = WordTableRecord.objects.select_for_update().get(pk=row.pk)
    if locked.state != WordTableState.ASKING:
        raise VlmLabError(
            "Nobody asks for this table at the moment.",
            hint="Reload the page to see what happened meanwhile.",
        )
    jobs = Job.objects.filter(kind=JobKind.WORD_TABLE, params__table=locked.slug, state__in=UNFINISHED)
    jobs.update(state=JobState.FAILED, error=STOPPED, hint=GO_ON, lease_expires=None)
    locked.state, locked.error = WordTableState.FAILED, STOPPED
    locked.save(update_fields=["state", "error"])
    record(by, "stopped", locked)


def asking_job(row: WordTableRecord) -> Job | None:
    """Return the newest job that asks, or asked, for a table; None where nobody remembers one."""
    jobs = Job.objects.filter(kind=JobKind.WORD_TABLE, params__table=row.slug)
    return jobs.order_by("-created_at").first()


def ask_word_table(job: Job) -> dict[str, Any]:
    """Ask a slice of the table of a job and return the job's result when every label was asked for.

    Raises:
        JobGoesOn: there is more to ask.
        VlmLabError: the system cannot be loaded, may not spend more, or does not answer; the table says why.
    """
    row = WordTableRecord.objects.select_related("sut__api_key").filter(slug=job.params["table"]).first()
    if row is None or row.sut is None:
        raise VlmLabError("This word table was deleted.", hint="Make a new one.")
    lease = JobLease(str(job.pk), job.attempts, job.owner)
    try:
        _ask_slice(_Asking(row, row.sut, job, lease))
    except VlmLabError as error:
        if own_job(lease).exists():
            WordTableRecord.objects.filter(pk=row.pk, state=WordTableState.ASKING).update(
                state=WordTableState.FAILED, error=str(error)
            )
        raise
    waiting = WordTableRecord.objects.filter(pk=row.pk, state=WordTableState.ASKING)
    if own_job(lease).exists():
        waiting.update(state=WordTableState.DRAFT, error="")
    return {"table": row.slug, "n_answered": len(row.labels), "n_calls": len(row.labels), "unit": "Labels"}


class _Asking:
    """One claim on a table: what it asks with, and how far it is."""

    def __init__(self, row: WordTableRecord, sut: SutRecord, job: Job, lease: JobLease) -> None:
        self.row, self.sut, self.job, self.lease = row, sut, job, lease
        self.kind = kind_of(row)
        self.blank = encode_png(np.full((BLANK_SIDE, BLANK_SIDE, 3), GREY, dtype=np.uint8))

    def progress(self, draft: StoredDraft) -> dict[str, Any]:
        """Return what the page of a job at work shows."""
        total = len(self.row.labels)
        return {"n_answered": total - len(open_labels(self.row, draft)), "n_calls": total, "unit": "Labels"}

    def ask(self, loaded: LoadedSut, labels: Sequence[str], draft: StoredDraft) -> SutReply:
        """Send one question within the limits of the system, and count it."""
        prompt = INTRODUCTION + table_prompt(self.kind, labels)
        size = (BLANK_SIDE, BLANK_SIDE)
        check_may_spend(self.sut, calls=1, prompt_chars=len(prompt), size=size, job=self.job)
        held = {HELD: self.job.result[HELD]} if HELD in self.job.result else {}
        own_job(self.lease).update(result=self.progress(draft) | held)
        [reply] = loaded.generate([SutRequest(self.blank, prompt)])
        count_calls(self.sut.pk, [reply])
        return reply

    def write(self, proposal: TableProposal, labels: Sequence[str], *, source: str) -> StoredDraft | None:
        """Add an answer, which was paid, to the stored draft; None when this worker may not go on."""
        with transaction.atomic():
            locked = WordTableRecord.objects.select_for_update().filter(pk=self.row.pk).first()
            if locked is None or locked.state == WordTableState.REVIEWED:
                return None
            draft = with_answer(draft_of(locked), proposal, labels, source=source)
            locked.draft = draft.model_dump(mode="json")
            locked.save(update_fields=["draft"])
            is_ours = own_job(self.lease).update(result=self.progress(draft)) == 1
        return draft if is_ours else None


def _ask_slice(asking: _Asking) -> None:
    ends_at = time.monotonic() + settings.SLICE_SECONDS
    draft: StoredDraft | None = draft_of(asking.row)
    assert draft is not None
    waiting = _batches(open_labels(asking.row, draft))
    loaded = load_sut(asking.sut) if waiting else None
    failures = 0
    while waiting and loaded is not None:
        labels = waiting.pop()
        reply = asking.ask(loaded, labels, draft)
        if reply.is_stopped:
            raise JobGoesOn(asking.progress(draft))
        if reply.is_call_error:
            failures += 1
            if failures >= MOST_FAILURES:
                raise VlmLabError(
                    f"{failures} calls in a row failed, so the asking was ended.", hint=reply.call_error
                )
            waiting.append(labels)
            continue
        failures = 0
        proposal = _read(reply, labels)
        if proposal is None:  # the answer is no table: half as many labels may fit
            middle = len(labels) // 2
            waiting += [labels[middle:], labels[:middle]]
            continue
        draft = asking.write(proposal, labels, source=reply.served_model or asking.sut.name)
        if draft is None:
            return
        if waiting and (time.monotonic() >= ends_at or has_waiting_job([asking.job.queue])):
            raise JobGoesOn(asking.progress(draft))


def _read(reply: SutReply, labels: Sequence[str]) -> TableProposal | None:
    """Return what a reply proposes; of a broken one None, unless it is about a single label."""
    try:
        if reply.finish_reason == "length":
            raise WordTableError("The answer was cut: it is longer than the longest reply of the system.")
        return read_table_reply(reply.text, labels)
    except WordTableError as error:
        if len(labels) > 1:
            return None
        return TableProposal({labels[0]: ()}, {labels[0]: error.message})


def _batches(labels: Sequence[str]) -> list[list[str]]:
    """Return the labels in groups, the first group last: it is taken from the end."""
    groups = [list(labels[start : start + BATCH]) for start in range(0, len(labels), BATCH)]
    return groups[::-1]


def _queue(row: WordTableRecord, sut: SutRecord, *, by: User | None) -> Job:
    params = {"table": row.slug, "sut": sut.slug}
    return start_job(JobKind.WORD_TABLE, params, by=by, queue=Queue(sut.queue))


def _check_enabled(sut: SutRecord) -> None:
    if not sut.is_enabled:
        raise VlmLabError(f"{sut.name} is switched off.", hint="Switch it on, then ask.", field="sut")
