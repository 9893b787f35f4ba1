"""Systems that answer over a network: scaling, pace, retries, order, cost and identity around a provider."""

import hashlib
import json
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

from pydantic import JsonValue

from vlmlab.core.errors import ImageError
from vlmlab.core.seeding import rng_for
from vlmlab.core.suts.base import FailureKind, FinishReason, SutInfo, SutReply, SutRequest
from vlmlab.core.suts.breaker import Breaker
from vlmlab.core.suts.context import SutContext
from vlmlab.core.suts.network import endpoint_of
from vlmlab.core.suts.pictures import fit_picture
from vlmlab.core.suts.prices import cost_of_reply, has_prices, likely_input_tokens
from vlmlab.core.suts.provider import CallFailure, Provider, ProviderCall, ProviderReply
from vlmlab.core.suts.providers import provider_kind
from vlmlab.core.suts.remote_params import UNIDENTIFYING, RemoteParams
from vlmlab.core.suts.retry import DEFAULT_RETRIES, RetryPolicy, Tried, with_retries
from vlmlab.core.suts.storable import storable_text
from vlmlab.core.suts.throttle import Throttle

ENGINE_VERSION = "1"
_SIGN_OF_LIFE_S = 10.0
_NAP_S = 1.0  # a long wait for another try ends within it when there is to be none
_GUESSED_OUTPUT_TOKENS = 256
_STOPPED = "The worker was asked to stop before this call was answered."
_CLOSED = "The system was closed meanwhile."
_NOT_SENT = "(Not sent: the calls before it failed like this.)"


def load_remote(params: RemoteParams, context: SutContext) -> "RemoteSut":
    """Return a system that is ready to be asked; nothing is connected before the first question.

    Raises:
        SutError: the address or the key cannot work.
    """
    return RemoteSut(provider_kind(params).make(params, context), params, context=context)


def inspect_remote(params: RemoteParams, context: SutContext) -> None:
    """Check settings without a connection and without a key.

    Raises:
        SutError: the address is not allowed, or a setting cannot be sent.
    """
    provider_kind(params).make(params, context).close()


