"""The key that signs sessions and links: made on first use, kept in the data folder."""

import secrets
from contextlib import suppress
from pathlib import Path

KEY_ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789!@#%^&*(-_=+)"
KEY_LENGTH = 64


def read_or_create_key(path: Path, *, prefix: str = "") -> str:
    """Return the key kept in ``path``; make one, readable only by its owner, if there is none.

    Two processes that start together agree: the file appears complete or not at all, and the first wins.

    Args:
        path: file of the key; its folder is made when missing.
        prefix: marks a generated key, so that a deployment check can refuse it.
    """
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
        draft.touch(mode=0o600)
        draft.write_text(prefix + "".join(secrets.choice(KEY_ALPHABET) for _ in range(KEY_LENGTH)), "utf-8")
        with suppress(FileExistsError):
            path.hardlink_to(draft)
        draft.unlink()
    return path.read_text("utf-8").strip()
