"""Money of calls whose batch is not written as planned: counted once, held no longer than a worker lives."""

import pytest
from django.db.models import Sum

from searches.enums import RunState
from searches.models import CachedReply, SearchRun, SpendDay, SutRecord
from searches.services.advance import SliceEnd
from searches.services.blobs import StorageError
from searches.services.call_costs import Prompted
from searches.services.leases import renew_lease, take_lease
from searches.services.live import config_of
from searches.services.reaper import reap, release_dead_local_owners
from searches.services.runs import pause_run, resume_run
from searches.services.spending import reserve
from tests.searches.engine import advance, scripted, start_run
from vlmlab.core.suts.kinds import SUT_KINDS
from vlmlab.core.suts.scripted import ScriptedSut

pytestmark = pytest.mark.django_db


@pytest.fixture
def scripted_is_remote(monkeypatch):
    """Take the table of answers for a system behind a network: its answers are worth money."""
    entry = SUT_KINDS["scripted"]
    monkeypatch.setitem(SUT_KINDS, "scripted", type(entry)(**{**vars(entry), "is_remote": True}))


def paused_with_a_batch_in_hand():
    sut = scripted(price_usd=0.01, spend_cap_usd=0.15)
    run = start_run(sut)
    lease = take_lease("elsewhere:1:1:main", ["cpu"], run_id=run.pk)
    run.refresh_from_db()
    reserve(run, config_of(run), [Prompted("x", (448, 336))] * 8, lease=lease)
    pause_run(run, by=None)
    return run, lease


def test_a_paused_run_holds_money_while_its_worker_lives():
    run, lease = paused_with_a_batch_in_hand()

    is_renewed = renew_lease(lease)
    reap()

    run.refresh_from_db()
    assert (is_renewed, run.reserved_usd, run.owner) == (True, pytest.approx(0.08), lease.owner)


def test_a_paused_run_whose_worker_died_holds_no_money():
    run, _ = paused_with_a_batch_in_hand()
    SearchRun.objects.filter(pk=run.pk).update(lease_expires=None)
    other = start_run(run.sut, run_seed=5, inference_budget=8)

    reap()
    advance(other)

    run.refresh_from_db()
    assert (run.state, run.reserved_usd, run.owner) == (RunState.PAUSED, 0.0, "")
    assert other.state == RunState.SUCCEEDED


def test_a_restart_finds_paused_runs_of_dead_workers_of_its_machine(monkeypatch):
    run, _ = paused_with_a_batch_in_hand()
    monkeypatch.setattr("searches.services.reaper.socket.gethostname", lambda: "elsewhere")
    monkeypatch.setattr("searches.services.reaper.is_process_alive", lambda owner: False)

    release_dead_local_owners()
    reap()

    assert SearchRun.objects.get(pk=run.pk).reserved_usd == 0.0


def test_a_run_paused_in_its_batch_is_let_go_when_the_batch_is_written(monkeypatch):
    run = start_run(scripted(price_usd=0.01, spend_cap_usd=5.0))
    real = ScriptedSut.generate

    def pause_meanwhile(self, requests):
        pause_run(SearchRun.objects.get(pk=run.pk), by=None)
        return real(self, requests)

    monkeypatch.setattr(ScriptedSut, "generate", pause_meanwhile)

    end = advance(run)

    assert (end, run.state, run.step) == (SliceEnd.PAUSED, RunState.PAUSED, 1)
    assert (run.owner, run.lease_expires, run.reserved_usd) == ("", None, 0.0)
    assert run.spend_usd == pytest.approx(0.08)


@pytest.mark.usefixtures("scripted_is_remote")
def test_a_batch_that_finds_no_room_on_the_disk_is_not_paid_twice(monkeypatch):
    run = start_run(scripted(price_usd=0.01), inference_budget=8)
    with monkeypatch.context() as patch:
        patch.setattr(
            "searches.services.scene_slice.keep_pictures", _raise(StorageError("The disk is full."))
        )
        advance(run)
    assert (run.state, run.step, run.n_calls, CachedReply.objects.count()) == (RunState.PAUSED, 0, 8, 8)

    resume_run(run, by=None)
    advance(run)

    assert (run.state, run.n_inferences, run.n_calls, run.n_cached) == (RunState.SUCCEEDED, 8, 8, 8)
    assert _totals(run) == pytest.approx((0.08, 0.08, 0.08))


@pytest.mark.usefixtures("scripted_is_remote")
def test_the_calls_of_a_batch_that_was_taken_over_count_for_the_system(monkeypatch):
    run = start_run(scripted(price_usd=0.01), inference_budget=8)
    real = ScriptedSut.generate

    def taken_over(self, requests):
        SearchRun.objects.filter(pk=run.pk).update(fence=9)
        return real(self, requests)

    monkeypatch.setattr(ScriptedSut, "generate", taken_over)

    end = advance(run)

    assert (end, run.step, run.samples.count()) == (SliceEnd.LEASE_LOST, 0, 0)
    assert _totals(run) == pytest.approx((0.0, 0.08, 0.08))
    assert run.events.last().text == "8 calls were paid for a batch that another worker took over."


def _raise(error):
    def raising(*args):
        raise error

    return raising


def _totals(run):
    day = SpendDay.objects.aggregate(usd=Sum("cost_usd"))["usd"]
    return run.spend_usd, SutRecord.objects.get(pk=run.sut_id).spend_usd, day
