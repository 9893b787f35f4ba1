"""Which values every database takes: no text with NUL or half of a surrogate pair, however deep it lies."""

from collections.abc import Mapping


def is_storable(value: object) -> bool:
    """Return whether a value made of mappings, lists and texts can be stored by every database."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            if "\x00" in one or any("\ud800" <= sign <= "\udfff" for sign in one):
                return False
        elif isinstance(one, Mapping):
            waiting += [*one.keys(), *one.values()]
        elif isinstance(one, list | tuple):
            waiting += one
    return True
