"""An end to asking a server that answers nobody: the rest of a batch fails at once with the same sentence."""

import threading

from vlmlab.core.suts.base import FailureKind
from vlmlab.core.suts.provider import CallFailure

MOST_FAILED_CALLS = 3
"""Calls in a row that finally failed, without an answer between, before the rest is not sent."""

# These speak of one question or one answer; the next question may fare better.
_OF_ONE_CALL: frozenset[FailureKind] = frozenset(
    {"request", "too_large", "not_json", "filtered", "closed", "stopped"}
)

_UNREACHABLE: frozenset[FailureKind] = frozenset({"connection", "timeout"})


class Breaker:
    """Counts the failures of one batch; thread-safe.

    A call that finally failed has used up its own tries, so a server that restarts for a few seconds does
    not trip it. After a call in vain to a server that cannot be reached, the next ones are tried once each.
    One answer starts everything again.

    Args:
        most_failed: calls in a row.
    """

    def __init__(self, most_failed: int = MOST_FAILED_CALLS) -> None:
        self._most = most_failed
        self._n_failed = 0
        self._is_unreachable = False
        self._failure: CallFailure | None = None
        self._lock = threading.Lock()

    @property
    def failure(self) -> CallFailure | None:
        """Why nothing more is sent; None while it is."""
        with self._lock:
            return self._failure

    @property
    def is_retry_vain(self) -> bool:
        """Whether a failed try is to be the last one of its call."""
        with self._lock:
            return self._is_unreachable or self._failure is not None

    def answered(self) -> None:
        """Note that the server answered."""
        with self._lock:
            self._n_failed, self._is_unreachable = 0, False

    def failed(self, failure: CallFailure) -> None:
        """Note that a call finally failed."""
        with self._lock:
            if failure.kind in _OF_ONE_CALL:
                self._n_failed, self._is_unreachable = 0, False
                return
            self._n_failed += 1
            self._is_unreachable = failure.kind in _UNREACHABLE
            if self._n_failed >= self._most and self._failure is None:
                self._failure = failure
