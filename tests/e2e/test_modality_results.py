"""Pages of modality results in a real browser: charts are drawn, marks lead somewhere, nothing is blocked."""

import pytest

from tests.factories import make_sut
from tests.searches.modality_factory import (
    drawn_ending,
    make_grid,
    make_modality_campaign,
    make_seed_dataset,
)
from vlmlab.web.roles import Role

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
    page.mouse.move(place["x"] + 3, place["y"] + place["height"] / 2 + 1)
    page.mouse.move(place["x"] + 5, place["y"] + place["height"] / 2)
    page.locator("[data-plot=attack-success] .plot.on-mark").wait_for()
    # Plotly looks at the pointer every 50 ms at most; a timer that is set now ends after its own.
    page.evaluate("() => new Promise((done) => setTimeout(done, 200))")
    with page.expect_navigation():
        page.mouse.down()
        page.mouse.up()


def test_what_other_systems_are_asked_at_most_follows_a_change_that_meets_the_last_answer(visit, campaign):
    visitor = visit(Role.RESEARCHER)
    visitor.open(f"/modality/{campaign.pk}/transfer/")
    estimate = visitor.page.locator("#estimate")

    visitor.page.evaluate(
        """() => {
          const most = document.getElementById("id_most");
          const change = (text) => {
            most.value = text;
            most.dispatchEvent(new Event("change", { bubbles: true }));
          };
          document.addEventListener("htmx:beforeSwap", () => change("2"), { once: true });
          document.querySelector("#transfer-form input[name=suts]").click();
          change("3");
        }"""
    )

    estimate.locator("dt:text-is('Cases') + dd:text-is('2')").wait_for()
    assert visitor.problems == []
