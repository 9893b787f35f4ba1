"""The list of modality campaigns, the part of a page that says how far one is, and the buttons on it."""

import pytest

from searches.enums import ModalityStatus, RunState
from searches.models import ModalityRun, SearchRun
from searches.services.modality_campaigns import create_modality_campaign
from searches.services.seed_plans import SeedPlan
from tests.factories import make_run, make_sut
from tests.searches.modality_factory import (
    Ending,
    make_grid,
    make_modality_campaign,
    make_seed_dataset,
)
from vlmlab.core.most.config import MostConfig
from vlmlab.web.roles import Role

from .people import browser_of, statuses

pytestmark = pytest.mark.django_db
LIST = "/modality/"


def make(name: str = "Street", n: int = 2):
    return create_modality_campaign(
        MostConfig(), SeedPlan(seed=4), suts=[make_sut()], dataset=make_seed_dataset(n), name=name, by=None
    )


def fails_often_in_pictures(place) -> Ending:
    return Ending(iou=0.1 if place.regime == "image" else 0.8)


def test_pages_are_open_to_readers_and_buttons_to_researchers():
    campaign = make()
    page = f"/modality/{campaign.pk}/"

    readers = {"": 302, "admin": 200, "researcher": 200, "reviewer": 200, "annotator": 403}
    assert statuses(f"{page}progress/") == readers
    assert statuses(f"{page}pause/", method="post") == {
        "": 302, "admin": 302, "researcher": 302, "reviewer": 403, "annotator": 403,
    }  # fmt: skip
    for verb in ("pause", "resume", "cancel"):
        assert browser_of(Role.RESEARCHER).get(f"{page}{verb}/").status_code == 405


def test_an_empty_list_says_what_to_do_next():
    assert "New modality search" in browser_of(Role.RESEARCHER).get(LIST).content.decode()
    assert (
        "A researcher starts the first modality search"
        in browser_of(Role.REVIEWER).get(LIST).content.decode()
    )


def test_campaigns_stand_in_the_list_newest_first_and_concept_searches_do_not():
    make("First")
    second = make("<i>Second</i>")
    make_run()
    SearchRun.objects.filter(campaign=second, modality__regime="image").update(state=RunState.SUCCEEDED)

    page = browser_of(Role.RESEARCHER).get(LIST)

    lines = page.context["lines"]
    assert [line.campaign.name for line in lines] == ["<i>Second</i>", "First"]
    assert (lines[0].n_ended, lines[0].n_runs, lines[0].state) == (2, 6, RunState.QUEUED)
    assert lines[0].suts == (second.runs.first().sut.name,)
    assert "&lt;i&gt;Second&lt;/i&gt;" in page.content.decode()


def test_a_campaign_of_one_system_shows_its_failures_by_regime():
    campaign = make_modality_campaign(make_seed_dataset(4))
    make_grid(campaign, suts=[make_sut()], ended=fails_often_in_pictures)

    (line,) = browser_of(Role.RESEARCHER).get(LIST).context["lines"]

    told = [(one.regime, one.n_failed, one.n_finished) for one in line.rates]
    assert told == [("image", 4, 4), ("text", 0, 4), ("joint", 0, 4)]


def test_the_threshold_of_each_campaign_counts():
    strict = make_modality_campaign(
        make_seed_dataset(2), config={"algorithm": "screen", "iou_threshold": 0.05}
    )
    loose = make_modality_campaign(make_seed_dataset(2))
    for campaign in (strict, loose):
        make_grid(campaign, suts=[make_sut()], ended=fails_often_in_pictures)

    lines = browser_of(Role.RESEARCHER).get(LIST).context["lines"]

    assert {line.campaign.pk: line.rates[0].n_failed for line in lines} == {strict.pk: 0, loose.pk: 2}


def test_rates_of_several_systems_are_not_mixed():
    campaign = make_modality_campaign(make_seed_dataset(2))
    make_grid(campaign, suts=[make_sut(), make_sut()], ended=fails_often_in_pictures)

    page = browser_of(Role.RESEARCHER).get(LIST)

    assert page.context["lines"][0].rates == ()
    assert "rates stand in the profiles" in page.content.decode()


def test_rates_follow_a_campaign_that_goes_on():
    campaign = make_modality_campaign(make_seed_dataset(2))
    make_grid(campaign, suts=[make_sut()], ended=fails_often_in_pictures)
    browser = browser_of(Role.RESEARCHER)
    before = browser.get(LIST).context["lines"][0].rates
    last = ModalityRun.objects.filter(campaign=campaign, regime="image").last()
    ModalityRun.objects.filter(pk=last.pk).update(status=ModalityStatus.UNFINISHED)
    SearchRun.objects.filter(pk=last.run_id).update(state=RunState.RUNNING)

    after = browser.get(LIST).context["lines"][0].rates

    assert [rates[0].n_finished for rates in (before, after)] == [2, 1]


@pytest.mark.parametrize("n_campaigns", [1, 3])
def test_the_list_takes_the_same_queries_for_any_number_of_campaigns(n_campaigns, django_assert_num_queries):
    for _ in range(n_campaigns):
        make_grid(
            make_modality_campaign(make_seed_dataset(2)), suts=[make_sut()], ended=fails_often_in_pictures
        )
    browser = browser_of(Role.RESEARCHER)

    with django_assert_num_queries(8):
        browser.get(LIST)


