"""Asking a system about one picture, from the form to the answer."""

import io

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from PIL import Image

from searches.enums import JobKind, JobState
from searches.models import Blob, Job
from tests.doubles import paint_png
from tests.factories import make_blob, make_sut, make_user
from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.web.roles import Role

from .people import statuses

DRIVING = load_domain("driving").ref

pytestmark = pytest.mark.django_db


def upload(content: bytes, name: str = "street.jpg") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, content)


def jpeg() -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (32, 24), (200, 10, 10)).save(out, "JPEG")
    return out.getvalue()


def drawn_scene(person, **values) -> Job:
    result = {
        "image_sha256": make_blob().sha256,
        "concepts": ["pedestrian"],
        "description": {"objects": []},
        "annotations": [],
        "attempt": 0,
        "digest": "d" * 64,
        "question": {
            "prompt": "What now?",
            "options": {
                "A": "Continue: keep the speed and the lane.",
                "B": "Emergency stop: brake as hard as possible now.",
            },
            "expected_letter": "B",
        },
        "decision": {"rule_id": "R1_obstacle_near", "action": "emergency_stop", "why": "Somebody is there."},
    }
    params = {"domain": DRIVING, "concepts": ["pedestrian"], "seed": 3, "width": 16, "height": 12}
    return Job.objects.create(
        kind=JobKind.RENDER_SCENE,
        params=params,
        result=result,
        state=JobState.DONE,
        created_by=person,
        **values,
    )


def finished_try(text: str, letter: str, status: str = "answered") -> Job:
    make_sut("pocket")
    params = {
        "sut": "pocket",
        "domain": DRIVING,
        "image_sha256": make_blob().sha256,
        "prompt": "What now?",
        "mode": "choice",
        "actions": {"A": "continue", "B": "emergency_stop"},
        "expected_action": "emergency_stop",
    }
    result = {
        "text": text,
        "latency_ms": 240.0,
        "load_seconds": 0.0,
        "finish_reason": "stop",
        "input_tokens": None,
        "output_tokens": 3,
        "cost_usd": 0.0,
        "reading": {"status": status, "letter": letter},
    }
    return Job.objects.create(kind=JobKind.TRY_SUT, params=params, result=result, state=JobState.DONE)


def test_trying_is_for_researchers():
    make_sut("pocket")

    assert statuses("/suts/pocket/try/") == {
        "": 302, "admin": 200, "researcher": 200, "reviewer": 403, "annotator": 403,
    }  # fmt: skip


def test_trying_an_upload_stores_the_canonical_picture_and_queues_one_job(browser, person):
    make_sut("pocket", queue="gpu")

    answer = browser.post(
        "/suts/pocket/try/", {"picture": upload(jpeg()), "mode": "text", "prompt": "What do you see?"}
    )

    job = Job.objects.get()
    assert answer.url == f"/suts/pocket/try/?job={job.pk}#answer"
    assert (job.kind, job.queue, job.created_by, job.params["prompt"]) == (
        JobKind.TRY_SUT, "gpu", person, "What do you see?",
    )  # fmt: skip
    assert Blob.objects.get().sha256 == job.params["image_sha256"]


@pytest.mark.parametrize(
    "content", [b"not a picture", b"<svg xmlns='http://www.w3.org/2000/svg'/>", paint_png((1, 2, 3))[:30]]
)
def test_trying_refuses_a_file_that_is_no_whole_picture_at_the_field(browser, content):
    make_sut("pocket")

    page = browser.post("/suts/pocket/try/", {"picture": upload(content), "mode": "choice"})

    assert (page.status_code, list(page.context["form"].errors)) == (422, ["picture"])
    assert (Job.objects.count(), Blob.objects.count()) == (0, 0)


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"mode": "choice"}, "picture"),
        ({"mode": "text", "prompt": " "}, "prompt"),
        ({"mode": "poem"}, "mode"),
    ],
)
def test_trying_puts_each_error_at_its_field(browser, values, field):
    make_sut("pocket")
    files = {} if field == "picture" else {"picture": upload(jpeg())}

    page = browser.post("/suts/pocket/try/", values | files)

    assert (page.status_code, list(page.context["form"].errors)) == (422, [field])


def test_trying_a_drawn_scene_asks_its_own_question_and_knows_the_expected_action(browser, person):
    make_sut("pocket")
    scene = drawn_scene(person)

    browser.post("/suts/pocket/try/", {"scene": str(scene.pk), "mode": "choice"})

    params = Job.objects.get(kind=JobKind.TRY_SUT).params
    assert params["prompt"] == "What now?"
    assert params["actions"] == {"A": "continue", "B": "emergency_stop"}
    assert params["expected_action"] == "emergency_stop"
    assert params["image_sha256"] == scene.result["image_sha256"]


