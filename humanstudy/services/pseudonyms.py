"""Keys, pseudonyms and links of participants, all made from one key that lies outside the database."""

import hmac
import secrets
from hashlib import sha256

from django.conf import settings

from humanstudy.models import Study
from vlmlab.core.errors import VlmLabError

CODE_LENGTH = 16
SIGNATURE_LENGTH = 32  # hexadecimal digits: 128 bits


class BadLinkError(VlmLabError):
    """The address is not one that this lab gave out."""


def study_key(study: Study) -> bytes:
    """Return the key of a study: 32 bytes, from the lab's key and the study's UUID."""
    return _signed(settings.STUDY_KEY.encode(), "study", study.uuid.hex)


def pseudonym(study: Study, *, platform: str, person: str) -> str:
    """Return the name under which a person is known in a study: 64 hexadecimal digits.

    HMAC-SHA256 under the study key of platform and id. The same person has another name in each study.

    Raises:
        ValueError: ``person`` is empty.
    """
    if not person:
        raise ValueError("person must not be empty")
    return _signed(study_key(study), "person", f"{platform}|{person}").hex()


def new_code() -> str:
    """Return a random public name of a participant or an invitation: 16 hexadecimal digits."""
    return secrets.token_hex(CODE_LENGTH // 2)


def link_token(study: Study, code: str, *, purpose: str) -> str:
    """Return what a link holds: the code and its signature, so that nobody can make one up.

    Args:
        study: whose key signs.
        code: of the participant or the invitation.
        purpose: "participant" or "invitation"; a token of one is not one of the other.
    """
    return f"{code}{_signed(study_key(study), purpose, code).hex()[:SIGNATURE_LENGTH]}"


def code_of(token: str) -> str:
    """Return the code in a token; whether it is genuine, only ``check_token`` says.

    Raises:
        BadLinkError: it has not the shape of one.
    """
    if len(token) != CODE_LENGTH + SIGNATURE_LENGTH or not token.isalnum() or not token.isascii():
        raise BadLinkError(
            "This link is not complete.", hint="Open it again from where you got it, as a whole."
        )
    return token[:CODE_LENGTH]


def check_token(study: Study, token: str, *, purpose: str) -> None:
    """Check that a token was made here for this study and purpose.

    Raises:
        BadLinkError: it was not.
    """
    expected = link_token(study, code_of(token), purpose=purpose)
    if not hmac.compare_digest(expected, token):
        raise BadLinkError("This link is not one of ours.", hint="Open it again from where you got it.")


def _signed(key: bytes, purpose: str, text: str) -> bytes:
    return hmac.new(key, f"{purpose}|{text}".encode(), sha256).digest()
