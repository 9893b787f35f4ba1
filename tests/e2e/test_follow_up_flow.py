"""From suspect to finding in a browser: a search finds, fresh scenes confirm, a person flags and notes."""

import re

import pytest

from searches.enums import FOLLOW_UP_METHOD, FindingState
from searches.models import Finding, SceneFlag, SearchRun
from searches.services.slice_ends import SliceEnd
from tests.searches.engine import FLAT, advance, as_new_process, start_run
from tests.searches.follow_up_factory import make_confirmation
from vlmlab.web.roles import Role

PAGES = (
    "/findings/",
    "/findings/{finding}/",
    "/findings/{finding}/?of={trial}",
    "/follow-ups/",
    "/follow-ups/{campaign}/",
    "/follow-ups/{campaign}/items/{item}/",
    "/follow-ups/new/?kind=confirm&finding={finding}",
    "/follow-ups/new/?kind=ablate&finding={finding}",
    "/follow-ups/planner/?finding={finding}",
    "/scenes/flags/",
)


@pytest.fixture(autouse=True)
def flat_scenes(settings):
    settings.SCENE_SOURCE_FACTORY = FLAT
    as_new_process()
    yield
    as_new_process()


def test_what_a_search_suspects_is_confirmed_on_fresh_scenes_flagged_and_noted(visit, transactional_db):
    run = start_run(algorithm="random", inference_budget=30, required_concepts=["cone"], max_set_size=2)
    advance(run)
    suspects = Finding.objects.filter(run=run, state=FindingState.SUSPECTED)
    assert suspects.count() > 0
    visitor = visit(Role.RESEARCHER)
    page = visitor.page

    visitor.open(f"/runs/{run.pk}/")
    page.get_by_role("link", name="Confirm what was found").click()
    page.wait_for_url("**/follow-ups/new/*")
    page.fill("#id_max_samples", "60")
    page.locator("#id_max_samples").dispatch_event("change")
    page.get_by_text("At most: 60 scenes a set").wait_for()
    visitor.note_violations("form")
    page.get_by_role("button", name="Start confirming").click()
    page.wait_for_url(re.compile(r"/follow-ups/\d+/$"))

    follow_up = SearchRun.objects.get(campaign__method=FOLLOW_UP_METHOD)
    ends = [advance(follow_up, slice_seconds=0.0)]
    page.locator("[data-plot][data-drawn]").wait_for()
    visitor.note_violations("while it works")
    page.goto("about:blank")  # the page would come again by itself, across the visit below
    while ends[-1] != SliceEnd.FINISHED and len(ends) < 200:
        ends.append(advance(follow_up, slice_seconds=0.0))
    visitor.open(f"/follow-ups/{follow_up.campaign_id}/")
    page.locator(".badge.done").wait_for()
    page.locator("[data-plot][data-drawn]").wait_for()

    confirmed = Finding.objects.filter(run=run, state=FindingState.CONFIRMED).order_by("-log_e_value").first()
    assert confirmed is not None
    assert "confirmed" in page.locator(".result-sentence").inner_text()

    visitor.open(f"/findings/{confirmed.pk}/")
    page.locator("[data-plot][data-drawn]").wait_for()
    state = page.locator(".title-row .state").inner_text()
    fresh = page.locator(".trail li").nth(1).inner_text()
    page.get_by_text("Flag this scene").click()
    page.get_by_label("Image generation failure or noise").check()
    page.get_by_role("button", name="Keep the flag").click()
    page.get_by_text("What you said of the scene is kept.").wait_for()
    adjusted = page.locator(".trail li").nth(2).inner_text()
    page.fill("#note_text", "Also seen on the real camera.")
    page.get_by_role("button", name="Add the note").click()
    page.locator(".thread").get_by_text("Also seen on the real camera.").wait_for()
    visitor.note_violations("finding")

    assert state == "Confirmed"
    assert f"Fresh {confirmed.fresh_fails} of {confirmed.fresh_n}" in fresh
    assert SceneFlag.objects.get().sample.run_id == follow_up.pk
    assert "1 fresh scene is flagged" in adjusted
    assert visitor.problems == []


@pytest.mark.parametrize(("width", "theme"), [(1280, "dark"), (390, "light")])
def test_pages_of_findings_and_follow_ups_show_no_violation_and_nothing_squeezed(
    visit, transactional_db, width, theme
):
    campaign = make_confirmation()
    item = campaign.items.first()
    numbers = {
        "campaign": campaign.pk,
        "item": item.pk,
        "finding": item.finding_id,
        "trial": item.finding.trial_id,
    }
    visitor = visit(Role.RESEARCHER, width=width, theme=theme)
    paths = [path.format(**numbers) for path in PAGES]

    statuses, wide = {}, {}
    for path in paths:
        statuses[path] = visitor.open(path)
        if visitor.overflow > 0:
            wide[path] = visitor.overflow

    assert statuses == dict.fromkeys(paths, 200)
    assert visitor.problems == []
    assert wide == {}
