"""A run advances in slices that may be cut anywhere, and always ends with the same rows."""

import errno
import os

import pytest
from django.db import OperationalError

from searches.enums import RunState
from searches.models import Blob, CachedReply, RunEvent, SearchRun, SutRecord
from searches.services import advance as advancing
from searches.services.advance import advance_run
from searches.services.leases import take_lease
from searches.services.runs import cancel_run, pause_run, resume_run
from searches.services.slice_ends import SliceEnd
from tests.doubles import FlatSceneSource
from tests.searches.engine import advance, as_new_process, run_digest, scripted, start_run
from vlmlab.core.errors import DrawingStoppedError
from vlmlab.core.suts.base import SutInfo
from vlmlab.core.suts.scripted import ScriptedSut

pytestmark = pytest.mark.django_db


def test_a_run_takes_exactly_its_budget_and_finishes():
    run = start_run(inference_budget=60)

    end = advance(run)

    assert end == SliceEnd.FINISHED
    assert run.state == RunState.SUCCEEDED
    assert run.n_inferences == run.n_observations == run.samples.count() == 60
    assert run.n_modes == run.findings.count() > 0
    assert run.n_trials == run.trials.count()
    assert run.ending == f"the budget of 60 inferences is used up: {run.n_modes} failure modes."


@pytest.mark.parametrize("algorithm", ["random", "beam", "gpts", "sits"])
def test_slices_in_fresh_processes_end_like_one_undisturbed_run(algorithm):
    sut = scripted(call_error_rate=0.1)
    whole = start_run(sut, algorithm=algorithm, inference_budget=40)
    advance(whole)
    as_new_process()
    sliced = start_run(sut, algorithm=algorithm, inference_budget=40)
    SearchRun.objects.filter(pk=sliced.pk).update(cache_watermark=0)
    slices = 0

    while not sliced.is_final:
        as_new_process()
        advance(sliced, slice_seconds=0)
        slices += 1

    assert slices >= 5
    assert run_digest(sliced) == run_digest(whole)


def test_counters_agree_with_the_rows_they_count():
    run = start_run(scripted(call_error_rate=0.2), inference_budget=50)

    advance(run)

    verdicts = list(run.samples.values_list("verdict", flat=True))
    assert run.n_failed == verdicts.count("fail")
    assert run.n_inferences == verdicts.count("fail") + verdicts.count("pass")
    assert run.n_call_errors == verdicts.count("call_error") > 0
    assert run.n_invalid == run.samples.filter(answer_status="invalid").count()
    assert sum(row["answers"] for row in run.by_expected.values()) == run.n_inferences
    assert sum(row["modes"] for row in run.by_expected.values()) == run.n_modes
    for trial in run.trials.all():
        own = list(trial.samples.values_list("verdict", flat=True))
        assert (trial.fails, trial.passes) == (own.count("fail"), own.count("pass"))
        assert trial.call_errors == own.count("call_error")


def test_the_systems_totals_count_each_call_once():
    sut = scripted(call_error_rate=0.2)
    run = start_run(sut, inference_budget=30)

    advance(run)

    sut.refresh_from_db()
    assert sut.n_calls == run.samples.count()
    assert sut.n_call_errors == run.n_call_errors
    assert sut.last_error == "The scripted call failed, as its settings ask."
    assert len(sut.fingerprint) == 64


def test_a_second_run_takes_its_answers_from_the_cache():
    sut = scripted()
    advance(start_run(sut, inference_budget=30))
    second = start_run(sut, inference_budget=30)

    advance(second)

    assert second.n_cached == 30
    assert SutRecord.objects.get(pk=sut.pk).n_calls == 30


def test_a_run_does_not_read_answers_younger_than_itself():
    sut = scripted()
    first, second = start_run(sut, inference_budget=30), start_run(sut, inference_budget=30)
    advance(first)

    advance(second)

    assert second.n_cached == 0
    assert CachedReply.objects.count() == 30


def test_a_time_limit_ends_a_run_with_what_it_has():
    run = start_run(scripted(latency_ms=30), inference_budget=500, wall_clock_budget_s=0.2)

    end = advance(run)

    assert end == SliceEnd.FINISHED
    assert run.ending == "the time limit of 0.2 s is reached."
    assert 0 < run.n_inferences < 500


