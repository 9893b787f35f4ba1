"""What forms with uploads share: how large a file may be, and names that are mapped line by line."""

from django.forms import ValidationError


def refuse_large_archive(size: int, *, most_bytes: int, instead: str) -> None:
    """Refuse an archive that is larger than one request should carry.

    Args:
        size: of the archive, in bytes.
        most_bytes: that are taken.
        instead: the command that imports a larger one.

    Raises:
        ValidationError: it is larger.
    """
    if size > most_bytes:
        raise ValidationError(
            f"The archive has {size / 1e6:,.0f} MB; at most {most_bytes / 1e6:.0f} MB are taken here. "
            f"Import it with {instead}."
        )


def read_pairs(text: str, *, needed: str) -> dict[str, str]:
    """Return what ``name = value``, one a line, says; empty lines are passed over.

    Args:
        text: as it was typed.
        needed: what a line must hold, such as "a class, “=” and a label".

    Raises:
        ValidationError: a line holds something else, or a name stands there twice.
    """
    found: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        name, sign, value = (part.strip() for part in line.rpartition("="))
        if not sign or not name or not value:
            raise ValidationError(f"Line {number}: write {needed}.")
        if name in found:
            raise ValidationError(f"Line {number}: “{name[:80]}” stands there already.")
        found[name] = value
    return found
