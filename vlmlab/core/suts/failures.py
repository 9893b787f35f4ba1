"""What a provider's refusal means: whether another try may help, and a sentence a person can act on."""

import re
from collections.abc import Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime

from vlmlab.core.suts.provider import CallFailure, FailureKind

# Words about quotas and billing also stand in answers to calls that only come too fast, so codes decide
# and, without one, words that can mean nothing else.
_SPENT_CODE = re.compile(
    r"insufficient_quota|billing_hard_limit|insufficient_(?:balance|credits|funds)", re.I
)
_SPENT_WORDS = re.compile(
    r"credit balance|insufficient[ _](?:balance|credits?|funds|quota)|out of credits|payment required", re.I
)
# A filter's refusal is an outcome of the question, whatever the status it comes with. Codes of OpenAI, Azure,
# OpenRouter, DashScope and Zhipu, and the words of those who send a general code.
_FILTER_CODE = re.compile(
    r"content_?filter|content_policy_violation|responsibleaipolicyviolation|data_?inspection_?failed"
    r"|moderation_blocked|sensitive_words|\b1301\b",
    re.IGNORECASE,
)
_FILTER_WORDS = re.compile(
    r"blocked by (?:our |the |a )?content filter|content management policy|content filtering policy"
    r"|flagged as potentially violating|requires moderation.{0,80}flagged|inappropriate content"
    r"|not allowed by our safety system",
    re.IGNORECASE,
)
_FILTER_STATUSES = frozenset({400, 403, 422, 451})
_MODEL = re.compile(r"\bmodel\b", re.IGNORECASE)
_TITLE = re.compile(rb"<title[^>]{0,200}>([^<]{1,300})", re.IGNORECASE)
_SPACE = re.compile(r"\s+")
_MOST_WORDS = 300
# Kind, whether another try may help, and the sentence; "{words}" is what the server said.
_STATUSES: dict[int, tuple[FailureKind, bool, str]] = {
    400: ("request", False, "The server refused the request{words}. Change the settings it names."),
    401: ("key", False, "The server refused the API key. Check that the right one is chosen and valid."),
    402: ("quota", False, "The account has no credit left{words}. Top it up, then resume."),
    403: ("key", False, "This key may not use this model{words}. Check its rights at the provider."),
    404: ("address", False, "The server has nothing at this address{words}. Check the address and model."),
    408: ("timeout", True, "The server gave up waiting for the request{words}. Try again later."),
    409: ("server", True, "The server was busy with a conflicting request{words}. Try again later."),
    413: ("too_large", False, "The request is too large for the server{words}. Lower the longest side."),
    422: ("request", False, "The server does not take a field{words}. Change the settings it names."),
    429: ("rate_limit", True, "The server is asked too often{words}. Lower the calls at once or a minute."),
    503: ("overloaded", True, "The server is overloaded or starting{words}. Try again later."),
    504: ("timeout", True, "The server behind the address did not answer in time{words}. Try again later."),
    529: ("overloaded", True, "The provider is overloaded{words}. Try again later."),
}  # fmt: skip


def failure_of_status(
    status: int, body: object, *, retry_after_s: float | None = None, raw: bytes = b""
) -> CallFailure:
    """Return the failure that a status other than 2xx means.

    Args:
        status: the HTTP status.
        body: the parsed JSON of the answer, None when it was none.
        retry_after_s: what the server asked to wait.
        raw: the answer's bytes, from which the title of a web page is quoted.
    """
    said = words_of(body) or page_title(raw)
    if status in _FILTER_STATUSES and is_filtered(codes_of(body), said):
        return filtered(said)
    is_spent = _SPENT_CODE.search(codes_of(body)) or _SPENT_WORDS.search(said)
    if is_spent and status in (400, 403, 429):
        status = 402
    kind, is_retryable, sentence = _STATUSES.get(status) or _unlisted(status)
    if status == 404 and _MODEL.search(f"{said} {codes_of(body)}"):
        kind, sentence = "model", "The server does not know this model{words}. Check the model's name."
    message = sentence.format(words=f" (“{said}”)" if said else f" (status {status})")
    return CallFailure(kind, message, is_retryable=is_retryable, retry_after_s=retry_after_s)