class RemoteSut:
    """Answers through a provider, several calls at once, in the order of the questions.

    Args:
        provider: one wire format.
        params: the settings it was made with.
        context: how to give a sign of life.
        clock: seconds that only grow.
        sleep: waits so many seconds; True cuts a retry short. Waiting that ``close`` ends when None.
        retries: bounds of the retry loop.
    """

    def __init__(
        self,
        provider: Provider,
        params: RemoteParams,
        *,
        context: SutContext,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], object] | None = None,
        retries: RetryPolicy = DEFAULT_RETRIES,
    ) -> None:
        self._provider = provider
        self._params = params
        self._on_progress = context.on_progress
        self._should_stop = context.should_stop
        self._clock = clock
        self._closed = threading.Event()
        self._sleep = sleep if sleep is not None else self._closed.wait
        self._retries = retries
        self._throttle = Throttle(
            params.concurrency,
            requests_per_minute=params.requests_per_minute,
            tokens_per_minute=params.tokens_per_minute,
            clock=clock,
            sleep=self._sleep,
        )
        self._threads = ThreadPoolExecutor(params.concurrency, thread_name_prefix="remote-call")
        self._info = _info_of(params)

    @property
    def info(self) -> SutInfo:
        """Identity and limits; what changes no answer, such as prices and limits, is not part of it."""
        return self._info

    @property
    def concurrency(self) -> int:
        """Calls that may be in flight now; fewer than declared after the provider said to slow down."""
        return self._throttle.limit

    def generate(self, requests: Sequence[SutRequest]) -> list[SutReply]:
        """Answer every request, in order; a call that finally fails becomes a call error.

        When several calls in a row finally fail for the server's sake, the rest of these requests is not
        sent and fails with the same sentence; the next batch asks again. After an order to stop, what is not
        sent comes back as stopped.
        """
        self._require_open()
        breaker = Breaker()
        futures = [self._in_line(request, breaker) for request in requests]
        try:
            self._follow(set(futures))
            return [future.result() for future in futures]
        finally:
            for future in futures:
                future.cancel()

    def describe_request(self, request: SutRequest) -> str:
        """Return address, headers and body as JSON: no key, and words in place of the picture's bytes."""
        return described(self._provider, self._params, request=request)

    def close(self) -> None:
        """End waiting calls and close the connections, which ends the calls on them too."""
        self._closed.set()
        self._provider.close()
        # Calls in line end by themselves: nobody is told when one of them is cancelled here.
        self._threads.shutdown(wait=True)

    def _require_open(self) -> None:
        if self._closed.is_set():
            raise ValueError("the system under test was closed and cannot be used")

    def _in_line(self, request: SutRequest, breaker: Breaker) -> Future[SutReply]:
        try:
            return self._threads.submit(self._answer, request, breaker)
        except RuntimeError:
            if not self._closed.is_set():
                raise
            future: Future[SutReply] = Future()  # closed between two questions
            future.set_result(self._answer(request, breaker))
            return future

    def _follow(self, pending: set[Future[SutReply]]) -> None:
        """Give a sign of life for each answer and while there is none; every try has its own time limit."""
        while pending:
            done, pending = wait(pending, timeout=_SIGN_OF_LIFE_S, return_when=FIRST_COMPLETED)
            for _ in range(max(1, len(done))):
                self._on_progress()

    def _answer(self, request: SutRequest, breaker: Breaker) -> SutReply:
        if self._closed.is_set():
            return _not_sent("closed", _CLOSED)
        if self._should_stop():
            return _not_sent("stopped", _STOPPED)
        if breaker.failure is not None:
            return _not_sent(breaker.failure.kind, f"{breaker.failure.message} {_NOT_SENT}")
        try:
            call = call_of(self._params, request)
        except ImageError as error:
            return _not_sent("request", str(error))
        tries = _Tries()
        tried = with_retries(
            lambda: self._send(call, tries),
            self._retries,
            clock=self._clock,
            sleep=lambda seconds: self._rest(seconds, breaker),
            jitter=lambda n_tries: _jitter(request, n_tries),
            began_at=lambda: tries.first_at,
        )
        if tried.failure is None or tried.failure.kind == "filtered":
            breaker.answered()
        else:
            breaker.failed(tried.failure)
        return self._reply(call, tried, tries.latency_ms)

    def _rest(self, seconds: float, breaker: Breaker) -> bool:
        """Wait before the next try; return whether there is to be none."""
        while seconds > 0:
            if breaker.is_retry_vain or self._should_stop() or self._sleep(min(seconds, _NAP_S)) is True:
                return True
            seconds -= _NAP_S
        return breaker.is_retry_vain or self._should_stop()

    def _send(self, call: ProviderCall, tries: "_Tries") -> ProviderReply:
        """Send a call once, when the throttle lets it in."""
        ticket = self._throttle.enter(
            likely_input_tokens(self._params, call.prompt, sent_size=call.sent_size),
            min(self._params.max_output_tokens, _GUESSED_OUTPUT_TOKENS),
        )
        started_at = self._clock()
        if tries.first_at is None:
            tries.first_at = started_at
        try:
            if self._closed.is_set():
                raise CallFailure("closed", _CLOSED, is_retryable=False)
            if self._should_stop():  # it may have waited long for its turn
                raise CallFailure("stopped", _STOPPED, is_retryable=False)
            reply = self._provider.send(call)
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
        self._throttle.succeeded(ticket, input_tokens=reply.input_tokens, output_tokens=reply.output_tokens)
        return reply

    def _waited_for(self, wait_s: float | None) -> float | None:
        """Return what all calls wait; None for a wait that is too long, after which the call has failed."""
        return None if wait_s is None or wait_s > self._retries.longest_wait_s else wait_s

    def _finish_of(self, answer: ProviderReply) -> FinishReason:
        """Return why an answer ended; some servers call an answer complete that used up its tokens."""
        is_full = (answer.output_tokens or 0) >= self._params.max_output_tokens
        return "length" if is_full and answer.finish_reason in ("stop", "other") else answer.finish_reason

    def _reply(self, call: ProviderCall, tried: Tried[ProviderReply], latency_ms: float) -> SutReply:
        answer, failure = tried.answer, tried.failure
        if failure is not None and failure.kind == "filtered":
            answer = ProviderReply("", "safety")
        if answer is None:
            words = failure.message if failure is not None else "The call failed."
            is_cut = failure is not None and failure.is_retryable and self._should_stop()
            kind = "stopped" if is_cut else failure.kind if failure is not None else ""
            return SutReply(
                "", "other", latency_ms=latency_ms, call_error=_with_tries(words, tried.n_attempts),
                n_attempts=tried.n_attempts, seen_size=call.sent_size, failure_kind=kind,
            )  # fmt: skip
        return SutReply(
            text=answer.text,
            finish_reason=self._finish_of(answer),
            latency_ms=latency_ms,
            input_tokens=answer.input_tokens,
            output_tokens=answer.output_tokens,
            cost_usd=cost_of_reply(
                self._params,
                call.prompt,
                sent_size=call.sent_size,
                input_tokens=answer.input_tokens,
                output_tokens=answer.output_tokens,
                is_empty=not answer.text and answer.finish_reason == "safety",
            ),
            n_attempts=tried.n_attempts,
            seen_size=call.sent_size,
            reasoning_tokens=answer.reasoning_tokens,
            served_model=answer.served_model,
        )


