"""The overview: what waits, what runs, what was found."""

from datetime import UTC, timedelta

import pytest
from django.test import Client
from django.utils import timezone

from searches.enums import RunState
from searches.models import SpendDay
from tests.factories import (
    make_campaign,
    make_finding,
    make_finished_run,
    make_run,
    make_sut,
    make_trial,
)
from tests.searches.follow_up_factory import make_confirmation
from tests.searches.modality_factory import Ending, make_grid, make_modality_campaign, make_seed_dataset
from vlmlab.web.roles import Role

from .people import browser_of

pytestmark = pytest.mark.django_db


def test_the_overview_sends_a_stranger_to_sign_in(client):
    answer = client.get("/")

    assert (answer.status_code, answer.url) == (302, "/login/?next=/")


def test_the_overview_leads_a_newcomer_from_the_system_over_the_domain_to_one_primary_button():
    make_sut("pocket", name="Pocket", is_sample=True)

    page = browser_of(Role.RESEARCHER).get("/").content.decode()

    assert "Pocket</a> is registered and ships with the lab." in page
    assert 'href="/domains/driving/">Driving</a>: 30 concepts, 110,664 valid sets.' in page
    assert 'href="/domains/indoor/">Kitchen</a>: 33 concepts, 53,031 valid sets.' in page
    main = page[page.index("<main") :]
    assert main.count('class="btn primary"') == 1
    assert '<a class="btn primary" href="/runs/new/">' in main


def test_the_overview_drops_the_first_steps_once_somebody_started_a_run_but_not_for_sample_data():
    browser = browser_of(Role.RESEARCHER)
    make_run(campaign=make_campaign(is_sample=True))
    with_samples = browser.get("/").content.decode()
    make_run()

    with_own_run = browser.get("/").content.decode()

    assert ("Your first search" in with_samples, "Your first search" in with_own_run) == (True, False)


def test_the_overview_drops_the_first_steps_after_a_modality_search_of_ones_own():
    browser, shown = browser_of(Role.RESEARCHER), []
    for is_sample in (True, False):
        campaign = make_modality_campaign(make_seed_dataset(1), is_sample=is_sample)
        make_grid(campaign, suts=[make_sut()], ended=lambda place: Ending(iou=0.8))
        shown.append("Your first search" in browser.get("/").content.decode())

    assert shown == [True, False]


def test_the_overview_counts_the_inferences_of_own_runs_only():
    make_run(campaign=make_campaign(is_sample=True), n_inferences=400)
    make_run(n_inferences=30)

    page = browser_of(Role.RESEARCHER).get("/").content.decode()

    assert '<dt>Inferences, last 7 days</dt><dd class="value">30</dd>' in page


def test_the_overview_lists_what_waits_for_a_person():
    paused = make_run(state=RunState.PAUSED)
    failed = make_run(state=RunState.FAILED, error="The disk is full.")
    finished = make_finished_run()

    page = browser_of(Role.RESEARCHER).get("/")

    assert [(todo.strong, todo.rest) for todo in page.context["overview"].todos] == [
        (f"Run {finished.pk}", "finished, but 1 call failed."),
        (f"Run {failed.pk}", "failed: The disk is full."),
        (f"Run {paused.pk}", "is paused."),
        ("2 suspects wait", "of A search for confirmation on fresh scenes."),
    ]
    assert page.context["overview"].todos[-1].url == (
        f"/follow-ups/new/?kind=confirm&campaign={finished.campaign_id}"
    )


def test_suspects_that_a_confirmation_looks_at_wait_for_nobody():
    make_confirmation()

    page = browser_of(Role.RESEARCHER).get("/")

    assert [todo.sign for todo in page.context["overview"].todos] == ["again"]
    assert page.context["overview"].totals.confirmed == 1


def test_the_overview_says_when_a_run_waits_and_no_worker_is_there():
    make_run(state=RunState.QUEUED)

    page = browser_of(Role.ADMIN).get("/")

    todo = page.context["overview"].todos[0]
    assert (todo.strong, todo.rest, todo.url) == ("1 run waits", "and no worker is there.", "/workers/")


def test_the_overview_shows_an_annotator_none_of_the_labs_numbers():
    make_finished_run(make_sut("secret-model", name="Secret model"))

    page = browser_of(Role.ANNOTATOR).get("/").content.decode()

    assert ("Nothing waits for you" in page, "Secret model" in page) == (True, False)


