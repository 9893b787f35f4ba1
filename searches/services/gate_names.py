"""Short names of what gates later systems: families and envelopes."""

from typing import Any

from django.db.models import QuerySet
from django.utils.text import slugify

from vlmlab.core.errors import VlmLabError
from vlmlab.core.storable_values import is_storable

MOST_NAME, MOST_SLUG = 120, 64


def checked_name(name: str) -> str:
    """Return a name without outer space.

    Raises:
        VlmLabError: it is empty, too long, or cannot be stored.
    """
    name = " ".join(name.split())
    if not name or len(name) > MOST_NAME or not is_storable(name):
        raise VlmLabError(
            f"Enter a name of 1 to {MOST_NAME} characters.", hint="It stands in lists.", field="name"
        )
    return name


def free_slug(name: str, *, rows: QuerySet[Any], reserved: frozenset[str]) -> str:
    """Return a short name made of a name that no row has yet; a number tells twins apart."""
    base = slugify(name)[: MOST_SLUG - 5].strip("-") or "unnamed"
    taken = set(rows.filter(slug__startswith=base).values_list("slug", flat=True)) | reserved
    return next(
        candidate
        for number in range(1, len(taken) + 2)
        if (candidate := base if number == 1 else f"{base}-{number}") not in taken
    )
