"""The same picture and question for several systems: one job each, columns side by side."""

import uuid

import pytest

from searches.enums import JobKind, JobState
from searches.models import Job
from searches.services.jobs import run_job
from searches.services.leases import take_job
from searches.services.sut_comparison import comparison_of
from tests.factories import make_blob, make_sut, make_user
from vlmlab.web.roles import Role

from .people import statuses
from .test_sut_try import DRIVING, drawn_scene, jpeg, upload

pytestmark = pytest.mark.django_db


def work_all(queue: str = "cpu") -> None:
    while (lease := take_job("w", [queue])) is not None:
        run_job(lease)


def ask(browser, *slugs: str, **values: object):
    wanted = {"suts": list(slugs), "picture": upload(jpeg()), "mode": "text", "prompt": "What?"} | values
    return browser.post(
        "/suts/compare/", {name: value for name, value in wanted.items() if value is not None}
    )


def answered(group: uuid.UUID, slug: str, result: dict[str, object], **params: object) -> Job:
    make_sut(slug, name=slug.title())
    common = {
        "latency_ms": 10.0, "load_seconds": 0.0, "finish_reason": "stop", "size": [16, 12], "text": "",
        "input_tokens": None, "output_tokens": None, "cost_usd": 0.0, "n_attempts": 1, "served_model": "",
    }  # fmt: skip
    asked = {"sut": slug, "image_sha256": make_blob().sha256, "prompt": "?", "mode": "choice"} | params
    return Job.objects.create(
        kind=JobKind.TRY_SUT, group=group, state=JobState.DONE, params=asked, result=common | result
    )


def said(group: uuid.UUID, slug: str, letter: str) -> Job:
    reading = {"status": "answered" if letter else "invalid", "letter": letter}
    actions = {"A": "continue", "B": "emergency_stop"}
    return answered(group, slug, {"reading": reading}, actions=actions, domain=DRIVING)


def boxed(group: uuid.UUID, slug: str, *corners: list[float], status: str = "boxes") -> Job:
    items = [{"label": "car", "box": box, "flags": []} for box in corners]
    read = {"status": status, "reason": "", "flags": [], "n_items": len(items), "items": items, "salvage": []}
    return answered(group, slug, {"boxes": read}, mode="boxes", targets="the car")


def test_comparing_is_for_researchers():
    assert statuses("/suts/compare/") == {
        "": 302, "admin": 200, "researcher": 200, "reviewer": 403, "annotator": 403,
    }  # fmt: skip


def test_every_chosen_system_gets_a_job_about_one_picture_in_its_own_queue(browser, person):
    make_sut("here", params={"default": "Left."})
    make_sut("there", queue="gpu")
    make_sut("third")

    answer = ask(browser, "here", "there")

    jobs = {job.params["sut"]: job for job in Job.objects.all()}
    assert {slug: job.queue for slug, job in jobs.items()} == {"here": "cpu", "there": "gpu"}
    assert len({job.group for job in jobs.values()}) == 1
    assert len({job.params["image_sha256"] for job in jobs.values()}) == 1
    assert answer.url == f"/suts/compare/?group={jobs['here'].group}#answers"


def test_boxes_are_asked_for_in_each_systems_own_way(browser):
    make_sut("one", params={"asking": {"localization_template": "Where is {targets}?"}})
    make_sut("two", params={"asking": {"localization_template": "Box {targets}!"}})

    ask(browser, "one", "two", mode="boxes", targets=" the  red car ")

    assert {job.params["sut"]: job.params["prompt"] for job in Job.objects.all()} == {
        "one": "Where is the red car?", "two": "Box the red car!",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("n_chosen", "values", "field"),
    [
        (1, {}, "suts"),
        (7, {}, "suts"),
        (2, {"picture": None}, "picture"),
        (2, {"mode": "boxes"}, "targets"),
        (2, {"prompt": "  "}, "prompt"),
    ],
)
def test_what_is_missing_is_told_at_its_field_and_nothing_is_lost(browser, n_chosen, values, field):
    slugs = [make_sut(f"sut-{number}").slug for number in range(7)][:n_chosen]

    page = ask(browser, *slugs, **values)

    assert (page.status_code, list(page.context["form"].errors)) == (422, [field])
    assert page.context["form"]["suts"].value() == slugs
    assert Job.objects.count() == 0


def test_a_file_that_is_no_picture_is_refused_at_its_field(browser):
    make_sut("one")
    make_sut("two")

    page = ask(browser, "one", "two", picture=upload(b"<svg/>"))

    assert (page.status_code, list(page.context["form"].errors)) == (422, ["picture"])
    assert page.context["form"]["prompt"].value() == "What?"


