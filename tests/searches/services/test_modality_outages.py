"""A remote system that is away, refuses or is too dear pauses a MoST run, and the runs that wait for it."""

import threading

import pytest

from searches.enums import RunState
from searches.models import CachedReply, SearchRun, SutRecord
from searches.services import modality_slice, sut_signals
from searches.services.modality_steering import resume_campaign
from searches.services.runs import raise_limit, resume_run
from searches.services.slice_ends import SliceEnd
from searches.services.suts import LoadedSut, params_of
from tests.factories import make_sut
from tests.searches.engine import advance, as_new_process
from tests.searches.modality_engine import RIGHT, advance_all, never_breaks, runs_of, start_modality
from vlmlab.core.suts.context import SutContext
from vlmlab.core.suts.provider import CallFailure, ProviderReply
from vlmlab.core.suts.remote import RemoteSut

pytestmark = pytest.mark.django_db

AWAY = CallFailure("connection", "Nothing answers at this address.", is_retryable=True, max_tries=1)
NO_MODEL = CallFailure("not_json", "The address answered with a web page.", is_retryable=False)
REFUSED = CallFailure("key", "The server refused the API key.", is_retryable=False)


class FakeProvider:
    """Finds the bus, until ``failure`` says what goes wrong with every call."""

    failure: CallFailure | None = None

    def __init__(self):
        self.n_sent = 0

    def send(self, call):
        self.n_sent += 1
        if self.failure is not None:
            raise self.failure
        return ProviderReply(RIGHT, input_tokens=10_000, output_tokens=0)

    def close(self):
        pass


@pytest.fixture
def provider(monkeypatch):
    """A remote system of one call at a time, $0.01 a call, loaded as every system is."""
    made = FakeProvider()

    def load(record):
        context = SutContext(should_stop=sut_signals.is_asked_to_stop)
        engine = RemoteSut(made, params_of(record), context=context, sleep=lambda seconds: None)
        return LoadedSut(record.pk, record.slug, {}, engine, engine.info.fingerprint, threading.Lock())

    monkeypatch.setattr(modality_slice, "load_sut", load)
    return made


def remote(**params) -> SutRecord:
    prices = {"concurrency": 1, "input_price_usd": 1.0, "output_price_usd": 1.0}
    return make_sut(kind="openai_chat", queue="api", params={"model": "m"} | prices | params)


@pytest.mark.parametrize(
    ("failure", "tries", "words"),
    [(AWAY, 3, "answered none of 3 batches in a row"), (REFUSED, 1, "refused every call")],
)
@pytest.mark.parametrize("n_steps", [0, 1])
def test_an_outage_pauses_the_run_and_those_that_wait_and_uses_nothing_up(
    provider, failure, tries, words, n_steps
):
    run, waiting = runs_of(start_modality(remote(), n=2, slots=1, inference_budget=4))
    for _ in range(n_steps):
        advance(run, slice_seconds=0)
    sent = provider.n_sent
    provider.failure = failure

    advance(run)

    waiting.refresh_from_db()
    assert (run.state, run.step, provider.n_sent - sent) == (RunState.PAUSED, n_steps, tries)
    assert (waiting.state, waiting.error) == (RunState.PAUSED, run.error)
    assert words in run.error
    assert (run.n_call_errors, run.evaluations.count()) == (0, 0)


def test_an_address_that_never_answers_pauses_the_campaign_after_three_seed_images(provider):
    campaign = start_modality(remote(), n=5, slots=1, inference_budget=2)
    runs = runs_of(campaign)
    provider.failure = NO_MODEL

    for run in runs[:3]:
        advance(run)

    states = [run.state for run in runs_of(campaign)]
    assert states == [RunState.SUCCEEDED] * 3 + [RunState.PAUSED] * 2
    assert runs_of(campaign)[4].error == (
        f"{campaign.runs.first().sut.name} answered nothing about any of 3 seed images: "
        "The address answered with a web page."
    )

    provider.failure = None
    assert resume_campaign(campaign, by=None) == 5
    advance_all(campaign)

    assert {run.modality.status for run in runs_of(campaign)} == {"finished"}


