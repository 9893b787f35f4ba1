"""Pages of modality results in a real browser: charts are drawn, marks lead somewhere, nothing is blocked."""

import contextlib

import pytest

from tests.factories import make_sut
from tests.searches.modality_factory import (
    drawn_ending,
    make_grid,
    make_modality_campaign,
    make_seed_dataset,
)
from vlmlab.web.roles import Role

sync_api = pytest.importorskip("playwright.sync_api")
CHARTS = 6


@pytest.fixture
def campaign(transactional_db):
    made = make_modality_campaign(make_seed_dataset(12))
    make_grid(made, suts=[make_sut("first"), make_sut("second")], ended=drawn_ending)
    return made


def draw_all(visitor):
    frames = visitor.page.locator("[data-plot]")
    for number in range(frames.count()):
        frames.nth(number).scroll_into_view_if_needed()
        frames.nth(number).and_(visitor.page.locator("[data-drawn]")).wait_for()


@pytest.mark.parametrize(("width", "theme"), [(1280, "light"), (390, "dark")])
def test_results_draw_their_charts_without_violations_and_marks_open_their_runs(
    visit, campaign, width, theme
):
    visitor = visit(Role.RESEARCHER, width=width, theme=theme)
    compare = f"/modality/compare/?a={campaign.pk}:first&b={campaign.pk}:second"
    wide = {}
    for path in (compare, f"/modality/{campaign.pk}/"):
        assert visitor.open(path) == 200
        draw_all(visitor)
        visitor.note_violations(path)
        if visitor.overflow > 0:
            wide[path] = visitor.overflow
    n_charts = visitor.page.locator("[data-plot]").count()
    with visitor.page.expect_download() as saved:
        visitor.page.locator("[data-plot=attack-success] [data-save=csv]").click()
    click_on_the_last_bar(visitor.page)

    assert saved.value.suggested_filename == f"vlmlab-modality-{campaign.pk}-first-attack-success.csv"
    assert visitor.problems == []
    assert wide == {}
    assert n_charts == CHARTS
    assert f"/modality/{campaign.pk}/runs/?sut=first&regime=image&outcome=c1" in visitor.page.url


def click_on_the_last_bar(page):
    bar = page.locator("[data-plot=attack-success] .barlayer .point path").last
    bar.scroll_into_view_if_needed()
    place = bar.bounding_box()
    for _ in range(3):  # Plotly forgets a click that meets its own look at the pointer; a person clicks again
        page.mouse.move(place["x"] + 3, place["y"] + place["height"] / 2 + 1)
        page.mouse.move(place["x"] + 5, place["y"] + place["height"] / 2)
        page.locator("[data-plot=attack-success] .plot.on-mark").wait_for()
        # Plotly looks at the pointer every 50 ms at most; a timer that is set now ends after its own.
        page.evaluate("() => new Promise((done) => setTimeout(done, 100))")
        page.mouse.down()
        page.mouse.up()
        with contextlib.suppress(sync_api.TimeoutError):
            page.wait_for_url("**/runs/?*", timeout=20_000)
            return
        page.mouse.move(0, 0)
