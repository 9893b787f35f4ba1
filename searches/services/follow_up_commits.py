"""The one transaction that makes a batch of a follow-up true: step, counters, sets, samples, items."""

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

from django.db import transaction

from searches.enums import KEY_SEPARATOR, FindingState
from searches.models import FollowUpItem, Sample, SearchRun, Trial
from searches.services.batches import AnsweredSample, Batch
from searches.services.call_counts import count_calls
from searches.services.commits import (
    added,
    batch_columns,
    move_step,
    said_of,
    sample_row,
    write_cache,
)
from searches.services.crashes import crash_point
from searches.services.follow_up_live import LiveFollowUp, TrialKey
from searches.services.leases import Lease
from searches.services.live import Tally
from searches.services.run_log import log_events
from searches.services.suts import note_change
from searches.services.tallies import blank_counts, count_answers
from vlmlab.core.verdicts.queries import FreshOutcome, FreshQuery, ItemResult
from vlmlab.web.evidence import set_words
from vlmlab.web.stages import stage_line

COUNTS = ["fails", "passes", "invalid", "call_errors"]
DECIDED = (FindingState.CONFIRMED, FindingState.REFUTED)
RESULT = ["state", "reason", "fails", "n", "numbers"]


def outcomes_of(queries: Sequence[FreshQuery], batch: Batch) -> list[FreshOutcome]:
    """Return what a batch tells the search; the same as its rows tell a later one."""
    return [_outcome(query, one) for query, one in zip(queries, batch.samples, strict=True)]


def tally_fresh(live: LiveFollowUp, queries: Sequence[FreshQuery], batch: Batch) -> None:
    """Count a batch in the tallies, in memory."""
    for query, one in zip(queries, batch.samples, strict=True):
        tally = live.tallies.setdefault(
            live.trial_key(query),
            Tally(
                order=len(live.tallies),
                stage=live.search.stage,
                expected_action=one.prepared.expected_action,
                rule_id=one.prepared.rule_id,
            ),
        )
        tally.count(one.record.verdict, is_invalid=one.record.is_invalid)


def commit_fresh(
    run: SearchRun,
    live: LiveFollowUp,
    queries: Sequence[FreshQuery],
    batch: Batch,
    *,
    lease: Lease,
    seconds: dict[str, float],
    kept: int,
) -> None:
    """Write a batch; all of it or nothing.

    Args:
        run: the row as read before the batch.
        live: the search after it was told the batch.
        queries: what was asked.
        batch: the answered samples, in that order.
        lease: the claim that must still hold.
        seconds: columns of wall time to add.
        kept: how many pictures were stored.

    Raises:
        LeaseLost: the claim does not hold any more; nothing was written.
    """
    results = live.search.results()
    with transaction.atomic():
        values = _counters(run, live, batch, results) | {"n_pictures": run.n_pictures + kept}
        move_step(run, lease, values=values | added(seconds))
        crash_point("inside_commit_first")
        trials = _write_trials(run, live, queries)
        rows = [
            sample_row(run, trials[live.trial_key(query)], place, one)
            for place, (query, one) in enumerate(zip(queries, batch.samples, strict=True))
        ]
        Sample.objects.bulk_create(rows)
        crash_point("inside_commit_samples")
        write_cache(run, batch.samples)
        count_calls(run.sut_id, batch.sent)
        lines = write_results(live, results)
        if live.search.stage != run.stage:
            lines.insert(0, stage_line(live.search.stage))
        if batch.change:
            note_change(run.sut, batch.change)
            lines.insert(0, f"{run.sut.name} goes on with another batch size: {batch.change}.")
        log_events(run.pk, lines)
        crash_point("inside_commit_last")


