"""People of the lab: invitation, one-time sign-in links, roles; one admin always remains."""

from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.tokens import PasswordResetTokenGenerator
from django.db import transaction
from django.urls import reverse
from django.utils import timezone
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_decode, urlsafe_base64_encode

from searches.models import User
from searches.services.audit import record
from vlmlab.core.errors import VlmLabError
from vlmlab.web.roles import Role

FIRST_ADMIN_NAME = "admin"


class LinkError(VlmLabError):
    """A sign-in link was used before, has expired, or was never valid."""

    def __init__(self) -> None:
        super().__init__(
            "This sign-in link was used already or has expired.",
            hint="Ask an admin for a new one, or run “python manage.py sign_in_link” where the lab runs.",
        )


class SignInTokens(PasswordResetTokenGenerator):
    """Tokens that die with the next sign-in, with a change of password, and after the configured time."""

    key_salt = "vlmlab.sign_in_link"

    def _make_hash_value(self, user: AbstractBaseUser, timestamp: int) -> str:
        last = user.last_login.isoformat() if user.last_login else "never"
        return f"{user.pk}|{user.password}|{last}|{timestamp}"

    def is_fresh(self, token: str) -> bool:
        """Whether a token of the right shape is young enough."""
        try:
            issued = int(token.split("-")[0], 36)
        except ValueError:
            return False
        age = int(self._num_seconds(self._now())) - issued
        return 0 <= age <= int(settings.SIGN_IN_LINK_SECONDS)


TOKENS = SignInTokens()


@dataclass(frozen=True)
class PersonValues:
    """What an admin may set on a person."""

    first_name: str
    last_name: str
    email: str
    role: Role
    is_active: bool = True


def sign_in_path(person: User) -> str:
    """Return the path of a link that signs ``person`` in once."""
    uid = urlsafe_base64_encode(force_bytes(person.pk))
    return reverse("sign_in", args=[uid, TOKENS.make_token(person)])


def person_of_link(uid: str, token: str) -> User:
    """Return whom a sign-in link is for; the link stays unused.

    Raises:
        LinkError: the link was used, has expired or is not ours, or the person is deactivated.
    """
    try:
        person = User.objects.get(pk=int(urlsafe_base64_decode(uid)), is_active=True)
    except (ValueError, OverflowError, User.DoesNotExist):
        raise LinkError from None
    if not TOKENS.check_token(person, token) or not TOKENS.is_fresh(token):
        raise LinkError
    return person


def use_sign_in_link(uid: str, token: str) -> User:
    """Spend a sign-in link and return the person to sign in; of two that race, one wins.

    Raises:
        LinkError: the link cannot be used (again).
    """
    person = person_of_link(uid, token)
    with transaction.atomic():
        now = timezone.now()
        won = User.objects.filter(pk=person.pk, is_active=True, last_login=person.last_login).update(
            last_login=now
        )
        if won != 1:
            raise LinkError
        record(person, "signed in by link", person)
    person.last_login = now
    return person


@transaction.atomic
def invite_person(username: str, values: PersonValues, *, by: User | None) -> User:
    """Add a person without a password; a sign-in link is their first way in.

    Raises:
        VlmLabError: the name is taken.
    """
    if User.objects.filter(username__iexact=username).exists():
        raise VlmLabError(
            f"There is already a person called “{username}”.", hint="Choose another name.", field="username"
        )
    person = User(username=username, **_columns(values))
    person.set_unusable_password()
    person.save()
    record(by, "invited", person, after=_columns(values))
    return person


@transaction.atomic
def change_person(person: User, values: PersonValues, *, by: User) -> User:
    """Store new values of ``person``.

    Raises:
        VlmLabError: the lab would be left without an active admin.
    """
    admins = set(
        User.objects.select_for_update().filter(role=Role.ADMIN, is_active=True).values_list("pk", flat=True)
    )
    current = User.objects.select_for_update().get(pk=person.pk)
    stays_admin = values.role == Role.ADMIN and values.is_active
    if admins == {current.pk} and not stays_admin:
        raise VlmLabError(
            f"“{current.username}” is the last active admin.",
            hint="Make another person admin first.",
            field="role" if values.role != Role.ADMIN else "is_active",
        )
    before = {name: getattr(current, name) for name in _columns(values)}
    after = _columns(values)
    changed = {name for name in after if before[name] != after[name]}
    if changed:
        for name in changed:
            setattr(current, name, after[name])
        current.save(update_fields=sorted(changed))
        record(
            by,
            "changed",
            current,
            before={name: before[name] for name in sorted(changed)},
            after={name: after[name] for name in sorted(changed)},
        )
    return current


def renew_link(person: User, *, by: User | None) -> str:
    """Return the path of a new sign-in link for ``person`` and note who asked for it."""
    if not person.is_active:
        raise VlmLabError(f"“{person.username}” is deactivated.", hint="Activate the account first.")
    with transaction.atomic():
        record(by, "made a sign-in link for", person)
    return sign_in_path(person)


def first_admin() -> User:
    """Return an active admin; the first start of a lab makes one."""
    existing = User.objects.filter(role=Role.ADMIN, is_active=True).order_by("pk").first()
    if existing is not None:
        return existing
    name = FIRST_ADMIN_NAME
    while User.objects.filter(username__iexact=name).exists():
        name += "1"
    values = PersonValues(first_name="", last_name="", email="", role=Role.ADMIN)
    return invite_person(name, values, by=None)


def set_password(person: User, password: str) -> None:
    """Store a new password of a person's own."""
    with transaction.atomic():
        person.set_password(password)
        person.save(update_fields=["password"])
        record(person, "set own password", person)


def _columns(values: PersonValues) -> dict[str, Any]:
    return {
        "first_name": values.first_name,
        "last_name": values.last_name,
        "email": values.email,
        "role": str(values.role),
        "is_active": values.is_active,
    }