@pytest.mark.parametrize("page", ["0", "99", "x", "9" * 30])
def test_any_page_number_shows_a_page(page):
    make()

    assert len(browser_of(Role.RESEARCHER).get(f"{LIST}?page={page}").context["lines"]) == 1


def test_the_progress_is_fetched_again_only_when_it_changed():
    campaign = make()
    browser, path = browser_of(Role.RESEARCHER), f"/modality/{campaign.pk}/progress/"
    first = browser.get(path)

    same = browser.get(path, headers={"if-none-match": first["ETag"]})
    campaign.runs.filter(modality__regime="text").update(state=RunState.PAUSED)
    other = browser.get(path, headers={"if-none-match": first["ETag"]})

    assert (first.status_code, same.status_code, other.status_code) == (200, 304, 200)
    assert same.content == b""
    assert first["ETag"] != other["ETag"]
    assert f'hx-get="{path}"' in first.content.decode()


def test_until_the_first_evaluation_the_progress_says_what_a_worker_does():
    campaign = make()
    first = campaign.runs.order_by("pk").first()
    browser, shown = browser_of(Role.RESEARCHER), []
    for asked in (0, 1):
        SearchRun.objects.filter(pk=first.pk).update(state=RunState.RUNNING, n_inferences=asked)
        page = browser.get(f"/modality/{campaign.pk}/progress/").content.decode()
        shown.append(("1 run at work" in page, "loading the system" in page))

    assert shown == [(True, True), (True, False)]


def test_a_campaign_that_is_over_is_not_polled_any_more():
    campaign = make()
    campaign.runs.update(state=RunState.SUCCEEDED)

    answer = browser_of(Role.RESEARCHER).get(f"/modality/{campaign.pk}/progress/")

    assert (answer.status_code, answer["HX-Refresh"]) == (286, "true")
    assert "hx-get" not in answer.content.decode()


def test_the_progress_shows_buttons_to_those_who_may_use_them():
    campaign = make()
    path = f"/modality/{campaign.pk}/progress/"

    assert "pause-campaign" in browser_of(Role.RESEARCHER).get(path).content.decode()
    assert "pause-campaign" not in browser_of(Role.REVIEWER).get(path).content.decode()


def test_the_reason_why_runs_stand_is_shown_as_text():
    campaign = make()
    campaign.runs.update(state=RunState.PAUSED, error="<script>No</script>", hint="Do this.")

    page = browser_of(Role.RESEARCHER).get(f"/modality/{campaign.pk}/progress/").content.decode()

    assert "6 runs stand: &lt;script&gt;No&lt;/script&gt;" in page
    assert "Resume 6 runs" in page


def test_pause_resume_and_end_move_all_runs_and_say_how_many():
    campaign = make()
    browser, page = browser_of(Role.RESEARCHER), f"/modality/{campaign.pk}/"
    told = []
    for verb, state in (("pause", "paused"), ("resume", "queued"), ("cancel", "cancelled")):
        answer = browser.post(f"{page}{verb}/", follow=True)
        told += [str(one) for one in answer.context["messages"]]
        assert set(campaign.runs.values_list("state", flat=True)) == {state}

    assert told == [
        "6 runs are paused.",
        "6 runs are queued again.",
        "6 runs are ended early; what they found is kept.",
    ]


def test_a_campaign_is_deleted_after_a_question_and_only_once_nothing_is_at_work():
    campaign = make("Mine")
    page, browser = f"/modality/{campaign.pk}/", browser_of(Role.RESEARCHER)
    at_work = browser.get(page).content.decode()
    refused = browser.post(f"{page}delete/", follow=True)
    campaign.runs.update(state=RunState.CANCELLED)
    asked = browser.get(page).content.decode()
    reviewed = browser_of(Role.REVIEWER).get(page).content.decode()

    deleted = browser.post(f"{page}delete/", follow=True)

    assert ["Delete the campaign" in one for one in (at_work, asked, reviewed)] == [False, True, False]
    assert [str(one) for one in refused.context["messages"]] == [
        "“Mine” is not deleted. Some of its runs wait or are at work: end the campaign first. Then delete it."
    ]
    assert [str(one) for one in deleted.context["messages"]] == ["“Mine” is deleted with 6 runs."]
    assert (deleted.redirect_chain[-1][0], browser.get(page).status_code) == (LIST, 404)


def test_what_cannot_be_done_any_more_is_said():
    campaign = make()
    campaign.runs.update(state=RunState.SUCCEEDED)

    answer = browser_of(Role.RESEARCHER).post(f"/modality/{campaign.pk}/pause/", follow=True)

    assert [str(one) for one in answer.context["messages"]] == [
        "No run of this campaign can be paused. Reload the page to see what happened meanwhile."
    ]


@pytest.mark.parametrize("part", ["progress/", "clone/"])
def test_a_campaign_that_is_no_modality_search_has_no_such_page(part):
    run = make_run()
    browser = browser_of(Role.RESEARCHER)

    assert browser.get(f"/modality/{run.campaign_id}/{part}").status_code == 404
    assert browser.get(f"/modality/{10**30}/{part}").status_code == 404
