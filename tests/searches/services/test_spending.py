"""A limit of money is never passed: it is checked before anything is sent, also when runs share it."""

from datetime import UTC, datetime

import pytest
from django.utils import timezone

from searches.enums import RunState
from searches.models import AuditEntry, CachedReply, SearchRun, SpendDay, SutRecord
from searches.services import spending
from searches.services.call_costs import Prompted
from searches.services.call_counts import count_calls
from searches.services.leases import LeaseLost, take_lease
from searches.services.live import config_of
from searches.services.runs import cancel_run, raise_limit, resume_run
from searches.services.slice_ends import SliceEnd
from searches.services.spending import SpendingLimitError, check_may_spend, limits_of, reserve
from tests.factories import make_sut
from tests.searches.engine import advance, as_new_process, run_digest, scripted, start_run
from vlmlab.core.errors import VlmLabError
from vlmlab.core.suts.base import SutReply
from vlmlab.core.suts.scripted import ScriptedSut

pytestmark = pytest.mark.django_db
BATCH = 8


def test_a_run_pauses_before_the_batch_that_may_pass_its_limit():
    run = start_run(scripted(price_usd=0.01), inference_budget=60, spend_cap_usd=0.2)

    end = advance(run)

    assert (end, run.state, run.is_halted_by_spending) == (SliceEnd.PAUSED, RunState.PAUSED, True)
    assert run.n_inferences == 2 * BATCH  # a third batch could make it 0.24
    assert run.spend_usd == pytest.approx(0.16)
    assert run.error == (
        "The spending limit of this run is reached: $0.16 of $0.20 are spent. The next 8 calls may cost up "
        "to $0.08 if every reply is as long as it may be, so nothing of them was sent."
    )
    assert run.hint == "Raise the limit to go on, or end the run with what it has."
    assert run.events.last().text == f"{run.error} {run.hint}"


def test_nothing_of_a_batch_that_does_not_fit_is_sent(monkeypatch):
    run = start_run(scripted(price_usd=0.01), inference_budget=60, spend_cap_usd=0.1)
    sent = []
    real = ScriptedSut.generate
    monkeypatch.setattr(
        ScriptedSut, "generate", lambda self, requests: sent.append(len(requests)) or real(self, requests)
    )

    advance(run)

    assert sent == [BATCH]
    assert SutRecord.objects.get(pk=run.sut_id).n_calls == BATCH


def test_a_halted_run_ends_like_an_undisturbed_one_once_its_limit_is_raised():
    sut = scripted(price_usd=0.01)
    whole = start_run(sut, inference_budget=60)
    halted = start_run(sut, inference_budget=60, spend_cap_usd=0.2)
    advance(whole)
    advance(halted)

    raise_limit(halted, new_limit=0.64, by=None)
    as_new_process()
    end = advance(halted)

    assert (end, halted.is_halted_by_spending) == (SliceEnd.FINISHED, False)
    assert halted.spend_usd == pytest.approx(0.6)
    assert run_digest(halted) == run_digest(whole)


def test_a_batch_that_fits_to_the_cent_is_sent():
    run = start_run(scripted(price_usd=0.01), inference_budget=24, spend_cap_usd=0.24)

    advance(run)

    assert (run.state, run.n_inferences) == (RunState.SUCCEEDED, 24)


def test_answers_from_the_cache_cost_nothing_and_need_no_room():
    sut = scripted(price_usd=0.01)
    advance(start_run(sut, inference_budget=40))
    second = start_run(sut, inference_budget=40, spend_cap_usd=0.09)

    end = advance(second)

    assert (end, second.n_cached, second.spend_usd) == (SliceEnd.FINISHED, 40, 0.0)


def test_a_limit_taken_away_lets_a_run_go_on_without_one():
    run = start_run(scripted(price_usd=0.01), inference_budget=60, spend_cap_usd=0.1)
    advance(run)

    raise_limit(run, new_limit=None, by=None)
    advance(run)

    assert run.state == RunState.SUCCEEDED
    entry = AuditEntry.objects.get(verb="changed the spending limit of")
    assert (entry.before, entry.after) == ({"spend_cap_usd": 0.1}, {"spend_cap_usd": None})


@pytest.mark.parametrize(
    ("new_limit", "message"),
    [
        (0.08, "Enter more than the $0.08 that are spent already."),
        (float("nan"), "Enter more than the $0.08 that are spent already."),
        (float("inf"), "Enter more than the $0.08 that are spent already."),
        (
            0.12,
            "$0.08 are spent; the next batch may cost up to $0.08 if every reply is as long as it may be.",
        ),
    ],
)
def test_a_new_limit_must_leave_room_for_the_next_batch(new_limit, message):
    run = start_run(scripted(price_usd=0.01), inference_budget=60, spend_cap_usd=0.1)
    advance(run)

    with pytest.raises(VlmLabError) as caught:
        raise_limit(run, new_limit=new_limit, by=None)

    assert (caught.value.message, caught.value.field) == (message, "new_limit")
    assert SearchRun.objects.get(pk=run.pk).state == RunState.PAUSED


