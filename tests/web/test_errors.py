"""Error pages: sentences for people, reference numbers for bugs."""

import json
import logging

import pytest
from django.contrib.sessions.backends.base import UpdateError
from django.contrib.sessions.exceptions import SessionInterrupted
from django.contrib.sessions.middleware import SessionMiddleware
from django.db import DatabaseError, InterfaceError, OperationalError
from django.http import HttpResponse
from django.test import Client, RequestFactory

from tests.factories import make_sut, make_user
from vlmlab.core.errors import VlmLabError
from vlmlab.web.errors import VlmLabErrorMiddleware, bad_request
from vlmlab.web.roles import Role
from vlmlab.web.sessions import PatientSessionMiddleware

PROBLEM = VlmLabError("The endpoint refused the key.", hint="Renew it on the system's page.")


@pytest.fixture
def admin_client():
    client = Client(raise_request_exception=False)
    client.force_login(make_user(Role.ADMIN))
    return client


def raising(error):
    def entries_matching(word):
        raise error

    return entries_matching


@pytest.mark.django_db
def test_a_person_reads_message_and_hint_of_an_error_they_can_act_on(admin_client, monkeypatch):
    monkeypatch.setattr("searches.views.audit.entries_matching", raising(PROBLEM))

    answer = admin_client.get("/audit/")

    assert answer.status_code == 400
    assert "The endpoint refused the key." in answer.content.decode()
    assert "Renew it on the system&#x27;s page." in answer.content.decode()


@pytest.mark.django_db
def test_htmx_gets_the_error_as_a_fragment_and_an_event(admin_client, monkeypatch):
    monkeypatch.setattr("searches.views.audit.entries_matching", raising(PROBLEM))

    answer = admin_client.get("/audit/", headers={"HX-Request": "true"})

    assert answer.status_code == 400
    assert "<html" not in answer.content.decode()
    assert json.loads(answer["HX-Trigger"]) == {"problem": {"message": PROBLEM.message, "hint": PROBLEM.hint}}


@pytest.mark.django_db
def test_a_bug_shows_a_reference_that_stands_in_the_log_with_its_traceback(admin_client, monkeypatch, caplog):
    monkeypatch.setattr("searches.views.audit.entries_matching", raising(RuntimeError("a secret inside")))

    with caplog.at_level(logging.ERROR, logger="vlmlab.errors"):
        answer = admin_client.get("/audit/")

    record = next(entry for entry in caplog.records if entry.name == "vlmlab.errors")
    assert answer.status_code == 500
    assert record.args[0] in answer.content.decode()
    assert "a secret inside" not in answer.content.decode()
    assert record.exc_info[0] is RuntimeError


@pytest.mark.django_db
def test_a_dead_database_still_gets_a_page_with_a_reference(admin_client, monkeypatch):
    def fail(*args, **kwargs):
        raise DatabaseError("gone")

    monkeypatch.setattr("django.contrib.sessions.backends.db.SessionStore.load", fail)

    answer = admin_client.get("/audit/")

    assert answer.status_code == 500
    assert "Reference" in answer.content.decode() or "reference" in answer.content.decode()


@pytest.mark.django_db
@pytest.mark.parametrize(
    "error", [OperationalError("database is locked"), InterfaceError("connection closed")]
)
@pytest.mark.parametrize("is_part", [False, True])
def test_a_locked_database_is_told_and_asks_to_try_again(admin_client, monkeypatch, error, is_part):
    monkeypatch.setattr("searches.views.audit.entries_matching", raising(error))

    answer = admin_client.get("/audit/", headers={"HX-Request": "true"} if is_part else {})

    assert (answer.status_code, answer["Retry-After"]) == (503, "10")
    assert "The database does not answer" in answer.content.decode()
    assert ("<html" in answer.content.decode()) is not is_part


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("words", "advice"),
    [
        ("database or disk is full", "The disk is full. Make room"),
        ("could not extend file: No space left on device", "The disk is full. Make room"),
        ("attempt to write a readonly database", "The data folder cannot be written."),
        ("unable to open database file", "The data folder cannot be written."),
        ("database is locked", "Try again in a few seconds."),
    ],
)
def test_an_outage_says_what_to_do(admin_client, monkeypatch, words, advice):
    monkeypatch.setattr("searches.views.audit.entries_matching", raising(OperationalError(words)))

    assert advice in admin_client.get("/audit/").content.decode()


@pytest.mark.django_db
def test_pages_stay_readable_while_the_disk_is_full(admin_client, monkeypatch):
    refused = []

    def refuse(self, *args, **kwargs):
        refused.append(self)
        raise OperationalError("database or disk is full")

    admin_client.post(
        f"/suts/{make_sut().slug}/toggle/"
    )  # the message it leaves must be taken from the session
    monkeypatch.setattr("django.contrib.sessions.models.Session.save", refuse)
    answer = admin_client.get("/runs/")

    assert (answer.status_code, len(refused)) == (200, 1)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("method", "cause"), [("post", OperationalError("disk is full")), ("get", DatabaseError("no row"))]
)
def test_a_change_is_not_called_done_and_a_lost_session_is_no_outage(rf, monkeypatch, method, cause):
    def interrupt(self, request, response):
        raise interrupted(UpdateError(), cause)

    monkeypatch.setattr(SessionMiddleware, "process_response", interrupt)

    with pytest.raises(SessionInterrupted):
        PatientSessionMiddleware(HttpResponse).process_response(getattr(rf, method)("/runs/"), HttpResponse())


def interrupted(*causes):
    error = SessionInterrupted("The session was deleted before the request completed.")
    follower = error
    for cause in causes:
        follower.__context__ = cause
        follower = cause
    return error


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("error", "status"),
    [
        (interrupted(UpdateError(), OperationalError("database is locked")), 503),
        (interrupted(UpdateError(), DatabaseError("no row was changed")), 400),
        (None, 400),
    ],
)
def test_a_session_that_a_locked_database_did_not_save_is_no_bad_request(rf, error, status):
    request = rf.get("/runs/")
    request.user = make_user(Role.ADMIN)
    request.htmx = False
    request.session = {}

    assert bad_request(request, error).status_code == status


def test_other_exceptions_are_left_to_rise():
    middleware = VlmLabErrorMiddleware(lambda request: None)

    assert middleware.process_exception(RequestFactory().get("/"), ValueError("a bug")) is None


@pytest.mark.django_db
def test_a_stranger_sees_the_not_found_page(client):
    answer = client.get("/no-such-page/")

    assert answer.status_code == 404
    assert "overview" in answer.content.decode()


@pytest.mark.django_db
def test_health_is_open_and_says_ok(client):
    answer = client.get("/healthz")

    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})


@pytest.mark.django_db
def test_health_answers_503_when_the_database_does_not(client, monkeypatch):
    def fail(*args, **kwargs):
        raise DatabaseError("gone")

    monkeypatch.setattr("vlmlab.web.health.connection.cursor", fail)

    assert client.get("/healthz").status_code == 503
