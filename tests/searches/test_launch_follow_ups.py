"""Starting a follow-up wakes its workers once, however often the button is pressed."""

import pytest

from searches import launch
from searches.launch import waking
from searches.models import Campaign
from searches.services.follow_up_live import live_follow_up
from searches.services.follow_up_wishes import confirm_wish
from tests.factories import make_user
from tests.searches.engine import FLAT, advance, as_new_process
from tests.searches.follow_up_engine import follow, suspects
from vlmlab.core.errors import VlmLabError

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def flat_scenes(settings):
    settings.SCENE_SOURCE_FACTORY = FLAT
    as_new_process()
    yield
    as_new_process()


@pytest.fixture
def woken(monkeypatch):
    queues: list[str] = []
    monkeypatch.setattr(waking, "wake_up", lambda queue: bool(queues.append(queue)) or True)
    return queues


def test_a_second_click_finds_the_follow_up_of_the_first(woken, django_capture_on_commit_callbacks):
    found, person = suspects(), make_user()

    with django_capture_on_commit_callbacks(execute=True):
        first = launch.start_follow_up(confirm_wish(found), by=person)
        second = launch.start_follow_up(confirm_wish(found), by=person)

    assert first == second
    assert woken == ["cpu"]
    assert first.config["later_index"] is None


def test_another_choice_is_another_follow_up(woken):
    found, person = suspects(), make_user()

    launch.start_follow_up(confirm_wish(found[:2]), by=person)
    launch.start_follow_up(confirm_wish(found[2:]), by=person)
    launch.start_follow_up(confirm_wish(found[:2], values={"max_samples": 7}), by=person)

    places = [one.config["later_index"] for one in Campaign.objects.filter(kind="confirm").order_by("pk")]
    assert places == [None, 1, 2]


def test_pictures_that_cannot_be_had_start_nothing(woken):
    found = suspects()

    with pytest.raises(VlmLabError, match="There is no picture source “photos”"):
        launch.start_follow_up(confirm_wish(found, values={"backend": "photos"}), by=None)

    assert not Campaign.objects.filter(kind="confirm").exists()


def test_what_is_drawn_ahead_is_what_a_follow_up_asks_next():
    run = follow(suspects(), slots=3, scenes=4).runs.get()
    live = live_follow_up(run)

    ahead = live.ahead(6)

    advance(run)
    asked = list(run.samples.order_by("step", "position").values_list("trial__key", "number")[3:9])
    assert [("+".join(query.key), query.number) for query in ahead] == asked
