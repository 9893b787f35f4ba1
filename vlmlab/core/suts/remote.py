"""Systems that answer over a network: scaling, pace, retries, order, cost and identity around a provider."""

import hashlib
import json
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from pydantic import JsonValue

from vlmlab.core.errors import ImageError
from vlmlab.core.seeding import rng_for
from vlmlab.core.suts.base import FailureKind, FinishReason, SutInfo, SutReply, SutRequest
from vlmlab.core.suts.breaker import Breaker
from vlmlab.core.suts.context import SutContext
from vlmlab.core.suts.network import endpoint_of
from vlmlab.core.suts.paced_calls import PacedCalls, with_tries
from vlmlab.core.suts.pictures import fit_picture
from vlmlab.core.suts.prices import cost_of_reply, has_prices, likely_input_tokens
from vlmlab.core.suts.provider import Provider, ProviderCall, ProviderReply
from vlmlab.core.suts.providers import provider_kind
from vlmlab.core.suts.remote_params import UNIDENTIFYING, RemoteParams
from vlmlab.core.suts.retry import DEFAULT_RETRIES, RetryPolicy, Tried
from vlmlab.core.suts.storable import storable_text

ENGINE_VERSION = "1"
_SIGN_OF_LIFE_S = 10.0
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
        self._calls = PacedCalls(
            params.concurrency,
            requests_per_minute=params.requests_per_minute,
            tokens_per_minute=params.tokens_per_minute,
            should_stop=context.should_stop,
            stopped=_STOPPED,
            closed=_CLOSED,
            clock=clock,
            sleep=sleep,
            retries=retries,
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
        return self._calls.limit

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
        self._calls.close()
        self._provider.close()
        # Calls in line end by themselves: nobody is told when one of them is cancelled here.
        self._threads.shutdown(wait=True)

    def _require_open(self) -> None:
        if self._calls.is_closed:
            raise ValueError("the system under test was closed and cannot be used")

    def _in_line(self, request: SutRequest, breaker: Breaker) -> Future[SutReply]:
        try:
            return self._threads.submit(self._answer, request, breaker)
        except RuntimeError:
            if not self._calls.is_closed:
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
        halt = self._calls.halt()
        if halt is not None:
            return _not_sent(halt.kind, halt.message)
        if breaker.failure is not None:
            return _not_sent(breaker.failure.kind, f"{breaker.failure.message} {_NOT_SENT}")
        try:
            call = call_of(self._params, request)
        except ImageError as error:
            return _not_sent("request", str(error))
        ended = self._calls.ask(
            lambda: self._provider.send(call),
            breaker=breaker,
            jitter=lambda n_tries: _jitter(request, n_tries),
            likely_tokens=(
                likely_input_tokens(self._params, call.prompt, sent_size=call.sent_size),
                min(self._params.max_output_tokens, _GUESSED_OUTPUT_TOKENS),
            ),
        )
        return self._reply(call, ended.tried, ended.latency_ms)

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
                "", "other", latency_ms=latency_ms, call_error=with_tries(words, tried.n_attempts),
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


def _jitter(request: SutRequest, n_tries: int) -> float:
    """Return a number in [0, 1) that differs between questions, so that they do not come back together."""
    prompt = request.prompt.encode("utf-8", "surrogatepass")
    question = hashlib.sha256(request.image_png + prompt).hexdigest()
    return float(rng_for(request.repeat_number, "retry", question, n_tries).random())
