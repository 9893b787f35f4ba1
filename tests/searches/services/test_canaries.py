"""Canaries: started once when they are due, errors kept and shown, alerts."""

from datetime import timedelta

import pytest
from django.db import IntegrityError, OperationalError
from django.utils import timezone

from searches.enums import RunState
from searches.models import Campaign, Canary, SearchRun
from searches.services import canaries
from searches.services.canaries import (
    canary_alerts,
    canary_lines,
    create_canary,
    start_due_canaries,
    switch_canary,
)
from searches.services.families import archive_family
from searches.services.overview import overview
from searches.services.regression_settling import settle_regression
from tests.factories import make_sut
from tests.searches.gate_factory import make_family, make_regression
from vlmlab.core.errors import VlmLabError

pytestmark = pytest.mark.django_db


def make_canary(**values) -> Canary:
    canary = create_canary(make_family(1), make_sut("new"), every_hours=6, by=None)
    Canary.objects.filter(pk=canary.pk).update(**values)
    canary.refresh_from_db()
    return canary


def test_a_due_canary_starts_one_regression_however_many_rounds_were_missed():
    now = timezone.now()
    canary = make_canary(next_at=now - timedelta(hours=20))

    started = start_due_canaries(now)

    assert [campaign.kind for campaign in started] == ["regress"]
    assert {run.sut.slug for run in started[0].runs.all()} == {"old", "new"}
    canary.refresh_from_db()
    assert (canary.last_campaign_id, canary.last_error) == (started[0].pk, "")
    assert canary.next_at == now + timedelta(hours=4)  # its rhythm stays: -20, -14, -8, -2, +4
    assert start_due_canaries(now) == []


def test_two_timetables_at_once_start_a_canary_once(monkeypatch):
    now = timezone.now()
    make_canary(next_at=now - timedelta(hours=1))
    rows = list(Canary.objects.select_related("family__baseline", "sut", "created_by"))
    start_due_canaries(now)

    class Stale:
        def select_related(self, *names):
            return rows  # what the other timetable had read before

    monkeypatch.setattr(Canary.objects, "filter", _first_stale(Stale(), Canary.objects.filter))

    assert start_due_canaries(now) == []
    assert Campaign.objects.filter(kind="regress").count() == 1


def _first_stale(stale, filter_rows):
    calls = []

    def filtered(**wanted):
        calls.append(wanted)
        return stale if len(calls) == 1 else filter_rows(**wanted)

    return filtered


def test_what_keeps_a_canary_from_starting_is_kept_and_shown_and_the_next_round_comes_as_usual():
    now = timezone.now()
    canary = make_canary(next_at=now - timedelta(minutes=1))
    canary.sut.is_enabled = False
    canary.sut.save()

    assert start_due_canaries(now) == []

    canary.refresh_from_db()
    assert canary.last_error.startswith("New is switched off.")
    assert canary.next_at > now
    assert [line.problem for line in canary_alerts()] == [canary.last_error]
    assert overview().todos[0].strong == "The canary Cones and debris on New"


def test_a_canary_waits_while_its_last_regression_is_at_work():
    now = timezone.now()
    canary = make_canary(next_at=now - timedelta(minutes=1))
    first = start_due_canaries(now)[0]
    Canary.objects.filter(pk=canary.pk).update(next_at=now - timedelta(minutes=1))

    assert start_due_canaries(now) == []

    canary.refresh_from_db()
    assert canary.last_error == "The regression before has not ended, so none was started."
    SearchRun.objects.filter(campaign=first).update(state=RunState.SUCCEEDED)
    Canary.objects.filter(pk=canary.pk).update(next_at=now - timedelta(minutes=1))
    assert len(start_due_canaries(now)) == 1


def test_a_canary_that_fails_is_an_alert_and_a_line_of_the_log(caplog):
    canary = make_canary(next_at=timezone.now() + timedelta(hours=1))
    campaign = make_regression(canary.family, {0: ("P" * 40, "F" * 40)}, candidate=canary.sut)
    Canary.objects.filter(pk=canary.pk).update(last_campaign=campaign)

    settle_regression(campaign)

    assert [(line.verdict, line.problem) for line in canary_alerts()] == [
        ("fail", "The last regression failed.")
    ]
    assert [record.getMessage() for record in caplog.records if record.name.endswith("settling")] == [
        "canary Cones and debris on New: New fails more often than before on 1 mode: Cone, far."
    ]


def test_a_canary_that_is_off_or_of_an_archived_family_is_not_started():
    canary = make_canary(next_at=timezone.now() - timedelta(hours=1))
    switch_canary(canary, is_on=False, by=None)
    assert start_due_canaries() == []
    switch_canary(canary, is_on=True, by=None)
    archive_family(canary.family, is_archived=True, by=None)

    assert start_due_canaries() == []

    canary.refresh_from_db()
    canary.family.refresh_from_db()
    with pytest.raises(VlmLabError, match="is archived"):
        switch_canary(canary, is_on=True, by=None)
    assert [line.verdict for line in canary_lines([canary])] == [""]


def test_a_second_canary_of_the_same_system_and_family_is_refused():
    canary = make_canary()

    with pytest.raises(VlmLabError, match="has a canary on"):
        create_canary(canary.family, canary.sut, every_hours=1, by=None)
    with pytest.raises(VlmLabError, match="compared with itself"):
        create_canary(canary.family, canary.family.baseline, every_hours=1, by=None)


def test_an_outage_leaves_a_canary_due_and_what_is_broken_does_not_hold_up_the_others(monkeypatch):
    canary = make_canary(next_at=timezone.now() - timedelta(hours=1))
    due_at = canary.next_at

    def fails_with(error):
        def create(*_args, **_values):
            raise error

        monkeypatch.setattr(canaries, "create_follow_up", create)

    fails_with(OperationalError("server closed the connection"))
    with pytest.raises(OperationalError):
        start_due_canaries()
    canary.refresh_from_db()
    assert (canary.next_at, canary.last_error) == (due_at, "")

    fails_with(IntegrityError("duplicate key"))
    assert start_due_canaries() == []
    canary.refresh_from_db()
    assert canary.next_at > timezone.now()
    assert canary.last_error.startswith("Something broke on our side")


def test_a_canary_whose_regression_was_halted_needs_a_person():
    canary = make_canary(next_at=timezone.now() + timedelta(hours=1))
    campaign = make_regression(
        canary.family, {0: ("F" * 40, "F" * 9)}, candidate=canary.sut, state=RunState.FAILED
    )
    Canary.objects.filter(pk=canary.pk).update(last_campaign=campaign)

    settle_regression(campaign)

    assert [(line.verdict, line.problem) for line in canary_alerts()] == [
        ("halted", "The last regression gave no verdict.")
    ]
