"""What the shipped sample shows in a real browser: follow-ups, explanations, gates, a report as a file."""

import json

import pytest

from searches.models import Campaign
from searches.reports.reports import report_html
from searches.services.sample_data import FOLDER, load_run
from searches.services.sample_follow_ups import load_follow_ups
from tests.e2e.test_pages_walk import walk
from tests.e2e.visitor import PATIENCE_MS, Visitor
from tests.factories import make_sut
from tests.searches.gate_factory import make_card, make_envelope, make_family, make_regression
from vlmlab.web.roles import Role

EXPLAINED = ("", "pairs/", "answers/", "attribution/", "coverage/", "reasons/")
NEW = (
    "/findings/",
    "/findings/?state=confirmed",
    "/follow-ups/",
    "/follow-ups/planner/",
    "/explain/",
    "/experiments/",
    "/experiments/new/",
    "/experiments/reproduce/",
    "/families/",
    "/families/canaries/",
    "/cards/",
    "/cards/new/",
    "/reports/systems/pocket/",
)


@pytest.fixture
def sample(transactional_db):
    """The shipped run with its follow-ups; regressions and cards from rows."""
    make_sut("pocket", is_sample=True)
    run = load_run(
        json.loads((FOLDER / "run.json").read_text(encoding="utf-8")), pictures=FOLDER / "pictures"
    )
    load_follow_ups()
    return run


def addresses_of(run):
    letters = {0: ("P" * 20, "F" * 20), 1: ("P" * 20, "P" * 20)}
    family = make_family()
    regression = make_regression(family, letters, with_samples=True)
    envelope = make_envelope()
    card = make_card(envelope, {"near": (3, 400), "fog": (0, 100)}, sut=make_sut("calm"))
    follow_ups = Campaign.objects.exclude(follows=None)
    items = [one.items.order_by("pk").first() for one in follow_ups]
    found = [one.get_absolute_url() for one in (family, envelope)]
    found += [
        one.get_absolute_url()
        for one in [*follow_ups, run.findings.get(key="light_green+cyclist+emergency_vehicle")]
    ]
    found += [f"/follow-ups/{one.campaign_id}/items/{one.pk}/" for one in items]
    found += [f"/explain/run/{run.pk}/{one}" for one in EXPLAINED]
    found += [f"/families/regressions/{regression.pk}/", f"/cards/of/{card.pk}/", f"/runs/{run.pk}/"]
    return tuple(found)


def test_the_pages_of_evidence_open_without_violations_or_sideways_scrolling(visit, sample):
    visitor = visit(Role.ADMIN, theme="dark")
    pages = NEW + addresses_of(sample)

    statuses, wide = walk(visitor, pages)

    assert statuses == dict.fromkeys(pages, 200)
    assert visitor.problems == []
    assert wide == {}


def test_a_report_opens_from_a_disk_without_a_network(chromium, sample, tmp_path):
    path = tmp_path / "report.html"
    path.write_text("".join(report_html(sample.campaign)), encoding="utf-8")
    context = chromium.new_context(viewport={"width": 1280, "height": 900}, offline=True)
    context.set_default_timeout(PATIENCE_MS)
    page = context.new_page()
    visitor = Visitor(page, "")
    problems, requests = [], []
    page.on("console", lambda line: problems.append(line.text) if line.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("request", lambda request: requests.append(request.url))

    page.goto(path.as_uri(), wait_until="load")
    page.wait_for_function("[...document.querySelectorAll('[data-plot]')].every((one) => one.dataset.drawn)")
    visitor.stand_still()
    drawn = page.locator("[data-plot] .main-svg").count()
    broken = page.evaluate("[...document.images].filter((one) => !one.naturalWidth).length")
    wide = visitor.overflow
    visitor.resize(390)
    narrow = visitor.overflow
    with page.expect_download() as saved:
        page.locator("a[download='findings.csv']").click()
    context.close()

    assert drawn >= 5
    assert broken == 0
    assert (wide, narrow) == (0, 0)
    assert problems == []
    assert [one for one in requests if not one.startswith(("data:", "blob:", "file:"))] == []
    assert saved.value.suggested_filename == "findings.csv"


def test_a_report_says_all_it_has_to_say_without_scripts(chromium, sample, tmp_path):
    path = tmp_path / "report.html"
    path.write_text("".join(report_html(sample.campaign)), encoding="utf-8")
    context = chromium.new_context(java_script_enabled=False, offline=True)
    context.set_default_timeout(PATIENCE_MS)
    page = context.new_page()

    page.goto(path.as_uri())
    text = page.locator("main").inner_text()
    context.close()

    assert "11 confirmed" in text
    assert "The drawing needs JavaScript; the numbers are below." in text
