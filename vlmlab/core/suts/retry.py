"""The one retry loop of remote calls: backoff with jitter, the provider's own wait, and bounds on both."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from vlmlab.core.suts.provider import CallFailure

Answer = TypeVar("Answer")


@dataclass(frozen=True)
class RetryPolicy:
    """How often and how long a call is tried.

    Attributes:
        most_tries: of one call, the first included.
        first_delay_s: before the second try; doubles with every further one.
        longest_delay_s: where the doubling ends.
        longest_wait_s: a provider that asks to wait longer than this is not waited for.
        total_s: no further try begins later than this after the first was sent.
    """

    most_tries: int = 6
    first_delay_s: float = 1.0
    longest_delay_s: float = 30.0
    longest_wait_s: float = 120.0
    total_s: float = 600.0

    def delay(self, n_tries: int, jitter: float) -> float:
        """Return the seconds before the next try.

        Args:
            n_tries: tries so far, at least 1.
            jitter: in [0, 1); a half to the whole of the doubled delay is waited.
        """
        whole = min(self.longest_delay_s, self.first_delay_s * 2.0 ** min(n_tries - 1, 30))
        return whole * (0.5 + 0.5 * jitter)


DEFAULT_RETRIES = RetryPolicy()


@dataclass(frozen=True)
class Tried(Generic[Answer]):
    """How a call ended.

    Attributes:
        answer: None when every try failed.
        failure: the last one, None when there is an answer.
        n_attempts: tries that were sent.
    """

    answer: Answer | None
    failure: CallFailure | None
    n_attempts: int


def with_retries(
    send: Callable[[], Answer],
    policy: RetryPolicy,
    *,
    clock: Callable[[], float],
    sleep: Callable[[float], object],
    jitter: Callable[[int], float],
    began_at: Callable[[], float | None] = lambda: None,
) -> Tried[Answer]:
    """Send a call until it is answered, cannot be, or enough was tried.

    Args:
        send: sends once; raises ``CallFailure`` when no answer came.
        policy: the bounds.
        clock: seconds that only grow.
        sleep: waits so many seconds; True means that waiting was cut short and nothing more is sent.
        jitter: number in [0, 1) for the wait after so many tries.
        began_at: when the first try was sent; None counts from the start of this call, and so the time in
            which a limit of ours kept the first try back.
    """
    called_at = clock()
    n_tries = 0
    while True:
        n_tries += 1
        try:
            return Tried(send(), None, n_tries)
        except CallFailure as failure:
            wait = _wait_after(failure, policy, n_tries, jitter)
            first_at = began_at()
            spent = clock() - (called_at if first_at is None else first_at)
            is_late = wait is not None and spent + wait > policy.total_s
            if wait is None or is_late or sleep(wait) is True:
                return Tried(None, failure, n_tries)


def _wait_after(
    failure: CallFailure, policy: RetryPolicy, n_tries: int, jitter: Callable[[int], float]
) -> float | None:
    """Return the seconds until the next try; None when there is to be none."""
    most = policy.most_tries if failure.max_tries is None else min(policy.most_tries, failure.max_tries)
    if not failure.is_retryable or n_tries >= most:
        return None
    asked = failure.retry_after_s or 0.0
    if asked > policy.longest_wait_s:
        return None
    return max(asked, policy.delay(n_tries, jitter(n_tries)))