def test_a_full_disk_pauses_the_run_and_nothing_is_lost(monkeypatch):
    sut = scripted()
    whole = start_run(sut, inference_budget=40)
    disturbed = start_run(sut, inference_budget=40)
    advance(whole)
    real, writes = os.replace, iter(range(1000))

    def full(source, target):
        if next(writes) == 20:
            raise OSError(errno.ENOSPC, "No space left on device")
        real(source, target)

    monkeypatch.setattr(os, "replace", full)
    Blob.objects.all().delete()
    as_new_process()
    for path in _blob_files():
        path.unlink()

    assert advance(disturbed) == SliceEnd.PAUSED
    assert disturbed.error == "The disk for pictures is full."
    resume_run(disturbed, by=None)
    assert advance(disturbed) == SliceEnd.FINISHED

    assert run_digest(disturbed) == run_digest(whole)
    assert not [path for path in _blob_files() if path.name.startswith(".new-")]


def test_a_database_error_frees_the_run_for_another_worker(monkeypatch):
    sut = scripted()
    whole, disturbed = start_run(sut, inference_budget=40), start_run(sut, inference_budget=40)
    advance(whole)
    real, calls = advancing.commit_batch, iter(range(1000))

    def locked(*args, **values):
        if next(calls) == 2:
            raise OperationalError("database is locked")
        real(*args, **values)

    monkeypatch.setattr(advancing, "commit_batch", locked)
    # Closing the connection would end the transaction that this test runs in.
    monkeypatch.setattr("searches.services.slice_ends.connection.close", lambda: None)

    assert advance(disturbed) == SliceEnd.DATABASE_ERROR
    assert disturbed.state == RunState.QUEUED
    assert advance(disturbed) == SliceEnd.FINISHED
    assert run_digest(disturbed) == run_digest(whole)


def test_a_bug_fails_the_run_with_a_reference_and_a_resume_ends_well(monkeypatch):
    run = start_run(inference_budget=40)
    with monkeypatch.context() as patch:
        patch.setattr("searches.services.scene_slice.keep_pictures", lambda *args: 1 / 0)

        assert advance(run) == SliceEnd.FAILED

    assert run.error == "Something went wrong inside the lab."
    assert run.error_reference in run.hint
    resume_run(run, by=None)
    assert advance(run) == SliceEnd.FINISHED
    assert (run.error, run.error_reference) == ("", "")


def test_a_system_that_cannot_be_loaded_fails_the_run_with_what_to_do():
    sut = scripted()
    run = start_run(sut)
    SutRecord.objects.filter(pk=sut.pk).update(is_enabled=False)

    advance(run)

    assert run.state == RunState.FAILED
    assert run.hint == "Switch it on again on its page, then resume the run."


def test_settings_of_another_version_fail_the_run_with_a_sentence():
    run = start_run()
    run.campaign.config["forgotten_setting"] = 1
    run.campaign.save()

    advance(run)

    assert run.state == RunState.FAILED
    assert run.hint == "Copy its settings and start a new run with them."


def test_a_method_of_another_version_fails_the_run_with_a_sentence():
    run = start_run()
    run.campaign.method = "forgotten"
    run.campaign.save()

    end = advance(run)

    assert (end, run.state) == (SliceEnd.FAILED, RunState.FAILED)
    assert run.error == "This version of the lab knows no method called “forgotten”."


def test_stored_samples_that_the_search_would_not_ask_fail_the_run():
    run = start_run(inference_budget=40)
    advance(run, slice_seconds=0)
    run.samples.filter(position=0).update(number=77)
    as_new_process()

    advance(run)

    assert run.state == RunState.FAILED
    assert run.error == "The stored samples are not what this version of the search would ask."


def test_a_pause_during_a_batch_keeps_the_batch():
    run = start_run(inference_budget=40)

    end = advance(run, should_yield=_does(lambda: pause_run(run, by=None)))

    assert end == SliceEnd.PAUSED
    assert run.state == RunState.PAUSED
    assert run.samples.count() == run.n_inferences == 16


def test_a_cancel_during_a_batch_keeps_the_batch_and_ends_the_run():
    run = start_run(inference_budget=40)

    end = advance(run, should_yield=_does(lambda: cancel_run(run, by=None)))

    assert end == SliceEnd.CANCELLED
    assert run.state == RunState.CANCELLED
    assert run.samples.count() == 16
    assert run.finished_at is not None


def test_a_worker_asked_to_stop_puts_the_run_back_at_once():
    run = start_run(inference_budget=40)
    asks = iter(range(100))

    end = advance(run, should_stop=lambda: next(asks) > 14)

    assert end == SliceEnd.STOPPED
    assert (run.state, run.lease_expires, run.stalls) == (RunState.QUEUED, None, 0)
    assert run.n_inferences == 8


