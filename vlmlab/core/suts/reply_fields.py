"""Parts of a stranger's JSON, taken without trusting its shape: a wrong type reads as absent."""

from collections.abc import Mapping

_MOST_TOKENS = 100_000_000  # more than any call has; a larger number is nonsense, and no column takes it


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
    """Return a whole number of at least 0, None for everything else.

    JSON knows one kind of number, so 12.0 is a whole one too.
    """
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 <= value <= _MOST_TOKENS else None


def total(*counts: int | None) -> int | None:
    """Return the sum of the known counts, None when none is known."""
    known = [one for one in counts if one is not None]
    return sum(known) if known else None


def output_count(*, input_tokens: int | None, said: int | None, total_tokens: int | None) -> int | None:
    """Return the tokens that came back, thinking included.

    Some providers count thinking in their total only, and it is billed all the same.

    Args:
        input_tokens: tokens that were sent.
        said: tokens of the reply as reported.
        total_tokens: both together as reported.
    """
    if total_tokens is None or input_tokens is None:
        return said
    return max(said or 0, total_tokens - input_tokens)
