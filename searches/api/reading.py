"""Reads the body of a request: JSON that means the same to every reader, and not too much of it."""

import json
from typing import Any, NoReturn, cast

from django.http import HttpRequest
from ninja.parser import Parser

MOST_BYTES = 1_000_000
MOST_LEVELS = 64


class StrictParser(Parser):
    """JSON of bounded size and depth, without NaN and names that stand twice."""

    def parse_body(self, request: HttpRequest) -> dict[str, Any]:
        """Return the content of the body.

        Raises:
            ValueError: it is not such JSON; answered with 400.
        """
        if len(request.body) > MOST_BYTES:
            raise ValueError("too large")
        content = json.loads(request.body, parse_constant=_refuse, object_pairs_hook=_named_once)
        _check_depth(content)
        return cast(dict[str, Any], content)


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


def _named_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name stands twice")
    return found


def _check_depth(content: object) -> None:
    level = [content]
    for _ in range(MOST_LEVELS):
        level = [
            part
            for one in level
            if isinstance(one, dict | list)
            for part in (one.values() if isinstance(one, dict) else one)
        ]
        if not level:
            return
    raise ValueError("too deep")
