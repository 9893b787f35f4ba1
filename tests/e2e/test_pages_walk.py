"""Pages of systems, domains and the lab in a real browser: nothing blocked, no errors, nothing squeezed."""

import pytest

from searches.enums import RunState
from searches.models import Dataset, Job
from searches.services.calibrations import calibrate
from searches.services.sample_seeds import load_seeds
from tests.factories import make_campaign, make_finished_run, make_run, make_sut
from tests.searches.probing import probed_sut
from vlmlab.web.roles import Role

PAGES = (
    "/",
    "/suts/",
    "/suts/new/",
    "/suts/new/?kind=openai_chat",
    "/suts/pocket/",
    "/suts/pocket/edit/",
    "/suts/pocket/preview/",
    "/suts/pocket/try/",
    "/suts/pocket/calibrations/",
    "/suts/compare/",
    "/keys/",
    "/keys/new/",
    "/domains/",
    "/domains/driving/",
    "/domains/driving/?show=rules",
    "/domains/driving/?show=constraints",
    "/domains/driving/?show=sets",
    "/domains/driving/compose/?c=cone&c=far&c=weather_wet",
    "/domains/indoor/",
    "/domains/indoor/?show=rules",
    "/domains/indoor/compose/?c=glass_tipped&c=child_running",
    "/domains/indoor/edit/",
    "/domains/indoor/versions/",
    "/domains/new/",
    "/sources/",
    "/sources/new/",
    "/sources/new/?kind=image_api",
    "/sources/new/?kind=carla",
    "/datasets/",
    "/operators/",
    "/operators/on-pictures/rotate/",
    "/operators/prompts/",
    "/operators/word-tables/",
    "/operators/word-tables/new/",
    "/datasets/new/",
    "/datasets/upload/",
    "/datasets/upload/seed-images/",
    "/tell/",
    "/tell/results/?domain=indoor",
    "/components/",
    "/credits/",
    "/manual/index/",
    "/people/",
    "/people/new/",
    "/audit/",
    "/workers/",
    "/account/password/",
    "/account/tokens/",
    "/account/tokens/new/",
    "/api/",
)


@pytest.fixture
def more_pages(transactional_db):
    """Make rows for every page; return the addresses that hold a number."""
    make_finished_run(make_sut("pocket", kind="transformers_local", params={"checkpoint": "shipped:pocket"}))
    calibration = calibrate(probed_sut(), by=None)
    owed_to = f"Shapes: https://example.org/{'a-long-address/' * 12}"
    Dataset.objects.create(slug="pool", title="Pool", is_sample=True, credits=owed_to)
    config = {"algorithm": "random", "inference_budget": 60, "slots": 8, "spend_cap_usd": 0.2}
    halted = make_run(
        make_sut("dear", params={"price_usd": 0.01}),
        campaign=make_campaign(config=config),
        state=RunState.PAUSED,
        is_halted_by_spending=True,
        spend_usd=0.16,
    )
    load_seeds()
    return (calibration.get_absolute_url(), halted.get_absolute_url(), "/datasets/seed-images/")


def walk(visitor, pages):
    """Open every page once, wide, then narrow; return statuses, and which pages are wider than the window."""
    statuses, wide = {}, {}
    for path in pages:
        visitor.page.set_viewport_size({"width": 1280, "height": 900})
        statuses[path] = visitor.open(path)
        overflow = visitor.overflow
        visitor.page.set_viewport_size({"width": 390, "height": 900})
        visitor.note_violations(path)
        if overflow > 0 or visitor.overflow > 0:
            wide[path] = (overflow, visitor.overflow)
    return statuses, wide


def test_every_page_opens_without_violations_errors_or_sideways_scrolling(visit, more_pages):
    visitor = visit(Role.ADMIN, theme="dark")
    pages = PAGES + more_pages

    statuses, wide = walk(visitor, pages)

    assert statuses == dict.fromkeys(pages, 200)
    assert visitor.problems == []
    assert wide == {}