def test_the_overview_offers_a_reviewer_nothing_they_may_not_do():
    page = browser_of(Role.REVIEWER).get("/").content.decode()

    assert ("/runs/new/" in page, "/suts/new/" in page) == (False, False)


def test_the_overview_says_what_each_system_cost_lately_and_which_prices_are_missing(monkeypatch):
    now = timezone.now()
    monkeypatch.setattr(timezone, "now", lambda: now)  # no midnight passes meanwhile
    today = now.astimezone(UTC).date()
    dear, cheap = make_sut("dear", name="Dear"), make_sut("cheap", name="Cheap")
    free = make_sut("own-server", name="Own server", kind="openai_chat", params={"model": "m"})
    for sut, days_ago, cost in (
        (dear, 0, 0.25),
        (dear, 29, 1.0),
        (dear, 30, 50.0),
        (cheap, 3, 0.5),
        (free, 1, 0.0),
    ):
        SpendDay.objects.create(sut=sut, day=today - timedelta(days=days_ago), n_calls=1, cost_usd=cost)

    page = browser_of(Role.RESEARCHER).get("/").content.decode()

    tile = page[page.index("Spend, last 30 days") : page.index("<dt>Workers")]
    assert "$1.75 <small>$0.25 today</small>" in tile
    assert "Dear</a> $1.25, $0.25 today" in tile
    assert "Cheap</a> $0.50</dd>" in tile
    assert "Own server</a> has no price, so its calls are not counted" in tile


def test_the_overview_says_that_a_spending_limit_holds_a_run():
    run = make_run(state=RunState.PAUSED, is_halted_by_spending=True, error="The limit is reached: …")

    page = browser_of(Role.RESEARCHER).get("/")

    todo = page.context["overview"].todos[0]
    assert (todo.strong, todo.rest) == (f"Run {run.pk}", "is held by a spending limit.")


def test_the_overview_shows_what_was_found_sample_by_sample_and_fresh_scenes_as_a_rate():
    make_finished_run()
    fresh = {"fresh_fails": 4, "fresh_n": 5, "fresh_low": 0.28, "fresh_high": 0.99, "fresh_level": 0.98}
    make_finding(make_trial(make_run(), ("cyclist",), verdicts="FFFFF"), **fresh)

    page = browser_of(Role.RESEARCHER).get("/").content.decode()

    assert ["<title>4 failed</title>" in page, "<title>4 failed, 1 passed</title>" in page] == [True, True]
    assert "<title>4 of 5, 80 %, 98 % interval 28 % to 99 %</title>" in page


@pytest.mark.parametrize("rows", [1, 3])
def test_the_overview_asks_the_database_as_often_for_three_rows_as_for_one(rows, django_assert_num_queries):
    for _ in range(rows):
        run = make_finished_run()
        SpendDay.objects.create(sut=run.sut, day=timezone.now().date(), cost_usd=1.0)
    browser: Client = browser_of(Role.RESEARCHER)

    with django_assert_num_queries(19):
        page = browser.get("/")

    assert (page.status_code, len(page.context["overview"].runs)) == (200, rows)
    assert page.content.decode().count('data-label="Failure modes"') == rows


@pytest.mark.parametrize("n_campaigns", [1, 4])
def test_modality_campaigns_at_work_stand_first_on_the_overview(n_campaigns, django_assert_num_queries):
    dataset = make_seed_dataset(1)
    at_work = make_modality_campaign(dataset, name="At work")
    make_grid(at_work, suts=[make_sut("one")], ended=lambda place: Ending(status="unfinished"))
    for number in range(n_campaigns - 1):
        made = make_modality_campaign(dataset, name=f"At rest {number}")
        make_grid(made, suts=[make_sut(f"sut-{number}")], ended=lambda place: Ending())
    browser: Client = browser_of(Role.REVIEWER)

    with django_assert_num_queries(23):
        page = browser.get("/")

    shown = [line.campaign.name for line in page.context["overview"].profiles]
    assert shown == ["At work", "At rest 2", "At rest 1"][:n_campaigns]
    assert f'href="{at_work.get_absolute_url()}"' in page.content.decode()
