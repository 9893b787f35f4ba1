"""Answers of a remote system that cannot be written as samples: they were paid for, so they are not lost."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import DatabaseError, transaction

from searches.models import SearchRun
from searches.services.asked_calls import AnsweredBatch
from searches.services.call_counts import count_calls
from searches.services.commits import keep_answers
from searches.services.leases import Lease, LeaseLost
from searches.services.run_log import log_event
from vlmlab.core.suts.base import SutReply
from vlmlab.core.suts.kinds import sut_kind
from vlmlab.web.numbers import write_many


@contextmanager
def keeping_paid(run: SearchRun, batch: AnsweredBatch, *, lease: Lease) -> Iterator[None]:
    """Keep the answers of a batch where the block fails to write it; what went wrong is raised all the same.

    A system on this machine is simply asked again.
    """
    try:
        yield
    except Exception:
        sent = {one.cache_key: one.reply for one in batch.samples if one.is_sent}
        if sent and sut_kind(run.sut.kind).is_remote:
            _keep(run, sent, lease=lease)
        raise


def _keep(run: SearchRun, sent: dict[str, SutReply], *, lease: Lease) -> None:
    try:
        try:
            keep_answers(run, sent, lease=lease)
        except LeaseLost:  # the run goes on elsewhere: only the system and its day still learn of the calls
            with transaction.atomic():
                count_calls(run.sut_id, list(sent.values()))
                lost = write_many(len(sent), "call was,calls were")
                log_event(run.pk, f"{lost} paid for a batch that another worker took over.", level="warning")
    except DatabaseError:  # nothing can be written now
        return