def test_only_a_run_that_spending_halted_gets_a_new_limit():
    run = start_run(scripted(price_usd=0.01), inference_budget=60, spend_cap_usd=5.0)

    with pytest.raises(VlmLabError, match="No spending limit holds this run"):
        raise_limit(run, new_limit=9.0, by=None)


def test_resuming_without_a_new_limit_pauses_again_and_sends_nothing():
    run = start_run(scripted(price_usd=0.01), inference_budget=60, spend_cap_usd=0.1)
    advance(run)
    before = run.n_inferences

    resume_run(run, by=None)
    run.refresh_from_db()
    assert run.is_halted_by_spending is False
    advance(run)

    assert (run.state, run.n_inferences, run.is_halted_by_spending) == (RunState.PAUSED, before, True)


def test_the_limit_of_a_system_halts_all_its_runs_together():
    sut = scripted(price_usd=0.01, spend_cap_usd=0.25)
    first, second = start_run(sut, inference_budget=16), start_run(sut, inference_budget=60, run_seed=5)
    advance(first)

    advance(second)

    assert (first.state, second.state) == (RunState.SUCCEEDED, RunState.PAUSED)
    assert (first.n_inferences, second.n_inferences) == (16, 8)
    sut.refresh_from_db()
    assert sut.spend_usd == pytest.approx(0.24)
    assert second.error.startswith(
        f"The spending limit of {sut.name} is reached: $0.24 of $0.25 are spent. The next 8 calls may cost"
    )
    assert second.hint == "Raise the spending limit on the system's page, then resume."


def test_a_run_goes_on_as_the_same_search_once_the_limit_of_its_system_is_raised():
    sut = scripted(price_usd=0.01, spend_cap_usd=0.1)
    run = start_run(sut, inference_budget=24)
    advance(run)
    assert run.state == RunState.PAUSED

    SutRecord.objects.filter(pk=sut.pk).update(params=sut.params | {"spend_cap_usd": 1.0})
    resume_run(run, by=None)
    advance(run)

    assert (run.state, run.n_inferences) == (RunState.SUCCEEDED, 24)


def test_what_the_batch_in_hand_of_another_run_can_cost_is_held_back():
    sut = scripted(price_usd=0.01, spend_cap_usd=0.15)
    first, second = start_run(sut), start_run(sut, run_seed=5)
    calls = [Prompted("x", (448, 336))] * BATCH
    mine = take_lease("a", ["cpu"], run_id=first.pk)
    theirs = take_lease("b", ["cpu"], run_id=second.pk)
    first.refresh_from_db()
    second.refresh_from_db()

    reserve(first, config_of(first), calls, lease=mine)

    with pytest.raises(spending.SpendingLimitError) as caught:
        reserve(second, config_of(second), calls, lease=theirs)
    assert "$0.00 of $0.15 are spent and $0.08 held for calls in hand" in caught.value.message
    assert SearchRun.objects.get(pk=second.pk).reserved_usd == 0.0
    assert limits_of(second, config_of(second)).sut_left == pytest.approx(0.07)


def test_a_batch_that_is_written_or_given_up_holds_nothing_any_more():
    sut = scripted(price_usd=0.01, spend_cap_usd=5.0)
    run = start_run(sut, inference_budget=60)
    advance(run, slice_seconds=0)
    assert (run.n_inferences, run.reserved_usd) == (8, 0.0)

    lease = take_lease("a", ["cpu"], run_id=run.pk)
    run.refresh_from_db()
    reserve(run, config_of(run), [Prompted("x", (448, 336))], lease=lease)
    SearchRun.objects.filter(pk=run.pk).update(state=RunState.PAUSED)
    cancel_run(run, by=None)

    assert SearchRun.objects.get(pk=run.pk).reserved_usd == 0.0


def test_a_worker_without_the_claim_reserves_nothing():
    run = start_run(scripted(price_usd=0.01, spend_cap_usd=5.0))
    lease = take_lease("a", ["cpu"], run_id=run.pk)
    run.refresh_from_db()
    SearchRun.objects.filter(pk=run.pk).update(fence=9)

    with pytest.raises(LeaseLost):
        reserve(run, config_of(run), [Prompted("x", (448, 336))], lease=lease)


def test_tries_need_room_in_the_limit_of_the_system():
    sut = make_sut(params={"price_usd": 0.5, "spend_cap_usd": 2.0}, spend_usd=1.2)

    check_may_spend(sut, calls=1)
    with pytest.raises(VlmLabError) as caught:
        check_may_spend(sut, calls=40)

    assert caught.value.message.endswith(
        "$1.20 of $2.00 are spent. "
        "40 more calls may cost up to $20.00 if every reply is as long as it may be."
    )
    check_may_spend(make_sut(params={"price_usd": 0.5}), calls=40)