def _unlisted(status: int) -> tuple[FailureKind, bool, str]:
    if 300 <= status < 400:
        return (
            "address",
            False,
            "The address redirects to another one{words}, which is not followed. Write the final address.",
        )
    if status >= 500:
        return "server", True, "The server failed{words}. Try again later."
    return "request", False, "The server refused the request{words}."


def is_filtered(codes: str, words: str) -> bool:
    """Return whether an error's codes or words are those of a safety filter."""
    return bool(_FILTER_CODE.search(codes) or _FILTER_WORDS.search(words))


def filtered(said: str) -> CallFailure:
    """Return the failure that says that a safety filter answered instead of the model."""
    words = f" (“{said}”)" if said else ""
    return CallFailure(
        "filtered", f"The provider's safety filter stopped the call{words}.", is_retryable=False
    )


def not_json(raw: bytes) -> CallFailure:
    """Return the failure of an answer that was to be JSON and is not."""
    title = page_title(raw)
    if title or raw.lstrip()[:1] == b"<":
        what = f"a web page (“{title}”)" if title else "a web page"
    elif not raw.strip():
        what = "nothing"
    else:
        what = "something that is not JSON"
    return CallFailure(
        "not_json",
        f"The address answered with {what} instead of JSON. Check the address; it often ends in /v1.",
        is_retryable=False,
    )


def unexpected(what: str) -> CallFailure:
    """Return the failure of JSON in another shape; asking again would pay again for the same.

    Args:
        what: a phrase for what is missing, such as "no choice".
    """
    return CallFailure(
        "not_json",
        f"The server's answer has {what}. Check that the address speaks the protocol of this kind.",
        is_retryable=False,
    )


def words_of(body: object) -> str:
    """Return what an error answer says, in one short line, "" when it says nothing."""
    for _ in range(4):
        if isinstance(body, list) and body:
            body = body[0]
        elif isinstance(body, Mapping):
            body = next(
                (body[key] for key in ("error", "message", "msg", "detail", "Message") if body.get(key)), ""
            )
    return plain_words(body) if isinstance(body, str) else ""


def codes_of(body: object) -> str:
    """Return the codes and types beside an error's words, for telling one failure from another."""
    error = body.get("error") if isinstance(body, Mapping) else None
    inner = error.get("innererror") if isinstance(error, Mapping) else None
    places = [place for place in (body, error, inner) if isinstance(place, Mapping)]
    found = [place.get(key) for place in places for key in ("code", "type", "status")]
    return " ".join(code for code in found if isinstance(code, str))[:_MOST_WORDS]


def page_title(raw: bytes) -> str:
    """Return the title of a web page, "" when there is none."""
    match = _TITLE.search(raw[:20_000])
    return plain_words(match[1].decode("utf-8", "replace")) if match else ""


def plain_words(text: str) -> str:
    """Return foreign words in one short printable line."""
    shown = "".join(sign if sign.isprintable() else " " for sign in text[: 4 * _MOST_WORDS])
    line = _SPACE.sub(" ", shown).strip().rstrip(".")
    return line if len(line) <= _MOST_WORDS else f"{line[:_MOST_WORDS]}…"


def retry_after_of(headers: Mapping[str, str], *, now_s: float) -> float | None:
    """Return the seconds that a server asks to wait, None when it says nothing readable.

    Args:
        headers: of the answer, names in lower case.
        now_s: seconds since 1970, for the form that names a date.
    """
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    said = headers.get("retry-after", "").strip()
    seconds = _number(said)
    if seconds is not None or not said:
        return seconds
    try:
        date = parsedate_to_datetime(said)
        # A date without a zone is meant as GMT, as every date of HTTP is.
        date = date if date.tzinfo is not None else date.replace(tzinfo=UTC)
        return max(0.0, date.timestamp() - now_s)
    except (ValueError, OverflowError, TypeError, OSError):
        return None


def _number(said: str) -> float | None:
    return float(said) if re.fullmatch(r"\d{1,9}(\.\d{1,9})?", said.strip(), re.ASCII) else None
