"""Keys taken out of every word that a stranger's server sends back, however it spells them."""

import base64
import logging
import re
from collections.abc import Sequence
from urllib.parse import quote, quote_plus

from pydantic import JsonValue

REMOVED = "[key removed]"
_LEAST_IN_ERRORS, _LEAST_IN_ANSWERS = 4, 8
_LEAST_FOR_PARTS = 16
_PART = 6
_BETWEEN = r"[\s\u200b\"'\\+,]*"


class Redactor:
    """Removes keys from text; a key too short to be one is left alone, or no answer could be read.

    Args:
        secrets: what no word may repeat.
    """

    def __init__(self, secrets: Sequence[str]) -> None:
        self._secrets = tuple(sorted({secret for secret in secrets if secret}, key=len, reverse=True))

    def __repr__(self) -> str:
        return f"Redactor({len(self._secrets)} secrets)"

    def answer(self, body: JsonValue) -> JsonValue:
        """Return parsed JSON without the keys: whole ones, also written as a URL or base64 writes them."""
        spellings = [one for secret in self._long(_LEAST_IN_ANSWERS) for one in _spellings(secret)]
        try:
            return _replaced(body, spellings) if spellings else body
        except RecursionError:  # nested too deep to be an answer
            return None

    def words(self, text: str) -> str:
        """Return an error's words without the keys, also where a server quotes a part or breaks it up."""
        for secret in self._long(_LEAST_IN_ERRORS):
            for spelling in _spellings(secret):
                text = text.replace(spelling, REMOVED)
            if len(secret) >= _LEAST_FOR_PARTS:
                broken = _BETWEEN.join(re.escape(sign) for sign in secret)
                text = re.sub(broken, REMOVED, text)
                text = re.sub(rf"{re.escape(secret[:_PART])}[^\s\"'“”,;]*", REMOVED, text)
                text = re.sub(rf"[^\s\"'“”,;]*{re.escape(secret[-_PART:])}", REMOVED, text)
        return text

    def _long(self, least: int) -> list[str]:
        return [secret for secret in self._secrets if len(secret) >= least]


def keep_debug_lines_quiet(*names: str) -> None:
    """Keep the finest log of libraries quiet; loggers that are quieter stay as they are."""
    for name in names:
        logger = logging.getLogger(name)
        logger.setLevel(max(logger.getEffectiveLevel(), logging.INFO))


def _spellings(secret: str) -> list[str]:
    """Return how a server may write a key: as it is, escaped for a URL, in base64, alone or with a name."""
    found = [secret, quote(secret, safe=""), quote_plus(secret)]
    for n_before in range(3):  # base64 of a text that holds the key, whatever stands around it
        encoded = base64.b64encode(b"\0" * n_before + secret.encode()).decode()
        inside = encoded[-(-n_before * 8 // 6) : (n_before + len(secret.encode())) * 8 // 6]
        found += [inside, inside.translate(_URL_SAFE)]
    return sorted({one for one in found if len(one) >= _LEAST_IN_ERRORS}, key=len, reverse=True)


_URL_SAFE = str.maketrans("+/", "-_")


def _replaced(body: JsonValue, spellings: Sequence[str]) -> JsonValue:
    if isinstance(body, str):
        for spelling in spellings:
            body = body.replace(spelling, REMOVED)
        return body
    if isinstance(body, list):
        return [_replaced(one, spellings) for one in body]
    if isinstance(body, dict):
        return {str(_replaced(name, spellings)): _replaced(value, spellings) for name, value in body.items()}
    return body
