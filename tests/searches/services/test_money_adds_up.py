"""Whatever happens in whatever order: runs, calibrations, system and days agree, and no limit is passed."""

import random

import pytest
from django.db.models import Sum

from searches.enums import JobKind, JobState, RunState
from searches.models import Calibration, Job, SearchRun, SpendDay, SutRecord
from searches.services.advance import advance_run
from searches.services.calibrations import calibrate, start_calibration
from searches.services.job_holds import HELD, held_by_jobs
from searches.services.jobs import run_job
from searches.services.leases import take_job, take_lease
from searches.services.reaper import reap
from searches.services.runs import cancel_run, pause_run, resume_run, retry_call_errors
from searches.services.spending import SpendingLimitError, check_may_spend
from tests.factories import make_sut
from tests.searches.engine import as_new_process, scripted, start_run
from vlmlab.core.errors import VlmLabError
from vlmlab.core.suts.scripted import ScriptedSut

pytestmark = pytest.mark.django_db
N_STEPS = 45


class PowerCutError(BaseException):
    """The process is gone: nothing below the worker may catch it."""


class Life:
    """One system with a limit, and all that people and machines do to it."""

    def __init__(self, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
        self.moves = random.Random(seed)
        self.sut = scripted(price_usd=0.003, spend_cap_usd=0.5, call_error_rate=0.2)
        self.monkeypatch = monkeypatch
        self.start()

    def start(self) -> None:
        seed = self.moves.choice([1, 1, 2])  # the same seed again finds answers in the cache
        cap = self.moves.choice([None, 0.1, 0.3])
        self.try_to(lambda: start_run(self.sut, run_seed=seed, inference_budget=40, spend_cap_usd=cap))

    def advance(self) -> None:
        self.work(slice_seconds=0)

    def stop_within(self) -> None:
        asked = iter([False] * self.moves.randrange(12) + [True] * 99)
        self.work(slice_seconds=9, should_stop=lambda: next(asked))

    def work(self, **values: object) -> None:
        lease = take_lease("test:1:1:main", ["cpu"])
        if lease is not None:
            advance_run(lease, **values)

    def power_cut(self) -> None:
        place = self.moves.choice(
            ["after_answers", "inside_commit_samples", "inside_commit_last", "after_commit"]
        )

        def cut(name: str) -> None:
            if name == place:
                raise PowerCutError

        with self.monkeypatch.context() as patch:
            for module in ("batch_slice", "batches", "commits"):
                patch.setattr(f"searches.services.{module}.crash_point", cut)
            try:
                self.work(slice_seconds=0)
            except PowerCutError:
                as_new_process()
        SearchRun.objects.filter(state=RunState.RUNNING).update(lease_expires=None)
        reap()

    def pause_in_batch(self) -> None:
        real = ScriptedSut.generate

        def generate(sut: ScriptedSut, requests: list) -> list:
            for run in SearchRun.objects.filter(state=RunState.RUNNING):
                pause_run(run, by=None)
            return real(sut, requests)

        with self.monkeypatch.context() as patch:
            patch.setattr(ScriptedSut, "generate", generate)
            self.work(slice_seconds=0)

    def resume(self) -> None:
        self.each(lambda run: resume_run(run, by=None))

    def retry(self) -> None:
        self.each(lambda run: retry_call_errors(run, by=None))

    def cancel(self) -> None:
        self.each(lambda run: cancel_run(run, by=None))

    def calibrate(self) -> None:
        self.try_to(lambda: calibrate(SutRecord.objects.get(pk=self.sut.pk), by=None))

    def change_limit(self) -> None:
        self.sut.refresh_from_db()
        cap = self.sut.spend_usd + self.moves.choice([0.0, 0.05, 0.4])
        SutRecord.objects.filter(pk=self.sut.pk).update(
            params=self.sut.params | {"spend_cap_usd": cap + 1e-3}
        )

    def each(self, move) -> None:
        runs = list(SearchRun.objects.all())
        self.try_to(lambda: move(self.moves.choice(runs)))

    def try_to(self, move) -> None:
        try:
            move()
        except VlmLabError:
            return  # not allowed now: a sentence for a person

    def check(self) -> None:
        sut = SutRecord.objects.get(pk=self.sut.pk)
        runs = SearchRun.objects.aggregate(
            usd=Sum("spend_usd"), calls=Sum("n_calls"), errors=Sum("n_failed_calls")
        )
        probes = Calibration.objects.aggregate(usd=Sum("cost_usd"), calls=Sum("n_calls"))
        days = SpendDay.objects.aggregate(
            usd=Sum("cost_usd"), calls=Sum("n_calls"), errors=Sum("n_call_errors")
        )
        assert (runs["usd"] or 0) + (probes["usd"] or 0) == pytest.approx(sut.spend_usd, abs=1e-9)
        assert (days["usd"] or 0) == pytest.approx(sut.spend_usd, abs=1e-9)
        assert (runs["calls"] or 0) + (probes["calls"] or 0) == (days["calls"] or 0) == sut.n_calls
        assert (days["errors"] or 0) == sut.n_call_errors
        assert sut.spend_usd <= sut.params["spend_cap_usd"] + 1e-9
        for run in SearchRun.objects.select_related("campaign"):
            cap = run.campaign.config["spend_cap_usd"]
            assert cap is None or run.spend_usd <= cap + 1e-9
            assert run.reserved_usd == 0.0


@pytest.mark.parametrize("seed", range(3))
def test_money_adds_up_after_any_sequence_of_events(seed, monkeypatch):
    life = Life(seed, monkeypatch)
    moves = [life.advance] * 6 + [
        life.start, life.stop_within, life.power_cut, life.pause_in_batch, life.resume, life.resume,
        life.retry, life.cancel, life.calibrate, life.change_limit,
    ]  # fmt: skip

    for _ in range(N_STEPS):
        life.moves.choice(moves)()
        life.check()

    assert SutRecord.objects.get().n_calls > 10


def test_a_calibration_at_work_holds_what_its_other_calls_can_cost(monkeypatch):
    sut = make_sut(params={"price_usd": 0.01, "spend_cap_usd": 0.5, "batch_size": 10})
    start_calibration(sut, by=None)
    held = []
    real = ScriptedSut.generate

    def generate(self, requests):
        held.append(round(held_by_jobs(sut), 9))
        with pytest.raises(SpendingLimitError, match="held for calls in hand"):
            check_may_spend(sut, calls=11)  # 0.40 are spent or held, so there is room for ten
        check_may_spend(sut, calls=10)
        return real(self, requests)

    monkeypatch.setattr(ScriptedSut, "generate", generate)

    run_job(take_job("w", ["cpu"]))

    assert held == [0.4, 0.3, 0.2, 0.1]
    assert held_by_jobs(sut) == 0.0
    assert SutRecord.objects.get().spend_usd == pytest.approx(0.4)
    assert HELD not in Job.objects.get().result


def test_a_job_whose_worker_died_holds_nothing_once_it_is_free():
    sut = make_sut(params={"price_usd": 0.01, "spend_cap_usd": 0.5})
    job = Job.objects.create(kind=JobKind.TRY_SUT, params={"sut": sut.slug}, state=JobState.RUNNING)
    check_may_spend(sut, calls=1, job=job)
    assert held_by_jobs(sut) == pytest.approx(0.01)

    reap()

    assert held_by_jobs(sut) == 0.0