def test_the_scene_of_somebody_else_cannot_be_asked_about(browser):
    make_sut("one")
    make_sut("two")
    scene = drawn_scene(make_user(Role.RESEARCHER))

    page = ask(browser, "one", "two", picture=None, scene=str(scene.pk))

    assert list(page.context["form"].errors) == ["scene"]


def test_the_answers_stand_side_by_side_and_stay_under_their_address(browser):
    make_sut("one", name="First", params={"default": "A red car."})
    make_sut("two", name="Second", params={"default": "A red car."})
    address = ask(browser, "one", "two").url.partition("#")[0]
    work_all()

    page = browser.get(address).content.decode()

    assert page.count("A red car.") == 2
    assert "Both answered with the same words." in page
    assert 'hx-trigger="every 1s"' not in page


def test_the_columns_poll_until_every_system_has_ended(browser):
    make_sut("one")
    make_sut("two", queue="gpu")
    address = ask(browser, "one", "two").url.partition("#")[0]
    work_all("cpu")

    part = browser.get(address, headers={"HX-Request": "true"}).content.decode()

    assert 'hx-trigger="every 1s"' in part
    assert "1 of 2 have ended." in part
    assert "<html" not in part


def test_a_system_that_is_switched_off_meanwhile_shows_its_sentence(browser):
    make_sut("one", name="First")
    off = make_sut("two", name="Second")
    address = ask(browser, "one", "two").url.partition("#")[0]
    off.is_enabled = False
    off.save()
    work_all()

    page = browser.get(address).content.decode()

    assert "Second is switched off." in page
    assert "Second gave no answer." in page


@pytest.mark.parametrize("group", ["nonsense", str(uuid.UUID(int=7))])
def test_a_comparison_that_is_not_there_is_not_found(browser, group):
    assert browser.get(f"/suts/compare/?group={group}").status_code == 404


def test_hostile_replies_are_shown_as_text(browser, unstorable_replies):
    make_sut("one", params={"default": "<script>alert(1)</script>" + "x" * 100_000})
    make_sut("two", params={"default": "~~<img src=x onerror=alert(1)>"})
    address = ask(browser, "one", "two").url.partition("#")[0]
    work_all()

    page = browser.get(address).content.decode()

    assert ("<script>alert" in page, "<img src=x" in page) == (False, False)
    assert "&lt;script&gt;alert(1)" in page


@pytest.mark.parametrize("columns", [2, 6])
def test_the_columns_take_the_same_queries_for_any_number_of_systems(
    columns, browser, django_assert_num_queries
):
    group = uuid.uuid4()
    for number in range(columns):
        said(group, f"sut-{number}", "A")

    with django_assert_num_queries(4):  # session, person, jobs, systems
        page = browser.get(f"/suts/compare/?group={group}", headers={"HX-Request": "true"})

    assert page.status_code == 200
    assert page.content.decode().count('<section class="card" aria-label="Sut-') == columns


@pytest.mark.parametrize(
    ("letters", "summary"),
    [
        ("AA", "Both agree: continue."),
        ("AAA", "All 3 agree: continue."),
        ("AB", "They disagree: 1 answered continue, 1 answered emergency stop."),
        (("A", "A", ""), "They disagree: 2 answered continue, 1 named no single option."),
        (("", ""), "No system named a single option."),
    ],
)
def test_the_summary_says_whether_the_actions_agree(letters, summary):
    group = uuid.uuid4()
    for number, letter in enumerate(letters):
        said(group, f"sut-{number}", letter)

    assert comparison_of(group).summary == summary


def test_boxes_agree_when_each_overlaps_its_counterpart_by_half():
    group = uuid.uuid4()
    boxed(group, "one", [0, 0, 10, 10])
    boxed(group, "two", [0, 0, 10, 8])

    assert comparison_of(group).summary == (
        "They agree (each box overlaps its counterpart by at least half): One 1 box, Two 1 box."
    )


@pytest.mark.parametrize(
    ("second", "status", "words"),
    [
        ([[0, 6, 10, 12]], "boxes", "1 box"),
        ([], "empty", "nothing there"),
        ([], "malformed", "malformed"),
        ([[0, 0, 10, 10], [1, 1, 2, 2]], "boxes", "2 boxes"),
    ],
)
def test_boxes_disagree_otherwise(second, status, words):
    group = uuid.uuid4()
    boxed(group, "one", [0, 0, 10, 10])
    boxed(group, "two", *second, status=status)

    assert comparison_of(group).summary == f"They disagree: One 1 box, Two {words}."


def test_two_unreadable_replies_are_no_agreement():
    group = uuid.uuid4()
    boxed(group, "one", status="malformed")
    boxed(group, "two", status="malformed")

    assert comparison_of(group).summary == "No reply could be read as boxes."
