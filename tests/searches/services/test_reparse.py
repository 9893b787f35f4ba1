"""Stored replies read again: rows, counters and findings follow, what the search was told stays."""

import json
from dataclasses import replace
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from searches.enums import FindingState, RunState, TrialStatus, Verdict
from searches.models import AuditEntry, Finding, SearchRun
from searches.services.reparse import reparse_run
from searches.services.results import exact_convergence
from searches.services.sample_data import load_sample_data
from tests.factories import make_campaign, make_run, make_sample, make_trial
from tests.searches.engine import advance, run_digest, scripted, start_run
from vlmlab.core.errors import VlmLabError
from vlmlab.core.replies.choices import parse_choice
from vlmlab.core.revelio import evaluate
from vlmlab.core.scenes.catalogue import load_domain

pytestmark = pytest.mark.django_db

ACTIONS = {"A": "continue", "B": "slow_down", "C": "emergency_stop"}


def read_badly(monkeypatch):
    """Make the reader of another version: it overlooks every A and takes nonsense for a C."""

    def old_reader(text, *, options, n_statements=0, finish_reason="stop"):
        now = parse_choice(text, options=options, n_statements=n_statements, finish_reason=finish_reason)
        if now.letter == "A":
            return replace(now, status="invalid", letter=None)
        return now if now.letter else replace(now, status="answered", letter="C")

    monkeypatch.setattr(evaluate, "parse_choice", old_reader)


def run_of_old_reader(monkeypatch, **config) -> SearchRun:
    with monkeypatch.context() as patch:
        read_badly(patch)
        run = start_run(scripted(call_error_rate=0.1), **config)
        advance(run)
    run.samples.update(reader_version="0")
    return run


def hand_made_run(**values) -> SearchRun:
    domain = load_domain("driving")
    campaign = make_campaign(
        domain_version=domain.version,
        config={"algorithm": "beam", "inference_budget": 60, "samples_per_set": 5, "curtail": True},
    )
    return make_run(campaign=campaign, **{"state": RunState.SUCCEEDED} | values)


def overlooked(run: SearchRun, texts: str, *, concepts: tuple[str, ...]):
    """Make a set that should stop, all of whose replies an old reader overlooked; one letter a reply."""
    trial = make_trial(
        run, concepts, verdicts="", expected_action="emergency_stop", fails=len(texts), invalid=len(texts),
        status=TrialStatus.DECIDED_FAIL,
    )  # fmt: skip
    for number, letter in enumerate(texts):
        make_sample(
            trial, "I", number=number, step=trial.order, position=number, raw_text=letter, actions=ACTIONS
        )
    return trial


def test_sets_counters_and_findings_follow_the_replies_as_worked_by_hand():
    run = hand_made_run(
        n_inferences=9, n_observations=9, n_failed=9, n_invalid=9, n_trials=2, n_modes=2, n_decided=2
    )
    holds = overlooked(run, "AABCx", concepts=("cone",))  # 4 wrong, one of them unreadable still; 1 right
    lost = overlooked(run, "CACC", concepts=("cone", "far"))  # 1 wrong, 3 right: cannot reach 3 of 5 any more
    for trial in (holds, lost):
        Finding.objects.create(
            run=run, trial=trial, sut=run.sut, domain="driving", key=trial.key, concepts=trial.concepts,
            domain_version=run.campaign.domain_version, size=trial.size, fails=trial.fails, n=trial.answers,
            invalid=trial.invalid, expected_action="emergency_stop",
        )  # fmt: skip

    report = reparse_run(run.pk)

    run.refresh_from_db()
    assert (report.n_read, report.n_changed) == (9, 8)
    assert (run.n_failed, run.n_invalid, run.n_modes, run.n_decided) == (5, 1, 1, 2)
    assert run.by_expected == {
        "emergency_stop": {"answers": 9, "fails": 5, "invalid": 1, "decided": 2, "modes": 1}
    }
    holds.refresh_from_db()
    lost.refresh_from_db()
    assert (holds.fails, holds.passes, holds.invalid, holds.status) == (4, 1, 1, TrialStatus.DECIDED_FAIL)
    assert (lost.fails, lost.passes, lost.status) == (1, 3, TrialStatus.DECIDED_PASS)
    kept, withdrawn = Finding.objects.order_by("size")
    assert (kept.state, kept.fails, kept.n, kept.answered_action) == (
        FindingState.SUSPECTED,
        4,
        5,
        "continue",
    )
    assert kept.direction == "under-reaction"
    assert (withdrawn.state, withdrawn.fails, withdrawn.n) == (FindingState.REFUTED, 1, 4)
    first = holds.samples.get(number=0)
    assert (first.letter, first.answered_action, first.direction) == ("A", "continue", "under-reaction")
    assert (first.verdict, first.told_verdict, first.reader_version) == (Verdict.FAIL, Verdict.FAIL, "1")
    right = holds.samples.get(number=3)
    assert (right.letter, right.verdict, right.told_verdict) == ("C", Verdict.PASS, Verdict.FAIL)
    assert report.sentence == (
        f"Run {run.pk}: 9 replies read, 8 read differently: failed 9 -> 5, invalid 9 -> 1, "
        "failure modes 2 -> 1."
    )


