"""Whether the queue took the last wake-up of this process, so that pages can say when it did not."""

import time
from collections.abc import Callable
from dataclasses import dataclass

REMEMBER_SECONDS = 60.0


@dataclass
class QueueState:
    """The outcome of the last wake-up that this process sent."""

    clock: Callable[[], float] = time.monotonic
    _failed_at: float | None = None

    def note(self, *, is_taken: bool) -> None:
        """Remember how a wake-up went."""
        self._failed_at = None if is_taken else self.clock()

    @property
    def is_silent(self) -> bool:
        """Whether a wake-up failed within the last minute and none has succeeded since."""
        return self._failed_at is not None and self.clock() - self._failed_at < REMEMBER_SECONDS


queue_state = QueueState()
"""The one state of this process."""
