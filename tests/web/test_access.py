"""The permission table, tried on every URL name of the site with every role."""

import pytest
from django.http import Http404
from django.test import Client, override_settings
from django.urls import path

from tests.factories import make_user
from tests.web.addresses import every_address, page_addresses
from vlmlab.web.permissions import may_open, permission_table, public_pages
from vlmlab.web.roles import Role

ADDRESSES = page_addresses()  # those of the API: tests/web/test_api_access.py
BY_NAME = {address.name: address for address in every_address()}


def test_every_url_has_a_name_of_its_own():
    names = [address.name for address in every_address()]

    assert "" not in names
    assert sorted(names) == sorted(set(names))


def test_every_url_name_stands_in_the_permission_table_or_is_public():
    assert sorted(set(BY_NAME) - set(permission_table()) - public_pages()) == []


def test_the_permission_table_names_only_pages_that_exist():
    assert sorted(set(permission_table()) - set(BY_NAME)) == []


def test_admins_may_open_everything_that_anybody_may():
    assert [name for name, roles in permission_table().items() if Role.ADMIN not in roles] == []


@pytest.mark.parametrize("name", sorted(BY_NAME))
def test_views_skip_sign_in_exactly_when_they_are_public(name):
    assert getattr(BY_NAME[name].view, "login_required", True) is (name not in public_pages())


@pytest.mark.django_db
@pytest.mark.parametrize("role", list(Role))
def test_each_role_opens_exactly_the_pages_of_its_table(role):
    client = Client(raise_request_exception=False)

    client.force_login(make_user(role))

    refused = {address.name: client.get(address.path).status_code == 403 for address in ADDRESSES}

    assert refused == {address.name: not may_open(role, address.name) for address in ADDRESSES}


@pytest.mark.django_db
def test_a_stranger_is_sent_to_sign_in_from_every_page_that_is_not_public(client):
    answers = {
        address.name: client.get(address.path) for address in ADDRESSES if address.name not in public_pages()
    }

    assert {name: answer.status_code for name, answer in answers.items()} == dict.fromkeys(answers, 302)
    assert {answer.url.partition("?")[0] for answer in answers.values()} == {"/login/"}


@pytest.mark.django_db
def test_no_view_takes_a_form_without_the_csrf_token():
    client = Client(enforce_csrf_checks=True, raise_request_exception=False)
    client.force_login(make_user(Role.ADMIN))

    answers = {address.name: client.post(address.path).status_code for address in ADDRESSES}

    assert answers == dict.fromkeys(answers, 403)


def unlisted(request):
    raise Http404


urlpatterns = [path("unlisted/", unlisted, name="unlisted"), path("nameless/", unlisted)]
handler403 = "vlmlab.web.errors.permission_denied"


@pytest.mark.django_db
@pytest.mark.parametrize("where", ["/unlisted/", "/nameless/"])
def test_a_page_that_no_table_names_is_closed_even_to_admins(where, client, monkeypatch):
    client.force_login(make_user(Role.ADMIN))
    monkeypatch.setattr("vlmlab.web.errors.render", lambda request, template, **kw: _plain(**kw))

    with override_settings(ROOT_URLCONF=__name__):
        answer = client.get(where)

    assert answer.status_code == 403


def _plain(status):
    from django.http import HttpResponse

    return HttpResponse(status=status)
