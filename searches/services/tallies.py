"""What a batch changes in the counts of sets, in memory, before it is written."""

from collections.abc import Sequence

from searches.enums import TrialStatus
from searches.services.batches import Batch
from searches.services.live import LiveSearch, Tally
from vlmlab.core.revelio.config import RevelioConfig
from vlmlab.core.revelio.evaluate import SampleRecord
from vlmlab.core.revelio.racing import StoppingRule
from vlmlab.core.revelio.types import Verdict

DECIDED = (TrialStatus.DECIDED_FAIL, TrialStatus.DECIDED_PASS)


def tally_batch(live: LiveSearch, batch: Batch) -> None:
    """Count a batch in the tallies, after the search was told it."""
    for one in batch.samples:
        key = one.record.query.key
        state = live.search.trials[key]
        if key not in live.tallies:
            live.tallies[key] = Tally(
                order=state.order,
                stage=state.stage,
                expected_action=one.prepared.expected_action,
                rule_id=one.prepared.rule_id,
            )
        live.tallies[key].count(one.record.verdict, is_invalid=one.record.is_invalid)
    for key in {one.record.query.key for one in batch.samples}:
        tally, state = live.tallies[key], live.search.trials[key]
        if tally.status in DECIDED:
            continue
        tally.status, tally.is_curtailed = TrialStatus(state.status), state.is_curtailed
        if (tally.fails, tally.passes) != (state.fails, state.passes):
            _decide_by_rows(tally, live.config)


def _decide_by_rows(tally: Tally, config: RevelioConfig) -> None:
    """Class a set by its stored answers where the search knows others.

    The search keeps what it was told; failed calls that were asked again and answers that were read again
    differently stand in the rows only.
    """
    status = class_of(tally.status, tally.fails, tally.passes, rule=stopping_rule(config))
    if status != tally.status:
        tally.status = status
        tally.is_curtailed = status in DECIDED and tally.fails + tally.passes < config.samples_per_set


def class_of(told: TrialStatus, fails: int, passes: int, *, rule: StoppingRule) -> TrialStatus:
    """Return the class of a set with these answers, which may differ from those that the search was told.

    Args:
        told: the class that the search gave it; it stays where the answers still support it.
        fails: stored wrong answers.
        passes: stored right answers.
        rule: of the run.
    """
    if told == TrialStatus.DECIDED_FAIL and fails >= rule.needed:
        return told
    if told == TrialStatus.DECIDED_PASS and passes >= rule.passes_needed:
        return told
    status = TrialStatus(rule.decide(fails, passes))
    if status in DECIDED:
        return status
    return TrialStatus.OPEN if told in DECIDED else told


def stopping_rule(config: RevelioConfig) -> StoppingRule:
    """Return the rule that classes the sets of a run."""
    return StoppingRule(config.samples_per_set, config.fails_needed, config.is_curtailed)


def tally_retry(live: LiveSearch, batch: Batch) -> None:
    """Count failed calls that were asked again; a set that was undecided may now be decided."""
    config = live.config
    rule = stopping_rule(config)
    for one in batch.samples:
        tally = live.tallies[one.record.query.key]
        tally.call_errors -= 1
        tally.count(one.record.verdict, is_invalid=one.record.is_invalid)
        if tally.status in DECIDED:
            continue
        status = TrialStatus(rule.decide(tally.fails, tally.passes))
        if status in DECIDED:
            tally.status = status
            tally.is_curtailed = tally.fails + tally.passes < config.samples_per_set


def count_by_expected(
    by_expected: dict[str, dict[str, int]], records: Sequence[SampleRecord], live: LiveSearch
) -> dict[str, dict[str, int]]:
    """Return the counters by expected answer: answers so far plus these, sets as they stand now."""
    counted = count_answers(by_expected, records)
    for tally in live.tallies.values():
        row = counted.setdefault(tally.expected_action, blank_counts())
        row["decided"] += tally.status in DECIDED
        row["modes"] += tally.status == TrialStatus.DECIDED_FAIL
    return counted


def count_answers(
    by_expected: dict[str, dict[str, int]], records: Sequence[SampleRecord]
) -> dict[str, dict[str, int]]:
    """Return answers by expected answer, those so far plus these; what was decided is to be counted anew."""
    counted = {
        action: blank_counts() | {"answers": row["answers"], "fails": row["fails"], "invalid": row["invalid"]}
        for action, row in by_expected.items()
    }
    for one in records:
        row = counted.setdefault(one.expected_action, blank_counts())
        row["answers"] += one.verdict in (Verdict.PASS, Verdict.FAIL)
        row["fails"] += one.verdict == Verdict.FAIL
        row["invalid"] += one.is_invalid
    return counted


def blank_counts() -> dict[str, int]:
    """Return the counters of an expected answer of which nothing is known."""
    return {"answers": 0, "fails": 0, "invalid": 0, "decided": 0, "modes": 0}


def set_counters(live: LiveSearch) -> dict[str, int]:
    """Return the run's counters of sets."""
    statuses = live.count_statuses()
    failing = statuses[TrialStatus.DECIDED_FAIL]
    return {
        "n_trials": len(live.tallies),
        "n_decided": failing + statuses[TrialStatus.DECIDED_PASS],
        "n_parked": statuses[TrialStatus.PARKED],
        "n_modes": failing,
    }
