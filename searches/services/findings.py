"""Failure modes become findings the moment their set is decided."""

from collections import Counter
from collections.abc import Sequence

from searches.enums import FindingState, TrialStatus, Verdict
from searches.models import Finding, Sample, SearchRun, Trial
from vlmlab.core.scenes.concepts import Domain
from vlmlab.web.evidence import set_words

THUMBNAILS = 4
EVIDENCE = (
    "fails", "invalid", "n", "is_curtailed", "answered_action", "direction", "thumbnails", "reason_text",
)  # fmt: skip
_STATES = {
    TrialStatus.DECIDED_FAIL: FindingState.SUSPECTED,
    TrialStatus.DECIDED_PASS: FindingState.REFUTED,
    TrialStatus.OPEN: FindingState.UNDETERMINED,
    TrialStatus.PARKED: FindingState.UNDETERMINED,
    TrialStatus.INCOMPATIBLE: FindingState.UNDETERMINED,
}


def record_findings(
    run: SearchRun, trials: Sequence[Trial], *, domain: Domain, at_inference: int
) -> list[str]:
    """Add findings for sets just decided as failing; sets that are findings already are left alone.

    Args:
        run: the run.
        trials: failing sets whose samples are written.
        domain: for the words of the log lines.
        at_inference: answers the run had taken by then.

    Returns:
        One line for the run's log for each finding added.
    """
    if not trials:
        return []
    known = list(Finding.objects.filter(run=run).values_list("pk", "trial_id", "concepts"))
    new = [trial for trial in trials if trial.pk not in {trial_id for _, trial_id, _ in known}]
    if not new:
        return []
    samples = _failed_samples(new)
    sets = [frozenset(concepts) for _, _, concepts in known] + [frozenset(one.concepts) for one in new]
    rows = [_finding(run, trial, samples[trial.pk], sets=sets, at_inference=at_inference) for trial in new]
    Finding.objects.bulk_create(rows)
    _mark_supersets(known, new)
    return [_line(row, domain) for row in rows]


def refresh_findings(run: SearchRun, trials: Sequence[Trial], *, domain: Domain) -> list[str]:
    """Bring the findings of sets in line with their samples after these were read again.

    A finding that no longer holds stays as a row and is marked: refuted where its set now passes,
    undetermined where its answers decide nothing any more. One that holds again is suspected again. What
    fresh scenes settled stands on their evidence and keeps its state.

    Args:
        run: the run.
        trials: sets whose samples changed, written already.
        domain: for the words of the log lines.

    Returns:
        One line for the run's log for each finding added, withdrawn or taken back.
    """
    failing = [trial for trial in trials if trial.status == TrialStatus.DECIDED_FAIL]
    known = {one.trial_id: one for one in Finding.objects.filter(run=run, trial__in=trials)}
    samples = _failed_samples([trial for trial in trials if trial.pk in known])
    lines = []
    for trial in trials:
        old = known.get(trial.pk)
        if old is not None:
            lines += _refreshed(run, trial, old, samples[trial.pk], domain=domain)
    lines += record_findings(run, failing, domain=domain, at_inference=run.n_inferences)
    _mark_minimal(run)
    return lines


def _refreshed(
    run: SearchRun, trial: Trial, old: Finding, failed: list[Sample], *, domain: Domain
) -> list[str]:
    now = _finding(run, trial, failed, sets=[], at_inference=old.found_at_inference)
    values = {name: getattr(now, name) for name in EVIDENCE}
    is_settled = old.state == FindingState.CONFIRMED or old.log_e_value is not None
    state = old.state if is_settled else _STATES[TrialStatus(trial.status)]
    Finding.objects.filter(pk=old.pk).update(**values, state=state)
    if state == old.state:
        return []
    words = set_words(old.concepts, domain.ref)
    label = FindingState(state).label.lower()
    return [f"Failure mode {words} is {label} now ({trial.fails} of {trial.answers} answers wrong)."]


def _mark_minimal(run: SearchRun) -> None:
    """Mark the findings of a run that contain no other one that holds."""
    rows = list(Finding.objects.filter(run=run).values_list("pk", "concepts", "trial__status"))
    holding = [frozenset(concepts) for _, concepts, status in rows if status == TrialStatus.DECIDED_FAIL]
    larger = [pk for pk, concepts, _ in rows if any(one < frozenset(concepts) for one in holding)]
    Finding.objects.filter(run=run).update(is_minimal_in_run=True)
    Finding.objects.filter(pk__in=larger).update(is_minimal_in_run=False)


def _failed_samples(trials: Sequence[Trial]) -> dict[int, list[Sample]]:
    grouped: dict[int, list[Sample]] = {trial.pk: [] for trial in trials}
    for sample in Sample.objects.filter(trial__in=trials, verdict=Verdict.FAIL).order_by("number"):
        grouped[sample.trial_id].append(sample)
    return grouped


def _finding(
    run: SearchRun, trial: Trial, failed: list[Sample], *, sets: list[frozenset[str]], at_inference: int
) -> Finding:
    action = _most_common([sample.answered_action for sample in failed if sample.answered_action])
    typical = [sample for sample in failed if sample.answered_action == action] or failed
    own = frozenset(trial.concepts)
    return Finding(
        run=run,
        trial=trial,
        sut_id=run.sut_id,
        domain=run.campaign.domain,
        domain_version=run.campaign.domain_version,
        key=trial.key,
        concepts=trial.concepts,
        size=trial.size,
        fails=trial.fails,
        invalid=trial.invalid,
        n=trial.answers,
        is_curtailed=trial.is_curtailed,
        is_minimal_in_run=not any(other < own for other in sets),
        expected_action=trial.expected_action,
        answered_action=action,
        direction=_most_common([sample.direction for sample in typical if sample.direction]),
        rule_id=trial.rule_id,
        found_at_inference=at_inference,
        thumbnails=list(dict.fromkeys(sample.image_sha256 for sample in failed))[:THUMBNAILS],
        reason_text=next((sample.reason_text for sample in typical if sample.reason_text), ""),
    )


def _mark_supersets(known: list[tuple[int, int, list[str]]], new: Sequence[Trial]) -> None:
    smaller = [frozenset(trial.concepts) for trial in new]
    larger = [pk for pk, _, concepts in known if any(one < frozenset(concepts) for one in smaller)]
    if larger:
        Finding.objects.filter(pk__in=larger).update(is_minimal_in_run=False)


def _most_common(values: Sequence[str]) -> str:
    """Return the most frequent value, the alphabetically first on a tie, "" of nothing."""
    counts = Counter(values)
    return min(counts, key=lambda value: (-counts[value], value), default="")


def _line(finding: Finding, domain: Domain) -> str:
    words = set_words(finding.concepts, domain.ref)
    return f"Failure mode: {words} ({finding.fails} of {finding.n} answers wrong)."
