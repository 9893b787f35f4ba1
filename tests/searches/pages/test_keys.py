"""Pages of provider keys: who may do what, and that a secret never comes back."""

from datetime import timedelta

import pytest
from django.utils import timezone

from searches.models import ApiKey, AuditEntry
from searches.services.keys import create_key
from tests.factories import make_sut, make_user
from vlmlab.web.roles import Role

from .people import browser_of, statuses

pytestmark = pytest.mark.django_db
SECRET = "gemini-0123456789-abcdWXYZ"
FOR_RESEARCHERS = {"": 302, "admin": 200, "researcher": 200, "reviewer": 403, "annotator": 403}


def make_key(name: str = "Team", *, by=None, kind: str = "gemini") -> ApiKey:
    return create_key(name=name, kind=kind, secret=SECRET, by=by)


@pytest.mark.parametrize("path", ["/keys/", "/keys/new/"])
def test_keys_are_for_researchers(path):
    assert statuses(path) == FOR_RESEARCHERS


def test_a_key_may_be_replaced_and_deleted_by_who_stored_it_and_by_admins():
    owner = make_user(Role.RESEARCHER)
    key = make_key(by=owner)

    replacing = statuses(f"/keys/{key.pk}/replace/")
    browser = browser_of(Role.RESEARCHER)
    browser.force_login(owner)

    assert replacing == {"": 302, "admin": 200, "researcher": 403, "reviewer": 403, "annotator": 403}
    assert browser_of(Role.RESEARCHER).post(f"/keys/{key.pk}/delete/").status_code == 403
    assert browser.get(f"/keys/{key.pk}/replace/").status_code == 200
    assert (browser.post(f"/keys/{key.pk}/delete/").status_code, ApiKey.objects.count()) == (302, 0)


def test_the_list_says_what_to_do_when_it_is_empty():
    page = browser_of(Role.RESEARCHER).get("/keys/").content.decode()

    assert "No key yet" in page


@pytest.mark.parametrize("rows", [1, 3])
def test_the_list_asks_the_database_as_often_for_three_rows_as_for_one(rows, django_assert_num_queries):
    for number in range(rows):
        make_sut(api_key=make_key(f"Key {number}", by=make_user()), kind="gemini")
    browser = browser_of(Role.RESEARCHER)

    with django_assert_num_queries(5):
        page = browser.get("/keys/").content.decode()

    assert (page.count("…WXYZ"), SECRET in page) == (rows, False)


def test_the_list_says_when_a_system_last_used_a_key():
    used = timezone.now()
    key = make_key()
    make_sut(api_key=key, kind="gemini", last_used_at=used)
    make_sut(api_key=key, kind="gemini", last_used_at=used - timedelta(days=1))

    line = browser_of(Role.ADMIN).get("/keys/").context["lines"][0]

    assert (line.last_used_at, line.n_suts) == (used, 2)


def test_adding_a_key_stores_it_sealed_and_writes_who_did_it():
    answer = browser_of(Role.RESEARCHER).post(
        "/keys/new/", {"name": "Team", "kind": "gemini", "secret": f"  {SECRET} "}
    )

    key = ApiKey.objects.get()
    assert (answer.status_code, key.secret.reveal(), key.last_characters) == (302, SECRET, "WXYZ")
    assert SECRET not in key.secret.token
    assert list(AuditEntry.objects.values_list("verb", "after")) == [
        ("stored", {"name": "Team", "kind": "gemini", "origin": "https://generativelanguage.googleapis.com"})
    ]


@pytest.mark.parametrize(
    ("values", "fields"),
    [
        ({"name": ""}, ["name", "secret"]),
        ({"name": "Taken"}, ["name", "secret"]),
        ({"kind": "transformers_local"}, ["kind", "secret"]),
        ({"secret": ""}, ["secret"]),
        ({"secret": "clé"}, ["secret"]),
        ({"secret": "x" * 4001}, ["secret"]),
    ],
)
def test_a_wrong_value_is_told_at_its_field_and_the_secret_is_not_shown_again(values, fields):
    make_key("Taken")

    page = browser_of(Role.RESEARCHER).post(
        "/keys/new/", {"name": "Team", "kind": "gemini", "secret": "new-secret-0123456789"} | values
    )

    assert (page.status_code, sorted(page.context["form"].errors)) == (422, fields)
    assert "new-secret-0123456789" not in page.content.decode()
    assert ApiKey.objects.count() == 1


def test_replacing_keeps_the_name_and_says_which_systems_take_the_new_secret():
    key = make_key()
    make_sut("one", api_key=key, kind="gemini")
    browser = browser_of(Role.ADMIN)

    page = browser.get(f"/keys/{key.pk}/replace/").content.decode()
    answer = browser.post(f"/keys/{key.pk}/replace/", {"secret": "another-0123456789-ABCD"})

    key.refresh_from_db()
    assert ('href="/suts/one/"' in page, answer.status_code) == (True, 302)
    assert (key.name, key.secret.reveal(), key.last_characters) == ("Team", "another-0123456789-ABCD", "ABCD")
    assert key.replaced_at is not None


def test_a_key_that_a_system_uses_is_not_deleted():
    key = make_key()
    make_sut("one", api_key=key, kind="gemini")
    browser = browser_of(Role.ADMIN)

    browser.post(f"/keys/{key.pk}/delete/")
    page = browser.get("/keys/").content.decode()

    assert "1 system uses the key Team" in page
    assert ApiKey.objects.count() == 1


def test_deleting_needs_a_post():
    key = make_key()

    assert browser_of(Role.ADMIN).get(f"/keys/{key.pk}/delete/").status_code == 405