@dataclass
class _Tries:
    """What the tries of one call took.

    Attributes:
        first_at: when the first one was sent, after every limit of ours.
        latency_ms: wall time of the last one.
    """

    first_at: float | None = None
    latency_ms: float = 0.0


def call_of(params: RemoteParams, request: SutRequest) -> ProviderCall:
    """Return a question as it is sent, its picture scaled.

    Raises:
        ImageError: the picture is not readable.
    """
    picture = fit_picture(request.image_png, params.max_image_side)
    return ProviderCall(picture.png, picture.size, request.prompt)


def described(provider: Provider, params: RemoteParams, *, request: SutRequest) -> str:
    """Return the exact request of a provider as JSON for people."""
    return storable_text(
        json.dumps(provider.describe(call_of(params, request)), indent=2, ensure_ascii=False)
    )


def fingerprint_of(params: RemoteParams) -> str:
    """Return the identity of a remote system: SHA-256 hex over everything that may change an answer."""
    kind = provider_kind(params)
    declared: dict[str, JsonValue] = params.model_dump(mode="json", exclude=set(UNIDENTIFYING))
    if isinstance(declared.get("base_url"), str):
        declared["base_url"] = endpoint_of(str(declared["base_url"])).address
    parts = {"kind": kind.kind, "adapter": kind.adapter_version, "engine": ENGINE_VERSION, **declared}
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _info_of(params: RemoteParams) -> SutInfo:
    kind = provider_kind(params).kind
    details = {
        "model": params.model,
        "revision": params.revision or "not stated",
        "thinking": params.thinking,
        "decoding": "the provider's own"
        if params.temperature is None
        else f"temperature {params.temperature:g}",
        "longest reply": f"{params.max_output_tokens:,} tokens",
        "pictures": f"at most {params.max_image_side:,} pixels a side",
        "prices": "known" if has_prices(params) else "unknown",
    }
    return SutInfo(kind, fingerprint_of(params), params.concurrency, details)


def _not_sent(kind: FailureKind, words: str) -> SutReply:
    return SutReply("", "other", call_error=words, n_attempts=0, failure_kind=kind)


def _with_tries(words: str, n_attempts: int) -> str:
    return words if n_attempts < 2 else f"{words} (Tried {n_attempts} times.)"


def _jitter(request: SutRequest, n_tries: int) -> float:
    """Return a number in [0, 1) that differs between questions, so that they do not come back together."""
    prompt = request.prompt.encode("utf-8", "surrogatepass")
    question = hashlib.sha256(request.image_png + prompt).hexdigest()
    return float(rng_for(request.repeat_number, "retry", question, n_tries).random())
