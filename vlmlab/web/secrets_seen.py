"""Every secret that this process has held in the open, so that its log lines can leave it out.

A traceback or a library's debug line may quote what a person pasted or a worker opened; nobody can list those
places, so the formatter of the log looks for the secrets themselves.
"""

import json
import threading
from collections.abc import Callable
from urllib.parse import quote, quote_plus

FEWEST_CHARACTERS = 8  # a shorter one, such as the "none" of a local server, is a word that stands everywhere
MOST_REMEMBERED = 500  # every line of the log is searched for each

HIDDEN = "[hidden]"

_seen: dict[str, None] = {}
_lock = threading.RLock()  # a signal may log while its own thread notes a secret


def note_secret(secret: str) -> None:
    """Remember a secret, each of its parts at a colon, and the ways in which it is written in requests.

    Args:
        secret: the newest ones are remembered when there are too many; a short one is not.
    """
    forms = [
        form
        for part in {secret, *secret.split(":")}
        if len(part) >= FEWEST_CHARACTERS
        for form in (
            part,
            quote(part, safe=""),
            quote_plus(part),
            json.dumps(part)[1:-1],
            repr(part)[1:-1],
        )
    ]
    with _lock:
        for form in forms:
            _seen.pop(form, None)
            _seen[form] = None
        while len(_seen) > MOST_REMEMBERED:
            del _seen[next(iter(_seen))]


def secrets_seen() -> tuple[str, ...]:
    """Return the secrets, longest first, so that none is hidden only in part."""
    with _lock:
        return tuple(sorted(_seen, key=len, reverse=True))


def without_secrets(text: str, *, written_as: Callable[[str], str] = str) -> str:
    """Return a text with every secret replaced, as it is and as ``written_as`` writes it."""
    for secret in secrets_seen():
        text = text.replace(secret, HIDDEN).replace(written_as(secret), HIDDEN)
    return text
