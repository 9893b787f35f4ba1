"""A provider that refuses everything halts a run at once, one that is away after three tries of one batch."""

import threading

import pytest
from django.db.models import Sum

from searches.enums import RunState
from searches.models import CachedReply, SpendDay, SutRecord
from searches.services import advance as advancing
from searches.services import sut_signals
from searches.services.endings import is_refused, outage_of
from searches.services.runs import resume_run
from searches.services.suts import LoadedSut, params_of
from tests.factories import make_run, make_sample, make_sut, make_trial
from tests.searches.engine import advance, as_new_process, scripted, start_run
from vlmlab.core.suts.base import SutReply
from vlmlab.core.suts.context import SutContext
from vlmlab.core.suts.provider import CallFailure, ProviderReply
from vlmlab.core.suts.remote import RemoteSut

pytestmark = pytest.mark.django_db

REFUSED = SutReply("", "other", call_error="The endpoint refused the key (401).", n_attempts=1)
GAVE_UP = SutReply("", "other", call_error="The endpoint did not answer in time.", n_attempts=5)
ANSWER = SutReply("A")
REFUSED_KEY = SutReply("", "other", call_error="Wrong key.", failure_kind="key")
NOT_SENT = SutReply("", "other", call_error="Wrong key.", failure_kind="key", n_attempts=0)
AWAY_NOW = CallFailure("connection", "Nothing answers at this address.", is_retryable=True, max_tries=1)
AWAY = SutReply("", "other", call_error="Nothing answers.", failure_kind="connection")


@pytest.mark.parametrize(
    ("replies", "expected"),
    [
        ([REFUSED_KEY], True),
        ([REFUSED_KEY] * 3 + [NOT_SENT], True),
        ([AWAY] * 8, False),  # each was tried once, after the first one in vain
        ([REFUSED] * 8, True),
        ([REFUSED] * 2, True),
        ([REFUSED], False),  # its own picture may be the reason
        ([], False),
        ([REFUSED] * 7 + [GAVE_UP], False),
        ([REFUSED] * 7 + [ANSWER], False),
    ],
)
def test_a_batch_is_refused_when_every_call_fails_at_its_first_try(replies, expected):
    assert is_refused(make_sut(kind="openai_chat", params={"model": "m"}), replies) is expected


def test_a_system_on_this_machine_is_never_refused():
    assert is_refused(make_sut(), [REFUSED] * 8) is False


def test_a_refused_run_says_why_and_what_to_do():
    run = make_run(make_sut("gpt", name="GPT"), checkpoint={"fruitless_batches": 1, "is_refused": True})
    trial = make_trial(run, verdicts="")
    make_sample(trial, "E", number=0, step=0, position=0, error="The endpoint refused the key (401).")

    outage = outage_of(run)

    assert outage.message == "GPT refused every call of the last batch: The endpoint refused the key (401)."
    assert outage.hint == "Put that right on its page, resume the run, then ask the failed calls again."


def test_a_refused_batch_halts_the_run_after_it_and_costs_no_second_one(monkeypatch):
    run = start_run(scripted(), inference_budget=60)
    monkeypatch.setattr(LoadedSut, "generate", lambda self, requests: [REFUSED] * len(requests))
    monkeypatch.setattr("searches.services.commits.is_refused", lambda sut, sent: len(sent) > 1)

    advance(run)

    assert (run.state, run.step, run.n_call_errors) == (RunState.PAUSED, 1, 8)
    assert run.n_inferences == run.n_failed == 0
    assert run.error.endswith("The endpoint refused the key (401).")


def test_a_run_refuses_to_go_on_in_other_words():
    sut = scripted()
    run = start_run(sut, inference_budget=60)
    advance(run, slice_seconds=0)
    sut.params = sut.params | {"asking": {"choice_template": "Look closely. {question}"}}
    sut.save()
    as_new_process()

    advance(run)

    assert (run.state, run.n_inferences) == (RunState.FAILED, 8)
    assert run.error == f"{sut.name} is asked in other words now than when this run began."


def test_the_words_of_the_registration_are_what_is_sent_stored_and_looked_up(monkeypatch):
    sut = scripted()
    plain = start_run(sut, inference_budget=8)
    advance(plain)
    sut.params = sut.params | {"asking": {"choice_template": "Look closely. {question} Be brief."}}
    sut.save()
    sent = []
    real = LoadedSut.generate
    monkeypatch.setattr(
        LoadedSut,
        "generate",
        lambda self, requests: sent.extend(one.prompt for one in requests) or real(self, requests),
    )
    own_words = start_run(sut, inference_budget=8)

    advance(own_words)

    before = list(plain.samples.values_list("prompt", flat=True))
    after = list(own_words.samples.values_list("prompt", flat=True))
    assert after == sent == [f"Look closely. {prompt} Be brief." for prompt in before]
    assert own_words.n_cached == 0


def test_a_worker_asked_to_stop_before_the_calls_sends_none(monkeypatch):
    run = start_run(scripted(), inference_budget=60)
    asked = iter([False] * 9 + [True] * 9)  # before the batch and before each of its eight pictures
    monkeypatch.setattr(LoadedSut, "generate", lambda self, requests: pytest.fail("a call was sent"))

    end = advance(run, should_stop=lambda: next(asked))

    assert (end, run.state, run.step) == (advancing.SliceEnd.STOPPED, RunState.QUEUED, 0)


