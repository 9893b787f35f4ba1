"""A call waits for its turn, is tried again within bounds, and ends on an order or when it is closed."""

import pytest

from vlmlab.core.suts.breaker import Breaker
from vlmlab.core.suts.paced_calls import PacedCalls, with_tries
from vlmlab.core.suts.provider import CallFailure, ProviderReply

ANSWER = ProviderReply("yes", "stop")


class Clock:
    def __init__(self):
        self.now, self.waits = 0.0, []

    def __call__(self):
        return self.now

    def sleep(self, seconds):
        self.now += seconds
        self.waits.append(seconds)


def calls(clock, **options):
    options = {"requests_per_minute": None, "should_stop": lambda: False} | options
    return PacedCalls(1, stopped="Told to stop.", closed="Closed.", clock=clock, sleep=clock.sleep, **options)


def script(*steps):
    """Return what sends: raises failures, returns answers, one step a try, and remembers the tries."""
    left = list(steps)

    def send():
        send.n_sent += 1
        step = left.pop(0)
        if isinstance(step, CallFailure):
            raise step
        return step

    send.n_sent = 0
    return send


def failure(kind="server", **options):
    return CallFailure(kind, "It failed.", is_retryable=True, **options)


def ask(paced, send, breaker=None):
    return paced.ask(send, breaker=breaker or Breaker(), jitter=lambda n_tries: 0.0)


def test_a_call_is_tried_again_after_a_wait_that_grows():
    clock = Clock()

    ended = ask(calls(clock), script(failure(), failure(), ANSWER))

    assert (ended.tried.answer, ended.tried.n_attempts, sum(clock.waits)) == (ANSWER, 3, 0.5 + 1.0)


def test_each_try_and_each_second_between_them_gives_a_sign_of_life():
    clock, signs = Clock(), []
    paced = calls(clock, on_progress=lambda: signs.append(clock.now))

    ask(paced, script(failure(retry_after_s=3.0), ANSWER))

    assert signs == [0.0, 0.0, 1.0, 2.0, 3.0]  # the first try, three seconds of waiting, the second try


def test_latency_is_that_of_the_last_try():
    clock = Clock()

    def send():
        clock.now += 0.25
        return ANSWER

    assert ask(calls(clock, requests_per_minute=60), send).latency_ms == 250.0


def test_the_time_in_which_a_limit_of_ours_held_a_call_back_uses_up_none_of_its_tries():
    clock = Clock()
    paced = calls(clock, requests_per_minute=0.05)  # one call in 20 minutes
    ask(paced, script(ANSWER))

    ended = ask(paced, script(failure(), ANSWER))

    assert ended.tried.n_attempts == 2


@pytest.mark.parametrize(
    ("last", "is_vain"), [(failure("connection"), True), (failure("filtered"), False), (ANSWER, False)]
)
def test_the_breaker_is_told_how_a_call_ended(last, is_vain):
    breaker = Breaker()
    breaker.failed(failure("connection"))

    ask(calls(Clock()), script(last), breaker)

    assert breaker.is_retry_vain is is_vain


def test_a_provider_that_asks_to_slow_down_gets_fewer_calls_at_once():
    clock = Clock()
    paced = PacedCalls(
        4, requests_per_minute=None, should_stop=lambda: False, stopped="", closed="", clock=clock,
        sleep=lambda seconds: True,
    )  # fmt: skip

    ask(paced, script(failure("rate_limit")))

    assert paced.limit == 2


def test_nothing_is_sent_after_an_order_to_stop_or_after_closing():
    stopped, closed = calls(Clock(), should_stop=lambda: True), calls(Clock())
    closed.close()
    send = script()

    ended = [ask(one, send).tried.failure for one in (stopped, closed)]

    assert [(one.kind, one.message) for one in ended] == [("stopped", "Told to stop."), ("closed", "Closed.")]
    assert (stopped.is_closed, closed.is_closed, send.n_sent) == (False, True, 0)


def test_a_wait_for_another_try_ends_on_an_order_to_stop():
    clock = Clock()
    paced = calls(clock, should_stop=lambda: len(clock.waits) >= 2)

    ended = ask(paced, script(failure(retry_after_s=100.0), ANSWER))

    assert (ended.tried.n_attempts, clock.waits) == (1, [1.0, 1.0])


def test_a_sentence_says_how_often_it_was_tried_only_after_more_than_once():
    assert with_tries("It failed.", 1) == "It failed."
    assert with_tries("It failed.", 3) == "It failed. (Tried 3 times.)"
