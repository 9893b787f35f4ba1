"""Secrets at rest: sealed with the newest key of the environment, opened with any of them."""

from dataclasses import dataclass
from functools import lru_cache

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings

from vlmlab.core.errors import ConfigError
from vlmlab.web.secrets_seen import note_secret

SHOWN_CHARACTERS = 4
_FEWEST_TO_SHOW = 12  # of a shorter secret, four characters would be too much of it


@dataclass(frozen=True)
class Sealed:
    """A secret that can be stored and passed on; its text comes out only through ``reveal``.

    Attributes:
        token: what is stored.
    """

    token: str

    @classmethod
    def of(cls, secret: str) -> "Sealed":
        """Seal a secret with the newest key."""
        note_secret(secret)
        return cls(_fernet(tuple(settings.FIELD_KEYS)).encrypt(secret.encode()).decode())

    def reveal(self) -> str:
        """Return the secret.

        Raises:
            ConfigError: none of the keys of the environment opens it.
        """
        secret = self._open(tuple(settings.FIELD_KEYS))
        note_secret(secret)
        return secret

    def sealed_again(self) -> "Sealed":
        """Return the same secret under the newest key.

        Raises:
            ConfigError: none of the keys of the environment opens it.
        """
        self._open(tuple(settings.FIELD_KEYS))
        return Sealed(_fernet(tuple(settings.FIELD_KEYS)).rotate(self.token.encode()).decode())

    @property
    def is_newest(self) -> bool:
        """Whether the newest key alone opens it."""
        try:
            self._open(tuple(settings.FIELD_KEYS[:1]))
        except ConfigError:
            return False
        return True

    def _open(self, keys: tuple[str, ...]) -> str:
        try:
            return _fernet(keys).decrypt(self.token.encode()).decode()
        except InvalidToken as error:
            raise ConfigError(
                "A stored key cannot be opened with the keys of this installation.",
                hint="Put the key it was sealed with into VLMLAB_FIELD_KEYS, or enter the secret again.",
                field="VLMLAB_FIELD_KEYS",
            ) from error

    def __str__(self) -> str:
        """Say nothing."""
        return "[sealed]"

    def __repr__(self) -> str:
        """Say nothing."""
        return "Sealed(...)"


def last_characters(secret: str) -> str:
    """Return the last four characters of a secret, or "" of one too short to show any."""
    return secret[-SHOWN_CHARACTERS:] if len(secret) >= _FEWEST_TO_SHOW else ""


@lru_cache(maxsize=8)
def _fernet(keys: tuple[str, ...]) -> MultiFernet:
    try:
        return MultiFernet([Fernet(key) for key in keys])
    except ValueError as error:
        raise ConfigError(
            "VLMLAB_FIELD_KEYS holds something that is not a key.",
            hint="Make one with: python -m vlmlab.serve.field_key (32 random bytes, URL-safe base64).",
            field="VLMLAB_FIELD_KEYS",
        ) from error
