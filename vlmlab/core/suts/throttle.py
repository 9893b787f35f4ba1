"""How many calls are in flight and how fast they follow each other; adapts to a provider that says stop."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

_LEARNING_RATE = 0.2
_LONGEST_SLEEP_S = 3600.0  # a lock waits for no number of seconds that is too large; it is slept in parts


class Pace:
    """Spaces amounts so that a minute holds at most ``per_minute`` of them.

    Amounts are reserved in the order of asking: each takes up its share of the minute, and the next one
    begins after it. There is no burst after a quiet time, so no window of a minute ever holds more than
    the limit and one amount. Not thread-safe; ``Throttle`` holds a lock around it.

    Args:
        per_minute: the limit; None for none.
    """

    def __init__(self, per_minute: float | None) -> None:
        self._seconds_each = 60.0 / per_minute if per_minute is not None else 0.0
        self._free_at = float("-inf")

    def reserve(self, amount: float, now: float) -> float:
        """Return the seconds to wait before an amount may be sent."""
        begins_at = max(now, self._free_at)
        self._free_at = begins_at + amount * self._seconds_each
        return begins_at - now

    def correct(self, difference: float) -> None:
        """Take up more, or give back, when an amount was another than reserved."""
        self._free_at += difference * self._seconds_each


@dataclass(frozen=True)
class Ticket:
    """One call's permission to be sent.

    Attributes:
        n_cuts: how often the concurrency had been cut when the call was let in.
        tokens: what was reserved for it.
    """

    n_cuts: int
    tokens: float


class Throttle:
    """Lets calls in, one ticket each; thread-safe.

    The concurrency starts where it was declared. A call that is told to slow down halves it, but only
    once a round trip: calls that were let in before the last cut tell nothing new. Every success adds the
    inverse of the concurrency, so a whole round of successes adds one call.

    Args:
        concurrency: most calls in flight, at least 1.
        requests_per_minute: None for no limit.
        tokens_per_minute: None for no limit.
        clock: seconds that only grow.
        sleep: waits so many seconds; True means that waiting was cut short.
    """

    def __init__(
        self,
        concurrency: int,
        *,
        requests_per_minute: float | None = None,
        tokens_per_minute: float | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        if concurrency < 1:
            raise ValueError(f"concurrency must be at least 1, got {concurrency}")
        self._most = concurrency
        self._limit = float(concurrency)
        self._requests = Pace(requests_per_minute)
        self._tokens = Pace(tokens_per_minute)
        self._clock = clock
        self._sleep = sleep
        self._changed = threading.Condition()
        self._n_in_flight = 0
        self._n_cuts = 0
        self._not_before = float("-inf")
        self._mean_output: float | None = None

    @property
    def limit(self) -> int:
        """Calls that may be in flight now."""
        return int(self._limit)

    def enter(self, input_tokens: float, output_tokens: float) -> Ticket:
        """Wait until a call may be sent.

        Args:
            input_tokens: guess of what is sent.
            output_tokens: guess of what comes back, used until answers have come.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._n_in_flight < self.limit)
            self._n_in_flight += 1
            now = self._clock()
            tokens = input_tokens + (output_tokens if self._mean_output is None else self._mean_output)
            wait = max(
                self._not_before - now, self._requests.reserve(1.0, now), self._tokens.reserve(tokens, now)
            )
            ticket = Ticket(self._n_cuts, tokens)
        try:
            self._wait_for(wait, now)
        except BaseException:
            self.failed(ticket)
            raise
        return ticket

    def _wait_for(self, seconds: float, now: float) -> None:
        """Wait for a call's turn, and on when the provider said meanwhile that nothing may be sent."""
        waited_until = now + seconds
        while seconds > 0:
            while seconds > 0:
                step = min(seconds, _LONGEST_SLEEP_S)
                if self._sleep(step) is True:
                    return
                seconds -= step
            with self._changed:
                if self._not_before > waited_until:
                    seconds = self._not_before - self._clock()
                    waited_until = self._not_before

    def succeeded(self, ticket: Ticket, *, input_tokens: int | None, output_tokens: int | None) -> None:
        """Give a ticket back after an answer, with the tokens that it really took when they are known."""
        with self._changed:
            if input_tokens is not None and output_tokens is not None:
                self._tokens.correct(input_tokens + output_tokens - ticket.tokens)
                mean = output_tokens if self._mean_output is None else self._mean_output
                self._mean_output = mean + _LEARNING_RATE * (output_tokens - mean)
            self._limit = min(float(self._most), self._limit + 1.0 / self._limit)
            self._leave()

    def slowed(self, ticket: Ticket, *, wait_s: float | None) -> None:
        """Give a ticket back after the provider said that it is asked too often.

        Args:
            ticket: of the call.
            wait_s: what it asked to wait; nothing else is sent before that, None when it named nothing.
        """
        with self._changed:
            if ticket.n_cuts == self._n_cuts:
                self._limit = max(1.0, self._limit / 2)
                self._n_cuts += 1
            if wait_s is not None:
                self._not_before = max(self._not_before, self._clock() + wait_s)
            self._leave()

    def failed(self, _ticket: Ticket) -> None:
        """Give a ticket back after a failure that says nothing about speed."""
        with self._changed:
            self._leave()

    def _leave(self) -> None:
        self._n_in_flight -= 1
        self._changed.notify_all()
