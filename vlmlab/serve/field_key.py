"""The key that seals stored secrets, made on first use; run as a program, it prints a new one."""

from pathlib import Path

from cryptography.fernet import Fernet

from vlmlab.serve.secret_key import read_or_create_key


def new_field_key() -> str:
    """Return a fresh key."""
    return Fernet.generate_key().decode()


def read_or_create_field_key(path: Path) -> str:
    """Return the key kept in ``path``, made on first use.

    Raises:
        ConfigError: the folder cannot be made, read or written.
    """
    return read_or_create_key(path, make=new_field_key)


if __name__ == "__main__":
    print(new_field_key())  # noqa: T201 - it is what the command is for