def test_a_source_that_stops_because_the_worker_must_puts_the_run_back_and_is_no_fault_of_the_source(
    monkeypatch,
):
    run = start_run(inference_budget=20)
    draw, drawn = FlatSceneSource.generate, []

    def stopping(source, concepts, *, seed):
        drawn.append(seed)
        if len(drawn) == 11:
            raise DrawingStoppedError("The worker was asked to stop before the picture came.")
        return draw(source, concepts, seed=seed)

    monkeypatch.setattr(FlatSceneSource, "generate", stopping)
    stopped = advance(run)
    finished = advance(run)

    assert (stopped, finished) == (SliceEnd.STOPPED, SliceEnd.FINISHED)
    assert (run.n_inferences, run.error) == (20, "")


def test_a_late_worker_writes_nothing_once_another_has_the_run():
    run = start_run(inference_budget=40)
    lease = take_lease("first:1:1:main", ["cpu"])
    SearchRun.objects.filter(pk=run.pk).update(state=RunState.QUEUED)
    take_lease("second:2:2:main", ["cpu"])

    end = advance_run(lease, slice_seconds=100)

    run.refresh_from_db()
    assert end == SliceEnd.LEASE_LOST
    assert (run.step, run.samples.count(), run.owner) == (0, 0, "second:2:2:main")


def test_pictures_beyond_the_limit_are_kept_only_for_failures(settings):
    settings.KEPT_PICTURES = 10
    run = start_run(inference_budget=60)

    advance(run)

    kept = set(Blob.objects.values_list("pk", flat=True))
    failed = set(run.samples.filter(verdict="fail").values_list("image_sha256", flat=True))
    assert failed <= kept
    assert run.n_pictures == len(kept) < 60
    assert all(set(finding.thumbnails) <= kept for finding in run.findings.all())


def test_the_log_tells_what_a_person_wants_to_know():
    run = start_run(inference_budget=40)

    advance(run)

    lines = list(RunEvent.objects.filter(run=run).values_list("text", flat=True))
    assert lines[0].startswith("Queued for ")
    assert lines[1:3] == ["Started.", "Warm-up: the smallest sets come first."]
    assert lines[-1] == f"Finished: {run.ending}"
    assert sum(line.startswith("Failure mode: ") for line in lines) == run.n_modes


def _does(action):
    """Return a check that does something the first time it is asked, and always says no."""
    calls = iter(range(1000))

    def check() -> bool:
        if next(calls) == 0:
            action()
        return False

    return check


def _blob_files():
    from django.conf import settings

    return [path for path in settings.BLOB_DIR.rglob("*") if path.is_file()]


def test_a_run_refuses_to_go_on_with_another_system_than_it_began_with():
    sut = scripted()
    run = start_run(sut, inference_budget=60)
    advance(run, slice_seconds=0)
    answered, fingerprint = run.n_inferences, run.checkpoint["fingerprint"]
    SutRecord.objects.filter(pk=sut.pk).update(params=sut.params | {"default": "Something else."})

    end = advance(run)

    assert (end, run.state, run.n_inferences) == (SliceEnd.FAILED, RunState.FAILED, answered)
    assert run.error.endswith("is not the system any more that this run began with.")
    SutRecord.objects.filter(pk=sut.pk).update(params=sut.params)
    resume_run(run, by=None)
    assert advance(run) == SliceEnd.FINISHED
    assert run.checkpoint["fingerprint"] == fingerprint


def test_replies_given_while_a_system_became_another_one_are_not_reused(monkeypatch):
    run = start_run(scripted(), inference_budget=16, slots=8)
    fingerprint, answer = ["a" * 64], ScriptedSut.generate

    def answer_and_change(self, requests):
        fingerprint[0] = "b" * 64
        return answer(self, requests)

    smaller = {"batch size": "4 (lowered from 8: the device ran out of memory)"}
    monkeypatch.setattr(
        ScriptedSut, "info", property(lambda self: SutInfo("scripted", fingerprint[0], 8, smaller))
    )
    monkeypatch.setattr(ScriptedSut, "generate", answer_and_change)

    advance(run)

    assert run.n_inferences == 16
    assert CachedReply.objects.count() == 8
    said = f"{run.sut.name} goes on with another batch size: {smaller['batch size']}."
    assert run.events.filter(text=said).count() == 1
    assert SutRecord.objects.get(pk=run.sut_id).details["batch size"] == smaller["batch size"]