def write_results(live: LiveFollowUp, results: Sequence[ItemResult]) -> list[str]:
    """Write what became known of items; returns a line for the log for each that was settled just now."""
    changed, lines = [], []
    for item, result in zip(live.items, results, strict=True):
        now = (result.state, result.reason, result.fails, result.samples, storable(result.numbers))
        if now == (item.state, item.reason, item.fails, item.n, item.numbers):
            continue
        if result.state in DECIDED and result.state != item.state:
            lines.append(_settled_line(item, result, live))
        item.state, item.reason, item.fails, item.n, item.numbers = now
        changed.append(item)
    FollowUpItem.objects.bulk_update(changed, RESULT, batch_size=200)
    return lines


def storable(numbers: Any) -> Any:
    """Return numbers as a row gives them back: lists for tuples, nothing for what JSON has no number for."""
    if isinstance(numbers, Mapping):
        return {str(name): storable(value) for name, value in numbers.items()}
    if isinstance(numbers, list | tuple):
        return [storable(value) for value in numbers]
    if isinstance(numbers, float) and not isfinite(numbers):
        return None
    return numbers


def _settled_line(item: FollowUpItem, result: ItemResult, live: LiveFollowUp) -> str:
    words = set_words(item.concepts, live.domain.ref)
    return f"{words}: {result.state} ({result.fails} of {result.samples} fresh answers wrong)."


def _outcome(query: FreshQuery, one: AnsweredSample) -> FreshOutcome:
    record, scene = one.record, one.prepared.scene
    return FreshOutcome(
        query=query,
        verdict=record.verdict,
        is_invalid=record.is_invalid,
        statements=tuple(each["said"] for each in said_of(one)),
        picture=scene.image_sha256 if scene is not None else "",
        direction=record.direction,  # type: ignore[arg-type]  # a record has no other ones
    )


def _counters(
    run: SearchRun, live: LiveFollowUp, batch: Batch, results: Sequence[ItemResult]
) -> dict[str, Any]:
    """Return the columns of the run's row; decided, parked and modes count items, not sets."""
    states = [result.state for result in results]
    n_parked = states.count(FindingState.UNDETERMINED)
    return {
        **batch_columns(run, batch, backend=live.config.backend),
        "stage": live.search.stage,
        "n_observations": live.search.observations,
        "by_expected": _by_expected(run, live, batch, states),
        "n_trials": len(live.tallies),
        "n_decided": len(states) - states.count("") - n_parked,
        "n_parked": n_parked,
        "n_modes": states.count(FindingState.CONFIRMED),
    }


def _by_expected(
    run: SearchRun, live: LiveFollowUp, batch: Batch, states: Sequence[str]
) -> dict[str, dict[str, int]]:
    """Return answers by expected answer so far, and items as they stand now."""
    counted = count_answers(run.by_expected, [one.record for one in batch.samples])
    for item, state in zip(live.items, states, strict=True):
        row = counted.setdefault(item.expected_action, blank_counts())
        row["decided"] += state not in ("", FindingState.UNDETERMINED)
        row["modes"] += state == FindingState.CONFIRMED
    return counted


def _write_trials(run: SearchRun, live: LiveFollowUp, queries: Sequence[FreshQuery]) -> dict[TrialKey, Trial]:
    """Insert or update the rows of the sets in a batch; one statement for all."""
    rows: dict[TrialKey, Trial] = {}
    for place in dict.fromkeys(live.trial_key(query) for query in queries):
        key, block, variant = place
        tally = live.tallies[place]
        rows[place] = Trial(
            run=run,
            key=KEY_SEPARATOR.join(key),
            block=block,
            variant=variant,
            concepts=list(key),
            size=len(key),
            order=tally.order,
            stage=tally.stage,
            expected_action=tally.expected_action,
            rule_id=tally.rule_id,
            **{name: getattr(tally, name) for name in COUNTS},
        )
    Trial.objects.bulk_create(
        rows.values(),
        update_conflicts=True,
        unique_fields=["run", "key", "block", "variant"],
        update_fields=COUNTS,
    )
    return rows
