"""Browsers of signed-in people, and what every page owes to strangers."""

from django.test import Client

from tests.factories import make_user
from vlmlab.web.roles import Role


def browser_of(role: Role) -> Client:
    client = Client()
    client.force_login(make_user(role))
    return client


def statuses(path: str, *, method: str = "get") -> dict[str, int]:
    """Return what a stranger and each role get: status code by role ("" = not signed in)."""
    answers = {"": getattr(Client(), method)(path).status_code}
    return answers | {role.value: getattr(browser_of(role), method)(path).status_code for role in Role}
