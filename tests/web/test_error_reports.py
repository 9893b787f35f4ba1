"""The page of the debug mode shows no secret, wherever it comes from."""

import sys

import pytest
from django.test import Client, RequestFactory
from django.views.debug import get_exception_reporter_class, technical_500_response

from searches.services import registering
from tests.factories import make_user
from vlmlab.web.roles import Role
from vlmlab.web.secrets_seen import MOST_REMEMBERED, note_secret, secrets_seen

TAIL = "0123456789abc"
SECRET = f"sk-debug<&>{TAIL}"


def test_a_report_leaves_out_a_secret_in_messages_variables_and_settings(settings):
    settings.DEBUG = True
    note_secret(SECRET)
    try:
        headers = {"Authorization": f"Bearer {SECRET}"}
        raise ValueError(f"refused {headers}")
    except ValueError:
        page = technical_500_response(RequestFactory().get("/"), *sys.exc_info()).content.decode()
        text = get_exception_reporter_class(None)(None, *sys.exc_info()).get_traceback_text()

    assert ("ValueError" in page, TAIL in page) == (True, False)
    assert ("refused" in text, TAIL in text) == (True, False)


@pytest.mark.django_db
def test_a_bug_while_a_key_is_stored_shows_it_not_even_in_the_debug_mode(settings, monkeypatch):
    settings.DEBUG = True
    browser = Client(raise_request_exception=False)
    browser.force_login(make_user(Role.RESEARCHER))

    def broken(*_args, **_values):
        raise RuntimeError("broken on our side")

    monkeypatch.setattr(registering, "register_sut", broken)
    values = {
        "name": "x",
        "model": "m",
        "secret": SECRET,
        "api_key": "new",
        "base_url": "https://a.example/v1",
    }
    answer = browser.post("/suts/new/?kind=openai_chat", values)

    page = answer.content.decode()
    assert (answer.status_code, "broken on our side" in page) == (500, True)
    assert TAIL not in page


def test_only_the_newest_secrets_are_remembered():
    for number in range(MOST_REMEMBERED + 5):
        note_secret(f"secret-number-{number:06d}")

    assert len(secrets_seen()) == MOST_REMEMBERED
    assert f"secret-number-{MOST_REMEMBERED + 4:06d}" in secrets_seen()
