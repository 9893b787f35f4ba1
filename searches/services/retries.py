"""Asks only the failed calls of a run again; what the search was told of them stays as it was."""

from collections.abc import Sequence

from django.db import transaction

from searches.enums import RunState, TrialStatus, Verdict
from searches.models import Sample, SearchRun
from searches.services.batches import Batch
from searches.services.call_counts import count_calls
from searches.services.commits import (
    added,
    answer_columns,
    answers_after,
    counter_values,
    move_step,
    write_cache,
    write_trials,
)
from searches.services.findings import record_findings
from searches.services.leases import Lease
from searches.services.live import LiveSearch
from searches.services.run_log import log_events
from searches.services.run_states import move_run
from searches.services.tallies import tally_retry
from vlmlab.core.revelio.types import Query
from vlmlab.web.numbers import write_many


def failed_calls(run: SearchRun, *, limit: int) -> list[Sample]:
    """Return the next failed calls that this retry has not asked yet, oldest first."""
    done = run.checkpoint.get("retried_up_to", 0)
    rows = run.samples.filter(verdict=Verdict.CALL_ERROR, pk__gt=done).select_related("trial")
    return list(rows.order_by("pk")[:limit])


def queries_of(samples: Sequence[Sample]) -> list[Query]:
    """Return what was asked then; the same query gives the same scene and question."""
    return [Query(tuple(sample.trial.concepts), sample.number) for sample in samples]


def commit_retry(
    run: SearchRun,
    live: LiveSearch,
    batch: Batch,
    *,
    samples: Sequence[Sample],
    lease: Lease,
    seconds: dict[str, float],
) -> None:
    """Write the new answers over the failed calls; all of them or nothing.

    Raises:
        LeaseLost: the claim does not hold any more; nothing was written.
    """
    tally_retry(live, batch)
    with transaction.atomic():
        values = counter_values(run, live, batch, is_retry=True)
        values["checkpoint"]["retried_up_to"] = samples[-1].pk
        move_step(run, lease, values=values | added(seconds))
        trials = write_trials(run, live, batch)
        _write_answers(samples, batch)
        write_cache(run, batch.samples)
        count_calls(run.sut_id, batch.sent)
        new = [trial for trial in trials.values() if trial.status == TrialStatus.DECIDED_FAIL]
        lines = record_findings(run, new, domain=live.domain, at_inference=answers_after(run, batch))
        log_events(run.pk, lines)


def finish_retry(run: SearchRun, lease: Lease) -> None:
    """Note that all failed calls were asked again; a run whose search was halted halts again.

    Raises:
        LeaseLost: the claim does not hold any more.
    """
    with transaction.atomic():
        checkpoint = {**run.checkpoint, "retried_up_to": 0, "fruitless_batches": 0, "is_refused": False}
        move_step(run, lease, values={"is_retrying_call_errors": False, "checkpoint": checkpoint})
        left = run.n_call_errors
        text = f"{write_many(left, 'call')} failed again." if left else "All failed calls are answered now."
        lines = [text]
        if run.checkpoint.get("halts_after_retry") and move_run(
            run.pk,
            frm=RunState.RUNNING,
            to=RunState.PAUSED,
            held_fence=lease.fence,
            owner="",
            lease_expires=None,
        ):
            lines.append("The search itself stays halted until somebody resumes it.")
        log_events(run.pk, lines)


def _write_answers(samples: Sequence[Sample], batch: Batch) -> None:
    names: set[str] = {"verdict", "is_cached"}
    for row, one in zip(samples, batch.samples, strict=True):
        columns = answer_columns(one) | {"verdict": one.record.verdict.value, "is_cached": one.is_cached}
        for name, value in columns.items():
            setattr(row, name, value)
        names.update(columns)
    Sample.objects.bulk_update(samples, sorted(names))
