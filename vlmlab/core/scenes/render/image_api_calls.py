"""Calls to image-generating models: pace, retries and an end to asking a provider that answers nobody."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from vlmlab.core.scenes.prompts_for_pictures import PicturePrompt
from vlmlab.core.scenes.render.image_api_params import ImageApiParams
from vlmlab.core.scenes.render.image_providers import ImageProvider, MadePicture
from vlmlab.core.seeding import rng_for
from vlmlab.core.suts.breaker import Breaker
from vlmlab.core.suts.context import no_progress
from vlmlab.core.suts.paced_calls import PacedCalls, with_tries
from vlmlab.core.suts.provider import CallFailure
from vlmlab.core.suts.retry import DEFAULT_RETRIES, RetryPolicy

REST_S = 60.0
"""How long a provider that failed several calls in a row is not asked."""
_STOPPED = "The worker was asked to stop before the picture came."


@dataclass(frozen=True)
class PictureCall:
    """One picture to ask for: its prompt, size in pixels, and the seed that is sent."""

    prompt: PicturePrompt
    width: int
    height: int
    seed: int


class PictureCalls:
    """Asks a provider, within the settings' limits; thread-safe.

    Args:
        provider: one wire format.
        params: limits.
        should_stop: whether nothing more is to be sent.
        on_progress: called before each try and while the next one is waited for.
        clock: seconds that only grow.
        sleep: waits so many seconds; True cuts a wait short. Waiting that ``close`` ends when None.
        retries: bounds of the retry loop.
    """

    def __init__(
        self,
        provider: ImageProvider,
        params: ImageApiParams,
        *,
        should_stop: Callable[[], bool],
        on_progress: Callable[[], None] = no_progress,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], object] | None = None,
        retries: RetryPolicy = DEFAULT_RETRIES,
    ) -> None:
        self._provider = provider
        self._should_stop = should_stop
        self._clock = clock
        self._calls = PacedCalls(
            params.max_concurrency,
            requests_per_minute=params.requests_per_minute,
            should_stop=should_stop,
            stopped=_STOPPED,
            closed=_STOPPED,
            on_progress=on_progress,
            clock=clock,
            sleep=sleep,
            retries=retries,
        )
        self._breaker, self._asks_again_at = Breaker(), float("-inf")

    def ask(self, call: PictureCall) -> MadePicture:
        """Return the picture of a call.

        Raises:
            CallFailure: none came; kind "filtered" when the provider refused, "stopped" on an order to end,
                "closed" when these calls were closed meanwhile.
        """
        breaker = self._current_breaker()
        if breaker.failure is not None:
            raise breaker.failure
        tried = self._calls.ask(
            lambda: self._provider.make(call.prompt, width=call.width, height=call.height, seed=call.seed),
            breaker=breaker,
            jitter=lambda n_tries: float(rng_for(call.seed, "retry", n_tries).random()),
        ).tried
        if tried.failure is not None:
            self._asks_again_at = self._clock() + REST_S
        if tried.answer is None:
            raise self._ended(tried.failure, tried.n_attempts)
        return tried.answer

    def close(self) -> None:
        """End waiting calls and close the provider."""
        self._calls.close()
        self._provider.close()

    def _current_breaker(self) -> Breaker:
        """Return today's breaker: one that tripped is replaced after a rest."""
        if self._breaker.failure is not None and self._clock() >= self._asks_again_at:
            self._breaker = Breaker()
        return self._breaker

    def _ended(self, failure: CallFailure | None, n_tries: int) -> CallFailure:
        if failure is None or (failure.is_retryable and self._should_stop()):
            return CallFailure("stopped", _STOPPED, is_retryable=False)
        failure.reword(lambda words: with_tries(words, n_tries))
        return failure
