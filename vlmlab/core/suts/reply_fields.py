"""Parts of a stranger's JSON, taken without trusting its shape: a wrong type reads as absent."""

from collections.abc import Mapping

_MOST_TOKENS = 2**53


def member(value: object, *names: str) -> object:
    """Return what lies under a path of names, None where a step is missing."""
    for name in names:
        if not isinstance(value, Mapping):
            return None
        value = value.get(name)
    return value


def objects(value: object) -> list[Mapping[str, object]]:
    """Return the objects of a list; everything else in it is left out."""
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def text(value: object) -> str:
    """Return a text, "" for everything else."""
    return value if isinstance(value, str) else ""


def count(value: object) -> int | None:
    """Return a whole number of at least 0, None for everything else."""
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 <= value <= _MOST_TOKENS else None


def total(*counts: int | None) -> int | None:
    """Return the sum of the known counts, None when none is known."""
    known = [one for one in counts if one is not None]
    return sum(known) if known else None
