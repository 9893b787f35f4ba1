"""A provider that refuses a whole batch at once halts the run at once; everything else gets three batches."""

import threading

import pytest

from searches.enums import RunState
from searches.models import CachedReply
from searches.services import advance as advancing
from searches.services.endings import is_refused, outage_of
from searches.services.suts import LoadedSut
from tests.factories import make_run, make_sample, make_sut, make_trial
from tests.searches.engine import advance, as_new_process, scripted, start_run
from vlmlab.core.suts.base import SutInfo, SutReply

pytestmark = pytest.mark.django_db

REFUSED = SutReply("", "other", call_error="The endpoint refused the key (401).", n_attempts=1)
GAVE_UP = SutReply("", "other", call_error="The endpoint did not answer in time.", n_attempts=5)
ANSWER = SutReply("A")


@pytest.mark.parametrize(
    ("replies", "expected"),
    [
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


def test_a_worker_that_must_stop_within_a_batch_keeps_what_was_paid(monkeypatch):
    prices = {"input_price_usd": 1.0, "output_price_usd": 1.0}
    sut = make_sut(kind="openai_chat", params={"model": "m", "concurrency": 1} | prices)
    run = start_run(sut, inference_budget=8)
    sizes = []

    class Remote:
        info = SutInfo("openai_chat", "f" * 64, 1)

        def generate(self, requests):
            sizes.append(len(requests))
            return [SutReply("A", cost_usd=0.01, input_tokens=10)] * len(requests)

    loaded = LoadedSut(sut.pk, sut.slug, {}, Remote(), "f" * 64, threading.Lock())
    monkeypatch.setattr(advancing, "load_sut", lambda record: loaded)
    whole = start_run(sut, inference_budget=8, run_seed=77)

    end = advance(run, should_stop=lambda: len(sizes) == 2)
    cut = (end, run.step, run.n_calls, run.input_tokens, CachedReply.objects.count())
    advance(run)
    advance(whole)

    assert cut == (advancing.SliceEnd.STOPPED, 0, 4, 40, 4)
    assert sizes[:4] == [2, 2, 2, 2]  # four were answered, the other four are asked afterwards
    assert (run.state, run.n_inferences, run.n_calls, run.n_cached) == (RunState.SUCCEEDED, 8, 8, 4)
    assert run.spend_usd == pytest.approx(0.08)
    sut.refresh_from_db()
    assert (sut.n_calls, sut.spend_usd) == (16, pytest.approx(0.16))