def test_single_seed_images_that_are_never_answered_pause_nobody(provider):
    campaign = start_modality(remote(), n=5, slots=1, inference_budget=2)
    first, *others = runs_of(campaign)
    advance(first)
    provider.failure = NO_MODEL

    for run in others[:3]:
        advance(run)

    assert runs_of(campaign)[4].state == RunState.QUEUED


def test_a_server_that_was_away_changes_nothing_of_a_run(provider):
    whole, disturbed = (start_modality(remote(), slots=3, inference_budget=6).runs.get() for _ in range(2))
    advance(whole)
    CachedReply.objects.all().delete()
    advance(disturbed, slice_seconds=0)
    provider.failure = AWAY
    advance(disturbed)
    provider.failure = None
    as_new_process()
    resume_run(disturbed, by=None)

    advance(disturbed)

    columns = ("step", "position", "strategy", "attempt", "status", "iou")
    asked = [list(run.evaluations.values_list(*columns)) for run in (disturbed, whole)]
    assert asked[0] == asked[1]
    assert disturbed.modality.status == "finished"


def test_answers_of_a_batch_that_a_stop_cuts_are_kept_and_paid_once(provider):
    run = start_modality(remote(), algorithm="random", slots=6, inference_budget=6).runs.get()
    advance(run, slice_seconds=0)

    cut = advance(run, should_stop=lambda: provider.n_sent == 3)
    kept = (cut, run.step, run.n_calls, CachedReply.objects.count())
    advance(run)

    assert kept == (SliceEnd.STOPPED, 1, 3, 3)
    assert (run.state, run.n_inferences, run.n_cached, run.n_calls) == (RunState.SUCCEEDED, 6, 2, 7)
    assert run.spend_usd == pytest.approx(0.07)


def test_a_limit_of_the_run_pauses_it_alone_until_somebody_raises_it():
    sut = never_breaks()
    run, waiting = runs_of(start_modality(sut, n=2, algorithm="random", slots=8, spend_cap_usd=0.01))

    advance(run)

    waiting.refresh_from_db()
    assert (run.state, run.is_halted_by_spending, run.n_calls) == (RunState.PAUSED, True, 9)
    assert waiting.state == RunState.QUEUED
    raise_limit(run, new_limit=None, by=None)
    assert advance(run) == SliceEnd.FINISHED
    assert run.spend_usd == pytest.approx(0.025)


def test_a_new_limit_must_leave_room_for_the_next_batch():
    run = start_modality(never_breaks(), algorithm="random", slots=8, spend_cap_usd=0.01).runs.get()
    advance(run)

    with pytest.raises(Exception, match="the next batch may cost up to") as refusal:
        raise_limit(run, new_limit=0.011, by=None)

    assert refusal.value.field == "new_limit"


def test_a_limit_of_the_system_pauses_all_runs_that_wait_for_it():
    sut = never_breaks(spend_cap_usd=0.02)
    run, waiting = runs_of(start_modality(sut, n=2, algorithm="random", slots=8))

    advance(run)

    waiting.refresh_from_db()
    assert (run.state, waiting.state) == (RunState.PAUSED, RunState.PAUSED)
    assert waiting.is_halted_by_spending
    assert waiting.error.startswith(f"The spending limit of {sut.name} is reached")
    assert SearchRun.objects.get(pk=run.pk).reserved_usd == 0.0


def test_a_system_that_is_switched_off_fails_one_run_and_pauses_the_rest():
    sut = never_breaks()
    run, *waiting = runs_of(start_modality(sut, n=3))
    SutRecord.objects.filter(pk=sut.pk).update(is_enabled=False)

    advance(run)

    assert (run.state, run.error) == (RunState.FAILED, f"{sut.name} is switched off.")
    assert [SearchRun.objects.get(pk=one.pk).state for one in waiting] == [RunState.PAUSED] * 2


def test_runs_on_the_same_system_in_other_campaigns_are_left_alone():
    sut = never_breaks()
    run = start_modality(sut).runs.get()
    other = start_modality(sut, seed=6).runs.get()
    SutRecord.objects.filter(pk=sut.pk).update(is_enabled=False)

    advance(run)

    other.refresh_from_db()
    assert other.state == RunState.QUEUED
