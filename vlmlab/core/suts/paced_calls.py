"""The one way a call takes to a provider: its turn, tries, the waits between them, and what its end tells."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from vlmlab.core.suts.breaker import Breaker
from vlmlab.core.suts.context import no_progress
from vlmlab.core.suts.provider import CallFailure
from vlmlab.core.suts.retry import DEFAULT_RETRIES, RetryPolicy, Tried, with_retries
from vlmlab.core.suts.throttle import Throttle

_NAP_S = 1.0  # a long wait for another try ends within it when there is to be none


class Counted(Protocol):
    """An answer that may say how many tokens it took."""

    @property
    def input_tokens(self) -> int | None:
        """Tokens of the question, None when it does not say."""
        ...

    @property
    def output_tokens(self) -> int | None:
        """Tokens of the answer, None when it does not say."""
        ...


Answer = TypeVar("Answer", bound=Counted)


@dataclass
class _Tries:
    """What the tries of one call took.

    Attributes:
        first_at: when the first one was sent, after every limit of ours.
        latency_ms: wall time of the last one.
    """

    first_at: float | None = None
    latency_ms: float = 0.0


@dataclass(frozen=True)
class Ended(Generic[Answer]):
    """How a call ended, and the wall time of its last try in milliseconds."""

    tried: Tried[Answer]
    latency_ms: float


class PacedCalls:
    """Sends the calls to one provider within their limits; thread-safe.

    Args:
        concurrency: most calls in flight.
        requests_per_minute: None for no limit.
        tokens_per_minute: None for no limit.
        should_stop: whether nothing more is to be sent.
        stopped: sentence for a call that was not sent for that.
        closed: sentence for a call that was not sent because these calls were closed.
        on_progress: called before each try and while the next one is waited for.
        clock: seconds that only grow.
        sleep: waits so many seconds; True cuts a wait short. Waiting that ``close`` ends when None.
        retries: bounds of the retry loop.
    """

    def __init__(
        self,
        concurrency: int,
        *,
        requests_per_minute: float | None,
        tokens_per_minute: float | None = None,
        should_stop: Callable[[], bool],
        stopped: str,
        closed: str,
        on_progress: Callable[[], None] = no_progress,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], object] | None = None,
        retries: RetryPolicy = DEFAULT_RETRIES,
    ) -> None:
        self._should_stop, self._on_progress = should_stop, on_progress
        self._stopped_words, self._closed_words = stopped, closed
        self._closed = threading.Event()
        self._clock, self._retries = clock, retries
        self._sleep = sleep if sleep is not None else self._closed.wait
        self._throttle = Throttle(
            concurrency,
            requests_per_minute=requests_per_minute,
            tokens_per_minute=tokens_per_minute,
            clock=clock,
            sleep=self._sleep,
        )

    @property
    def limit(self) -> int:
        """Calls that may be in flight now; fewer than declared after the provider said to slow down."""
        return self._throttle.limit

    @property
    def is_closed(self) -> bool:
        """Whether nothing is sent any more."""
        return self._closed.is_set()

    def close(self) -> None:
        """End waiting calls; whoever closes the provider ends the calls on its connections."""
        self._closed.set()

    def halt(self) -> CallFailure | None:
        """Return why nothing is to be sent now; None while calls may be."""
        if self._closed.is_set():
            return CallFailure("closed", self._closed_words, is_retryable=False)
        if self._should_stop():
            return CallFailure("stopped", self._stopped_words, is_retryable=False)
        return None

    def ask(
        self,
        send: Callable[[], Answer],
        *,
        breaker: Breaker,
        jitter: Callable[[int], float],
        likely_tokens: tuple[float, float] = (0.0, 0.0),
    ) -> Ended[Answer]:
        """Send a call until it is answered, cannot be, or enough was tried.

        Args:
            send: sends once; raises ``CallFailure`` when no answer came.
            breaker: is told how the call ended, and says when further tries are in vain.
            jitter: number in [0, 1) for the wait after so many tries.
            likely_tokens: guesses of what is sent and of what comes back.
        """
        tries = _Tries()
        tried = with_retries(
            lambda: self._sent(send, tries, likely_tokens),
            self._retries,
            clock=self._clock,
            sleep=lambda seconds: self._rest(seconds, breaker),
            jitter=jitter,
            began_at=lambda: tries.first_at,
        )
        if tried.failure is None or tried.failure.kind == "filtered":
            breaker.answered()
        else:
            breaker.failed(tried.failure)
        return Ended(tried, tries.latency_ms)

    def _sent(self, send: Callable[[], Answer], tries: _Tries, likely_tokens: tuple[float, float]) -> Answer:
        """Send a call once, when the throttle lets it in."""
        ticket = self._throttle.enter(*likely_tokens)
        self._on_progress()
        started_at = self._clock()
        if tries.first_at is None:
            tries.first_at = started_at
        try:
            halt = self.halt()  # it may have waited long for its turn
            if halt is not None:
                raise halt
            answer = send()
        except CallFailure as failure:
            if failure.kind in ("rate_limit", "overloaded"):
                self._throttle.slowed(ticket, wait_s=self._waited_for(failure.retry_after_s))
            else:
                self._throttle.failed(ticket)
            raise
        except BaseException:
            self._throttle.failed(ticket)
            raise
        finally:
            tries.latency_ms = max(0.0, self._clock() - started_at) * 1000
        self._throttle.succeeded(ticket, input_tokens=answer.input_tokens, output_tokens=answer.output_tokens)
        return answer

    def _waited_for(self, wait_s: float | None) -> float | None:
        """Return what all calls wait; None for a wait that is too long, after which the call has failed."""
        return None if wait_s is None or wait_s > self._retries.longest_wait_s else wait_s

    def _rest(self, seconds: float, breaker: Breaker) -> bool:
        """Wait before the next try; return whether there is to be none."""
        while seconds > 0:
            self._on_progress()
            if breaker.is_retry_vain or self._should_stop() or self._sleep(min(seconds, _NAP_S)) is True:
                return True
            seconds -= _NAP_S
        return breaker.is_retry_vain or self._should_stop()


def with_tries(words: str, n_attempts: int) -> str:
    """Return a sentence about a failed call with how often it was tried, where that was more than once."""
    return words if n_attempts < 2 else f"{words} (Tried {n_attempts} times.)"
