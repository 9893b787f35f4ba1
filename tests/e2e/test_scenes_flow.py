"""Kitchens, a domain of one's own and naming pictures, each in a real browser from beginning to end."""

import re

import pytest

from searches.enums import RunState
from searches.models import DomainVersion, Finding, Job, SearchRun
from searches.services.domain_store import find_domain
from searches.services.jobs import run_job
from searches.services.leases import take_job
from searches.services.slice_ends import SliceEnd
from tests.searches.engine import FLAT, advance, as_new_process, scripted
from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.web.roles import Role

RUN = re.compile(r"/runs/\d+/$")
INDOOR = load_domain("indoor")


@pytest.fixture(autouse=True)
def flat_scenes(settings):
    settings.SCENE_SOURCE_FACTORY = FLAT
    as_new_process()
    yield
    as_new_process()


def finish(run):
    while advance(run, slice_seconds=0.0) == SliceEnd.TIME_UP:
        pass
    assert run.state == RunState.SUCCEEDED


def work():
    """Do the waiting jobs as a worker would."""
    while (lease := take_job("worker", ["cpu"])) is not None:
        run_job(lease)


def test_a_kitchen_is_composed_drawn_and_searched_and_a_missed_hazard_is_called_one(visit, transactional_db):
    scripted("blind", rules=[{"answer_option": INDOOR.option_texts["safe"]}])
    visitor = visit(Role.RESEARCHER)
    page = visitor.page

    visitor.open("/domains/indoor/compose/")
    page.locator("label[for=c-knife_edge]").click()
    page.get_by_text("This can be asked.").wait_for()
    page.get_by_role("button", name="Draw the scene").click()
    page.locator(".job").wait_for()
    work()
    page.locator(".job img").first.wait_for()
    visitor.note_violations("the drawn kitchen")

    visitor.open("/runs/new/?domain=indoor")
    page.get_by_role("button", name="Start search").click()
    page.wait_for_url(RUN)
    run = SearchRun.objects.get()
    finish(run)
    page.locator(".badge.done").wait_for()  # the page came again by itself; leaving before would cross that
    visitor.open("/findings/")
    page.locator("table").get_by_text("missed hazard").first.wait_for()

    assert run.campaign.domain == "indoor"
    assert Finding.objects.filter(direction="missed-hazard").exists()
    assert visitor.problems == []


def test_a_driving_domain_with_one_changed_answer_is_searched_in_its_own_version(visit, transactional_db):
    scripted("careless")
    visitor = visit(Role.RESEARCHER)
    page = visitor.page

    visitor.open("/domains/new/")
    copy = page.locator("form", has=page.get_by_role("button", name="Make the copy"))
    copy.locator("select[name=source]").select_option("driving")
    copy.locator("input[name=title]").fill("Careful driving")
    copy.locator("input[name=slug]").fill("careful")
    copy.get_by_role("button", name="Make the copy").click()
    page.wait_for_url("**/edit/")
    page.get_by_role("button", name="Rules").click()
    page.locator(".domain-row").first.wait_for()
    page.locator(".domain-row").last.click()
    page.locator("#open-row").wait_for()
    page.locator("#open-row select[name$=action]").select_option("slow_down")
    page.locator("#id_note").fill("Never just drive on.")
    page.get_by_role("button", name="Save as a new version").click()
    page.wait_for_url("**/domains/careful/versions/")
    visitor.note_violations("editor")
    first, second = DomainVersion.objects.filter(slug="careful").order_by("number")

    visitor.open("/runs/new/?domain=careful")
    page.get_by_role("button", name="Start search").click()
    page.wait_for_url(RUN)
    run = SearchRun.objects.get()
    finish(run)
    page.locator(".badge.done").wait_for()  # the page came again by itself
    visitor.note_violations("run")

    assert (second.note, run.campaign.domain_version) == ("Never just drive on.", second.version)
    assert first.version != second.version
    changed = find_domain(run.campaign.domain_ref)
    assert changed.decide(("town_town01",)).action == "slow_down"
    trials = [(tuple(trial.concepts), trial.expected_action) for trial in run.trials.all()]
    assert trials == [(concepts, changed.decide(concepts).action) for concepts, _ in trials]
    original = load_domain("driving")
    assert [concepts for concepts, action in trials if action != original.decide(concepts).action] != []
    assert visitor.problems == []


def test_a_person_names_a_picture_without_being_told_and_sees_what_it_was(visit, transactional_db):
    visitor = visit(Role.REVIEWER)
    page = visitor.page

    visitor.open("/tell/")
    page.locator("label[for=d-indoor]").click()
    page.get_by_role("button", name="Show me").click()
    page.wait_for_url("**/tell/*/")
    work()
    page.get_by_alt_text("The picture to be named").wait_for()
    job = Job.objects.get(pk=page.locator("input[name=job]").input_value())
    for concept in job.params["concepts"]:
        page.locator(f"#c-{concept}").check()
    page.get_by_role("button", name="That is what I see").click()
    page.get_by_text("Right: the last picture was drawn for").wait_for()
    page.get_by_role("button", name="I cannot tell").click()
    page.get_by_text("could not tell").wait_for()
    visitor.open("/tell/results/?domain=indoor")

    page.get_by_text("the concept was named in 1 of 2 pictures").wait_for()
    assert visitor.problems == []