def test_a_set_whose_answers_decide_nothing_any_more_is_open_and_its_finding_undetermined():
    run = hand_made_run(n_inferences=3)
    trial = overlooked(run, "CAA", concepts=("cone",))
    Finding.objects.create(
        run=run, trial=trial, sut=run.sut, domain="driving", key="cone", concepts=["cone"], size=1, fails=3,
        n=3, domain_version=run.campaign.domain_version, expected_action="emergency_stop",
    )  # fmt: skip

    reparse_run(run.pk)

    trial.refresh_from_db()
    assert (trial.fails, trial.passes, trial.status) == (2, 1, TrialStatus.OPEN)
    assert trial.finding.state == FindingState.UNDETERMINED


@pytest.mark.parametrize("algorithm", ["sits", "beam"])
def test_reading_unchanged_replies_again_changes_nothing(algorithm):
    run = start_run(scripted(call_error_rate=0.1), algorithm=algorithm, inference_budget=60, ask_reason=True)
    advance(run)
    before = run_digest(run)

    report = reparse_run(run.pk)

    assert (report.n_read, report.n_changed, report.before) == (60, 0, report.after)
    assert run_digest(run) == before
    assert not AuditEntry.objects.filter(verb="read again").exists()


def test_reading_again_gives_the_reading_of_today_everywhere(monkeypatch):
    run = run_of_old_reader(monkeypatch, inference_budget=80)
    told = list(run.samples.values_list("told_verdict", flat=True))
    curve = exact_convergence(run)

    report = reparse_run(run.pk)

    run.refresh_from_db()
    assert report.n_changed > 0
    verdicts = list(run.samples.values_list("verdict", flat=True))
    assert verdicts != told
    assert list(run.samples.values_list("told_verdict", flat=True)) == told
    assert exact_convergence(run) == curve
    assert run.n_failed == verdicts.count("fail")
    assert run.n_invalid == run.samples.filter(answer_status="invalid").count()
    assert sum(row["answers"] for row in run.by_expected.values()) == run.n_inferences == 80
    assert sum(row["modes"] for row in run.by_expected.values()) == run.n_modes
    holding = run.findings.filter(state=FindingState.SUSPECTED)
    assert run.n_modes == run.trials.filter(status=TrialStatus.DECIDED_FAIL).count() == holding.count()
    for trial in run.trials.all():
        own = list(trial.samples.values_list("verdict", flat=True))
        assert (trial.fails, trial.passes) == (own.count("fail"), own.count("pass"))
    assert set(run.samples.exclude(verdict="call_error").values_list("reader_version", flat=True)) == {"1"}
    assert set(run.samples.filter(verdict="call_error").values_list("reader_version", flat=True)) == {"0"}


def test_reading_again_twice_is_like_once(monkeypatch):
    run = run_of_old_reader(monkeypatch, inference_budget=60)

    reparse_run(run.pk)
    once = run_digest(run)
    second = reparse_run(run.pk)

    assert (second.n_changed, run_digest(run)) == (0, once)
    assert AuditEntry.objects.filter(verb="read again").count() == 1


def test_a_reader_and_its_opposite_lead_back_to_where_the_run_was(monkeypatch):
    run = start_run(scripted(), inference_budget=60)
    advance(run)
    columns = ("key", "fails", "passes", "invalid", "status")
    before = list(run.trials.order_by("order").values_list(*columns))
    findings = list(run.findings.order_by("key").values_list("key", "state", "fails", "n"))

    with monkeypatch.context() as patch:
        read_badly(patch)
        reparse_run(run.pk)
    reparse_run(run.pk)

    assert list(run.trials.order_by("order").values_list(*columns)) == before
    back = run.findings.filter(state=FindingState.SUSPECTED).order_by("key")
    assert list(back.values_list("key", "state", "fails", "n")) == findings


def test_a_paused_run_replays_and_goes_on_after_its_replies_were_read_again(monkeypatch):
    with monkeypatch.context() as patch:
        read_badly(patch)
        run = start_run(scripted(), inference_budget=60)
        advance(run, slice_seconds=0)
        advance(run, slice_seconds=0)
    SearchRun.objects.filter(pk=run.pk).update(state=RunState.PAUSED)

    reparse_run(run.pk)
    SearchRun.objects.filter(pk=run.pk).update(state=RunState.QUEUED)
    advance(run)

    assert (run.state, run.n_observations) == (RunState.SUCCEEDED, 60)
    for trial in run.trials.all():
        own = list(trial.samples.values_list("verdict", flat=True))
        assert (trial.fails, trial.passes) == (own.count("fail"), own.count("pass"))
        if trial.status == TrialStatus.DECIDED_FAIL:
            assert trial.fails >= 3
    assert run.n_modes == run.findings.filter(state=FindingState.SUSPECTED).count()


