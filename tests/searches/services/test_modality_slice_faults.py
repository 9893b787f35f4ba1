"""What goes wrong within a slice of a MoST run: lost claims, a full disk, no database, another system."""

import errno
import os

import pytest
from django.db import OperationalError

from searches.enums import RunState
from searches.models import CachedReply, CleanAnswer, SearchRun, SutRecord
from searches.services import modality_slice
from searches.services.advance import advance_run
from searches.services.leases import take_lease
from searches.services.runs import cancel_run, pause_run, resume_run
from searches.services.slice_ends import SliceEnd
from tests.searches.engine import advance
from tests.searches.modality_engine import (
    RIGHT,
    breaks_now_and_then,
    modality_digest,
    never_breaks,
    runs_of,
    start_modality,
    start_modality_run,
)
from vlmlab.core.suts.base import SutInfo
from vlmlab.core.suts.scripted import ScriptedSut

pytestmark = pytest.mark.django_db


def test_a_late_worker_writes_nothing_once_another_has_the_run():
    run = start_modality_run(never_breaks())
    lease = take_lease("first:1:1:main", ["cpu"])
    SearchRun.objects.filter(pk=run.pk).update(state=RunState.QUEUED)
    take_lease("second:2:2:main", ["cpu"])

    end = advance_run(lease, slice_seconds=100)

    run.refresh_from_db()
    assert end == SliceEnd.LEASE_LOST
    assert (run.step, run.evaluations.count(), CleanAnswer.objects.count()) == (0, 0, 0)
    assert run.owner == "second:2:2:main"


def test_a_lease_that_is_lost_within_a_batch_leaves_nothing_of_the_batch(monkeypatch):
    run = start_modality_run(never_breaks())
    advance(run, slice_seconds=0)
    answer = modality_slice.answer_questions

    def overtaken(*args, **values):
        SearchRun.objects.filter(pk=run.pk).update(fence=99)
        return answer(*args, **values)

    monkeypatch.setattr(modality_slice, "answer_questions", overtaken)

    assert advance(run) == SliceEnd.LEASE_LOST
    assert (run.step, run.evaluations.count(), run.n_inferences) == (1, 0, 0)


def test_a_database_error_frees_the_run_for_another_worker(monkeypatch):
    sut = breaks_now_and_then()
    whole, disturbed = start_modality_run(sut), start_modality_run(sut)
    advance(whole)
    commit, calls = modality_slice.commit_evaluations, iter(range(100))

    def locked(*args, **values):
        if next(calls) == 0:
            raise OperationalError("database is locked")
        commit(*args, **values)

    monkeypatch.setattr(modality_slice, "commit_evaluations", locked)
    monkeypatch.setattr("searches.services.slice_ends.connection.close", lambda: None)

    assert advance(disturbed) == SliceEnd.DATABASE_ERROR
    assert advance(disturbed) == SliceEnd.FINISHED
    assert modality_digest(disturbed) == modality_digest(whole)


def test_a_full_disk_pauses_a_run_at_its_end_and_asks_nothing_twice(monkeypatch, asked):
    run = start_modality_run(never_breaks())
    replace = os.replace

    def full(source, target):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    paused = advance(run), run.state, run.error, run.modality.status
    monkeypatch.setattr(os, "replace", replace)
    resume_run(run, by=None)

    assert paused == (SliceEnd.PAUSED, RunState.PAUSED, "The disk for pictures is full.", "unfinished")
    assert advance(run) == SliceEnd.FINISHED
    assert (run.modality.cases.count(), len(asked)) == (1, 25)


def test_a_pause_and_a_cancel_during_a_batch_keep_the_batch():
    first, second = start_modality_run(never_breaks()), start_modality_run(never_breaks())

    paused = advance(first, should_yield=_at_second_check(lambda: pause_run(first, by=None)))
    cancelled = advance(second, should_yield=_at_second_check(lambda: cancel_run(second, by=None)))

    assert (paused, cancelled) == (SliceEnd.PAUSED, SliceEnd.CANCELLED)
    assert first.step == second.step == 3  # the clean answer, a batch, the batch in hand
    assert first.evaluations.count() == first.n_inferences == second.n_inferences > 8
    assert (first.modality.status, second.modality.status) == ("unfinished", "unfinished")
    resume_run(second, by=None)
    assert advance(second) == SliceEnd.FINISHED


def test_a_worker_asked_to_stop_puts_the_run_back_and_the_batch_is_asked_again():
    sut = breaks_now_and_then()
    whole, stopped = start_modality_run(sut), start_modality_run(sut)
    advance(whole)
    checks = iter(range(1000))

    end = advance(stopped, should_stop=lambda: next(checks) > 8)

    assert (end, stopped.state, stopped.lease_expires) == (SliceEnd.STOPPED, RunState.QUEUED, None)
    assert advance(stopped) == SliceEnd.FINISHED
    assert modality_digest(stopped) == modality_digest(whole)


def test_a_campaign_never_mixes_two_systems_and_its_waiting_runs_pause():
    sut = never_breaks()
    first, second, third = runs_of(start_modality(sut, n=3, inference_budget=2))
    advance(first)
    SutRecord.objects.filter(pk=sut.pk).update(params=sut.params | {"default": f" {RIGHT}"})

    end = advance(second)

    third.refresh_from_db()
    assert (end, second.state, second.n_calls) == (SliceEnd.FAILED, RunState.FAILED, 0)
    assert second.error == f"{sut.name} is not the system any more that this run began with."
    assert (third.state, third.error) == (RunState.PAUSED, second.error)
    SutRecord.objects.filter(pk=sut.pk).update(params=sut.params)
    for run in (second, third):
        resume_run(run, by=None)
        assert advance(run) == SliceEnd.FINISHED


def test_replies_given_while_a_system_became_another_one_are_not_reused(monkeypatch):
    run = start_modality_run(never_breaks(), algorithm="random", inference_budget=16)
    fingerprint, answer = ["a" * 64], ScriptedSut.generate

    def answer_and_change(self, requests):
        if len(requests) > 1:
            fingerprint[0] = "b" * 64
        return answer(self, requests)

    smaller = {"batch size": "4 (lowered from 8: the device ran out of memory)"}
    monkeypatch.setattr(
        ScriptedSut, "info", property(lambda self: SutInfo("scripted", fingerprint[0], 8, smaller))
    )
    monkeypatch.setattr(ScriptedSut, "generate", answer_and_change)

    advance(run)

    assert run.n_inferences == 16
    assert CachedReply.objects.count() == 1 + 8  # the clean answer, given before, and the batch after
    assert run.events.filter(text__contains="goes on with another batch size").count() == 1


def test_a_second_campaign_takes_its_answers_from_the_cache():
    sut = breaks_now_and_then()
    advance(start_modality_run(sut))
    second = start_modality_run(sut)

    advance(second)

    assert second.n_cached == second.evaluations.count() + 1
    assert second.n_calls == 0


def _at_second_check(action):
    """Return a check that does something the second time it is asked, and always says no."""
    calls = iter(range(1000))

    def check() -> bool:
        if next(calls) == 1:
            action()
        return False

    return check
