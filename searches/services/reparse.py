"""Reads the stored replies of a run again with the readers of today and brings what rests on them in line.

What the search was told stays as it was (``told_verdict``): a run that goes on replays exactly as before.
Rows, counters and findings say what the replies say now.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, cast

from django.db import transaction
from django.db.models import Count, Q

from searches.enums import CONCEPT_METHOD, LIVE_STATES, TrialStatus, Verdict
from searches.models import Sample, SearchRun, Trial, User
from searches.services.audit import record
from searches.services.domain_store import find_domain
from searches.services.findings import refresh_findings
from searches.services.live import config_of, live_search
from searches.services.run_log import log_events
from searches.services.tallies import DECIDED, class_of, stopping_rule
from vlmlab.core.errors import GenerationError, VlmLabError
from vlmlab.core.replies.version import READER_VERSION
from vlmlab.core.revelio.config import RevelioConfig
from vlmlab.core.revelio.evaluate import ChoiceRecord, collision_at, read_choice
from vlmlab.core.revelio.racing import StoppingRule
from vlmlab.core.revelio.types import Key, TrialState
from vlmlab.core.scenes.concepts import Domain
from vlmlab.core.search import ReplayMismatchError
from vlmlab.core.suts.base import FinishReason
from vlmlab.web.numbers import write_many

CHUNK = 1000
READ_VERDICTS = (Verdict.PASS, Verdict.FAIL)
COLUMNS = (
    "answer_status", "letter", "answered_action", "direction", "reason_text", "verdict", "collision",
)  # fmt: skip
TRIAL_COLUMNS = ("fails", "passes", "invalid", "call_errors", "status", "is_curtailed")


@dataclass(frozen=True)
class Reparsed:
    """What reading one thing again changed.

    Attributes:
        what: the thing in words, such as ``Run 3``.
        n_read: stored replies that were read.
        n_changed: those whose reading changed.
        before, after: counts by name; equal when nothing changed.
        lines: what became of findings and verdicts, in words.
        problem: why it was left as it is, "" when it was read.
    """

    what: str
    n_read: int = 0
    n_changed: int = 0
    before: Mapping[str, float | str | None] = field(default_factory=dict)
    after: Mapping[str, float | str | None] = field(default_factory=dict)
    lines: tuple[str, ...] = ()
    problem: str = ""

    @property
    def sentence(self) -> str:
        """The report in one line."""
        if self.problem:
            return f"{self.what}: left as it is. {self.problem}"
        changes = [
            f"{name.replace('_', ' ')} {self.before[name]} -> {self.after[name]}"
            for name in self.before
            if self.before[name] != self.after[name]
        ]
        tail = f": {', '.join(changes)}" if changes else ""
        read = write_many(self.n_read, "reply,replies")
        return f"{self.what}: {read} read, {self.n_changed:,} read differently{tail}."


@transaction.atomic
def reparse_run(run_id: int, *, by: User | None = None, is_dry: bool = False) -> Reparsed:
    """Read every stored reply of a run again, in one transaction.

    Args:
        run_id: the run.
        by: who asked for it, for the audit list.
        is_dry: report only; the same work is done and rolled back.

    Raises:
        VlmLabError: the run is queued or at work, or its settings or domain have changed meanwhile.
    """
    run = SearchRun.objects.select_for_update(of=("self",)).select_related("campaign", "sut").get(pk=run_id)
    _require_rest(run)
    config, domain = config_of(run), _domain_of(run)
    before = _counts(run)
    n_read, changed = _read_again(run, config, domain)
    lines: list[str] = []
    if changed:
        Sample.objects.bulk_update(changed, COLUMNS, batch_size=CHUNK)
        lines = refresh_findings(run, _recount_sets(run, changed, config), domain=domain)
        _recount_run(run)
    run.samples.filter(verdict__in=READ_VERDICTS).update(reader_version=READER_VERSION)
    report = Reparsed(f"Run {run.pk}", n_read, len(changed), before, _counts(run), tuple(lines))
    if changed:
        log_events(run.pk, [f"Read again with reader {READER_VERSION}. {report.sentence}", *lines])
        record(by, "read again", run, before=report.before, after=report.after)
    if is_dry:
        transaction.set_rollback(True)
    return report


def _require_rest(run: SearchRun) -> None:
    if run.campaign.method != CONCEPT_METHOD:
        raise VlmLabError(
            f"Run {run.pk} is one of a follow-up: its sampling stopped on what was read then.",
            hint="Read again, it would be no evidence. Start the follow-up again instead.",
        )
    if run.state in LIVE_STATES:
        raise VlmLabError(
            f"Run {run.pk} is {run.get_state_display().lower()}: it may not be read again while it goes on.",
            hint="Pause it first, or wait until it has finished.",
        )


def _domain_of(run: SearchRun) -> Domain:
    domain = find_domain(run.campaign.domain_ref)
    if domain.version != run.campaign.domain_version:
        raise VlmLabError(
            f"The domain {domain.title} has changed since run {run.pk} started.",
            hint="Its replies answer the questions of then, so its results stay as they are.",
        )
    return domain


def _read_again(run: SearchRun, config: RevelioConfig, domain: Domain) -> tuple[int, list[Sample]]:
    """Return how many replies were read, and the samples whose reading changed, with the new columns set."""
    rows = run.samples.filter(verdict__in=READ_VERDICTS).select_related("trial").order_by("pk")
    n_read, changed = 0, []
    for sample in rows.iterator(chunk_size=CHUNK):
        n_read += 1
        read = read_choice(
            sample.raw_text,
            domain=domain,
            options={letter: domain.option_texts[action] for letter, action in sample.actions.items()},
            actions=sample.actions,
            expected_action=sample.expected_action,
            finish_reason=cast(FinishReason, sample.finish_reason),
            asks_reason=config.ask_reason,
        )
        values = asdict(read) | {"verdict": read.verdict.value, "collision": _collision(sample, read, domain)}
        del values["said"]  # searches ask no statements
        if any(getattr(sample, name) != value for name, value in values.items()):
            for name, value in values.items():
                setattr(sample, name, value)
            changed.append(sample)
    return n_read, changed


def _collision(sample: Sample, read: ChoiceRecord, domain: Domain) -> dict[str, Any]:
    """Return what the answered action does in the scene; its layout is made again, nothing is drawn.

    A layout that this version makes differently says nothing.
    """
    if read.answered_action == sample.answered_action:
        return dict(sample.collision)
    # Imported here: only answers that are read differently need a layout.
    from vlmlab.core.scenes.samplers import SAMPLERS

    sampler = SAMPLERS.get(domain.draws_as)
    if sampler is None:
        return {}
    try:
        scene = sampler(
            tuple(sample.trial.concepts), seed=sample.scene_seed, attempt=sample.attempt, domain=domain
        )
    except GenerationError:
        return {}
    if scene.digest != sample.description_digest:
        return {}
    collision = collision_at(domain, read.answered_action, scene)
    return asdict(collision) if collision else {}


def _recount_sets(run: SearchRun, changed: Sequence[Sample], config: RevelioConfig) -> list[Trial]:
    """Write the counts and the class of every set with a changed sample; returns those sets."""
    rule = stopping_rule(config)
    counted = {
        row["trial_id"]: row
        for row in run.samples.filter(trial__in={sample.trial_id for sample in changed})
        .order_by()
        .values("trial_id")
        .annotate(
            fails=Count("pk", filter=Q(verdict=Verdict.FAIL)),
            passes=Count("pk", filter=Q(verdict=Verdict.PASS)),
            invalid=Count("pk", filter=Q(answer_status="invalid")),
            call_errors=Count("pk", filter=Q(verdict=Verdict.CALL_ERROR)),
        )
    }
    trials, told = list(run.trials.filter(pk__in=counted).order_by("order")), _told(run)
    for trial in trials:
        row = counted[trial.pk]
        trial.fails, trial.passes = row["fails"], row["passes"]
        trial.invalid, trial.call_errors = row["invalid"], row["call_errors"]
        _class_again(trial, told.get(tuple(trial.concepts)), rule)
    Trial.objects.bulk_update(trials, TRIAL_COLUMNS, batch_size=CHUNK)
    return trials


def _class_again(trial: Trial, told: TrialState | None, rule: StoppingRule) -> None:
    """Give a set the class that its answers support, as if they had always been read so."""
    before = TrialStatus(told.status) if told else TrialStatus(trial.status)
    status = class_of(before, trial.fails, trial.passes, rule=rule)
    if told and (trial.fails, trial.passes) == (told.fails, told.passes):
        trial.is_curtailed = told.is_curtailed
    elif status != trial.status:
        trial.is_curtailed = status in DECIDED and trial.answers < rule.samples_per_set
    trial.status = status


def _told(run: SearchRun) -> Mapping[Key, TrialState]:
    """Return the sets as the search knows them, nothing where this version cannot replay it any more."""
    try:
        return live_search(run).search.trials
    except ReplayMismatchError:
        return {}


def _recount_run(run: SearchRun) -> None:
    """Write the counters of a run from its rows; its step moves on, so that no worker keeps old counts."""
    by_expected: dict[str, dict[str, int]] = {}
    for part in (_answers_by_expected(run), _sets_by_expected(run)):
        for action, counts in part:
            blank = dict.fromkeys(("answers", "fails", "invalid", "decided", "modes"), 0)
            by_expected.setdefault(action, blank).update(counts)
    answers = run.samples.aggregate(
        n_failed=Count("pk", filter=Q(verdict=Verdict.FAIL)),
        n_invalid=Count("pk", filter=Q(answer_status="invalid")),
    )
    sets = run.trials.aggregate(
        n_decided=Count("pk", filter=Q(status__in=DECIDED)),
        n_parked=Count("pk", filter=Q(status=TrialStatus.PARKED)),
        n_modes=Count("pk", filter=Q(status=TrialStatus.DECIDED_FAIL)),
    )
    rows = SearchRun.objects.filter(pk=run.pk, step=run.step, fence=run.fence, state=run.state)
    if rows.update(step=run.step + 1, by_expected=by_expected, **answers, **sets) != 1:
        raise VlmLabError(f"Run {run.pk} went on meanwhile.", hint="Pause it, then read it again.")
    run.refresh_from_db()


def _answers_by_expected(run: SearchRun) -> Iterator[tuple[str, dict[str, int]]]:
    rows = run.samples.order_by().values_list("expected_action")
    counted = rows.annotate(
        answers=Count("pk", filter=Q(verdict__in=READ_VERDICTS)),
        fails=Count("pk", filter=Q(verdict=Verdict.FAIL)),
        invalid=Count("pk", filter=Q(answer_status="invalid")),
    )
    for action, answers, fails, invalid in counted:
        yield action, {"answers": answers, "fails": fails, "invalid": invalid}


def _sets_by_expected(run: SearchRun) -> Iterator[tuple[str, dict[str, int]]]:
    rows = run.trials.order_by().values_list("expected_action")
    counted = rows.annotate(
        decided=Count("pk", filter=Q(status__in=DECIDED)),
        modes=Count("pk", filter=Q(status=TrialStatus.DECIDED_FAIL)),
    )
    for action, decided, modes in counted:
        yield action, {"decided": decided, "modes": modes}


def _counts(run: SearchRun) -> dict[str, float | str | None]:
    return {
        "answers": run.n_inferences,
        "failed": run.n_failed,
        "invalid": run.n_invalid,
        "decided_sets": run.n_decided,
        "failure_modes": run.n_modes,
    }
