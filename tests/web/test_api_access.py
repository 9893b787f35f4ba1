"""The door of the API: every operation with every role, and tokens that must not open it."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from searches.api.reference import schema
from searches.models import ApiToken
from searches.services.tokens import create_token
from tests.factories import make_user
from tests.web.addresses import API, api_addresses
from vlmlab.web.permissions import may_open
from vlmlab.web.roles import Role

pytestmark = pytest.mark.django_db
ADDRESSES = {address.name: address.path for address in api_addresses()}
METHODS = {
    f"{API}{details['operationId']}": method
    for methods in schema()["paths"].values()
    for method, details in methods.items()
}


def headers_of(person, **values):
    return {"Authorization": f"Bearer {create_token(by=person, name='test', days=30, **values).text}"}


def call(client, name, **values):
    return getattr(client, METHODS[name])(ADDRESSES[name], **values)


def test_every_operation_is_walked():
    assert sorted(METHODS) == sorted(ADDRESSES)


@pytest.mark.parametrize("role", list(Role))
def test_each_role_may_call_exactly_the_operations_of_its_table(role):
    client, headers = Client(raise_request_exception=False), headers_of(make_user(role))

    refused = {name: call(client, name, headers=headers).status_code == 403 for name in ADDRESSES}

    assert refused == {name: not may_open(role, name) for name in ADDRESSES}


def test_a_stranger_gets_401_as_json_from_every_operation(client):
    answers = {name: call(client, name) for name in ADDRESSES}

    assert {answer.status_code for answer in answers.values()} == {401}
    assert {answer["WWW-Authenticate"] for answer in answers.values()} == {'Bearer realm="VLM Lab"'}
    assert {answer.json()["message"] for answer in answers.values()} == {"This needs a token."}


def test_a_session_counts_for_nothing(client):
    client.force_login(make_user(Role.ADMIN))

    assert {call(client, name).status_code for name in ADDRESSES} == {401}


def test_a_token_opens_no_page(client):
    headers = headers_of(make_user(Role.ADMIN))

    assert client.get("/runs/", headers=headers).status_code == 302


def test_a_refused_role_is_told_as_json(client):
    headers = headers_of(make_user(Role.REVIEWER))

    answer = client.post("/api/v1/suts", {}, content_type="application/json", headers=headers)

    assert answer.status_code == 403
    assert answer.json()["message"] == "The owner of this token may not do this."


def test_an_unknown_address_is_told_as_json(client):
    answer = client.get("/api/v1/no/such/thing")

    assert (answer.status_code, answer["Content-Type"]) == (404, "application/json")


@pytest.mark.parametrize(
    "header",
    ["", "Bearer", "Bearer ", "Bearer vlm_", f"Bearer vlm_{'a' * 43}", "Basic dXNlcjpwYXNz", "Bearer \x7f"],
)
def test_what_is_no_token_is_refused(header, client):
    make_user(Role.ADMIN)

    assert client.get("/api/v1/me", headers={"Authorization": header}).status_code == 401


def test_a_revoked_token_is_refused(client):
    headers = headers_of(make_user())
    ApiToken.objects.update(revoked_at=timezone.now())

    assert client.get("/api/v1/me", headers=headers).status_code == 401


def test_an_expired_token_is_refused(client):
    headers = headers_of(make_user())
    ApiToken.objects.update(expires_at=timezone.now() - timedelta(seconds=1))

    assert client.get("/api/v1/me", headers=headers).status_code == 401


def test_the_token_of_a_deactivated_person_is_refused(client):
    person = make_user()
    headers = headers_of(person)
    person.is_active = False
    person.save()

    assert client.get("/api/v1/me", headers=headers).status_code == 401


def test_a_changed_role_counts_from_the_next_request_on(client):
    person = make_user(Role.RESEARCHER)
    headers = headers_of(person)
    person.role = Role.ANNOTATOR
    person.save()

    assert client.get("/api/v1/runs", headers=headers).status_code == 403


def test_a_method_that_is_not_possible_is_told_with_those_that_are(client):
    answer = client.put("/api/v1/me", headers=headers_of(make_user()))

    assert (answer.status_code, answer["Allow"]) == (405, "GET")
    assert answer.json()["message"] == "PUT is not possible here."


def test_a_bug_is_a_reference_number_as_json(client, monkeypatch):
    headers = headers_of(make_user())
    monkeypatch.setattr("searches.api.account.me_of", lambda *_: 1 / 0)
    client.raise_request_exception = False

    answer = client.get("/api/v1/me", headers=headers)

    assert answer.status_code == 500
    assert len(answer.json()["reference"]) == 8
    assert "division" not in answer.content.decode()


def test_a_busy_database_is_a_503_with_a_time_to_wait(client, monkeypatch):
    from django.db import OperationalError

    def locked(*_):
        raise OperationalError("database is locked")

    headers = headers_of(make_user())
    monkeypatch.setattr("searches.api.account.me_of", locked)
    client.raise_request_exception = False

    answer = client.get("/api/v1/me", headers=headers)

    assert (answer.status_code, answer["Retry-After"]) == (503, "10")


def test_the_schema_needs_no_token(client):
    answer = client.get("/api/v1/openapi.json")

    assert answer.status_code == 200
    assert client.get("/api/v1/openapi.json", headers={"If-None-Match": answer["ETag"]}).status_code == 304
