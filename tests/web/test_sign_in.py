"""Signing in: passwords with throttling, one-time links, one's own password."""

import os
from datetime import datetime, timedelta

import pytest
from django.core.management import call_command
from django.test import Client

from searches.models import AuditEntry, User
from searches.services import people
from tests.factories import PASSWORD, make_user
from vlmlab.serve.guards import take_lock
from vlmlab.web.roles import Role

pytestmark = pytest.mark.django_db


def sign_in(client, username, password):
    return client.post("/login/", {"username": username, "password": password})


def is_signed_in(client):
    return "_auth_user_id" in client.session


def test_name_and_password_sign_in(client):
    person = make_user()

    answer = sign_in(client, person.username, PASSWORD)

    assert (answer.status_code, answer.url) == (302, "/")
    assert is_signed_in(client)


def test_a_wrong_password_is_told_without_saying_which_part_is_wrong(client):
    person = make_user()

    wrong_password = sign_in(client, person.username, "wrong").content.decode()
    wrong_name = sign_in(client, "nobody", "wrong").content.decode()

    assert "Name and password do not match" in wrong_password
    assert "Name and password do not match" in wrong_name
    assert not is_signed_in(client)


def test_six_wrong_passwords_are_answered_with_429_and_the_time_to_wait(client):
    person = make_user()

    answers = [sign_in(client, person.username, f"wrong {i}") for i in range(6)]

    assert answers[-1].status_code == 429
    assert answers[-1]["Retry-After"] == "900"
    assert answers[0].status_code == 200
    assert not is_signed_in(client)


def test_the_right_password_does_not_help_while_locked_out_and_others_are_not_hit(client):
    person, other = make_user(), make_user()
    for i in range(6):
        sign_in(client, person.username, f"wrong {i}")

    assert sign_in(Client(), person.username, PASSWORD).status_code == 429
    assert sign_in(Client(), other.username, PASSWORD).status_code == 302


def test_after_signing_in_only_pages_of_this_site_are_returned_to(client):
    person = make_user()

    answer = client.post(
        "/login/?next=https://evil.example/", {"username": person.username, "password": PASSWORD}
    )

    assert answer.url == "/"


def test_a_link_is_not_used_up_by_looking_at_it(client):
    person = make_user(Role.ADMIN)
    link = people.sign_in_path(person)

    looks = [client.get(link).status_code for _ in range(3)]
    answer = client.post(link)

    assert looks == [200, 200, 200]
    assert (answer.status_code, answer.url) == (302, "/")
    assert is_signed_in(client)


def test_a_link_signs_in_once(client):
    link = people.sign_in_path(make_user())
    client.post(link)
    second = Client()

    answers = [second.get(link), second.post(link)]

    assert [answer.status_code for answer in answers] == [410, 410]
    assert "used already or has expired" in answers[0].content.decode()
    assert not is_signed_in(second)


def test_of_two_who_use_a_link_at_once_one_wins(monkeypatch):
    person = make_user()
    uid, token = people.sign_in_path(person).strip("/").split("/")[1:]
    seen_by_both = people.person_of_link(uid, token)
    monkeypatch.setattr(people, "person_of_link", lambda *_: User.objects.get(pk=seen_by_both.pk))
    stale = User.objects.get(pk=person.pk)

    people.use_sign_in_link(uid, token)
    monkeypatch.setattr(people, "person_of_link", lambda *_: stale)

    with pytest.raises(people.LinkError):
        people.use_sign_in_link(uid, token)


@pytest.mark.parametrize(("hours", "status"), [(71, 200), (73, 410)])
def test_a_link_expires_after_three_days(hours, status, client, monkeypatch):
    link = people.sign_in_path(make_user())
    later = datetime.now() + timedelta(hours=hours)  # noqa: DTZ005 - Django's token clock is naive
    monkeypatch.setattr(people.SignInTokens, "_now", lambda self: later)

    assert client.get(link).status_code == status


@pytest.mark.parametrize("change", ["is_active", "password"])
def test_a_link_dies_with_the_account_or_a_new_password(change, client):
    person = make_user()
    link = people.sign_in_path(person)
    if change == "is_active":
        person.is_active = False
    else:
        person.set_password("another long password")
    person.save()

    assert client.post(link).status_code == 410


@pytest.mark.parametrize(
    "link", ["/sign-in/MQ/abc-def/", "/sign-in/!!/x/", "/sign-in/OTk5/c-0/", "/sign-in/MQ/x/"]
)
def test_made_up_links_are_refused(link, client):
    make_user()

    assert client.get(link).status_code == 410


def test_a_link_of_one_person_does_not_open_another_account(client):
    first, second = make_user(), make_user()
    uid_of_second = people.sign_in_path(second).split("/")[2]
    token_of_first = people.sign_in_path(first).split("/")[3]

    assert client.post(f"/sign-in/{uid_of_second}/{token_of_first}/").status_code == 410


def test_an_invited_person_sets_a_password_and_signs_in_with_it(client):
    person = people.invite_person("maya", people.PersonValues("", "", "", Role.REVIEWER), by=None)
    client.post(people.sign_in_path(person))

    answer = client.post(
        "/account/password/", {"new_password1": "a long new password", "new_password2": "a long new password"}
    )

    assert answer.status_code == 302
    assert sign_in(Client(), "maya", "a long new password").status_code == 302
    assert AuditEntry.objects.filter(verb="set own password").count() == 1


def test_changing_a_password_asks_for_the_old_one(client):
    client.force_login(make_user())

    answer = client.post(
        "/account/password/",
        {
            "old_password": "wrong",
            "new_password1": "a long new password",
            "new_password2": "a long new password",
        },
    )

    assert answer.status_code == 200
    assert "old_password" in answer.context["form"].errors


def test_signing_out_takes_a_form_not_a_link(client):
    client.force_login(make_user())

    assert client.get("/logout/").status_code == 405
    assert client.post("/logout/").status_code == 302
    assert not is_signed_in(client)


@pytest.mark.parametrize(
    ("options", "beginning"),
    [({}, "http://127.0.0.1:8123/"), ({"base": "https://lab.example.org/"}, "https://lab.example.org/")],
)
def test_a_link_from_the_shell_begins_with_the_address_of_the_running_lab(
    options, beginning, settings, tmp_path, capsys
):
    settings.DATA_DIR = tmp_path
    lock = take_lock(tmp_path / "up.lock", "http://127.0.0.1:8123")

    call_command("sign_in_link", **options)
    os.close(lock)
    running = capsys.readouterr().out
    call_command("sign_in_link")

    assert running.startswith(beginning)
    assert capsys.readouterr().out.startswith("http://127.0.0.1:8000/")
