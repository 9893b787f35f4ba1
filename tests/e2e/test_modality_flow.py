"""A modality search in a real browser: the form follows what is chosen, the page follows the runs."""

import re

import pytest

from searches.enums import RunState
from searches.models import Campaign
from tests.searches.engine import advance, as_new_process
from tests.searches.modality_engine import breaks_now_and_then, make_seed_dataset, small_config
from vlmlab.web.roles import Role

NEW = "/modality/new/"
CAMPAIGN = re.compile(r"/modality/\d+/$")


@pytest.fixture(autouse=True)
def fresh_process():
    as_new_process()
    yield
    as_new_process()


def test_a_campaign_is_started_watched_to_its_end_and_its_profile_appears(visit, transactional_db):
    make_seed_dataset("first", n=1)
    make_seed_dataset(n=2)
    breaks_now_and_then(price_usd=0.0)
    visitor = visit(Role.RESEARCHER)
    page = visitor.page

    visitor.open("/modality/")
    page.get_by_role("link", name="New modality search").first.click()
    page.wait_for_url(f"**{NEW}")
    page.get_by_label("Dataset").select_option("seeds")
    page.locator("#modality-seeds").get_by_text("field").wait_for()  # the strata follow
    page.locator("input[name=regimes][value=text]").uncheck()
    page.locator("input[name=regimes][value=joint]").uncheck()
    page.get_by_label("Inference budget").fill("6")
    page.get_by_label("Give up after").fill("6")
    page.get_by_text("Leave operators out").click()
    for name in small_config().excluded_operators:
        page.locator(f"input[name=excluded_operators][value={name}]").check()
    page.locator("#estimate").get_by_text("--budget 6").wait_for(state="attached")
    page.get_by_role("button", name="Start the campaign").dblclick()
    page.wait_for_url(CAMPAIGN)
    campaign = Campaign.objects.get()  # a double click starts one

    page.locator("#modality-progress").get_by_text("0 of 2 runs").wait_for()
    first, second = campaign.runs.order_by("pk")
    advance(first)
    page.locator("#modality-progress").get_by_text("1 of 2 runs").wait_for()
    advance(second)
    page.locator("#modality-progress").wait_for(state="detached")  # the page came again
    page.locator("[data-plot=attack-success]").wait_for()
    visitor.note_violations("after the end")

    assert set(campaign.runs.values_list("state", flat=True)) == {RunState.SUCCEEDED}
    assert visitor.problems == []


def test_the_dialog_names_what_is_kept_before_a_campaign_is_ended(visit, transactional_db):
    make_seed_dataset(n=2)
    breaks_now_and_then()
    visitor = visit(Role.RESEARCHER, width=390)
    page = visitor.page
    visitor.open(NEW)
    page.get_by_role("button", name="Start the campaign").click()
    page.wait_for_url(CAMPAIGN)

    page.get_by_role("button", name="End the campaign").click()
    dialog = page.get_by_role("dialog")
    text = dialog.inner_text()
    dialog.get_by_role("button", name="End the campaign").click()
    page.get_by_text("6 runs are ended early; what they found is kept.").wait_for()

    assert "Everything that was answered is kept" in text
    assert set(Campaign.objects.get().runs.values_list("state", flat=True)) == {RunState.CANCELLED}
    page.get_by_role("button", name="Resume 6 runs").wait_for()
    assert visitor.problems == []


def test_a_campaign_can_be_started_without_scripts(visit, transactional_db):
    make_seed_dataset(n=2)
    breaks_now_and_then()
    visitor = visit(Role.RESEARCHER, scripts=False)
    page = visitor.page

    page.goto(visitor.base + NEW)
    page.get_by_role("button", name="Start the campaign").click()
    page.wait_for_url(CAMPAIGN)

    assert Campaign.objects.get().runs.count() == 6


@pytest.mark.parametrize(("width", "theme"), [(1280, "dark"), (390, "light")])
def test_pages_of_campaigns_show_no_violation_and_nothing_squeezed(visit, transactional_db, width, theme):
    make_seed_dataset(n=2)
    breaks_now_and_then()
    visitor = visit(Role.RESEARCHER, width=width, theme=theme)
    visitor.open(NEW)
    visitor.page.get_by_role("button", name="Start the campaign").click()
    visitor.page.wait_for_url(CAMPAIGN)
    campaign = Campaign.objects.get()

    wide = {}
    for path in ("/modality/", NEW, f"/modality/{campaign.pk}/", f"/modality/{campaign.pk}/clone/"):
        assert visitor.open(path) == 200
        if visitor.overflow > 0:
            wide[path] = visitor.overflow

    assert wide == {}
    assert visitor.problems == []
