"""Secrets never reach the log."""

import logging
import sys

import pytest
from django.test import Client

from vlmlab.web.log_format import RedactingFormatter

SECRETS = ("s3cr3t-key", "hunter2", "ditpgh-5df3288de249")


def line_of(message, *args, exc_info=None):
    formatter = RedactingFormatter("{levelname} {message}", style="{", secrets=["s3cr3t-key", ""])
    return formatter.format(logging.LogRecord("x", logging.INFO, "", 1, message, args, exc_info))


@pytest.mark.parametrize(
    ("message", "line"),
    [
        ("key s3cr3t-key here", "INFO key [hidden] here"),
        ("Gone: /sign-in/MQ/ditpgh-5df3288de249/", "INFO Gone: /sign-in/MQ/[hidden]/"),
        ("no redis://lab:hunter2@host/0 today", "INFO no redis://lab:[hidden]@host/0 today"),
        ("no redis://:hunter2@host/0 today", "INFO no redis://:[hidden]@host/0 today"),
        (f"Bearer vlm_{'a-B_9' * 8}aaa!", "INFO Bearer vlm_[hidden]!"),
        ("at http://host:8000/runs/?a=b@c", "INFO at http://host:8000/runs/?a=b@c"),
        ("12:03:04 done", "INFO 12:03:04 done"),
    ],
)
def test_tokens_passwords_and_keys_are_hidden_and_nothing_else(message, line):
    assert line_of(message) == line


def test_arguments_and_tracebacks_are_searched_too():
    try:
        raise ConnectionError("cannot reach redis://:hunter2@host/0 with s3cr3t-key")
    except ConnectionError:
        line = line_of("failed for %s", "/sign-in/MQ/ditpgh-5df3288de249/", exc_info=sys.exc_info())

    assert "ConnectionError: cannot reach" in line
    assert [secret for secret in SECRETS if secret in line] == []


@pytest.mark.parametrize("name", ["httpx2", "httpx2._client", "httpcore2", "httpcore2.http11"])
def test_libraries_that_log_every_address_and_header_stay_silent_at_any_level_of_the_lab(name):
    root = logging.getLogger()
    before = root.level
    root.setLevel(logging.DEBUG)
    try:
        levels = [logging.getLogger(name).isEnabledFor(level) for level in (logging.INFO, logging.WARNING)]
    finally:
        root.setLevel(before)

    assert levels == [False, True]


@pytest.mark.django_db
def test_an_answered_error_leaves_no_line_but_a_forged_request_and_a_bug_do(client, caplog):
    assert client.get("/nowhere/").status_code == 404
    answered = [record.name for record in caplog.records]
    assert Client(enforce_csrf_checks=True).post("/login/", {}).status_code == 403

    assert answered == []
    assert "django.security.csrf" in [record.name for record in caplog.records]
    assert logging.getLogger("django.request").isEnabledFor(logging.ERROR)
