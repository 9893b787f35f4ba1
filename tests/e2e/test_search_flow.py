"""The main job in a real browser: start a search, watch it run, open a finding and see its pictures."""

import re

import pytest

from searches.enums import RunState
from searches.models import SearchRun
from searches.services.slice_ends import SliceEnd
from tests.factories import PASSWORD, make_finished_run, make_user
from tests.searches.engine import FLAT, advance, as_new_process, scripted, start_run
from vlmlab.web.roles import Role

RUN = re.compile(r"/runs/\d+/$")
DECODED_WIDTHS = """images => Promise.all(images.map(async (one) => {
  one.loading = "eager";
  await one.decode();
  return one.naturalWidth;
}))"""


@pytest.fixture(autouse=True)
def flat_scenes(settings):
    settings.SCENE_SOURCE_FACTORY = FLAT
    as_new_process()
    yield
    as_new_process()


def test_a_newcomer_starts_a_search_watches_it_finish_and_sees_the_pictures_of_a_finding(
    visit, transactional_db
):
    make_user(Role.RESEARCHER, username="rosa")
    scripted("careless")
    visitor = visit(None)
    page = visitor.page

    visitor.open("/")
    page.locator("#id_username").fill("rosa")
    page.locator("#id_password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(f"{visitor.base}/")
    page.get_by_role("link", name="New search").first.click()
    page.wait_for_url("**/runs/new/")
    page.get_by_role("button", name="Start search").click()
    page.wait_for_url(RUN)

    assert page.locator(".title-row .badge").inner_text() == "Queued"
    run = SearchRun.objects.get()

    ends = [advance(run, slice_seconds=0.0)]
    page.get_by_text("8 of 60 inferences").wait_for()
    page.locator("[data-plot][data-drawn]").wait_for()
    page.get_by_text("Show the numbers").click()
    drawing = page.locator("[data-plot] .plot svg.main-svg").first.element_handle()
    ends.append(advance(run, slice_seconds=0.0))
    page.get_by_text("16 of 60 inferences").wait_for()
    page.locator("[data-plot][data-drawn]").wait_for()
    visitor.note_violations("while it runs")

    assert drawing.evaluate("drawing => drawing.isConnected")  # updated in place, not drawn anew
    page.locator("[data-plot] details[open]").wait_for()

    while ends[-1] != SliceEnd.FINISHED and len(ends) < 50:
        ends.append(advance(run, slice_seconds=0.0))
    page.locator(".badge.done").wait_for()
    page.get_by_role("heading", name="Metrics").wait_for()

    assert run.state == RunState.SUCCEEDED
    page.locator("[data-plot][data-drawn]").wait_for()
    page.locator("section", has_text="suspected: found by the search").locator("a.set-link").first.click()
    page.wait_for_url(re.compile(r"/findings/\d+/$"))
    page.wait_for_load_state("load")
    widths = page.locator(".gallery img, .picture img").evaluate_all(DECODED_WIDTHS)
    visitor.note_violations("finding")

    assert len(widths) >= 4
    assert set(widths) == {16}
    assert visitor.problems == []


PAGES = (
    "/runs/",
    "/runs/{run}/",
    "/runs/{run}/sets/",
    "/runs/{run}/sets/{trial}/",
    "/runs/{run}/log/",
    "/runs/{run}/metrics/",
    "/runs/new/",
    "/findings/",
    "/findings/{finding}/",
    "/runs/compare/",
    "/runs/compare/?a={run}&b={other}",
)


@pytest.mark.parametrize(("width", "theme"), [(1280, "dark"), (390, "light")])
def test_pages_of_runs_and_findings_show_no_violation_and_nothing_squeezed(
    visit, transactional_db, width, theme
):
    run, other = make_finished_run(), make_finished_run()
    visitor = visit(Role.RESEARCHER, width=width, theme=theme)
    finding = run.findings.first()
    numbers = {"run": run.pk, "other": other.pk, "finding": finding.pk, "trial": finding.trial_id}
    paths = [path.format(**numbers) for path in PAGES]

    statuses, wide = {}, {}
    for path in paths:
        statuses[path] = visitor.open(path)
        if visitor.overflow > 0:
            wide[path] = visitor.overflow

    assert statuses == dict.fromkeys(paths, 200)
    assert visitor.problems == []
    assert wide == {}


def test_a_search_can_be_started_and_read_without_scripts(visit, transactional_db):
    scripted("careless")
    visitor = visit(Role.RESEARCHER, scripts=False)
    page = visitor.page

    page.goto(visitor.base + "/runs/new/")
    page.get_by_role("button", name="Start search").click()
    page.wait_for_url(RUN)
    advance(SearchRun.objects.get())
    page.reload()

    assert page.locator(".title-row .badge").inner_text() == "Finished"
    assert page.locator("a.set-link").count() > 0


def test_the_dialog_names_what_is_kept_before_a_run_is_ended(visit, transactional_db):
    run = start_run()
    visitor = visit(Role.RESEARCHER)
    page = visitor.page

    visitor.open(f"/runs/{run.pk}/")
    page.get_by_role("button", name="End the run").click()
    dialog = page.get_by_role("dialog")
    text = dialog.inner_text()
    dialog.get_by_role("button", name="End the run").click()
    page.get_by_text("What it found is kept.").wait_for()

    run.refresh_from_db()
    assert "Everything it found is kept" in text
    assert run.state == RunState.CANCELLED
    assert visitor.problems == []
