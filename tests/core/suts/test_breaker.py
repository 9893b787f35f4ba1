"""A server that answers nobody ends a batch soon, and one that answers now and then does not."""

import threading

import pytest

from tests.core.suts.test_remote import BUSY, WRONG_KEY, FakeProvider, Time, params, request
from tests.patience import PATIENCE_SECONDS
from vlmlab.core.suts.base import SutReply
from vlmlab.core.suts.breaker import Breaker
from vlmlab.core.suts.context import SutContext
from vlmlab.core.suts.provider import CallFailure
from vlmlab.core.suts.remote import RemoteSut

DOWN = CallFailure("connection", "The server cannot be reached.", is_retryable=True)
NOT_SENT = " (Not sent: the calls before it failed like this.)"


class Unanswering(FakeProvider):
    """Fails every call until ``is_up``."""

    def __init__(self, failure: CallFailure, **values) -> None:
        super().__init__(**values)
        self.failure, self.is_up = failure, False

    def send(self, call):
        if not self.is_up:
            self.failures = [self.failure]
        return super().send(call)


def ask(provider, n_calls, *, time=None, concurrency=1) -> list[SutReply]:
    own = time or Time()
    sut = RemoteSut(
        provider, params(concurrency=concurrency), context=SutContext(), clock=own.clock, sleep=own.sleep
    )
    try:
        return sut.generate([request(str(number)) for number in range(n_calls)])
    finally:
        sut.close()


def test_a_batch_of_an_endpoint_that_is_down_takes_the_time_of_one_call():
    time, provider = Time(), Unanswering(DOWN)

    replies = ask(provider, 64, time=time)

    assert [reply.n_attempts for reply in replies] == [6, 1, 1] + [0] * 61
    assert 15.5 <= time.now <= 31.0  # one call's waits: half to the whole of 1 + 2 + 4 + 8 + 16 seconds
    assert replies[0].call_error == f"{DOWN.message} (Tried 6 times.)"
    assert {reply.call_error for reply in replies[3:]} == {DOWN.message + NOT_SENT}


def test_a_black_hole_costs_few_time_limits():
    hole = CallFailure("timeout", "Nobody answered.", is_retryable=True, max_tries=3)
    time = Time()

    ask(Unanswering(hole, time=time, takes=120.0), 64, time=time)

    assert time.now <= 5 * 120.0 + 3.0


def test_calls_at_once_end_as_soon():
    provider = Unanswering(DOWN)

    replies = ask(provider, 64, concurrency=8)

    assert all(reply.is_call_error for reply in replies)
    assert len(provider.calls) <= 8 * 6 + 2


def test_a_wrong_key_is_tried_three_times_and_not_64_times():
    provider = Unanswering(WRONG_KEY)

    replies = ask(provider, 64)

    assert len(provider.calls) == 3
    assert all(reply.n_attempts <= 1 for reply in replies)
    assert replies[63].call_error == WRONG_KEY.message + NOT_SENT


def test_a_provider_that_asks_for_hours_holds_up_no_call_of_the_batch():
    hours = CallFailure("rate_limit", "Too often.", is_retryable=True, retry_after_s=86_400.0)
    time, provider = Time(), Unanswering(hours)

    replies = ask(provider, 64, time=time)

    assert (time.now, len(provider.calls)) == (0.0, 3)
    assert all(reply.is_call_error for reply in replies)


def test_the_next_batch_asks_again():
    provider, time = Unanswering(DOWN), Time()
    sut = RemoteSut(provider, params(concurrency=1), context=SutContext(), clock=time.clock, sleep=time.sleep)

    sut.generate([request(str(number)) for number in range(5)])
    provider.is_up = True
    replies = sut.generate([request(str(number)) for number in range(5)])
    sut.close()

    assert [reply.text for reply in replies] == [f"to {number}" for number in range(5)]


def test_an_answer_between_failures_starts_the_count_again():
    provider = FakeProvider(WRONG_KEY, WRONG_KEY)
    real = provider.send

    def send(call):
        if call.prompt == "2":
            provider.failures = []
            try:
                return real(call)
            finally:
                provider.failures = [WRONG_KEY, WRONG_KEY]
        return real(call)

    provider.send = send

    assert [reply.is_call_error for reply in ask(provider, 6)] == [True, True, False, True, True, False]


@pytest.mark.parametrize("kind", ["request", "too_large", "not_json", "filtered"])
def test_what_may_lie_in_one_question_stops_no_other(kind):
    provider = Unanswering(CallFailure(kind, "No.", is_retryable=False))

    ask(provider, 10)

    assert len(provider.calls) == 10


def test_a_busy_server_that_answers_in_the_end_loses_nothing():
    provider = FakeProvider(*[BUSY] * 5)

    replies = ask(provider, 12, concurrency=3)

    assert not any(reply.is_call_error for reply in replies)


def test_a_restart_of_some_seconds_fails_no_call():
    time, provider = Time(), Unanswering(DOWN)
    real = provider.send

    def send(call):
        provider.is_up = time.now >= 6.0
        return real(call)

    provider.send = send

    assert not any(reply.is_call_error for reply in ask(provider, 20, time=time, concurrency=4))


def test_the_breaker_keeps_the_failure_that_tripped_it():
    breaker = Breaker(2)

    breaker.failed(DOWN)
    assert (breaker.failure, breaker.is_retry_vain) == (None, True)
    breaker.failed(WRONG_KEY)
    breaker.failed(DOWN)
    breaker.answered()

    assert breaker.failure is WRONG_KEY


def test_close_ends_calls_that_wait_in_line_as_errors():
    release = threading.Event()

    class Slow(FakeProvider):
        def send(self, call):
            answer = super().send(call)
            release.wait(PATIENCE_SECONDS)
            return answer

        def close(self):
            release.set()

    provider, replies = Slow(), []
    sut = RemoteSut(provider, params(concurrency=1), context=SutContext())
    asking = threading.Thread(
        target=lambda: replies.extend(sut.generate([request(str(number)) for number in range(20)])),
        daemon=True,
    )

    asking.start()
    assert provider.was_asked.wait(PATIENCE_SECONDS)
    sut.close()
    asking.join(PATIENCE_SECONDS)

    assert not asking.is_alive()
    assert [reply.text for reply in replies] == ["to 0"] + [""] * 19
    assert {reply.call_error for reply in replies[1:]} == {"The system was closed meanwhile."}
    assert {reply.n_attempts for reply in replies[1:]} == {0}


def test_close_between_two_questions_makes_errors_of_the_rest():
    sut = RemoteSut(FakeProvider(), params(concurrency=1), context=SutContext())
    submit, n_submitted = sut._threads.submit, []

    def closing(*args):
        n_submitted.append(1)
        if len(n_submitted) == 3:
            sut.close()
        return submit(*args)

    sut._threads.submit = closing
    replies = sut.generate([request(str(number)) for number in range(6)])

    assert [reply.call_error for reply in replies[2:]] == ["The system was closed meanwhile."] * 4