class FakeProvider:
    """Answers until ``fails`` says what goes wrong with the call of that number."""

    def __init__(self, fails=lambda number: None):
        self.n_sent, self.fails = 0, fails

    def send(self, call):
        self.n_sent += 1
        failure = self.fails(self.n_sent)
        if failure is not None:
            raise failure
        return ProviderReply("A", input_tokens=10_000, output_tokens=0)

    def close(self):
        pass


def remote_run(monkeypatch, provider, *, waits=None, **config):
    """Return a run on a remote system behind ``provider``, one call at a time, $0.01 a call."""
    values = {"model": "m", "concurrency": 1, "input_price_usd": 1.0, "output_price_usd": 1.0}
    sut = make_sut(kind="openai_chat", params=values)
    context = SutContext(should_stop=sut_signals.is_asked_to_stop)
    sleep = [].append if waits is None else waits.append
    engine = RemoteSut(provider, params_of(sut), context=context, sleep=sleep)
    loaded = LoadedSut(sut.pk, sut.slug, {}, engine, engine.info.fingerprint, threading.Lock())
    monkeypatch.setattr("searches.services.scene_slice.load_sut", lambda record: loaded)
    return start_run(sut, inference_budget=16, **config)


def test_a_worker_that_must_stop_within_a_batch_keeps_what_was_paid(monkeypatch):
    provider = FakeProvider()
    run = remote_run(monkeypatch, provider)

    end = advance(run, should_stop=lambda: provider.n_sent == 3)
    cut = (end, run.state, run.step, run.n_calls, run.input_tokens, CachedReply.objects.count())
    advance(run)

    assert cut == (advancing.SliceEnd.STOPPED, RunState.QUEUED, 0, 3, 30_000, 3)
    assert (run.state, run.n_inferences, run.n_cached) == (RunState.SUCCEEDED, 16, 3)
    assert (provider.n_sent, run.n_calls, run.n_call_errors, run.n_repeated_tries) == (16, 16, 0, 0)
    assert_money_agrees(run, usd=0.16)


@pytest.mark.parametrize("kind", ["key", "model", "quota", "address"])
def test_a_refusal_that_holds_for_every_call_halts_a_run_after_one_batch_of_one_call(monkeypatch, kind):
    refusal = CallFailure(kind, "The server refused the API key.", is_retryable=False)
    run = remote_run(monkeypatch, FakeProvider(lambda number: refusal), slots=1)

    advance(run)

    assert (run.state, run.step, run.n_calls, run.n_failed_calls) == (RunState.PAUSED, 0, 1, 1)
    assert (
        run.error == f"{run.sut.name} refused every call of the last batch: The server refused the API key."
    )
    assert run.hint == "Put that right on its page, resume the run: it asks the same again."
    assert (run.n_call_errors, run.samples.count(), run.trials.count()) == (0, 0, 0)


def test_a_server_that_is_away_halts_a_run_after_three_tries_of_the_same_batch(monkeypatch):
    run = remote_run(monkeypatch, FakeProvider(lambda number: AWAY_NOW), slots=1)

    advance(run)

    assert (run.state, run.step, run.n_failed_calls) == (RunState.PAUSED, 0, 3)
    assert (run.n_call_errors, run.samples.count(), run.trials.count()) == (0, 0, 0)
    assert run.error.endswith("answered none of 3 batches in a row: Nothing answers at this address.")
    lines = list(run.events.filter(level="warning").values_list("text", flat=True))
    again = "The same questions are asked again."
    assert lines == [f"No call of the batch was answered: Nothing answers at this address. {again}"] * 2


def test_a_server_that_was_away_costs_a_run_no_concept_set(monkeypatch):
    undisturbed = remote_run(monkeypatch, FakeProvider(), slots=4)
    advance(undisturbed)
    CachedReply.objects.all().delete()
    provider = FakeProvider(lambda number: AWAY_NOW if 4 < number <= 40 else None)
    run = remote_run(monkeypatch, provider, slots=4)

    while run.state != RunState.SUCCEEDED:
        if run.state == RunState.PAUSED:
            provider.fails = lambda number: None
            as_new_process()
            resume_run(run, by=None)
        advance(run)

    columns = ("step", "position", "trial__key", "number", "scene_seed", "verdict", "told_verdict")
    asked = list(run.samples.values_list(*columns))
    assert asked == list(undisturbed.samples.values_list(*columns))
    assert (run.n_inferences, run.n_call_errors, run.checkpoint["fruitless_batches"]) == (16, 0, 0)
    assert_money_agrees(run, usd=0.16)


def test_a_refused_key_costs_three_calls_of_a_batch_and_the_rest_is_not_counted_as_sent(monkeypatch):
    refusal = CallFailure("key", "The server refused the API key.", is_retryable=False)
    provider = FakeProvider(lambda number: refusal)
    run = remote_run(monkeypatch, provider)

    advance(run)

    assert (run.state, run.step, run.n_call_errors) == (RunState.PAUSED, 0, 0)
    assert (provider.n_sent, run.n_calls, run.n_failed_calls, run.n_repeated_tries) == (3, 3, 3, 0)
    assert_money_agrees(run, usd=0.0)


def assert_money_agrees(run, *, usd):
    """A run, its system and its days say the same."""
    sut = SutRecord.objects.get(pk=run.sut_id)
    day = SpendDay.objects.filter(sut=sut).aggregate(
        usd=Sum("cost_usd"), calls=Sum("n_calls"), tokens=Sum("input_tokens")
    )
    assert [run.spend_usd, sut.spend_usd, day["usd"]] == [pytest.approx(usd)] * 3
    assert run.n_calls == sut.n_calls == day["calls"]
    assert run.input_tokens == sut.input_tokens == day["tokens"]
    assert run.reserved_usd == 0.0
