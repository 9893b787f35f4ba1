"""The key that signs sessions and links: made on first use, kept in the data folder."""

import secrets
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from vlmlab.core.errors import ConfigError

KEY_ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789!@#%^&*(-_=+)"
KEY_LENGTH = 64


def new_secret_key() -> str:
    """Return fresh random text for ``SECRET_KEY``."""
    return "".join(secrets.choice(KEY_ALPHABET) for _ in range(KEY_LENGTH))


def read_or_create_key(path: Path, *, prefix: str = "", make: Callable[[], str] = new_secret_key) -> str:
    """Return the key kept in ``path``; make one, readable only by its owner, if there is none.

    Two processes that start together agree: the file appears complete or not at all, and the first wins.

    Args:
        path: file of the key; its folder is made when missing.
        prefix: marks a generated key, so that a deployment check can refuse it.
        make: makes the random part.

    Raises:
        ConfigError: the folder cannot be made, read or written.
    """
    try:
        if not path.exists():
            _make_key(path, prefix + make())
        return path.read_text("utf-8").strip()
    except OSError as error:
        raise ConfigError(
            f"The data folder {path.parent} cannot be used: {error.strerror}.",
            hint="Make it a folder that this account can write to, or name another in VLMLAB_DATA_DIR.",
            field="VLMLAB_DATA_DIR",
        ) from error


def _make_key(path: Path, key: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    draft.touch(mode=0o600)
    draft.write_text(key, "utf-8")
    with suppress(FileExistsError):
        path.hardlink_to(draft)
    draft.unlink()