def test_a_chart_is_drawn_in_the_colours_of_the_page_and_follows_the_theme(visit, transactional_db):
    visitor = visit(Role.RESEARCHER, theme="light")
    visitor.open("/components/")
    frame = visitor.page.locator("[data-plot]")
    frame.scroll_into_view_if_needed()
    visitor.page.wait_for_selector("[data-plot][data-drawn]", timeout=20_000)
    line = visitor.page.locator("[data-plot] .scatterlayer path.js-line").first
    light = line.evaluate("element => element.style.stroke")

    visitor.page.locator("[data-theme-toggle]").first.click()
    visitor.page.wait_for_function(
        "before => document.querySelector('.scatterlayer path.js-line').style.stroke !== before", arg=light
    )

    assert light == "rgb(11, 99, 117)"
    assert line.evaluate("element => element.style.stroke") == "rgb(98, 197, 212)"
    visitor.note_violations("/components/")
    assert visitor.problems == []


def test_the_theme_survives_to_the_next_page_without_a_flash(visit, transactional_db):
    visitor = visit(Role.RESEARCHER, theme="light")
    visitor.open("/")
    visitor.page.locator("[data-theme-toggle]").first.click()

    visitor.open("/domains/")

    assert visitor.page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert 'data-theme="dark"' in visitor.page.request.get(visitor.base + "/suts/").text()


def test_choosing_concepts_shows_at_once_whether_they_fit(visit, transactional_db):
    visitor = visit(Role.RESEARCHER)
    visitor.open("/domains/driving/compose/")

    visitor.page.locator("label[for=c-light_red]").click()
    visitor.page.wait_for_selector("text=This can be asked.")
    visitor.page.locator("label[for=c-light_green]").click()
    visitor.page.wait_for_selector("text=exclude each other")

    assert "c=light_red&c=light_green" in visitor.page.url
    assert "csrf" not in visitor.page.url
    assert visitor.page.locator("button:has-text('Draw the scene')").count() == 0
    assert visitor.problems == []


def test_composing_works_without_scripts(visit, transactional_db):
    visitor = visit(Role.RESEARCHER, scripts=False)
    visitor.page.goto(visitor.base + "/domains/driving/compose/?c=cone")

    visitor.page.locator("button:has-text('Draw the scene')").click()

    assert Job.objects.get().params["concepts"] == ["cone"]
    assert "Waiting for a worker" in visitor.page.content() or "No worker serves" in visitor.page.content()


def test_the_menu_opens_from_the_top_bar_on_a_phone_and_closes_with_escape(visit, transactional_db):
    visitor = visit(Role.RESEARCHER, width=390)
    visitor.open("/")
    menu = visitor.page.locator("#nav")
    closed = menu.is_visible()

    visitor.page.locator("[popovertarget=nav]").click()
    opened = menu.is_visible()
    visitor.page.keyboard.press("Escape")

    assert (closed, opened, menu.is_visible()) == (False, True, False)


def test_the_first_key_leads_past_the_navigation(visit, transactional_db):
    visitor = visit(Role.RESEARCHER)
    visitor.open("/")

    visitor.page.keyboard.press("Tab")
    visitor.page.keyboard.press("Enter")

    assert visitor.page.evaluate("document.activeElement.id") == "main"


def test_the_watch_on_the_policy_sees_a_blocked_script(visit, transactional_db):
    visitor = visit(Role.RESEARCHER)
    visitor.open("/")

    visitor.page.evaluate(
        "const script = document.createElement('script'); script.textContent = 'window.ran = 1';"
        "document.body.append(script)"
    )
    visitor.page.wait_for_timeout(100)
    visitor.note_violations("/")

    assert visitor.page.evaluate("window.ran") is None
    assert any(problem.startswith("/: blocked script-src") for problem in visitor.problems)


@pytest.mark.parametrize("width", [1280, 390])
def test_opening_the_shell_lines_of_a_search_does_not_widen_the_page(visit, width):
    make_sut("pocket")
    visitor = visit(Role.RESEARCHER, width=width)

    visitor.open("/runs/new/")
    visitor.page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")

    assert visitor.overflow <= 0
