"""Files that commands write what they found to: looked at before the work, written after it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.core.management.base import CommandError

from vlmlab.core.errors import VlmLabError

USAGE_ERROR = 2


def check_target(path: Path) -> None:
    """Find out before the work what would keep its result from being written after it.

    Raises:
        VlmLabError: the folder is missing, or the path is a folder itself.
    """
    if not path.resolve().parent.is_dir():
        raise VlmLabError(f"The folder of {path} does not exist.", hint="Create it first.")
    if path.is_dir():
        raise VlmLabError(f"{path} is a folder.", hint="Name a file in it, such as result.json.")


def check_option(target: str | None) -> None:
    """Check the target of an option: nothing to check without one, or for ``-``, the screen.

    Raises:
        VlmLabError: see ``check_target``.
    """
    if target not in (None, "-"):
        check_target(Path(str(target)))


@contextmanager
def writing(what: str, path: str | Path) -> Iterator[None]:
    """Say what cannot be written where, if writing it fails inside.

    Raises:
        CommandError: it cannot be written.
    """
    try:
        yield
    except OSError as error:
        raise CommandError(
            f"{what} cannot be written to {path}: {error.strerror}.", returncode=USAGE_ERROR
        ) from error
