"""The one transaction that makes a batch true: step, counters, trials, samples, cache, findings."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from django.db import transaction
from django.db.models import F

from searches.enums import KEY_SEPARATOR, RunState, TrialStatus
from searches.models import CachedReply, PictureSource, Sample, SearchRun, Trial
from searches.services.asked_calls import AnsweredCall
from searches.services.batches import AnsweredSample, Batch
from searches.services.blobs import record_blobs, write_file
from searches.services.call_counts import count_calls
from searches.services.crashes import crash_point
from searches.services.endings import is_refused
from searches.services.findings import record_findings
from searches.services.leases import Lease, LeaseLost, lease_end
from searches.services.live import LiveSearch
from searches.services.run_log import log_events
from searches.services.source_context import backend_kind
from searches.services.suts import asking_of, note_change
from searches.services.tallies import count_by_expected, set_counters
from vlmlab.core.replies.version import READER_VERSION
from vlmlab.core.revelio.evaluate import SampleRecord
from vlmlab.core.revelio.types import Key, Verdict
from vlmlab.core.scenes.render.backends import EMBEDDED, is_described
from vlmlab.core.scenes.scene import GeneratedScene
from vlmlab.core.suts.asking import AskingParams, choice_prompt
from vlmlab.core.suts.base import SutReply
from vlmlab.web.stages import stage_line

CHECKPOINT_VERSION = 1
COMMIT_STATES = (RunState.RUNNING, RunState.CANCELLING, RunState.PAUSED)
"""A batch in hand when a person pauses or cancels is still kept: it was paid for."""

MOST_MODEL_CHARACTERS = 200
TRIAL_FIELDS = ["fails", "passes", "invalid", "call_errors", "status", "is_curtailed"]


def keep_pictures(run: SearchRun, batch: Batch, limit: int) -> frozenset[str]:
    """Write the pictures of a batch that are worth keeping; returns all that are now on the disk.

    Every picture until the run has ``limit``, and every failure beyond: the others can be drawn again.

    Raises:
        StorageError: the disk is full or the folder cannot be written.
    """
    room = max(0, limit - run.n_pictures)
    pictures: dict[str, bytes] = {}
    for sample in batch.samples:
        scene = sample.prepared.scene
        if scene is not None and (len(pictures) < room or sample.record.verdict == Verdict.FAIL):
            pictures[scene.image_sha256] = scene.image_png
    if pictures:
        record_blobs({sha256: len(png) for sha256, png in pictures.items()})
        for png in pictures.values():
            write_file(png)
    crash_point("after_blobs")
    return frozenset(pictures)


def commit_batch(
    run: SearchRun, live: LiveSearch, batch: Batch, *, lease: Lease, seconds: dict[str, float], kept: int
) -> None:
    """Write a batch; all of it or nothing.

    Args:
        run: the row as read before the batch.
        live: the search after it was told the batch.
        batch: the answered samples, in the order asked.
        lease: the claim that must still hold.
        seconds: columns of wall time to add.
        kept: how many pictures were stored.

    Raises:
        LeaseLost: the claim does not hold any more; nothing was written.
    """
    with transaction.atomic():
        values = counter_values(run, live, batch) | {"n_pictures": run.n_pictures + kept}
        move_step(run, lease, values=values | added(seconds))
        crash_point("inside_commit_first")
        trials = write_trials(run, live, batch)
        samples = [
            sample_row(run, trials[one.record.query.key], place, one)
            for place, one in enumerate(batch.samples)
        ]
        Sample.objects.bulk_create(samples)
        crash_point("inside_commit_samples")
        write_cache(run, batch.samples)
        count_calls(run.sut_id, batch.sent)
        new = [trial for trial in trials.values() if trial.status == TrialStatus.DECIDED_FAIL]
        lines = record_findings(run, new, domain=live.domain, at_inference=answers_after(run, batch))
        if live.search.stage != run.stage:
            lines.insert(0, stage_line(live.search.stage))
        if batch.change:
            note_change(run.sut, batch.change)
            lines.insert(0, f"{run.sut.name} goes on with another batch size: {batch.change}.")
        log_events(run.pk, lines)
        crash_point("inside_commit_last")


def _is_without_photographs(backend: str, records: Sequence[SampleRecord]) -> bool:
    """Return whether a whole batch asked for sets that a pool has no picture of.

    A pool that is away halts the run at once, so such batches say nothing is broken: the search goes on with
    other sets until it has met too many.
    """
    if backend == EMBEDDED or any(one.verdict != Verdict.INCOMPATIBLE for one in records):
        return False
    kind = PictureSource.objects.filter(slug=backend).values_list("kind", flat=True).first()
    return kind is not None and backend_kind(kind).takes_pool


def counter_values(
    run: SearchRun, live: LiveSearch, batch: Batch, *, is_retry: bool = False
) -> dict[str, Any]:
    """Return the columns of the run's row that a batch changes, beside its step and times.

    Args:
        run: the row as read before the batch.
        live: the search and tallies after the batch.
        batch: the answered samples.
        is_retry: the samples were failed calls before and are counted as such.
    """
    records = [one.record for one in batch.samples]
    return {
        **batch_columns(run, batch, backend=live.config.backend, is_retry=is_retry),
        "stage": live.search.stage,
        "n_observations": live.search.observations,
        "by_expected": count_by_expected(run.by_expected, records, live),
        **set_counters(live),
    }


def batch_columns(run: SearchRun, batch: Batch, *, backend: str, is_retry: bool = False) -> dict[str, Any]:
    """Return the columns of a run that a batch of scenes changes, whatever asks about them.

    Args:
        run: the row as read before the batch.
        batch: the answered samples.
        backend: what made the pictures.
        is_retry: the samples were failed calls before and are counted as such.
    """
    samples, records = batch.samples, [one.record for one in batch.samples]
    answers = answers_after(run, batch)
    is_fruitless = answers == run.n_inferences and not _is_without_photographs(backend, records)
    fruitless = run.checkpoint.get("fruitless_batches", 0) + 1 if is_fruitless else 0
    errors = sum(one.verdict == Verdict.CALL_ERROR for one in records) - (len(records) if is_retry else 0)
    unmade = sum(one.verdict == Verdict.INCOMPATIBLE for one in records)
    return {
        "checkpoint": {
            **run.checkpoint,
            "version": CHECKPOINT_VERSION,
            "fruitless_batches": fruitless,
            "fingerprint": run.checkpoint.get("fingerprint") or batch.fingerprint,
            "pictures": run.checkpoint.get("pictures") or batch.pictures,
            "asked_in": run.checkpoint.get("asked_in") or question_words(asking_of(run.sut)),
            "unanswered_because": "",
            "is_refused": is_refused(run.sut, batch.sent),
        },
        "n_inferences": answers,
        "n_failed": run.n_failed + sum(one.verdict == Verdict.FAIL for one in records),
        "n_invalid": run.n_invalid + sum(one.is_invalid for one in records),
        "n_call_errors": run.n_call_errors + errors,
        "n_generation_errors": run.n_generation_errors + unmade,
        "n_cached": run.n_cached + sum(one.is_cached for one in samples),
        **_spent_columns(batch.sent),
    }


def question_words(asking: AskingParams) -> str:
    """Return the words around the questions of a run; they must not change while it goes on."""
    return choice_prompt(asking, "")


def answers_after(run: SearchRun, batch: Batch) -> int:
    """Return the answers a run has taken once a batch is counted."""
    return run.n_inferences + sum(one.record.verdict in (Verdict.PASS, Verdict.FAIL) for one in batch.samples)


def move_step(run: SearchRun, lease: Lease, *, values: dict[str, Any]) -> None:
    """Move a run from its step to the next while the claim holds, and renew the claim.

    Raises:
        LeaseLost: the claim does not hold.
    """
    rows = SearchRun.objects.filter(pk=run.pk, fence=lease.fence, step=run.step, state__in=COMMIT_STATES)
    if rows.update(step=run.step + 1, stalls=0, lease_expires=lease_end(), **values) != 1:
        raise LeaseLost


def added(amounts: Mapping[str, float]) -> dict[str, Any]:
    """Return columns, each with what is to be added to it."""
    return {name: F(name) + amount for name, amount in amounts.items()}


def _spent_columns(sent: Sequence[SutReply]) -> dict[str, Any]:
    """Return the columns of a run that calls to its system add to; what was held for them is let go."""
    return added(spent_amounts(sent)) | {"reserved_usd": 0.0}


def spent_amounts(sent: Sequence[SutReply]) -> dict[str, float]:
    """Return what calls add to the columns of a run."""
    sent = [reply for reply in sent if reply.n_attempts > 0]  # some fail before they are sent
    answered = [reply for reply in sent if not reply.is_call_error]
    return {
        "n_calls": len(sent),
        "n_failed_calls": len(sent) - len(answered),
        "n_attempts": sum(reply.n_attempts for reply in sent),
        "latency_ms_sum": sum(reply.latency_ms for reply in answered),
        "input_tokens": sum(reply.input_tokens or 0 for reply in sent),
        "output_tokens": sum(reply.output_tokens or 0 for reply in sent),
        "spend_usd": sum(reply.cost_usd for reply in sent),
    }


def write_trials(run: SearchRun, live: LiveSearch, batch: Batch) -> dict[Key, Trial]:
    """Insert or update the rows of the sets in a batch; one statement for all."""
    rows: dict[Key, Trial] = {}
    for key in dict.fromkeys(one.record.query.key for one in batch.samples):
        tally = live.tallies[key]
        rows[key] = Trial(
            run=run,
            key=KEY_SEPARATOR.join(key),
            concepts=list(key),
            size=len(key),
            order=tally.order,
            stage=tally.stage,
            expected_action=tally.expected_action,
            rule_id=tally.rule_id,
            **{name: getattr(tally, name) for name in TRIAL_FIELDS},
        )
    Trial.objects.bulk_create(
        rows.values(),
        update_conflicts=True,
        unique_fields=["run", "key", "block", "variant"],
        update_fields=TRIAL_FIELDS,
    )
    return rows


def sample_row(run: SearchRun, trial: Trial, position: int, one: AnsweredSample) -> Sample:
    """Return the row of an answered sample, not yet written.

    Args:
        run: the row as read before the batch.
        trial: the set that it is a sample of.
        position: its place in the batch.
        one: the sample.
    """
    prepared, verdict = one.prepared, one.record.verdict.value
    scene = prepared.scene
    return Sample(
        run=run,
        trial=trial,
        step=run.step,
        position=position,
        number=one.record.query.number,
        scene_seed=prepared.scene_seed,
        attempt=scene.description.attempt if scene else 0,
        description_digest=scene.description.digest if scene else "",
        image_sha256=scene.image_sha256 if scene else "",
        annotations=[asdict(annotation) for annotation in scene.annotations] if scene else [],
        provenance=dict(scene.provenance) if scene else {},
        description=_kept_description(scene),
        prompt=one.prompt,
        actions=prepared.question.actions,
        expected_letter=prepared.question.expected_letter,
        expected_action=prepared.expected_action,
        rule_id=prepared.rule_id,
        verdict=verdict,
        told_verdict=verdict,
        render_ms=one.render_ms,
        is_cached=one.is_cached,
        **answer_columns(one),
    )


def _kept_description(scene: GeneratedScene | None) -> dict[str, Any]:
    """Return the description of a scene that no seed makes again without its back end, else nothing."""
    if scene is None or is_described(scene.provenance.get("backend", "")):
        return {}
    described: dict[str, Any] = json.loads(scene.description.to_json())
    return described


def answer_columns(one: AnsweredSample) -> dict[str, Any]:
    """Return the columns of a sample that its reply decides."""
    record, reply = one.record, one.reply
    has_reply = bool(one.cache_key) and not reply.is_call_error
    return {
        "raw_text": reply.text,
        "finish_reason": reply.finish_reason if has_reply else "",
        "answer_status": record.answer_status,
        "letter": record.letter,
        "answered_action": record.answered_action,
        "direction": record.direction,
        "reason_text": record.reason_text,
        "statements": said_of(one),
        "collision": asdict(record.collision) if record.collision else {},
        "latency_ms": reply.latency_ms,
        "input_tokens": reply.input_tokens,
        "output_tokens": reply.output_tokens,
        "cost_usd": reply.cost_usd,
        "n_attempts": reply.n_attempts if one.is_sent else 0,
        "seen_width": reply.seen_size[0] if reply.seen_size else None,
        "seen_height": reply.seen_size[1] if reply.seen_size else None,
        "served_model": reply.served_model[:MOST_MODEL_CHARACTERS],
        "reader_version": READER_VERSION if has_reply else "",
        "error": reply.call_error or one.prepared.generation_error,
    }


def said_of(one: AnsweredSample) -> list[dict[str, Any]]:
    """Return what was said of the statements before the question; nothing was where no reply was read."""
    statements = one.prepared.statements
    said = one.record.said or (None,) * len(statements)
    return [asdict(each) | {"said": word} for each, word in zip(statements, said, strict=True)]


def keep_answers(run: SearchRun, replies: Mapping[str, SutReply], *, lease: Lease) -> None:
    """Keep what a batch was answered before it was cut: counted now, in the cache when it is asked again.

    Raises:
        LeaseLost: the claim does not hold any more; nothing was written.
    """
    with transaction.atomic():
        sent = list(replies.values())
        rows = SearchRun.objects.filter(pk=run.pk, fence=lease.fence, step=run.step, state__in=COMMIT_STATES)
        if not rows.update(**_spent_columns(sent)):
            raise LeaseLost
        _cache(run, {key: reply for key, reply in replies.items() if not reply.is_call_error})
        count_calls(run.sut_id, sent)


def write_cache(run: SearchRun, samples: Sequence[AnsweredCall]) -> None:
    """Store fresh replies for later runs; the first answer to a question wins."""
    fresh = {
        one.cache_key: one.reply
        for one in samples
        if one.is_sent and one.may_be_reused and not one.reply.is_call_error
    }
    _cache(run, fresh)


def _cache(run: SearchRun, replies: Mapping[str, SutReply]) -> None:
    # One order for all writers: two that insert the same keys wait for each other instead of deadlocking.
    rows = [
        CachedReply(
            key=key,
            run_id=run.pk,
            text=reply.text,
            finish_reason=reply.finish_reason,
            input_tokens=reply.input_tokens,
            output_tokens=reply.output_tokens,
            seen_width=reply.seen_size[0] if reply.seen_size else None,
            seen_height=reply.seen_size[1] if reply.seen_size else None,
            served_model=reply.served_model[:MOST_MODEL_CHARACTERS],
        )
        for key, reply in sorted(replies.items())
    ]
    CachedReply.objects.bulk_create(rows, ignore_conflicts=True)
