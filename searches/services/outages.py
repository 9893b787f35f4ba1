"""Batches that a remote system left wholly unanswered: asked again, and never told to the search."""

from django.db import transaction

from searches.models import SearchRun
from searches.services.asked_calls import AnsweredBatch
from searches.services.commits import keep_answers
from searches.services.endings import MAX_FRUITLESS_BATCHES, PASSING, is_refused
from searches.services.leases import Lease
from searches.services.run_log import log_event
from vlmlab.core.suts.kinds import sut_kind


def is_unanswered(run: SearchRun, batch: AnsweredBatch) -> bool:
    """Return whether a server that is away, or that refuses everything, left a batch without one answer.

    Told to the search, such failures would use up concept sets: each may fail only a few times.
    """
    sent = batch.sent
    if not sent or not sut_kind(run.sut.kind).is_remote or batch.has_answer:
        return False
    if not all(reply.is_call_error for reply in sent):
        return False
    return {reply.failure_kind for reply in sent} <= PASSING or is_refused(run.sut, sent)


def note_unanswered(run: SearchRun, batch: AnsweredBatch, *, lease: Lease) -> None:
    """Count the failed calls, say why in the log, and leave the batch as it was asked.

    Raises:
        LeaseLost: the claim does not hold any more; nothing was written.
    """
    sent = batch.sent
    reason = next(reply.call_error for reply in reversed(sent))
    n_batches = run.checkpoint.get("fruitless_batches", 0) + 1
    refused = is_refused(run.sut, sent)
    with transaction.atomic():
        keep_answers(run, {one.cache_key: one.reply for one in batch.samples if one.is_sent}, lease=lease)
        checkpoint = {
            **run.checkpoint,
            "fruitless_batches": n_batches,
            "is_refused": refused,
            "unanswered_because": reason,
        }
        SearchRun.objects.filter(pk=run.pk).update(checkpoint=checkpoint, stalls=0)
        if not refused and n_batches < MAX_FRUITLESS_BATCHES:
            text = f"No call of the batch was answered: {reason} The same questions are asked again."
            log_event(run.pk, text, level="warning")
