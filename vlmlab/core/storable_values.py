"""Which values every database takes: no text with NUL or half of a surrogate pair, however deep it lies."""

import re
from collections.abc import Mapping

UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
"""A character that some database or file does not take."""


def is_storable(value: object) -> bool:
    """Return whether a value made of mappings, lists and texts can be stored by every database."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            if UNSTORABLE.search(one):
                return False
        elif isinstance(one, Mapping):
            waiting += [*one.keys(), *one.values()]
        elif isinstance(one, list | tuple):
            waiting += one
    return True
