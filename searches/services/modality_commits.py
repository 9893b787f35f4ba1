"""The transactions that make a batch of a MoST run true: clean answers that runs share, and evaluations."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from searches.models import CleanAnswer, Evaluation, ModalityRun, SearchRun
from searches.services.call_counts import count_calls
from searches.services.commits import (
    CHECKPOINT_VERSION,
    MOST_MODEL_CHARACTERS,
    move_step,
    spent_amounts,
    write_cache,
)
from searches.services.crashes import crash_point
from searches.services.endings import is_refused
from searches.services.leases import Lease
from searches.services.modality_batches import AnsweredQuestion, ModalityBatch
from searches.services.modality_live import LiveModality, Place
from searches.services.run_log import log_event
from searches.services.suts import note_change
from vlmlab.core.most.strategy_search import StrategySearch
from vlmlab.core.most.types import AnswerStatus, Outcome
from vlmlab.core.replies.version import READER_VERSION


def find_clean(live: LiveModality) -> CleanAnswer | None:
    """Return the answer to the clean input that another run of the campaign got, or None."""
    return _clean_answers(live).first()


def campaign_checkpoint(live: LiveModality) -> dict[str, Any]:
    """Return what the runs of the campaign know of this system: all of them must ask the same one."""
    place = live.place
    others = ModalityRun.objects.filter(
        campaign_id=place.campaign_id, sut_id=place.sut_id, clean_answer__isnull=False
    )
    found: dict[str, Any] | None = others.order_by().values_list("run__checkpoint", flat=True).first()
    return {name: found[name] for name in ("fingerprint", "asked_in") if name in found} if found else {}


def link_clean(run: SearchRun, live: LiveModality, clean: CleanAnswer, *, lease: Lease) -> None:
    """Note the clean answer that another run got; this counts as a step.

    Raises:
        LeaseLost: the claim does not hold any more; nothing was written.
    """
    with transaction.atomic():
        checkpoint = _checkpoint(run, live) | campaign_checkpoint(live)
        move_step(run, lease, values={"checkpoint": checkpoint})
        ModalityRun.objects.filter(run=run).update(clean_answer=clean)


def commit_clean(
    run: SearchRun,
    live: LiveModality,
    batch: ModalityBatch,
    *,
    lease: Lease,
    seconds: dict[str, float],
) -> CleanAnswer | None:
    """Write the clean answer, or that its call failed.

    Returns:
        The answer that all runs of the campaign read: where another run was first, that one's; None where the
        call failed.

    Raises:
        LeaseLost: the claim does not hold any more; nothing was written.
    """
    (one,) = batch.samples
    clean = None
    with transaction.atomic():
        failures = run.checkpoint.get("clean_failures", 0) + one.reply.is_call_error
        checkpoint = _checkpoint(run, live, batch) | {"clean_failures": failures}
        if one.reply.is_call_error:
            checkpoint["clean_error"] = one.reply.call_error
        values = {
            "checkpoint": checkpoint,
            "n_call_errors": run.n_call_errors + one.reply.is_call_error,
            "n_cached": run.n_cached + one.is_cached,
        }
        move_step(run, lease, values=values | _grown(run, spent_amounts(batch.sent) | seconds))
        crash_point("inside_commit_first")
        if not one.reply.is_call_error:
            CleanAnswer.objects.bulk_create([_clean_row(live, one)], ignore_conflicts=True)
            clean = _clean_answers(live).get()
            ModalityRun.objects.filter(run=run).update(clean_answer=clean)
        crash_point("inside_commit_samples")
        _write_calls(run, batch)
        crash_point("inside_commit_last")
    return clean


def commit_evaluations(
    run: SearchRun,
    live: LiveModality,
    search: StrategySearch,
    batch: ModalityBatch,
    *,
    outcomes: Sequence[Outcome],
    stage: str,
    lease: Lease,
    seconds: dict[str, float],
) -> None:
    """Write a batch of evaluations; all of it or nothing.

    Args:
        run: the row as read before the batch.
        live: the run in memory.
        search: its search, after it was told the batch.
        batch: the answers, in the order asked.
        outcomes: what the search was told.
        stage: the part of the search that asked.
        lease: the claim that must still hold.
        seconds: columns of wall time to add.

    Raises:
        LeaseLost: the claim does not hold any more; nothing was written.
    """
    answers = [one for one in outcomes if one.status.is_answer]
    hits = [live.config.thresholds.is_hit(one) for one in outcomes]
    fruitless = 0 if answers else run.checkpoint.get("fruitless_batches", 0) + 1
    values = {
        "checkpoint": _checkpoint(run, live, batch) | {"fruitless_batches": fruitless},
        "stage": search.stage,
        "n_inferences": run.n_inferences + len(answers),
        "n_observations": search.evaluations,
        "n_failed": run.n_failed + sum(hits),
        "n_invalid": run.n_invalid + sum(one.status is AnswerStatus.MALFORMED for one in outcomes),
        "n_call_errors": run.n_call_errors + len(outcomes) - len(answers),
        "n_cached": run.n_cached + sum(one.is_cached for one in batch.samples),
    }
    with transaction.atomic():
        move_step(run, lease, values=values | _grown(run, spent_amounts(batch.sent) | seconds))
        crash_point("inside_commit_first")
        rows = [
            _evaluation(run, Place(run.step, position), outcome, one, stage=stage, is_hit=is_hit)
            for position, (outcome, one, is_hit) in enumerate(zip(outcomes, batch.samples, hits, strict=True))
        ]
        Evaluation.objects.bulk_create(rows)
        crash_point("inside_commit_samples")
        _write_calls(run, batch)
        crash_point("inside_commit_last")
    for position, outcome in enumerate(outcomes):
        if outcome.status.is_answer:
            live.answered_at[outcome.query.strategy] = Place(run.step, position)


def _grown(run: SearchRun, amounts: Mapping[str, float]) -> dict[str, Any]:
    """Return columns with amounts added to what was read; the step of the row holds that it still stands so.

    Short runs write thousands of batches, and Django takes a millisecond for a dozen expressions.
    """
    return {name: getattr(run, name) + amount for name, amount in amounts.items()} | {"reserved_usd": 0.0}


def _write_calls(run: SearchRun, batch: ModalityBatch) -> None:
    write_cache(run, batch.samples)
    count_calls(run.sut_id, batch.sent)
    if batch.change:
        note_change(run.sut, batch.change)
        log_event(run.pk, f"{run.sut.name} goes on with another batch size: {batch.change}.")


def _checkpoint(run: SearchRun, live: LiveModality, batch: ModalityBatch | None = None) -> dict[str, Any]:
    found = {
        **run.checkpoint,
        "version": CHECKPOINT_VERSION,
        "asked_in": run.checkpoint.get("asked_in") or live.asked_in,
        "unanswered_because": "",
    }
    if batch is not None:
        found["fingerprint"] = run.checkpoint.get("fingerprint") or batch.fingerprint
        found["is_refused"] = is_refused(run.sut, batch.sent)
    return found


def _clean_answers(live: LiveModality) -> QuerySet[CleanAnswer]:
    place = live.place
    return CleanAnswer.objects.filter(
        campaign_id=place.campaign_id, sut_id=place.sut_id, picture_id=place.picture_id, label=place.label
    )


def _clean_row(live: LiveModality, one: AnsweredQuestion) -> CleanAnswer:
    place = live.place
    return CleanAnswer(
        campaign_id=place.campaign_id,
        sut_id=place.sut_id,
        picture_id=place.picture_id,
        label=place.label,
        prompt=live.seed_image.prompt,
        boxes=[list(box) for box in one.answer.boxes],
        served_model=one.reply.served_model[:MOST_MODEL_CHARACTERS],
        reader_version=READER_VERSION,
        is_cached=one.is_cached,
        **_answer_columns(one),
    )


def _evaluation(
    run: SearchRun, place: Place, outcome: Outcome, one: AnsweredQuestion, *, stage: str, is_hit: bool
) -> Evaluation:
    return Evaluation(
        run=run,
        step=place.step,
        position=place.position,
        strategy=list(outcome.query.strategy),
        attempt=outcome.query.attempt,
        stage=stage,
        image_distance=outcome.fidelity.image_distance,
        prompt_distance=outcome.fidelity.prompt_distance,
        is_admissible=outcome.fidelity.is_admissible,
        is_hit=is_hit,
        is_cached=one.is_cached,
        error=one.reply.call_error,
        **_answer_columns(one),
    )


def _answer_columns(one: AnsweredQuestion) -> dict[str, Any]:
    """Return the columns that clean answers and evaluations share."""
    answer, reply = one.answer, one.reply
    seen = reply.seen_size
    return {
        "status": answer.status.value,
        "iou": answer.iou,
        "lenient_status": answer.lenient_status.value,
        "lenient_iou": answer.lenient_iou,
        "raw_text": reply.text,
        "finish_reason": "" if reply.is_call_error else reply.finish_reason,
        "reading_reason": answer.reason,
        "latency_ms": reply.latency_ms,
        "seen_width": seen[0] if seen else None,
        "seen_height": seen[1] if seen else None,
    }
