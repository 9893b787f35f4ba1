"""Runs of follow-ups that end at one moment take turns; runs with PostgreSQL as the tests' own database."""

import threading
import time
from collections.abc import Callable

import pytest
from django.conf import settings
from django.db import connection, transaction

from searches.enums import RunState
from searches.models import Campaign, Finding, FollowUpItem, SearchRun
from searches.services.follow_up_progress import cancel_follow_up
from searches.services.follow_up_wishes import confirm_wish
from searches.services.follow_ups import create_follow_up
from searches.services.run_endings import run_ended
from tests.factories import make_finding, make_run, make_trial
from tests.patience import PATIENCE_SECONDS
from tests.searches.engine import scripted
from tests.searches.follow_up_engine import suspects

pytestmark = [
    pytest.mark.postgres,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(
        "postgresql" not in settings.DATABASES["default"]["ENGINE"], reason="needs rows that are locked"
    ),
]


def at_once(*actions: Callable[[], None]) -> list[str]:
    """Do all at once, each with a connection of its own, and return what went wrong."""
    wrong: list[str] = []

    def work(action: Callable[[], None]) -> None:
        try:
            action()
        except Exception as error:
            wrong.append(repr(error))
        finally:
            connection.close()

    threads = [threading.Thread(target=work, args=(action,)) for action in actions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_SECONDS)
    assert not any(thread.is_alive() for thread in threads)
    return wrong


def ending(run: SearchRun, meeting: threading.Barrier, *, after: float = 0.0) -> Callable[[], None]:
    """Return what a worker does that ends a run, waiting for others in the midst of it."""

    def end() -> None:
        with transaction.atomic():
            SearchRun.objects.filter(pk=run.pk).update(state=RunState.SUCCEEDED)
            meeting.wait(PATIENCE_SECONDS)
            time.sleep(after)
            run_ended(run.pk)

    return end


def confirmation_of_two_systems() -> Campaign:
    campaign = suspects(scripted("one"))[0].run.campaign
    other = make_run(scripted("two"), campaign=campaign, state="succeeded")
    make_finding(make_trial(other, ("cone", "near"), verdicts="FFFFF"))
    made = create_follow_up(confirm_wish(campaign=campaign), by=None)
    made.items.update(fails=58, n=60)
    return made


def test_the_last_of_two_runs_that_end_at_once_sees_the_other_one_ended():
    first, second = confirmation_of_two_systems().runs.order_by("pk")
    meeting = threading.Barrier(2)

    assert at_once(ending(first, meeting), ending(second, meeting)) == []

    assert set(Finding.objects.values_list("state", "fresh_n")) == {("confirmed", 60)}


def test_a_follow_up_that_is_ended_while_a_run_of_it_ends_is_ended():
    made = confirmation_of_two_systems()
    _, second = made.runs.order_by("pk")
    meeting = threading.Barrier(2)

    def cancel() -> None:
        meeting.wait(PATIENCE_SECONDS)
        cancel_follow_up(made, by=None)

    assert at_once(ending(second, meeting, after=0.5), cancel) == []

    assert list(made.runs.order_by("pk").values_list("state", flat=True)) == ["cancelled", "succeeded"]
    assert not made.items.filter(state="").exists()


def test_two_confirmations_that_are_stored_at_once_are_a_family_and_a_line():
    found = suspects()
    wishes = [confirm_wish(found[:2]), confirm_wish(found[2:])]

    assert at_once(*(lambda wish=wish: create_follow_up(wish, by=None) for wish in wishes)) == []

    configs = Campaign.objects.filter(kind="confirm").values_list("config", flat=True)
    assert sorted(one["later_index"] or 0 for one in configs) == [0, 1]
    assert len({one["family_size"] for one in configs}) == 1


def test_two_confirmations_of_one_search_that_end_at_once_explain_larger_sets():
    found = suspects(
        sets=(("cone",), ("cone", "near"), ("cone", "weather_foggy"), ("cone", "near", "weather_foggy"))
    )
    runs = [
        create_follow_up(confirm_wish(part), by=None).runs.get()
        for part in ([found[0], found[3]], [found[1], found[2]])
    ]
    FollowUpItem.objects.update(fails=90, n=90)
    meeting = threading.Barrier(2)

    assert at_once(*(ending(run, meeting) for run in runs)) == []

    smallest = found[0].pk
    explained = Finding.objects.order_by("pk").values_list("covered_by", flat=True)
    assert list(explained) == [None, smallest, smallest, smallest]
