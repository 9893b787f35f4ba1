"""The transaction that makes a batch of a follow-up of test cases true: samples, items, counters, cache."""

from typing import Any

from django.db import transaction

from searches.models import CaseSample, FollowUpItem, SearchRun
from searches.services.call_counts import count_calls
from searches.services.case_batches import CaseAnswer, CaseBatch
from searches.services.case_live import LiveCases
from searches.services.commits import (
    CHECKPOINT_VERSION,
    MOST_MODEL_CHARACTERS,
    added,
    move_step,
    spent_amounts,
    write_cache,
)
from searches.services.crashes import crash_point
from searches.services.endings import is_refused
from searches.services.leases import Lease
from searches.services.run_log import log_event
from searches.services.suts import note_change
from vlmlab.core.most.types import AnswerStatus
from vlmlab.core.replies.version import READER_VERSION
from vlmlab.core.revelio.types import Verdict
from vlmlab.core.verdicts.queries import ItemResult

ITEM_FIELDS = ["state", "reason", "fails", "n", "numbers"]


def commit_cases(
    run: SearchRun, live: LiveCases, batch: CaseBatch, *, stage: str, lease: Lease, seconds: dict[str, float]
) -> None:
    """Write a batch; all of it or nothing.

    Args:
        run: the row as read before the batch.
        live: the search after it was told the batch.
        batch: the answers, in the order asked.
        stage: the part of the search that asked.
        lease: the claim that must still hold.
        seconds: columns of wall time to add.

    Raises:
        LeaseLost: the claim does not hold any more; nothing was written.
    """
    results = live.search.results()
    grown = spent_amounts(batch.sent) | seconds
    with transaction.atomic():
        values = counter_values(run, live, batch, results) | {"stage": stage}
        move_step(run, lease, values=values | added(grown) | {"reserved_usd": 0.0})
        crash_point("inside_commit_first")
        rows = [sample_row(run, live, position, one) for position, one in enumerate(batch.samples)]
        CaseSample.objects.bulk_create(rows)
        crash_point("inside_commit_samples")
        write_items(live, results)
        write_cache(run, batch.samples)
        count_calls(run.sut_id, batch.sent)
        if batch.change:
            note_change(run.sut, batch.change)
            log_event(run.pk, f"{run.sut.name} goes on with another batch size: {batch.change}.")
        crash_point("inside_commit_last")
    live.seen |= {(one.outcome.query.item, one.question.digest) for one in batch.samples}


def write_items(live: LiveCases, results: list[ItemResult]) -> None:
    """Write what is known of the items, where it changed."""
    changed = []
    for item, now in zip(live.items, results, strict=True):
        stored = (item.state, item.reason, item.fails, item.n, item.numbers)
        known = (now.state, now.reason, now.fails, now.samples, dict(now.numbers))
        if stored != known:  # a run that is resumed after its end opens its items once more
            item.state, item.reason, item.fails, item.n, item.numbers = known
            changed.append(item)
    FollowUpItem.objects.bulk_update(changed, ITEM_FIELDS, batch_size=200)


def counter_values(
    run: SearchRun, live: LiveCases, batch: CaseBatch, results: list[ItemResult]
) -> dict[str, Any]:
    """Return the columns of the run's row that a batch changes, beside its step, times and spending."""
    asked = batch.asked
    answers = [one for one in asked if one.answer.status.is_answer]
    is_fruitless = bool(asked) and not answers
    fruitless = run.checkpoint.get("fruitless_batches", 0) + 1 if is_fruitless else 0
    return {
        "checkpoint": {
            **run.checkpoint,
            "version": CHECKPOINT_VERSION,
            "fruitless_batches": fruitless,
            "fingerprint": run.checkpoint.get("fingerprint") or batch.fingerprint,
            "asked_in": run.checkpoint.get("asked_in") or live.asked_in,
            "unanswered_because": "",
            "is_refused": is_refused(run.sut, batch.sent),
        },
        "n_inferences": run.n_inferences + len(answers),
        "n_observations": live.search.observations,
        "n_failed": run.n_failed + sum(one.outcome.verdict is Verdict.FAIL for one in answers),
        "n_invalid": run.n_invalid + sum(one.answer.status is AnswerStatus.MALFORMED for one in answers),
        "n_call_errors": run.n_call_errors + len(asked) - len(answers),
        "n_generation_errors": run.n_generation_errors + len(batch.samples) - len(asked),
        "n_cached": run.n_cached + sum(one.is_cached for one in asked),
        "n_trials": len(results),
        "n_decided": sum(bool(one.state) for one in results),
    }


def sample_row(run: SearchRun, live: LiveCases, position: int, one: CaseAnswer) -> CaseSample:
    """Return the row of one question; a draw that was not asked says why in ``reading_reason``."""
    question, reply, answer = one.question, one.reply, one.answer
    has_reply = bool(one.cache_key) and not reply.is_call_error
    seen = reply.seen_size
    return CaseSample(
        run=run,
        item=live.items[one.outcome.query.item],
        step=run.step,
        position=position,
        number=one.outcome.query.number,
        draw_seed=question.draw_seed,
        image_sha256=question.image_sha256,
        prompt=question.prompt,
        truth=[[float(value) for value in box] for box in question.truth],
        boxes=[list(box) for box in answer.boxes],
        status=answer.status.value,
        iou=answer.iou,
        is_failure=one.outcome.verdict is Verdict.FAIL,
        is_repeat=one.is_repeat,
        raw_text=reply.text,
        finish_reason=reply.finish_reason if has_reply else "",
        reading_reason=question.not_asked or answer.reason,
        latency_ms=reply.latency_ms,
        is_cached=one.is_cached,
        cost_usd=reply.cost_usd if one.is_sent else 0.0,
        seen_width=seen[0] if seen else None,
        seen_height=seen[1] if seen else None,
        served_model=reply.served_model[:MOST_MODEL_CHARACTERS],
        reader_version=READER_VERSION if has_reply else "",
        error=reply.call_error,
    )