def test_a_search_whose_first_batch_does_not_fit_is_refused_at_the_field():
    with pytest.raises(VlmLabError) as of_run:
        start_run(scripted("dear", price_usd=0.5), spend_cap_usd=3.0)
    with pytest.raises(VlmLabError) as of_system:
        start_run(scripted("empty", price_usd=0.5, spend_cap_usd=3.0))

    assert of_run.value.field == "spend_cap_usd"
    assert (
        of_run.value.message
        == "The first batch of 8 calls to Dear may cost up to $4.00 if every reply is as long as it may be."
    )
    assert "lower Longest reply" in of_run.value.hint
    assert "lower Longest reply" in of_system.value.hint
    assert of_system.value.field == "suts"
    assert "$0.00 of $3.00 are spent" in of_system.value.message
    assert SearchRun.objects.count() == 0


def test_a_limit_cannot_be_set_where_the_price_is_unknown():
    sut = make_sut("no-price", kind="openai_chat", params={"model": "m"})

    with pytest.raises(VlmLabError) as caught:
        start_run(sut, spend_cap_usd=3.0)

    assert caught.value.field == "spend_cap_usd"
    assert caught.value.message == "The price of No Price is unknown, so a spending limit cannot be kept."
    assert start_run(sut).state == RunState.QUEUED


def test_nothing_is_sent_under_a_limit_that_an_unknown_price_cannot_keep():
    sut = make_sut("no-price", kind="openai_chat", params={"model": "m"})
    run = start_run(sut)
    SearchRun.objects.filter(pk=run.pk).update(spend_cap_usd=3.0)
    lease = take_lease("a", ["api"], run_id=run.pk)
    run.refresh_from_db()

    with pytest.raises(SpendingLimitError) as caught:
        reserve(run, config_of(run), [Prompted("x", (448, 336))], lease=lease)

    assert caught.value.message.startswith("The price of a call to No Price is unknown")
    limited = make_sut("limited", kind="openai_chat", params={"model": "m", "spend_cap_usd": 3.0})
    with pytest.raises(SpendingLimitError):
        check_may_spend(limited, calls=1)


def test_calls_are_counted_by_system_and_day(monkeypatch):
    sut = make_sut()
    answer = SutReply("A", input_tokens=100, output_tokens=7, cost_usd=0.02, latency_ms=300.0)

    noon = datetime(2026, 11, 30, 12, tzinfo=UTC)
    monkeypatch.setattr(timezone, "now", lambda: noon)
    count_calls(sut.pk, [answer, SutReply("", "other", call_error="It is down.")])
    count_calls(sut.pk, [answer])

    sut.refresh_from_db()
    assert (sut.n_calls, sut.n_call_errors, sut.input_tokens, sut.output_tokens) == (3, 1, 200, 14)
    assert (sut.spend_usd, sut.latency_ms_sum) == (pytest.approx(0.04), 600.0)
    assert sut.last_error == "It is down."
    assert sut.last_error_at <= sut.last_answer_at
    day = SpendDay.objects.get()
    assert day.day == noon.date()
    assert (day.n_calls, day.n_call_errors, day.input_tokens, day.output_tokens) == (3, 1, 200, 14)
    assert day.cost_usd == pytest.approx(0.04)


def test_a_run_keeps_tokens_cost_tries_and_the_picture_that_was_seen(monkeypatch):
    reply = SutReply(
        "A", latency_ms=250.0, input_tokens=90, output_tokens=5, cost_usd=0.01, n_attempts=3,
        seen_size=(320, 240), served_model="model-2026-11-01",
    )  # fmt: skip
    monkeypatch.setattr(ScriptedSut, "generate", lambda self, requests: [reply] * len(requests))
    run = start_run(scripted(price_usd=0.01), inference_budget=8)

    advance(run)

    sample = run.samples.first()
    assert (sample.input_tokens, sample.output_tokens, sample.cost_usd) == (90, 5, 0.01)
    assert (sample.n_attempts, sample.latency_ms, sample.reader_version) == (3, 250.0, "1")
    assert (sample.seen_width, sample.seen_height, sample.served_model) == (320, 240, "model-2026-11-01")
    assert (run.n_calls, run.n_attempts, run.n_repeated_tries, run.n_failed_calls) == (8, 24, 16, 0)
    assert (run.input_tokens, run.output_tokens, run.mean_latency_ms) == (720, 40, 250.0)
    kept = CachedReply.objects.first()
    assert (kept.seen_width, kept.seen_height, kept.served_model) == (320, 240, "model-2026-11-01")
    again = start_run(run.sut, inference_budget=8)
    advance(again)
    cached = again.samples.first()
    assert (cached.is_cached, cached.seen_width, cached.served_model) == (True, 320, "model-2026-11-01")
    assert (cached.n_attempts, cached.cost_usd, again.n_calls) == (0, 0.0, 0)
