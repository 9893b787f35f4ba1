"""A system under test that answers from a table, with delays, failed calls and crashes for tests."""

import hashlib
import json
import os
import re
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from vlmlab.core.suts.asking import AskingParams
from vlmlab.core.suts.base import FinishReason, SutInfo, SutReply, SutRequest

_OPTION_LINE = re.compile(r"^\s*\(?([A-Z0-9])[.):]\s*(.+?)\s*$", re.MULTILINE)
_ADAPTER_VERSION = "1"


class ScriptedRule(BaseModel):
    """One row of the table; the first row that fits a request answers it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    image_contains: tuple[str, ...] = Field(
        default=(),
        description="Texts that must all stand in the bytes of the picture, such as a PNG text chunk.",
    )
    prompt_contains: tuple[str, ...] = Field(
        default=(), description="Texts that must all stand in the prompt."
    )
    image_sha256: str = Field(default="", description="Digest of the picture; empty fits every picture.")
    share: float = Field(
        default=1.0, ge=0, le=1, description="Share of the fitting requests, drawn by the seed."
    )
    answer: str = Field(default="", description="The whole reply.")
    answer_option: str = Field(default="", description="Reply with the letter of the option with this text.")
    finish_reason: FinishReason = "stop"

    @model_validator(mode="after")
    def _has_one_answer(self) -> Self:
        if self.answer and self.answer_option:
            raise ValueError("give answer or answer_option, not both")
        return self


class ScriptedParams(BaseModel):
    """The table and how calls behave."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    default: str = Field(default="A", description="Reply when no row fits.")
    rules: tuple[ScriptedRule, ...] = ()
    answers: dict[str, str] = Field(
        default_factory=dict, description="answer_key(request) -> reply; looked up before the rules."
    )
    seed: int = 0
    call_error_rate: float = Field(default=0.0, ge=0, le=1, description="Share of calls that fail.")
    latency_ms: float = Field(default=0.0, ge=0, le=60_000, description="Waiting time of each batch.")
    batch_size: int = Field(default=8, ge=1, le=1024)
    asking: AskingParams = Field(default_factory=AskingParams)
    price_usd: float = Field(default=0.0, ge=0, description="Price of each answer, for tests of spending.")
    spend_cap_usd: float | None = Field(
        default=None, gt=0, description="Spending limit of the system, for tests of spending."
    )


def answer_key(request: SutRequest) -> str:
    """Return the key of a request in ``ScriptedParams.answers`` (its repeat number does not count)."""
    digest = hashlib.sha256(request.image_png)
    digest.update(b"\x00" + request.prompt.encode())
    return digest.hexdigest()


class ScriptedSut:
    """Answers from the table; the same request always gets the same answer.

    Args:
        params: the table.
        sleep: waits a number of seconds.
        before_batch: called with the number of answers given so far; tests crash the process here.
    """

    def __init__(
        self,
        params: ScriptedParams,
        *,
        sleep: Callable[[float], None] = time.sleep,
        before_batch: Callable[[int], None] | None = None,
    ) -> None:
        self._params = params
        self._sleep = sleep
        self._before_batch = before_batch
        self._answered = 0
        # How long a call takes and whether it fails changes no answer.
        answers = params.model_dump(
            mode="json", exclude={"latency_ms", "call_error_rate", "asking", "price_usd", "spend_cap_usd"}
        )
        identity = json.dumps(["scripted", _ADAPTER_VERSION, answers], sort_keys=True)
        self._info = SutInfo(
            kind="scripted",
            fingerprint=hashlib.sha256(identity.encode()).hexdigest(),
            batch_size=params.batch_size,
            details={"rules": str(len(params.rules)), "answers": str(len(params.answers))},
        )

    @property
    def info(self) -> SutInfo:
        """Identity of the table."""
        return self._info

    def generate(self, requests: Sequence[SutRequest]) -> list[SutReply]:
        """Answer every request from the table."""
        replies: list[SutReply] = []
        size = self._params.batch_size
        for start in range(0, len(requests), size):
            if self._before_batch is not None:
                self._before_batch(self._answered)
            if self._params.latency_ms:
                self._sleep(self._params.latency_ms / 1000)
            replies += [self._priced(self._answer(request)) for request in requests[start : start + size]]
            self._answered = self._answered + len(requests[start : start + size])
        return replies

    def describe_request(self, request: SutRequest) -> str:
        """Return the prompt: nothing else reaches the table, beside the picture."""
        return request.prompt

    def close(self) -> None:
        """Nothing is held."""

    def _answer(self, request: SutRequest) -> SutReply:
        params = self._params
        latency = params.latency_ms / params.batch_size
        if params.call_error_rate and self._draw("call", request) < params.call_error_rate:
            return SutReply("", "other", latency, call_error="The scripted call failed, as its settings ask.")
        if params.answers:
            text = params.answers.get(answer_key(request))
            if text is not None:
                return SutReply(text, "stop", latency)
        for number, rule in enumerate(params.rules):
            if self._fits(rule, request, number):
                return SutReply(_text_of(rule, request.prompt), rule.finish_reason, latency)
        return SutReply(params.default, "stop", latency)

    def _priced(self, reply: SutReply) -> SutReply:
        return reply if reply.is_call_error else replace(reply, cost_usd=self._params.price_usd)

    def _fits(self, rule: ScriptedRule, request: SutRequest, number: int) -> bool:
        if not all(text in request.prompt for text in rule.prompt_contains):
            return False
        if not all(text.encode() in request.image_png for text in rule.image_contains):
            return False
        if rule.image_sha256 and hashlib.sha256(request.image_png).hexdigest() != rule.image_sha256:
            return False
        return rule.share >= 1.0 or self._draw(f"rule {number}", request) < rule.share

    def _draw(self, purpose: str, request: SutRequest) -> float:
        """Return a number in [0, 1) that depends on the seed, the purpose and the whole request."""
        head = f"{self._params.seed}\x1f{purpose}\x1f{request.repeat_number}\x1f{request.prompt}\x1f"
        digest = hashlib.sha256(head.encode())
        digest.update(request.image_png)
        return int.from_bytes(digest.digest()[:8], "big") / 2**64


def _text_of(rule: ScriptedRule, prompt: str) -> str:
    """Return the reply of a row; an option text becomes the letter it has in the prompt."""
    if not rule.answer_option:
        return rule.answer
    wanted = rule.answer_option.casefold()
    for letter, text in _OPTION_LINE.findall(prompt):
        if text.casefold().strip(" .") == wanted.strip(" ."):
            return str(letter)
    return rule.answer_option


def crash_from_environment() -> Callable[[int], None] | None:
    """Return a hook that kills this process after so many answers, when a test asked for it.

    Needs ``VLMLAB_TEST_HOOKS=1`` and ``VLMLAB_SCRIPTED_CRASH_AFTER=<answers>``.
    """
    limit = os.environ.get("VLMLAB_SCRIPTED_CRASH_AFTER", "")
    if os.environ.get("VLMLAB_TEST_HOOKS") != "1" or not limit.isdigit():
        return None

    def crash(answered: int) -> None:
        if answered >= int(limit):
            os.kill(os.getpid(), signal.SIGKILL)

    return crash


def load_scripted(params: ScriptedParams) -> ScriptedSut:
    """Return the system for a table."""
    return ScriptedSut(params, before_batch=crash_from_environment())
