"""What every system under test is: image and prompt in, text out, one batch at a time."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

FinishReason = Literal["stop", "length", "refusal", "safety", "other"]
FailureKind = Literal[
    "connection", "timeout", "rate_limit", "overloaded", "server", "key", "quota", "model", "request",
    "too_large", "not_json", "address", "filtered", "closed", "stopped",
]  # fmt: skip


@dataclass(frozen=True)
class SutRequest:
    """One question to a system under test.

    Attributes:
        image_png: the canonical picture, 8-bit sRGB PNG bytes.
        prompt: the complete user text.
        repeat_number: tells apart repeated calls with the same picture and prompt.
    """

    image_png: bytes
    prompt: str
    repeat_number: int = 0


@dataclass(frozen=True)
class SutReply:
    """What came back for one request.

    Attributes:
        text: the raw text, untouched; empty when the call failed.
        finish_reason: why the text ended.
        latency_ms: wall time that this request cost (a batch's time divided by its requests).
        input_tokens: tokens sent, when known.
        output_tokens: tokens received, thinking included, when known.
        cost_usd: money spent, 0 for local systems.
        call_error: a sentence a person can act on when the call finally failed, else "".
        n_attempts: how many times the call was sent.
        seen_size: width and height in pixels of the picture that the system saw, when it differs from the
            one in the request or the system's boxes are in its pixels; None when it is not known.
        reasoning_tokens: the part of ``output_tokens`` spent on thinking, when known.
        served_model: the exact model that answered, as the provider reports it.
        failure_kind: what went wrong with a call to a remote system (see ``CallFailure``), else "".
    """

    text: str
    finish_reason: FinishReason = "stop"
    latency_ms: float = 0.0
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float = 0.0
    call_error: str = ""
    n_attempts: int = 1
    seen_size: tuple[int, int] | None = None
    reasoning_tokens: int | None = None
    served_model: str = ""
    failure_kind: FailureKind | Literal[""] = ""

    @property
    def is_call_error(self) -> bool:
        """Whether the call failed and nothing was answered."""
        return bool(self.call_error)

    @property
    def is_stopped(self) -> bool:
        """Whether the call was left out, or not tried again, because its batch had to end."""
        return self.failure_kind == "stopped"


@dataclass(frozen=True)
class SutInfo:
    """What a loaded system says of itself; part of the cache key and of every export.

    Attributes:
        kind: key of ``SUT_KINDS``.
        fingerprint: SHA-256 hex over the weights (or provider, model id and revision), adapter
            version, dtype, device class, image-processor backend, batch size and decoding.
        batch_size: the fixed number of rows of one forward pass.
        details: words and numbers for people (parameters, dtype, class names).
    """

    kind: str
    fingerprint: str
    batch_size: int
    details: dict[str, str] = field(default_factory=dict)


class Sut(Protocol):
    """A loaded system under test."""

    @property
    def info(self) -> SutInfo:
        """Identity and limits of the loaded system."""
        ...

    def generate(self, requests: Sequence[SutRequest]) -> list[SutReply]:
        """Answer every request, in order; never raises for a failed call (see ``call_error``)."""
        ...

    def describe_request(self, request: SutRequest) -> str:
        """Return the exact request as text for people: no key, and words in place of the picture's bytes."""
        ...

    def close(self) -> None:
        """Free memory and connections; the object may not be used afterwards."""
        ...
