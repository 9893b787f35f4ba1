"""Tokens with which programs use the lab: made once, stored as a digest, revoked by their owner."""

import hashlib
import re
import secrets
from dataclasses import dataclass
from datetime import timedelta

from django.db import transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Now
from django.utils import timezone

from searches.models import ApiToken, User
from searches.models.keys import usable_tokens
from searches.services.audit import record
from vlmlab.core.errors import VlmLabError

HEAD = "vlm_"
RANDOM_BYTES = 32
SHOWN_CHARACTERS = 10  # with the head; the rest is far too long to guess
MOST_TOKENS = 50
NOTED_EVERY = timedelta(minutes=1)
_SHAPE = re.compile(r"vlm_[A-Za-z0-9_-]{43}")


@dataclass(frozen=True)
class NewToken:
    """A token just made.

    Attributes:
        text: what the program sends; it is stored nowhere and can never be shown again.
    """

    row: ApiToken
    text: str


def tokens_of(person: User) -> QuerySet[ApiToken]:
    """Return a person's tokens that were not revoked, newest first."""
    return ApiToken.objects.filter(user=person, revoked_at__isnull=True).order_by("-pk")


def n_usable(person: User) -> int:
    """Return how many tokens open the API for a person."""
    return usable_tokens().filter(user=person).count()


@transaction.atomic
def create_token(*, by: User, name: str, days: int | None) -> NewToken:
    """Make a token for a person.

    Args:
        by: its owner; the token may do what their role may do.
        name: what it is for.
        days: how long it is valid; None for ever.

    Raises:
        VlmLabError: the person has too many already.
    """
    User.objects.select_for_update().get(pk=by.pk)
    if n_usable(by) >= MOST_TOKENS:
        raise VlmLabError(
            f"You have {MOST_TOKENS} tokens already.",
            hint="Revoke one that is not used any more.",
            field="name",
        )
    text = HEAD + secrets.token_urlsafe(RANDOM_BYTES)
    token = ApiToken.objects.create(
        user=by,
        name=name,
        prefix=text[:SHOWN_CHARACTERS],
        digest=digest_of(text),
        expires_at=timezone.now() + timedelta(days=days) if days else None,
    )
    record(by, "made", token, after={"name": name, "days": days})
    return NewToken(token, text)


@transaction.atomic
def revoke_token(token: ApiToken, *, by: User) -> None:
    """End a token; the next request with it is refused."""
    if ApiToken.objects.filter(pk=token.pk, revoked_at__isnull=True).update(revoked_at=Now()):
        record(by, "revoked", token, before={"name": token.name})


def person_of_token(text: str) -> User | None:
    """Return the active owner of a usable token, or None; notes the use at most once a minute.

    The row is found by the digest, so how long a wrong token takes says nothing about any right one.
    """
    if not _SHAPE.fullmatch(text):
        return None
    token = usable_tokens().filter(digest=digest_of(text)).select_related("user").first()
    if token is None or not token.user.is_active:
        return None
    now = timezone.now()
    if token.last_used_at is None or token.last_used_at < now - NOTED_EVERY:
        not_noted = Q(last_used_at__isnull=True) | Q(last_used_at__lt=now - NOTED_EVERY)
        ApiToken.objects.filter(not_noted, pk=token.pk).update(last_used_at=now)
    return token.user


def digest_of(text: str) -> str:
    """Return what is stored of a token; it is random, so a plain hash cannot be turned round."""
    return hashlib.sha256(text.encode()).hexdigest()
