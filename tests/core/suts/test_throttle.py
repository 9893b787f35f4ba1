"""Pace and concurrency: hand-worked waits under a clock of their own, and threads that keep the limit."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vlmlab.core.suts.throttle import Pace, Throttle


class Time:
    def __init__(self) -> None:
        self.now = 0.0
        self.waits: list[float] = []

    def clock(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds


def throttle(concurrency=8, **limits) -> tuple[Throttle, Time]:
    own = Time()
    return Throttle(concurrency, clock=own.clock, sleep=own.sleep, **limits), own


def succeed(limited: Throttle, *, tokens: int | None = None) -> None:
    limited.succeeded(limited.enter(0, 0), input_tokens=tokens, output_tokens=tokens)


def test_pace_spaces_amounts_by_their_share_of_the_minute():
    pace = Pace(30)

    assert [pace.reserve(1, 0.0) for _ in range(3)] == [0.0, 2.0, 4.0]
    assert pace.reserve(5, 100.0) == 0.0
    assert pace.reserve(1, 101.0) == 9.0


def test_pace_without_a_limit_never_waits():
    pace = Pace(None)

    assert [pace.reserve(1e9, 0.0) for _ in range(3)] == [0.0, 0.0, 0.0]


def test_pace_takes_up_what_was_used_more_and_gives_back_what_was_not():
    more, less = Pace(60), Pace(60)
    more.reserve(10, 0.0)
    less.reserve(10, 0.0)

    more.correct(5)
    less.correct(-8)

    assert (more.reserve(1, 0.0), less.reserve(1, 0.0)) == (15.0, 2.0)


@given(
    st.floats(0.5, 600),
    st.lists(st.tuples(st.floats(0, 30), st.floats(0.1, 50)), min_size=1, max_size=40),
)
def test_no_minute_holds_more_than_the_limit_and_one_amount(per_minute, asked):
    pace, now, sent = Pace(per_minute), 0.0, []
    for pause, amount in asked:
        now += pause
        now += pace.reserve(amount, now)
        sent.append((now, amount))

    for start, _amount in sent:
        inside = [amount for at, amount in sent if start <= at < start + 60 - 1e-6]
        assert sum(inside) <= per_minute + max(inside) + 1e-6


def test_requests_a_minute_space_calls():
    limited, own = throttle(requests_per_minute=20)

    for _ in range(4):
        succeed(limited)

    assert own.waits == [3.0, 3.0, 3.0]


def test_tokens_a_minute_follow_what_calls_really_took():
    limited, own = throttle(tokens_per_minute=6000)

    first = limited.enter(100, 400)
    limited.succeeded(first, input_tokens=100, output_tokens=100)
    second = limited.enter(100, 400)
    limited.succeeded(second, input_tokens=100, output_tokens=100)
    limited.enter(100, 400)

    assert (first.tokens, second.tokens) == (500.0, 200.0)
    assert own.waits == [2.0, 2.0]


def test_a_provider_that_is_asked_too_often_halves_the_concurrency_once_a_round_trip():
    limited, _time = throttle(8)
    together = [limited.enter(0, 0) for _ in range(8)]

    for ticket in together:
        limited.slowed(ticket, wait_s=None)
    after_one_round = limited.limit
    limited.slowed(limited.enter(0, 0), wait_s=None)

    assert (after_one_round, limited.limit) == (4, 2)


def test_the_concurrency_never_falls_below_one():
    limited, _time = throttle(2)

    for _ in range(10):
        limited.slowed(limited.enter(0, 0), wait_s=None)

    assert limited.limit == 1


def test_a_round_of_successes_adds_one_call_up_to_the_declared_number():
    limited, _time = throttle(4)
    limited.slowed(limited.enter(0, 0), wait_s=None)
    limits = [limited.limit]

    for _ in range(12):
        succeed(limited)
        limits.append(limited.limit)

    assert limits == [2, 2, 2, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4]


def test_nothing_is_sent_before_the_time_that_the_provider_named():
    limited, own = throttle(4)
    limited.slowed(limited.enter(0, 0), wait_s=7.5)

    succeed(limited)
    succeed(limited)

    assert own.waits == [7.5]


def test_a_failure_of_another_kind_changes_no_limit():
    limited, own = throttle(4)

    limited.failed(limited.enter(0, 0))

    assert (limited.limit, own.waits) == (4, [])


def test_threads_never_exceed_the_limit_and_all_come_through():
    limited = Throttle(3)
    lock, inside, most = threading.Lock(), 0, 0

    def call(number: int) -> int:
        nonlocal inside, most
        ticket = limited.enter(1, 1)
        with lock:
            inside += 1
            most = max(most, inside)
        time.sleep(0.001)
        with lock:
            inside -= 1
        if number % 5 == 0:
            limited.slowed(ticket, wait_s=None)
        elif number % 7 == 0:
            limited.failed(ticket)
        else:
            limited.succeeded(ticket, input_tokens=1, output_tokens=1)
        return number

    with ThreadPoolExecutor(16) as threads:
        done = list(threads.map(call, range(120)))

    assert done == list(range(120))
    assert 1 <= most <= 3


def test_a_throttle_needs_room_for_one_call():
    with pytest.raises(ValueError, match="at least 1"):
        Throttle(0)


def test_a_call_that_waits_its_turn_keeps_a_wait_that_the_provider_names_meanwhile():
    limited, own = throttle(requests_per_minute=60)
    first = limited.enter(0, 0)
    real = own.sleep

    def sleep(seconds):
        real(seconds)
        if len(own.waits) == 1:
            limited.slowed(first, wait_s=30.0)

    limited._sleep = sleep
    limited.enter(0, 0)

    assert own.waits == [1.0, 30.0]


def test_a_wait_that_ends_by_an_exception_gives_the_place_back():
    def stopped(_seconds):
        raise KeyboardInterrupt

    limited = Throttle(1, requests_per_minute=1, clock=lambda: 0.0, sleep=stopped)
    succeed(limited)

    for _ in range(3):
        with pytest.raises(KeyboardInterrupt):
            limited.enter(0, 0)


def test_a_wait_that_no_lock_takes_is_slept_in_parts_and_can_be_cut_short():
    waits = []

    def sleep(seconds):
        waits.append(seconds)
        return len(waits) == 3

    limited = Throttle(1, requests_per_minute=1e-300, clock=lambda: 0.0, sleep=sleep)
    succeed(limited)
    limited.enter(0, 0)

    assert waits == [3600.0] * 3


def test_one_call_above_the_limit_is_sent_and_the_next_one_waits_for_all_of_it():
    limited, own = throttle(tokens_per_minute=100)

    limited.enter(1000, 0)
    limited.enter(1000, 0)

    assert own.waits == [600.0]


def test_a_clock_that_steps_back_ends_every_wait():
    limited, own = throttle(requests_per_minute=60)
    limited.enter(0, 0)
    own.now = 10.0
    limited.enter(0, 0)
    limited._sleep = lambda seconds: own.waits.append(seconds)
    own.now = 5.0
    limited.enter(0, 0)

    assert own.waits == [6.0]
