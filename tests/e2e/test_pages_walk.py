"""Pages of systems, domains and the lab in a real browser: nothing blocked, no errors, nothing squeezed."""

import re

import pytest

from searches.enums import RunState
from searches.models import Dataset, Job
from searches.services.calibrations import calibrate
from searches.services.sample_seeds import load_seeds
from tests.factories import make_campaign, make_finished_run, make_run, make_sut
from tests.searches.gate_factory import make_family
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
        visitor.resize(390)
        narrow_overflow = visitor.overflow
        visitor.note_violations(path)
        if overflow > 0 or narrow_overflow > 0:
            wide[path] = (overflow, narrow_overflow)
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
    visitor.page.wait_for_selector("[data-plot][data-drawn]")
    line = visitor.page.locator("[data-plot] .scatterlayer path.js-line").first
    light = line.evaluate("element => element.style.stroke")

    visitor.page.locator("[data-theme-toggle]").first.click()
    visitor.page.wait_for_function(
        """before => {
          const stroke = document.querySelector('.scatterlayer path.js-line')?.style.stroke;
          return stroke && stroke !== before;
        }""",
        arg=light,
    )

    assert light == "rgb(11, 99, 117)"
    assert line.evaluate("element => element.style.stroke") == "rgb(98, 197, 212)"
    visitor.note_violations("/components/")
    assert visitor.problems == []


def test_the_theme_survives_to_the_next_page_without_a_flash(visit, transactional_db):
    visitor = visit(Role.RESEARCHER, theme="light")
    visitor.open("/")
    visitor.page.locator("[data-theme-toggle]").first.click()
    visitor.page.wait_for_function("document.cookie.includes('theme=dark')")

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

    visitor.page.wait_for_url(re.compile("c=light_red&c=light_green"))
    assert "csrf" not in visitor.page.url
    assert visitor.page.locator("button:has-text('Draw the scene')").count() == 0
    assert visitor.problems == []


CHOOSE_TWO = {
    "before the answer to the first": """() => {
      for (const id of ["light_red", "cone"]) document.querySelector(`label[for=c-${id}]`).click();
    }""",
    "as soon as the answer to the first is shown": """() => {
      const chooseNext = () => setTimeout(() => document.querySelector("label[for=c-cone]").click());
      document.addEventListener("htmx:afterSwap", chooseNext, { once: true });
      document.querySelector("label[for=c-light_red]").click();
    }""",
}


@pytest.mark.parametrize("when", CHOOSE_TWO)
def test_no_choice_is_lost_when_two_follow_each_other_quickly(visit, transactional_db, when):
    visitor = visit(Role.RESEARCHER)
    visitor.open("/domains/driving/compose/")

    visitor.page.evaluate(CHOOSE_TWO[when])
    visitor.page.wait_for_url(re.compile("c=.*&c="))
    visitor.page.get_by_text("These 2 can appear together.").wait_for()

    chosen = visitor.page.locator("#composer input[name=c]:checked")
    assert sorted(chosen.evaluate_all("all => all.map((one) => one.value)")) == ["cone", "light_red"]
    # A question that a newer choice makes useless is given up; HTMX notes that in the console.
    assert [
        one for one in visitor.problems if "htmx:sendAbort" not in one and "htmx:afterRequest" not in one
    ] == []


def test_what_a_plan_can_tell_follows_the_last_of_two_quick_changes(visit, transactional_db):
    family = make_family()
    visitor = visit(Role.RESEARCHER)
    visitor.open(f"{family.get_absolute_url()}edit/")

    visitor.page.evaluate(
        """() => {
          const scenes = document.getElementById("id_scenes");
          for (const text of ["30", "70"]) {
            scenes.value = text;
            scenes.dispatchEvent(new Event("change", { bubbles: true }));
          }
        }"""
    )

    visitor.page.locator("#power").get_by_text("What 70 scenes a mode can tell").wait_for()
    assert visitor.problems == []


def test_composing_works_without_scripts(visit, transactional_db):
    visitor = visit(Role.RESEARCHER, scripts=False)
    visitor.page.goto(visitor.base + "/domains/driving/compose/?c=cone")

    visitor.page.locator("button:has-text('Draw the scene')").click()
    visitor.page.wait_for_url(re.compile("&job="))

    assert Job.objects.get().params["concepts"] == ["cone"]
    assert "Waiting for a worker" in visitor.page.content() or "No worker serves" in visitor.page.content()


def test_the_menu_opens_from_the_top_bar_on_a_phone_and_closes_with_escape(visit, transactional_db):
    visitor = visit(Role.RESEARCHER, width=390)
    visitor.open("/")
    menu = visitor.page.locator("#nav")
    is_open_at_first = menu.is_visible()

    visitor.page.locator("[popovertarget=nav]").click()
    menu.wait_for(state="visible")
    visitor.page.keyboard.press("Escape")
    menu.wait_for(state="hidden")

    assert not is_open_at_first


def test_the_first_key_leads_past_the_navigation(visit, transactional_db):
    visitor = visit(Role.RESEARCHER)
    visitor.open("/")

    visitor.page.keyboard.press("Tab")
    visitor.page.locator(".skip:focus").wait_for()
    visitor.page.keyboard.press("Enter")

    visitor.page.locator("#main:focus").wait_for()
    assert visitor.problems == []


def test_the_watch_on_the_policy_sees_a_blocked_script(visit, transactional_db):
    visitor = visit(Role.RESEARCHER)
    visitor.open("/")

    visitor.page.evaluate(
        "const script = document.createElement('script'); script.textContent = 'window.ran = 1';"
        "document.body.append(script)"
    )
    visitor.page.wait_for_function("window.violations.length > 0")
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