def test_trying_never_offers_or_takes_the_scene_of_somebody_else(browser):
    make_sut("pocket")
    scene = drawn_scene(make_user(Role.RESEARCHER))

    page = browser.post("/suts/pocket/try/", {"scene": str(scene.pk), "mode": "choice"})

    assert list(page.context["form"].errors) == ["scene"]
    assert page.context["scenes"] == []


def test_trying_a_system_that_is_switched_off_says_what_to_do(browser):
    make_sut("pocket", name="Pocket", is_enabled=False)

    page = browser.post("/suts/pocket/try/", {"picture": upload(jpeg()), "mode": "choice"})

    assert page.context["form"].non_field_errors() == [
        "Pocket is switched off. Switch it on, then try again."
    ]
    assert Job.objects.count() == 0


def test_the_answer_names_letter_action_direction_and_latency(browser):
    job = finished_try("The answer is A.", "A")

    page = browser.get(f"/suts/pocket/try/?job={job.pk}").content.decode()

    assert '<b class="strong">A</b>, continue' in page
    assert 'emergency stop: <b class="strong bad-text">under-reaction</b>' in page
    assert "240 ms" in page


def test_the_answer_says_when_no_option_was_named(browser):
    job = finished_try("I like trains.", "", "invalid")

    page = browser.get(f"/suts/pocket/try/?job={job.pk}").content.decode()

    assert "no single option named" in page


def test_markup_in_an_answer_is_shown_as_text(browser):
    job = finished_try("<img src=x onerror=alert(1)>", "", "invalid")

    page = browser.get(f"/suts/pocket/try/?job={job.pk}").content.decode()

    assert ("<img src=x" in page, "&lt;img src=x onerror=alert(1)&gt;" in page) == (False, True)


def test_beside_an_answer_the_form_stands_as_it_was_sent(browser, person):
    make_sut("pocket")
    scene = drawn_scene(person)
    browser.post("/suts/pocket/try/", {"scene": str(scene.pk), "mode": "text", "prompt": "What do you see?"})
    job = Job.objects.get(kind=JobKind.TRY_SUT)

    form = browser.get(f"/suts/pocket/try/?job={job.pk}").context["form"]

    assert {name: form[name].value() for name in ("scene", "mode", "prompt")} == {
        "scene": str(scene.pk), "mode": "text", "prompt": "What do you see?",
    }  # fmt: skip


def test_a_made_up_or_foreign_job_number_shows_the_empty_answer(browser):
    job = finished_try("A", "A")
    make_sut("other")

    pages = [browser.get(f"/suts/other/try/?job={wanted}") for wanted in ("nonsense", job.pk)]

    assert ["Nothing asked yet" in page.content.decode() for page in pages] == [True, True]


def test_a_waiting_job_polls_itself_and_says_that_no_worker_serves_its_queue(browser):
    job = Job.objects.create(kind=JobKind.TRY_SUT, params={"sut": "pocket"}, queue="gpu")

    part = browser.get(f"/jobs/{job.pk}/", headers={"HX-Request": "true"}).content.decode()

    assert f'hx-get="/jobs/{job.pk}/" hx-trigger="every 1s"' in part
    assert "No worker serves the GPU queue." in part
    assert "<html" not in part


def test_an_ended_job_stops_polling_and_says_why_it_failed(browser):
    job = Job.objects.create(
        kind=JobKind.RENDER_SCENE, params={}, state=JobState.FAILED, error="No room.", hint="Take one out."
    )

    part = browser.get(f"/jobs/{job.pk}/", headers={"HX-Request": "true"}).content.decode()

    assert ("hx-trigger" in part, "No room. Take one out." in part) == (False, True)


def test_a_job_opened_by_its_address_is_a_whole_page(browser):
    job = Job.objects.create(kind=JobKind.TRY_SUT, params={"sut": "pocket"})

    page = browser.get(f"/jobs/{job.pk}/").content.decode()

    assert "<h1>Try a system</h1>" in page


def test_jobs_are_for_researchers():
    job = Job.objects.create(kind=JobKind.TRY_SUT, params={"sut": "pocket"})

    assert statuses(f"/jobs/{job.pk}/") == {
        "": 302, "admin": 200, "researcher": 200, "reviewer": 403, "annotator": 403,
    }  # fmt: skip


def test_a_drawn_scene_of_another_shape_is_neither_offered_nor_in_the_way(browser, person):
    good = drawn_scene(person)
    for result in ({}, {"image_sha256": "a" * 64}, [], {"image_sha256": None, "question": {}}):
        Job.objects.filter(pk=drawn_scene(person).pk).update(result=result)
    old = drawn_scene(person)
    Job.objects.filter(pk=old.pk).update(result={"image_sha256": "a" * 64})
    make_sut("pocket")

    page = browser.get("/suts/pocket/try/")
    sent = browser.post("/suts/pocket/try/", {"scene": str(old.pk), "mode": "choice"})

    assert [value for value, _ in page.context["form"].fields["scene"].choices] == ["", str(good.pk)]
    assert (browser.get("/suts/compare/").status_code, sent.status_code) == (200, 422)
