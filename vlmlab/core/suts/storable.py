"""Replies as every database and file can hold them: no NUL, no half of a surrogate pair, no megabytes."""

from dataclasses import replace

from vlmlab.core.storable_values import UNSTORABLE
from vlmlab.core.suts.base import SutReply

MOST_CHARACTERS = 100_000  # more than a reader takes for an answer; a CSV reader takes 131,072 a field
_REPLACEMENT = "\ufffd"


def storable_text(text: str) -> str:
    """Return text with U+FFFD for what no database takes, and a mark where its middle was cut out."""
    if len(text) > MOST_CHARACTERS:
        half = MOST_CHARACTERS // 2
        text = f"{text[:half]} … [{len(text) - 2 * half:,} characters left out] … {text[-half:]}"
    return UNSTORABLE.sub(_REPLACEMENT, text)


def storable_reply(reply: SutReply) -> SutReply:
    """Return a reply whose texts can be stored; it is read as stored, so a replay reads the same."""
    text, error = storable_text(reply.text), storable_text(reply.call_error)
    served = storable_text(reply.served_model)
    if (text, error, served) == (reply.text, reply.call_error, reply.served_model):
        return reply
    return replace(reply, text=text, call_error=error, served_model=served)
