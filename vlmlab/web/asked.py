"""Numbers and short names out of addresses and forms: what somebody typed there may be anything."""

from django.core.validators import slug_re

LARGEST = 2**63 - 1  # what a database column holds


def asked_number(text: str, *, largest: int = LARGEST) -> int | None:
    """Return a whole number written in ASCII digits, or None for everything else.

    ``str.isdigit`` alone also takes signs such as "²", which ``int`` refuses, and numbers that no database
    column holds.
    """
    if not (text.isascii() and text.isdigit()) or len(text) > len(str(largest)):
        return None
    number = int(text)
    return number if number <= largest else None


def asked_slug(text: str) -> str:
    """Return a short name from an address, "" for anything that cannot be one (and that no column holds)."""
    return text if slug_re.match(text) else ""
