"""People: listing, inviting, changing; one admin always remains; each change leaves one audit entry."""

import pytest

from searches.models import AuditEntry, User
from searches.services import people
from tests.factories import make_user
from vlmlab.core.errors import VlmLabError
from vlmlab.web.roles import Role

pytestmark = pytest.mark.django_db


@pytest.fixture
def admin():
    return make_user(Role.ADMIN, username="ada")


@pytest.fixture
def admin_client(client, admin):
    client.force_login(admin)
    return client


def values(**changes):
    return {"first_name": "", "last_name": "", "email": "", "role": "reviewer", "is_active": "on"} | changes


def test_inviting_shows_a_link_that_signs_the_new_person_in(admin_client, client):
    answer = admin_client.post("/people/new/", {"username": "maya", "role": "reviewer"})
    link = answer.context["link"].removeprefix("http://testserver")

    assert client.post(link).status_code == 302
    assert User.objects.get(username="maya").role == Role.REVIEWER
    assert not User.objects.get(username="maya").has_usable_password()


def test_a_taken_name_is_refused_at_the_field_whatever_its_case(admin_client):
    answer = admin_client.post("/people/new/", {"username": "ADA", "role": "reviewer"})

    assert "already a person" in answer.context["form"].errors["username"][0]
    assert User.objects.count() == 1


def test_an_unknown_role_is_refused(admin_client):
    answer = admin_client.post("/people/new/", {"username": "maya", "role": "owner"})

    assert "role" in answer.context["form"].errors


def test_a_changed_role_counts_from_the_next_page_on(admin_client, client):
    person = make_user(Role.RESEARCHER)

    answer = admin_client.post(f"/people/{person.pk}/", values(role="annotator"))
    client.force_login(person)

    assert answer.status_code == 302
    assert client.get("/workers/").status_code == 403


def test_a_deactivated_person_is_signed_out_at_once(admin_client):
    person = make_user(Role.REVIEWER)
    theirs = type(admin_client)()
    theirs.force_login(person)

    admin_client.post(f"/people/{person.pk}/", values(is_active=""))

    assert theirs.get("/workers/").status_code == 302


@pytest.mark.parametrize(
    ("changes", "field"),
    [({"role": "researcher"}, "role"), ({"role": "admin", "is_active": ""}, "is_active")],
)
def test_the_last_admin_can_be_neither_demoted_nor_deactivated(changes, field, admin_client, admin):
    answer = admin_client.post(f"/people/{admin.pk}/", values(**changes))

    admin.refresh_from_db()
    assert "last active admin" in answer.context["form"].errors[field][0]
    assert (admin.role, admin.is_active) == (Role.ADMIN, True)


def test_a_deactivated_admin_does_not_count_as_the_one_that_remains(admin):
    make_user(Role.ADMIN, is_active=False)

    with pytest.raises(VlmLabError, match="last active admin"):
        people.change_person(admin, people.PersonValues("", "", "", Role.REVIEWER), by=admin)


def test_one_of_two_admins_can_be_demoted(admin):
    other = make_user(Role.ADMIN)

    people.change_person(other, people.PersonValues("", "", "", Role.REVIEWER), by=admin)

    assert User.objects.get(pk=other.pk).role == Role.REVIEWER


def test_each_write_leaves_one_audit_entry_with_before_and_after(admin_client, admin):
    admin_client.post("/people/new/", {"username": "maya", "role": "reviewer"})
    maya = User.objects.get(username="maya")
    admin_client.post(f"/people/{maya.pk}/", values(role="researcher"))
    admin_client.post(f"/people/{maya.pk}/link/")

    entries = AuditEntry.objects.order_by("id")
    assert [(entry.actor_name, entry.verb, entry.object_label) for entry in entries] == [
        ("ada", "invited", "maya"),
        ("ada", "changed", "maya"),
        ("ada", "made a sign-in link for", "maya"),
    ]
    assert (entries[1].before, entries[1].after) == ({"role": "reviewer"}, {"role": "researcher"})


def test_saving_without_a_change_leaves_no_audit_entry(admin_client):
    person = make_user(Role.REVIEWER)

    admin_client.post(f"/people/{person.pk}/", values())

    assert AuditEntry.objects.count() == 0


def test_a_deactivated_person_gets_no_link(admin_client):
    person = make_user(is_active=False)

    answer = admin_client.post(f"/people/{person.pk}/link/")

    assert answer.status_code == 400
    assert "is deactivated" in answer.content.decode()


def test_the_first_admin_is_made_once_and_beside_a_person_of_that_name():
    make_user(Role.ANNOTATOR, username="Admin")

    first, again = people.first_admin(), people.first_admin()

    assert (first.username, first.role, again.pk) == ("admin1", Role.ADMIN, first.pk)


@pytest.mark.parametrize("count", [1, 3])
def test_the_list_asks_the_database_the_same_whatever_its_length(
    count, admin_client, django_assert_num_queries
):
    for _ in range(count):
        make_user()
    admin_client.get("/people/")

    with django_assert_num_queries(LIST_QUERIES):
        admin_client.get("/people/")


LIST_QUERIES = 5