def test_a_worker_that_holds_the_counts_of_before_does_not_write_them_back(monkeypatch):
    with monkeypatch.context() as patch:
        read_badly(patch)
        run = start_run(scripted(), inference_budget=60)
        advance(run, slice_seconds=0)  # the search stays in memory
    SearchRun.objects.filter(pk=run.pk).update(state=RunState.PAUSED)
    reparse_run(run.pk)
    SearchRun.objects.filter(pk=run.pk).update(state=RunState.QUEUED)

    advance(run, slice_seconds=0)
    in_memory = list(run.trials.order_by("order").values_list("key", "fails", "passes", "status"))

    for key, fails, passes, _status in in_memory:
        own = list(run.samples.filter(trial__key=key).values_list("verdict", flat=True))
        assert (key, own.count("fail"), own.count("pass")) == (key, fails, passes)


@pytest.mark.parametrize("state", [RunState.QUEUED, RunState.RUNNING, RunState.CANCELLING])
def test_a_run_that_goes_on_is_refused(state):
    run = hand_made_run(state=state)

    with pytest.raises(VlmLabError, match="may not be read again while it goes on"):
        reparse_run(run.pk)


def test_a_run_of_another_version_of_the_domain_stays_as_it_is():
    run = make_run(state=RunState.SUCCEEDED, campaign=make_campaign(domain_version="of another lab"))

    with pytest.raises(VlmLabError, match="The domain Driving has changed"):
        reparse_run(run.pk)


def test_a_dry_run_reports_the_same_and_changes_nothing(monkeypatch):
    run = run_of_old_reader(monkeypatch, inference_budget=60)
    before = run_digest(run)
    out = StringIO()

    call_command("reparse", "--dry-run", "--json", stdout=out)
    as_said = json.loads(out.getvalue())

    assert run_digest(run) == before
    assert set(run.samples.values_list("reader_version", flat=True)) == {"0"}
    assert not AuditEntry.objects.filter(verb="read again").exists()
    report = reparse_run(run.pk)
    assert as_said["changed"] == report.n_changed > 0
    assert as_said["reports"][0]["after"] == report.after


def test_the_command_reads_what_is_asked_for_and_leaves_what_goes_on(monkeypatch):
    run = run_of_old_reader(monkeypatch, inference_budget=30)
    other = run_of_old_reader(monkeypatch, inference_budget=30, run_seed=4)
    start_run(scripted())
    out = StringIO()

    call_command("reparse", "--sut", run.sut.slug, stdout=out)

    assert f"Run {run.pk}: 30 replies read" in out.getvalue()
    assert f"Run {other.pk}" not in out.getvalue()
    assert out.getvalue().splitlines()[-1].startswith("30 replies read with reader 1, ")
    assert SearchRun.objects.get(pk=run.pk).events.last() is not None
    entry = AuditEntry.objects.get(verb="read again")
    assert (entry.object_id, entry.before == entry.after) == (str(run.pk), False)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--run", "999999"], "There is no run 999999. Look at the list of runs."),
        (["--sut", "nobody"], "There is no system called “nobody”."),
    ],
)
def test_the_command_names_what_does_not_exist(arguments, complaint):
    with pytest.raises(CommandError, match=complaint):
        call_command("reparse", *arguments)


@pytest.mark.parametrize(
    "damage",
    [
        {"actions": []},
        {"actions": {"A": "fly"}},
        {"actions": "none"},
        {"expected_action": "fly", "raw_text": "A"},
    ],
)
def test_one_damaged_run_is_left_as_it_is_and_the_others_are_read(damage):
    runs = [hand_made_run(), hand_made_run()]
    for run in runs:
        overlooked(run, "AAAAA", concepts=("cone",))
    runs[0].samples.filter(number=2).update(**damage)
    before = list(runs[0].samples.order_by("pk").values())
    out = StringIO()

    with pytest.raises(CommandError, match=f"1 thing was left unread: Run {runs[0].pk}: left as it is"):
        call_command("reparse", stdout=out)

    assert list(runs[0].samples.order_by("pk").values()) == before
    assert f"Run {runs[1].pk}: 5 replies read, 5 read differently" in out.getvalue()


def test_the_command_fails_when_it_is_told_to_read_a_run_that_goes_on():
    run = start_run(scripted())

    with pytest.raises(CommandError, match=r"1 thing was left unread: .* it may not be read again"):
        call_command("reparse", "--run", str(run.pk), stdout=StringIO())


def test_the_sample_run_is_read_as_it_was_and_shows_its_calls():
    load_sample_data()
    run = SearchRun.objects.get(campaign__is_sample=True)

    report = reparse_run(run.pk)

    assert (report.n_read, report.n_changed) == (100, 0)
    assert (run.n_calls, run.n_attempts, run.n_failed_calls) == (100, 100, 0)
    assert run.mean_latency_ms == pytest.approx(sum(run.samples.values_list("latency_ms", flat=True)) / 100)
