"""The one retry loop: what is tried again, how long it waits, and when it stops."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vlmlab.core.suts.provider import CallFailure
from vlmlab.core.suts.retry import RetryPolicy, with_retries

POLICY = RetryPolicy(most_tries=5, first_delay_s=1.0, longest_delay_s=6.0, longest_wait_s=60.0, total_s=100.0)


class Time:
    """A clock that moves only when somebody sleeps or works."""

    def __init__(self) -> None:
        self.now = 0.0
        self.waits: list[float] = []

    def clock(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds


def retryable(**values) -> CallFailure:
    return CallFailure("server", "It failed.", is_retryable=True, **values)


def tried(*outcomes, policy=POLICY, time=None, jitter=lambda _n: 1.0, takes=0.0):
    """Try a call whose sends end like this, the last one for ever."""
    time, left = time or Time(), list(outcomes)

    def send():
        time.now += takes
        outcome = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(outcome, CallFailure):
            raise outcome
        return outcome

    return with_retries(send, policy, clock=time.clock, sleep=time.sleep, jitter=jitter), time


def test_an_answer_is_not_asked_for_again():
    result, time = tried("yes")

    assert (result.answer, result.failure, result.n_attempts) == ("yes", None, 1)
    assert time.waits == []


def test_waits_double_up_to_the_longest():
    result, time = tried(retryable())

    assert (result.answer, result.n_attempts) == (None, 5)
    assert result.failure.message == "It failed."
    assert time.waits == [1.0, 2.0, 4.0, 6.0]


def test_jitter_takes_off_at_most_half():
    _result, time = tried(retryable(), jitter=lambda n: 0.0 if n % 2 else 0.5)

    assert time.waits == [0.5, 1.5, 2.0, 4.5]


def test_a_failure_that_another_try_cannot_mend_is_final():
    result, time = tried(CallFailure("key", "No.", is_retryable=False))

    assert (result.n_attempts, time.waits) == (1, [])


def test_an_answer_after_failures_counts_its_tries():
    result, _time = tried(retryable(), retryable(), "yes")

    assert (result.answer, result.n_attempts) == ("yes", 3)


def test_a_failure_may_allow_fewer_tries():
    result, time = tried(retryable(max_tries=2))

    assert (result.n_attempts, time.waits) == (2, [1.0])


def test_a_failure_cannot_allow_more_tries_than_the_policy():
    assert tried(retryable(max_tries=50))[0].n_attempts == 5


@pytest.mark.parametrize(("asked", "waited"), [(0.2, 1.0), (10.0, 10.0), (60.0, 60.0)])
def test_the_wait_that_a_provider_asks_for_is_kept(asked, waited):
    _result, time = tried(retryable(retry_after_s=asked), "yes")

    assert time.waits == [waited]


def test_a_provider_that_asks_to_wait_too_long_is_not_waited_for():
    result, time = tried(retryable(retry_after_s=60.1), "yes")

    assert (result.answer, result.n_attempts, time.waits) == (None, 1, [])


def test_no_try_begins_after_the_total_time():
    result, time = tried(retryable(), takes=49.0)

    assert (result.n_attempts, time.waits) == (2, [1.0])


def test_a_wait_that_is_cut_short_ends_the_tries():
    result = with_retries(
        lambda: (_ for _ in ()).throw(retryable()), POLICY, clock=lambda: 0.0, sleep=lambda _s: True,
        jitter=lambda _n: 0.0,
    )  # fmt: skip

    assert result.n_attempts == 1


def test_a_bug_rises():
    def send():
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        with_retries(send, POLICY, clock=lambda: 0.0, sleep=lambda _s: None, jitter=lambda _n: 0.0)


@given(
    st.integers(1, 2000),
    st.floats(0, 1, exclude_max=True),
    st.floats(0.01, 10),
    st.floats(0.01, 100),
)
def test_every_delay_lies_between_half_and_the_longest(n_tries, jitter, first, longest):
    policy = RetryPolicy(first_delay_s=first, longest_delay_s=longest)

    delay = policy.delay(n_tries, jitter)

    assert min(first, longest) / 2 <= delay <= longest


def test_the_time_in_which_a_first_try_was_kept_back_does_not_count():
    time, sent_at = Time(), []

    def send():
        if not sent_at:
            time.now += 5000.0  # a limit of ours
            sent_at.append(time.now)
        raise retryable()

    result = with_retries(
        send, POLICY, clock=time.clock, sleep=time.sleep, jitter=lambda _n: 1.0, began_at=lambda: sent_at[0]
    )

    assert result.n_attempts == POLICY.most_tries
