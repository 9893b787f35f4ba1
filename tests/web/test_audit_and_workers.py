"""The audit list and the workers page."""

from datetime import timedelta

import pytest
from django.utils import timezone

from searches.models import AuditEntry, WorkerHeartbeat
from searches.services.audit import record
from searches.services.workers import workers_now
from tests.factories import make_run, make_user
from vlmlab.web.roles import Role

pytestmark = pytest.mark.django_db


@pytest.fixture
def admin_client(client):
    client.force_login(make_user(Role.ADMIN, username="ada"))
    return client


def make_heartbeat(owner="lab-1", *, age_seconds=0, **values):
    now = timezone.now()
    defaults = {"host": "lab", "pid": 12, "queues": ["cpu"], "started_at": now}
    return WorkerHeartbeat.objects.create(
        owner=owner, seen_at=now - timedelta(seconds=age_seconds), **defaults | values
    )


def test_audit_finds_entries_by_person_action_or_object(admin_client):
    maya = make_user(username="maya")
    record(maya, "registered", maya)
    record(None, "cleaned up", maya)

    found = admin_client.get("/audit/?q=clean").context["page"]

    assert [(entry.actor_name, entry.verb) for entry in found] == [("system", "cleaned up")]


def test_audit_says_what_to_do_when_nothing_matches(admin_client):
    page = admin_client.get("/audit/?q=zebra").content.decode()

    assert "No entry matches “zebra”" in page
    assert "Show all entries" in page


def test_audit_values_are_escaped(admin_client):
    maya = make_user(username="maya")
    record(maya, "renamed", maya, after={"name": "<img src=x onerror=alert(1)>"})

    page = admin_client.get("/audit/").content.decode()

    assert "<img src=x" not in page
    assert "&lt;img src=x" in page


def test_audit_values_read_as_people_write_them(admin_client):
    maya = make_user(username="maya")
    record(
        maya, "started", maya, after={"concepts": ["cone", "far"], "config": {"strict": False, "budget": 60}}
    )

    page = admin_client.get("/audit/").content.decode()

    assert "Concepts: cone, far" in page
    assert "Config: strict no; budget 60" in page


def test_audit_entries_can_be_neither_changed_nor_deleted():
    entry = record(None, "did", make_user())

    with pytest.raises(ValueError, match="append-only"):
        entry.save()
    with pytest.raises(ValueError, match="append-only"):
        entry.delete()
    assert AuditEntry.objects.count() == 1


@pytest.mark.parametrize("count", [1, 3])
def test_audit_asks_the_database_the_same_whatever_its_length(count, admin_client, django_assert_num_queries):
    for _ in range(count):
        record(None, "did", make_user())
    admin_client.get("/audit/")

    with django_assert_num_queries(AUDIT_QUERIES):
        admin_client.get("/audit/")


AUDIT_QUERIES = 5


def test_workers_are_busy_idle_stopping_or_silent():
    run = make_run()
    make_heartbeat("a", run_id=run.pk)
    make_heartbeat("b")
    make_heartbeat("c", is_stopping=True)
    make_heartbeat("d", age_seconds=3600, run_id=run.pk)
    make_heartbeat("e", age_seconds=3600 * 25)

    lines = {line.heartbeat.owner: (line.state, line.is_alive) for line in workers_now()}

    assert lines == {
        "a": ("busy", True),
        "b": ("idle", True),
        "c": ("stopping", True),
        "d": ("silent", False),
    }


def test_the_workers_page_names_the_run_a_worker_is_at(admin_client):
    run = make_run()
    make_heartbeat(run_id=run.pk)

    page = admin_client.get("/workers/").content.decode()

    assert f'href="/runs/{run.pk}/"' in page
    assert "Busy" in page


def test_the_workers_page_says_what_to_do_without_any(admin_client):
    assert "make run" in admin_client.get("/workers/").content.decode()
