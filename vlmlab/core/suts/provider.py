"""The plug point of remote systems: a call is sent once and is answered or fails for a stated reason."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from pydantic import JsonValue

from vlmlab.core.suts.base import FailureKind, FinishReason


def picture_words(png: bytes, size: tuple[int, int]) -> str:
    """Return what stands for a picture's bytes where people read a request."""
    width, height = size
    return f"<PNG picture, {width} x {height}, {len(png):,} bytes>"


@dataclass(frozen=True)
class ProviderCall:
    """One question as it is sent.

    Attributes:
        image_png: the picture after scaling, PNG.
        sent_size: its width and height in pixels.
        prompt: the complete user text.
    """

    image_png: bytes
    sent_size: tuple[int, int]
    prompt: str

    @property
    def picture_words(self) -> str:
        """What a description of the request says in place of the picture's bytes."""
        return picture_words(self.image_png, self.sent_size)


@dataclass(frozen=True)
class ProviderReply:
    """What a provider answered.

    Attributes:
        text: the visible answer, "" when there is none.
        finish_reason: mapped from the provider's word.
        input_tokens: as reported, None when not.
        output_tokens: as reported, thinking included (it is billed), None when not.
        reasoning_tokens: the part of ``output_tokens`` spent on thinking, None when not reported.
        served_model: the exact model that answered, as reported.
    """

    text: str
    finish_reason: FinishReason = "stop"
    input_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None
    served_model: str = ""


class CallFailure(Exception):  # noqa: N818 - a failed try, of which the retry loop makes a call error
    """One try of a call that brought no answer.

    Args:
        kind: what went wrong; "filtered" means that a safety filter answered instead of the model.
        message: a sentence a person can act on, without keys.
        is_retryable: whether another try may help.
        retry_after_s: what the provider asked to wait, in seconds.
        max_tries: at most so many tries for this failure; None leaves it to the policy.
    """

    def __init__(
        self,
        kind: FailureKind,
        message: str,
        *,
        is_retryable: bool,
        retry_after_s: float | None = None,
        max_tries: int | None = None,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.is_retryable = is_retryable
        self.retry_after_s = retry_after_s
        self.max_tries = max_tries

    def reword(self, words: Callable[[str], str]) -> None:
        """Replace the sentence by what ``words`` makes of it, such as the same without keys."""
        self.message = words(self.message)
        self.args = (self.message,)


def check_bytes(png: bytes, *, most: int) -> None:
    """Refuse to send a picture that the provider would refuse for its bytes.

    It is not made smaller here: another size would move boxes, and another format would change pixels.

    Raises:
        CallFailure: it has more bytes.
    """
    if len(png) > most:
        raise CallFailure(
            "too_large",
            f"A picture has {len(png) / 1e6:.2f} MB as PNG, and the provider takes {most / 1e6:.2f} MB. "
            "Lower the longest side.",
            is_retryable=False,
        )


class Provider(Protocol):
    """One provider's wire format; thread-safe, keeps its connections open."""

    def describe(self, call: ProviderCall) -> dict[str, JsonValue]:
        """Return the exact request for people: address, headers without keys, body without picture bytes."""
        ...

    def send(self, call: ProviderCall) -> ProviderReply:
        """Send a call once.

        Raises:
            CallFailure: no answer came.
        """
        ...

    def close(self) -> None:
        """Close the connections."""
        ...
