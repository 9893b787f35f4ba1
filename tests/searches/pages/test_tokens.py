"""Pages of a person's own API tokens: made once, shown once, revoked by nobody else."""

import hashlib
import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from searches.api.permissions import PERMISSIONS
from searches.models import ApiToken, AuditEntry
from searches.services import tokens
from tests.factories import make_user
from vlmlab.core.errors import VlmLabError
from vlmlab.web.roles import Role

pytestmark = pytest.mark.django_db
OPERATIONS = [name.partition(":")[2] for name in PERMISSIONS if ":" in name]
TOKEN = re.compile(r"vlm_[A-Za-z0-9_-]{43}")


@pytest.fixture
def person():
    return make_user(Role.RESEARCHER, username="ada")


@pytest.fixture
def browser(person):
    client = Client()
    client.force_login(person)
    return client


def made(browser, **values):
    answer = browser.post("/account/tokens/new/", {"name": "Nightly check", "days": "90"} | values)
    return TOKEN.search(answer.content.decode()).group()


def test_an_empty_list_says_what_a_token_is_for(browser):
    assert "You have no tokens" in browser.get("/account/tokens/").content.decode()


def test_a_new_token_is_shown_once_and_stored_as_a_digest(browser, person):
    text = made(browser)

    token = ApiToken.objects.get()
    assert (token.user, token.name, token.prefix) == (person, "Nightly check", text[:10])
    assert token.digest == hashlib.sha256(text.encode()).hexdigest()
    assert text not in str(list(ApiToken.objects.values())) + str(list(AuditEntry.objects.values()))
    assert list(AuditEntry.objects.values_list("verb", flat=True)) == ["made"]
    assert text not in browser.get("/account/tokens/").content.decode()


def test_the_page_with_the_token_is_kept_by_no_cache(browser):
    answer = browser.post("/account/tokens/new/", {"name": "x", "days": "30"})

    assert "no-store" in answer["Cache-Control"]


def test_two_tokens_are_never_the_same(browser):
    assert made(browser) != made(browser)


def test_the_characters_that_the_list_shows_open_nothing(browser, person):
    text = made(browser)
    swapped = "A" if text[20] != "A" else "B"

    assert tokens.person_of_token(text) == person
    for other in (
        text[:10],
        text[:10] + "A" * 37,
        text[:-1],
        text[:20] + swapped + text[21:],
        ApiToken.objects.get().digest,
    ):
        assert tokens.person_of_token(other) is None


def test_a_token_expires_when_its_owner_wished(browser):
    made(browser, days="30")
    made(browser, days="forever")

    forever, month = ApiToken.objects.order_by("-pk")
    assert forever.expires_at is None
    assert timedelta(days=29) < month.expires_at - timezone.now() <= timedelta(days=30)


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": "x" * 81}, "name"),
        ({"days": "9999"}, "days"),
        ({"days": ""}, "days"),
    ],
)
def test_a_wrong_wish_stands_at_its_field(browser, values, field):
    answer = browser.post("/account/tokens/new/", {"name": "x", "days": "30"} | values)

    assert (answer.status_code, list(answer.context["form"].errors)) == (422, [field])
    assert ApiToken.objects.count() == 0


def test_a_person_cannot_pile_up_tokens(browser, person, monkeypatch):
    monkeypatch.setattr(tokens, "MOST_TOKENS", 1)
    made(browser)

    answer = browser.post("/account/tokens/new/", {"name": "x", "days": "30"})

    assert "Revoke one that is not used any more." in answer.content.decode()


def test_revoking_ends_a_token_and_takes_it_off_the_list(browser):
    text = made(browser)

    answer = browser.post(f"/account/tokens/{ApiToken.objects.get().pk}/revoke/", follow=True)

    assert "Nightly check is revoked" in answer.content.decode()
    assert "You have no tokens" in answer.content.decode()
    assert tokens.person_of_token(text) is None
    assert AuditEntry.objects.filter(verb="revoked").count() == 1


def test_nobody_sees_or_revokes_the_token_of_another(browser):
    other = tokens.create_token(by=make_user(), name="Not yours", days=None)

    status = browser.post(f"/account/tokens/{other.row.pk}/revoke/").status_code

    assert status == 404
    assert "Not yours" not in browser.get("/account/tokens/").content.decode()
    assert tokens.person_of_token(other.text) is not None


@pytest.mark.parametrize("count", [1, 3])
def test_the_list_asks_the_database_the_same_whatever_its_length(
    browser, person, count, django_assert_num_queries
):
    for _ in range(count):
        tokens.create_token(by=person, name="x", days=30)
    browser.get("/account/tokens/")

    with django_assert_num_queries(LIST_QUERIES):
        browser.get("/account/tokens/")


def test_use_is_noted_at_most_once_a_minute(person, django_assert_num_queries):
    text = tokens.create_token(by=person, name="x", days=None).text

    with django_assert_num_queries(2):
        tokens.person_of_token(text)
    with django_assert_num_queries(1):
        tokens.person_of_token(text)
    ApiToken.objects.update(last_used_at=timezone.now() - timedelta(seconds=61))
    with django_assert_num_queries(2):
        tokens.person_of_token(text)


def test_a_text_that_is_no_token_asks_the_database_nothing(django_assert_num_queries):
    with django_assert_num_queries(0):
        assert tokens.person_of_token("vlm_short") is None


def test_an_admin_sees_how_many_tokens_a_person_has_and_none_of_them(person):
    admin = Client()
    admin.force_login(make_user(Role.ADMIN))
    tokens.create_token(by=person, name="Secret purpose", days=None)
    tokens.revoke_token(tokens.create_token(by=person, name="Old", days=None).row, by=person)

    text = admin.get(f"/people/{person.pk}/").content.decode()

    assert "has 1 API token," in text
    assert "Secret purpose" not in text


def test_revoking_twice_is_noted_once(person):
    token = tokens.create_token(by=person, name="x", days=None).row

    tokens.revoke_token(token, by=person)
    tokens.revoke_token(token, by=person)

    assert AuditEntry.objects.filter(verb="revoked").count() == 1


def test_the_limit_counts_usable_tokens_only(person, monkeypatch):
    monkeypatch.setattr(tokens, "MOST_TOKENS", 1)
    tokens.revoke_token(tokens.create_token(by=person, name="x", days=None).row, by=person)

    tokens.create_token(by=person, name="y", days=None)

    with pytest.raises(VlmLabError, match="1 tokens already"):
        tokens.create_token(by=person, name="z", days=None)


def test_the_reference_lists_every_operation_for_who_may_call_it(browser):
    text = browser.get("/api/").content.decode()

    assert text.count("<details") == len(OPERATIONS)
    assert {one for one in OPERATIONS if f'id="{one}"' not in text} == set()
    assert '<script src="http' not in text


LIST_QUERIES = 5
