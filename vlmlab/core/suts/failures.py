"""What a provider's refusal means: whether another try may help, and a sentence a person can act on."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime

from vlmlab.core.suts.base import FailureKind
from vlmlab.core.suts.provider import CallFailure

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


@dataclass(frozen=True)
class Meaning:
    """What an error answer of a provider means.

    Attributes:
        kind: what went wrong.
        sentence: for people; ``{words}`` stands for what the provider said.
        is_retryable: whether another try may help.
        max_tries: at most so many tries; None leaves it to the policy.
    """

    kind: FailureKind
    sentence: str
    is_retryable: bool = False
    max_tries: int | None = None

    def failure(self, words: str, *, retry_after_s: float | None = None) -> CallFailure:
        """Return the failure with the provider's words in its sentence.

        Args:
            words: such as `` (“quota exceeded”)``; "" for none.
            retry_after_s: what the provider asked to wait, in seconds.
        """
        return CallFailure(
            self.kind,
            self.sentence.format(words=words),
            is_retryable=self.is_retryable,
            retry_after_s=retry_after_s,
            max_tries=self.max_tries,
        )


_SPENT = Meaning("quota", "The account has no credit left{words}. Top it up, then resume.")
_NO_SUCH_MODEL = Meaning("model", "The server does not know this model{words}. Check the model's name.")
_REDIRECTED = Meaning(
    "address",
    "The address redirects to another one{words}, which is not followed. Write the final address.",
)
_REFUSED = Meaning("request", "The server refused the request{words}.")
_BROKEN = Meaning("server", "The server failed{words}. Try again later.", is_retryable=True)
_STATUSES: dict[int, Meaning] = {
    400: Meaning("request", "The server refused the request{words}. Change the settings it names."),
    401: Meaning("key", "The server refused the API key. Check that the right one is chosen and valid."),
    402: _SPENT,
    403: Meaning("key", "This key may not use this model{words}. Check its rights at the provider."),
    404: Meaning("address", "The server has nothing at this address{words}. Check the address and model."),
    408: Meaning(
        "timeout", "The server gave up waiting for the request{words}. Try again later.", is_retryable=True
    ),
    409: Meaning(
        "server", "The server was busy with a conflicting request{words}. Try again later.", is_retryable=True
    ),
    413: Meaning("too_large", "The request is too large for the server{words}. Lower the longest side."),
    422: Meaning("request", "The server does not take a field{words}. Change the settings it names."),
    429: Meaning(
        "rate_limit",
        "The server is asked too often{words}. Lower the calls at once or a minute.",
        is_retryable=True,
    ),
    503: Meaning(
        "overloaded", "The server is overloaded or starting{words}. Try again later.", is_retryable=True
    ),
    504: Meaning(
        "timeout",
        "The server behind the address did not answer in time{words}. Try again later.",
        is_retryable=True,
    ),
    529: Meaning("overloaded", "The provider is overloaded{words}. Try again later.", is_retryable=True),
}


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
    said, codes = words_of(body) or page_title(raw), codes_of(body)
    if status in _FILTER_STATUSES and is_filtered(codes, said):
        return filtered(said)
    is_spent = _SPENT_CODE.search(codes) or _SPENT_WORDS.search(said)
    if is_spent and status in (400, 403, 429):
        meaning, status = _SPENT, 402
    elif status == 404 and _MODEL.search(f"{said} {codes}"):
        meaning = _NO_SUCH_MODEL
    else:
        meaning = _STATUSES.get(status) or _unlisted(status)
    return meaning.failure(f" (“{said}”)" if said else f" (status {status})", retry_after_s=retry_after_s)


def _unlisted(status: int) -> Meaning:
    if 300 <= status < 400:
        return _REDIRECTED
    is_refused = status < 500 or status in (501, 505)  # not implemented: it will not be a second later
    return _REFUSED if is_refused else _BROKEN


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
