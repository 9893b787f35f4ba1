"""Remote systems around any provider: order, threads, tries, money, end."""

import json
import threading

import pytest

from tests.doubles import paint_png
from tests.patience import PATIENCE_SECONDS
from vlmlab.core.suts.base import SutRequest
from vlmlab.core.suts.context import SutContext
from vlmlab.core.suts.provider import CallFailure, ProviderReply
from vlmlab.core.suts.remote import RemoteSut
from vlmlab.core.suts.remote_params import OpenAIChatParams
from vlmlab.core.suts.retry import DEFAULT_RETRIES, RetryPolicy

BUSY = CallFailure("rate_limit", "The server is asked too often.", is_retryable=True, retry_after_s=3.0)
WRONG_KEY = CallFailure("key", "The server refused the API key.", is_retryable=False)


class Time:
    """Moves when somebody sleeps or a provider takes its time; locked, because several threads do."""

    def __init__(self) -> None:
        self.now, self.waits, self.lock = 0.0, [], threading.Lock()

    def clock(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        with self.lock:
            self.waits.append(seconds)
            self.now += seconds


class FakeProvider:
    """Answers with the prompt; ``failures`` are raised first, each once."""

    def __init__(self, *failures: Exception, time: Time | None = None, takes: float = 0.0) -> None:
        self.failures, self.time, self.takes = list(failures), time, takes
        self.calls, self.threads, self.is_closed = [], set(), False
        self.lock, self.was_asked = threading.Lock(), threading.Event()

    def describe(self, call):
        return {
            "address": "POST https://x",
            "headers": {},
            "body": {"p": call.prompt, "i": call.picture_words},
        }

    def send(self, call):
        with self.lock:
            self.calls.append(call)
            self.threads.add(threading.current_thread().name)
            failure = self.failures.pop(0) if self.failures else None
        self.was_asked.set()
        if self.time is not None:
            self.time.now += self.takes
        if failure is not None:
            raise failure
        return ProviderReply(
            f"to {call.prompt}", input_tokens=1000, output_tokens=50, reasoning_tokens=20, served_model="m-1"
        )

    def close(self):
        self.is_closed = True


def params(**values) -> OpenAIChatParams:
    return OpenAIChatParams.model_validate({"model": "m", **values})


def request(prompt: str, *, width: int = 16, repeat_number: int = 0) -> SutRequest:
    return SutRequest(paint_png((1, 2, 3), width=width, height=12), prompt, repeat_number)


@pytest.fixture
def make():
    """Make systems that are closed at the end."""
    made = []

    def build(provider, *, time=None, on_progress=lambda: None, retries=DEFAULT_RETRIES, **values):
        own = time or Time()
        made.append(
            RemoteSut(
                provider, params(**values), context=SutContext(on_progress=on_progress), clock=own.clock,
                sleep=own.sleep, retries=retries,
            )
        )  # fmt: skip
        return made[-1]

    yield build
    for sut in made:
        sut.close()


def test_answers_keep_the_order_of_the_questions(make):
    sut = make(FakeProvider(BUSY, BUSY, BUSY), concurrency=8)

    replies = sut.generate([request(str(number)) for number in range(50)])

    assert [reply.text for reply in replies] == [f"to {number}" for number in range(50)]


def test_a_reply_holds_what_the_call_took(make):
    time = Time()
    provider = FakeProvider(BUSY, time=time, takes=0.25)
    sut = make(provider, time=time, input_price_usd=2, output_price_usd=10, concurrency=1)

    reply = sut.generate([request("hello")])[0]

    assert reply.text == "to hello"
    assert (reply.n_attempts, reply.latency_ms) == (2, 250.0)
    assert (reply.input_tokens, reply.output_tokens, reply.reasoning_tokens) == (1000, 50, 20)
    assert reply.cost_usd == pytest.approx(0.0025)
    assert (reply.seen_size, reply.served_model, reply.call_error) == ((16, 12), "m-1", "")
    assert time.waits[:3] == [1.0, 1.0, 1.0]  # in short naps, so that a stop or an end is noticed


def test_pictures_are_scaled_before_they_are_sent_and_the_sent_size_is_kept(make):
    provider = FakeProvider()

    reply = make(provider, max_image_side=100).generate([request("a", width=400)])[0]

    assert provider.calls[0].sent_size == reply.seen_size == (100, 3)


def test_a_call_that_cannot_succeed_is_an_error_of_its_own(make):
    replies = make(FakeProvider(WRONG_KEY), concurrency=1).generate([request("a"), request("b")])

    assert [reply.call_error for reply in replies] == ["The server refused the API key.", ""]
    assert (replies[0].text, replies[0].n_attempts, replies[0].cost_usd) == ("", 1, 0.0)
    assert replies[1].text == "to b"


def test_a_call_that_never_succeeds_says_how_often_it_was_tried(make):
    sut = make(FakeProvider(*[BUSY] * 3), concurrency=1, retries=RetryPolicy(most_tries=3))

    reply = sut.generate([request("a")])[0]

    assert reply.call_error == "The server is asked too often. (Tried 3 times.)"
    assert (reply.n_attempts, reply.is_call_error) == (3, True)


def test_a_picture_that_is_none_fails_alone_and_is_not_sent(make):
    provider = FakeProvider()

    replies = make(provider).generate([SutRequest(b"no picture", "a"), request("b")])

    assert [reply.is_call_error for reply in replies] == [True, False]
    assert [reply.n_attempts for reply in replies] == [0, 1]
    assert [call.prompt for call in provider.calls] == ["b"]


def test_too_many_requests_lower_the_concurrency_and_successes_raise_it_again(make):
    sut = make(FakeProvider(BUSY), concurrency=8)

    sut.generate([request("a")])
    lowered = sut.concurrency
    sut.generate([request(str(number)) for number in range(60)])

    assert (lowered, sut.concurrency) == (4, 8)


def test_repeated_questions_are_simply_asked_again(make):
    provider = FakeProvider()

    make(provider).generate([request("a", repeat_number=number) for number in range(3)])

    assert [call.prompt for call in provider.calls] == ["a", "a", "a"]


def test_every_answer_gives_a_sign_of_life_in_the_thread_that_asked(make):
    signs, provider = [], FakeProvider()
    sut = make(provider, on_progress=lambda: signs.append(threading.current_thread().name), concurrency=3)

    sut.generate([request(str(number)) for number in range(10)])

    assert signs == [threading.current_thread().name] * 10
    assert threading.current_thread().name not in provider.threads


def test_a_slow_answer_gives_signs_of_life_meanwhile(make, monkeypatch):
    monkeypatch.setattr("vlmlab.core.suts.remote._SIGN_OF_LIFE_S", 0.01)
    release, signs = threading.Event(), []

    class Slow(FakeProvider):
        def send(self, call):
            release.wait(PATIENCE_SECONDS)
            return super().send(call)

    def sign():
        signs.append(1)
        if len(signs) == 3:
            release.set()

    make(Slow(), on_progress=sign).generate([request("a")])

    assert len(signs) >= 4


def test_what_stops_the_work_rises_and_no_further_call_is_sent(make):
    class StoppedError(Exception):
        pass

    class SlowFromTheSecond(FakeProvider):
        def send(self, call):
            if self.calls:
                is_stopped.wait(PATIENCE_SECONDS)
            return super().send(call)

    def stop():
        raise StoppedError

    is_stopped, provider = threading.Event(), SlowFromTheSecond()
    sut = make(provider, on_progress=stop, concurrency=1)

    with pytest.raises(StoppedError):
        sut.generate([request(str(number)) for number in range(20)])
    is_stopped.set()
    sut.close()

    assert len(provider.calls) <= 2  # what was answered, and the call that was under way


def test_a_bug_of_a_provider_rises_and_holds_up_nobody(make):
    sut = make(FakeProvider(ZeroDivisionError()), concurrency=1)

    with pytest.raises(ZeroDivisionError):
        sut.generate([request("a")])

    assert sut.generate([request("b")])[0].text == "to b"


def test_close_ends_a_wait_for_the_next_try_and_closes_the_provider():
    provider = FakeProvider(*[BUSY] * 10)
    sut = RemoteSut(provider, params(), context=SutContext())
    replies = []
    asking = threading.Thread(target=lambda: replies.extend(sut.generate([request("a")])))

    asking.start()
    assert provider.was_asked.wait(PATIENCE_SECONDS)
    sut.close()
    asking.join(PATIENCE_SECONDS)

    assert not asking.is_alive()
    assert provider.is_closed
    assert [reply.is_call_error for reply in replies] == [True]
    with pytest.raises(ValueError, match="closed"):
        sut.generate([request("a")])


def test_describe_request_is_json_without_a_call(make):
    provider = FakeProvider()

    described = json.loads(make(provider).describe_request(request("hello")))

    png = request("hello").image_png
    assert described["body"] == {"p": "hello", "i": f"<PNG picture, 16 x 12, {len(png)} bytes>"}
    assert provider.calls == []


def test_an_answer_without_tokens_counts_as_the_most_that_it_can_cost(make):
    class Silent(FakeProvider):
        def send(self, call):
            super().send(call)
            return ProviderReply("A")

    sut = make(Silent(), input_price_usd=2, output_price_usd=10, max_output_tokens=500)
    reply = sut.generate([request("hello")])[0]

    assert reply.input_tokens is None
    assert reply.cost_usd == pytest.approx((5 + 1 + 3000 + 200) * 2e-6 + 500 * 10e-6)


def test_a_filter_is_an_outcome_that_costs_what_was_sent(make):
    filtered = CallFailure("filtered", "The filter stopped it.", is_retryable=False)
    sut = make(FakeProvider(filtered), input_price_usd=2, output_price_usd=10)

    reply = sut.generate([request("hello")])[0]

    assert (reply.text, reply.finish_reason, reply.call_error, reply.n_attempts) == ("", "safety", "", 1)
    assert reply.cost_usd == pytest.approx((5 + 1 + 3000 + 200) * 2e-6)
    assert reply.seen_size == (16, 12)


def test_the_wait_of_a_limit_takes_no_try_away(make):
    time = Time()
    sut = make(FakeProvider(time=time), time=time, requests_per_minute=1, concurrency=1)
    sut.generate([request("a")])
    sut._provider.failures = [BUSY]
    time.now = -10_000.0  # the next call waits for more than the time that its tries may take

    reply = sut.generate([request("b")])[0]

    assert (reply.text, reply.n_attempts) == ("to b", 2)


@pytest.mark.parametrize(
    ("said", "n_tokens", "finish"),
    [("stop", 8, "length"), ("other", 9, "length"), ("stop", 7, "stop"), ("stop", None, "stop"),
     ("length", 3, "length"), ("refusal", 8, "refusal"), ("safety", 8, "safety")],
)  # fmt: skip
def test_an_answer_that_used_up_its_tokens_is_cut_whatever_the_server_calls_it(make, said, n_tokens, finish):
    class Full(FakeProvider):
        def send(self, call):
            return ProviderReply("[[1, 2", said, output_tokens=n_tokens)

    assert make(Full(), max_output_tokens=8).generate([request("a")])[0].finish_reason == finish


def test_half_a_sign_in_a_prompt_fails_no_call(make):
    class Silent(FakeProvider):
        def send(self, call):
            super().send(call)
            return ProviderReply("A")

    replies = make(Silent(BUSY), input_price_usd=2, output_price_usd=10).generate([request("a \ud800")])

    assert [(reply.text, reply.n_attempts) for reply in replies] == [("A", 2)]


def test_an_order_to_stop_ends_a_batch_between_calls():
    provider = FakeProvider()
    context = SutContext(should_stop=lambda: len(provider.calls) == 2)
    sut = RemoteSut(provider, params(concurrency=1), context=context)

    replies = sut.generate([request(str(number)) for number in range(4)])
    sut.close()

    assert [reply.is_stopped for reply in replies] == [False, False, True, True]
    assert [reply.n_attempts for reply in replies] == [1, 1, 0, 0]
    assert replies[3].call_error == "The worker was asked to stop before this call was answered."


def test_a_call_that_waits_for_another_try_is_stopped_instead_of_failed():
    provider = FakeProvider(BUSY, BUSY, time=Time())
    context = SutContext(should_stop=lambda: len(provider.calls) == 1)

    [reply] = RemoteSut(provider, params(), context=context, clock=provider.time.clock).generate(
        [request("q")]
    )

    assert (reply.is_stopped, reply.n_attempts) == (True, 1)


def test_a_long_wait_for_another_try_ends_soon_after_an_order_to_stop():
    time = Time()
    long_wait = CallFailure("rate_limit", "Too often.", is_retryable=True, retry_after_s=100.0)
    context = SutContext(should_stop=lambda: len(time.waits) >= 2)
    sut = RemoteSut(FakeProvider(long_wait), params(), context=context, clock=time.clock, sleep=time.sleep)

    [reply] = sut.generate([request("q")])

    assert (reply.is_stopped, time.waits) == (True, [1.0, 1.0])


def test_a_call_that_waited_for_its_turn_is_not_sent_after_an_order_to_stop():
    time, provider = Time(), FakeProvider()
    context = SutContext(should_stop=lambda: bool(time.waits))
    limited = params(concurrency=1, requests_per_minute=1)
    sut = RemoteSut(provider, limited, context=context, clock=time.clock, sleep=time.sleep)

    replies = sut.generate([request("a"), request("b")])

    assert [reply.is_stopped for reply in replies] == [False, True]
    assert len(provider.calls) == 1
