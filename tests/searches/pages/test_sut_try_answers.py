"""What a try shows of an answer: boxes over the picture, the outcome in words, the call itself."""

import io

import pytest
from PIL import Image

from searches.models import Job
from searches.services.jobs import run_job
from searches.services.leases import take_job
from searches.services.trying import read_result
from tests.factories import make_blob, make_sut
from vlmlab.core.suts.base import SutReply

from .test_sut_try import drawn_scene, finished_try, jpeg, upload

pytestmark = pytest.mark.django_db


def asked(browser, slug: str, **values):
    """Ask over the page, let a worker answer, and return the page with the answer."""
    sent = {"picture": upload(jpeg()), "mode": "text", "prompt": "What?"} | values
    address = browser.post(f"/suts/{slug}/try/", sent).url.partition("#")[0]
    run_job(take_job("w", ["cpu"]))
    return browser.get(address)


def test_things_are_asked_for_with_the_systems_own_prompt_and_convention(browser):
    asking = {"localization_template": "Box {targets}.", "convention": {"scale": 1, "order": "yxyx"}}
    make_sut("pocket", params={"asking": asking})

    browser.post("/suts/pocket/try/", {"picture": upload(jpeg()), "mode": "boxes", "targets": "a cat"})

    params = Job.objects.get().params
    assert (params["prompt"], params["targets"]) == ("Box a cat.", "a cat")
    assert (params["convention"]["scale"], params["convention"]["order"]) == (1, "yxyx")


def test_things_without_a_name_are_refused_at_the_field_and_nothing_is_lost(browser, person):
    make_sut("pocket")
    scene = drawn_scene(person)
    sent = {"scene": str(scene.pk), "mode": "boxes", "targets": "  ", "prompt": "My words"}

    form = browser.post("/suts/pocket/try/", sent).context["form"]

    assert list(form.errors) == ["targets"]
    assert [form[name].value() for name in ("scene", "mode", "prompt")] == [
        str(scene.pk),
        "boxes",
        "My words",
    ]


def test_a_picture_of_forty_megapixels_is_refused_at_the_field_and_the_words_stay(browser):
    make_sut("pocket")
    out = io.BytesIO()
    Image.new("L", (8000, 5000)).save(out, "PNG")

    page = browser.post(
        "/suts/pocket/try/", {"picture": upload(out.getvalue()), "mode": "text", "prompt": "My words"}
    )

    form = page.context["form"]
    assert form.errors["picture"] == [
        "The image has 8000 x 5000 pixels; at most 16 million are allowed. Scale it down and try again."
    ]
    assert form["prompt"].value() == "My words"


def test_an_empty_file_is_refused_at_the_field(browser):
    make_sut("pocket")

    page = browser.post("/suts/pocket/try/", {"picture": upload(b""), "mode": "choice"})

    assert list(page.context["form"].errors) == ["picture"]


def test_boxes_are_read_with_the_declared_convention_and_drawn_over_the_picture(browser):
    make_sut("pocket", params={"default": '[{"bbox_2d": [250, 500, 750, 1000], "label": "cat"}]'})

    page = asked(browser, "pocket", mode="boxes", targets="the cat")

    boxes = page.context["answer"].boxes
    [box] = boxes.picture.boxes
    assert (boxes.status, boxes.sentence) == ("boxes", "1 box read.")
    assert (box.label, box.x, box.y, box.width, box.height) == ("cat", 8, 12, 16, 12)
    assert 'class="bx clean" x="8.0" y="12.0" width="16.0" height="12.0"' in page.content.decode()


def test_nothing_is_asked_where_the_answer_may_pass_the_limit_of_the_system(browser):
    sut = make_sut("pocket", params={"price_usd": 0.5, "spend_cap_usd": 0.2})

    page = asked(browser, "pocket")

    sut.refresh_from_db()
    assert (sut.n_calls, sut.spend_usd) == (0, 0.0)
    assert "The spending limit of Pocket is reached" in page.content.decode()


def test_pixels_of_the_picture_that_was_sent_become_pixels_of_the_one_that_was_chosen():
    params = {"mode": "boxes", "convention": {"space": "seen_pixels"}}
    text = '{"bbox_2d": [10, 20, 50, 40], "label": "cat"}'

    read = read_result(SutReply(text, seen_size=(100, 50)), params, (400, 100))
    cut = read_result(SutReply(text, finish_reason="length", seen_size=(100, 50)), params, (400, 100))

    assert [item["box"] for item in read["boxes"]["items"]] == [[40.0, 40.0, 200.0, 80.0]]
    assert (cut["boxes"]["status"], cut["boxes"]["items"]) == ("malformed", [])
    assert [item["box"] for item in cut["boxes"]["salvage"]] == [[40.0, 40.0, 200.0, 80.0]]


@pytest.mark.parametrize(
    ("reply", "status", "sentence"),
    [
        ("[]", "empty", "It answered with an empty list: nothing is there."),
        ("There is a cat on the left.", "malformed", "The reply holds no box."),
        ('[{"bbox_2d": [1, 2, 3]}]', "malformed", "A box does not have exactly four numbers."),
        ("<think>Hm", "malformed", "It was still thinking when the reply ended."),
    ],
)
def test_why_a_reply_holds_no_boxes_is_said_in_words(browser, reply, status, sentence):
    make_sut("pocket", params={"default": reply})

    page = asked(browser, "pocket", mode="boxes", targets="the cat")

    boxes = page.context["answer"].boxes
    assert (boxes.status, boxes.sentence, boxes.lenient) == (status, sentence, None)
    assert sentence in page.content.decode()


def test_what_a_lenient_reader_saves_stands_apart_and_is_marked(browser):
    reply = '[{"bbox_2d": [0, 0, 500, 500], "label": "cat"}, {"bbox_2d": [10, 10'
    make_sut("pocket", params={"default": reply})

    page = asked(browser, "pocket", mode="boxes", targets="the cat")

    boxes = page.context["answer"].boxes
    assert (boxes.status, boxes.picture.boxes) == ("malformed", ())
    assert [(box.label, box.css) for box in boxes.lenient.boxes] == [("cat", "given")]
    assert "Lenient view" in page.content.decode()


def test_what_was_unusual_about_a_reply_is_said_in_words(browser):
    make_sut("pocket", params={"default": "[[750, 500, 250, 1050]]"})

    page = asked(browser, "pocket", mode="boxes", targets="the cat")

    assert page.context["answer"].boxes.flags == (
        "corners were given the wrong way round", "a box was cut at the edge of the picture",
    )  # fmt: skip


def test_hostile_words_of_a_reply_are_shown_as_text_and_stored(browser):
    label = "<script>alert(1)</script>\\u0000\\ud800" + "x" * 5000
    make_sut("pocket", params={"default": f'[{{"bbox_2d": [0, 0, 9, 9], "label": "{label}"}}]'})

    page = asked(browser, "pocket", mode="boxes", targets="the cat")

    html = page.content.decode()
    assert ("<script>alert" in html, "&lt;script&gt;alert(1)" in html) == (False, True)
    [box] = page.context["answer"].boxes.picture.boxes
    assert (len(box.label), "\x00" in box.label, "\ud800" in box.label) == (200, False, False)


def test_a_reply_of_a_hundred_kilobytes_is_shown(browser):
    make_sut("pocket", params={"default": "[" * 100_000})

    page = asked(browser, "pocket", mode="boxes", targets="the cat")

    assert page.context["answer"].boxes.status == "malformed"
    assert "[" * 50_000 in page.content.decode()


def test_the_answer_shows_the_exact_request_tries_tokens_cost_and_who_served_it(browser):
    job = finished_try("A", "A")
    job.result |= {
        "n_attempts": 3, "served_model": "pocket-2026-11-01", "cost_usd": 0.25, "reasoning_tokens": 2,
        "input_tokens": 900, "seen_size": [448, 336], "size": [896, 672], "request": '{"model": "pocket"}',
        "finish_reason": "safety",
    }  # fmt: skip
    job.save()

    page = browser.get(f"/suts/pocket/try/?job={job.pk}").content.decode()

    for words in (
        "sent 3 times", "pocket-2026-11-01", "$0.25", "900 in, 3 out, 2 of them thinking",
        "448 × 336 pixels, sent from 896 × 672", "{&quot;model&quot;: &quot;pocket&quot;}",
        "stopped by the provider's safety filter",
    ):  # fmt: skip
        assert words in page


def test_the_page_takes_the_same_queries_however_many_scenes_there_are(
    browser, person, django_assert_num_queries
):
    make_sut("pocket")
    for _ in range(3):
        drawn_scene(person)

    with django_assert_num_queries(6):  # session, person, navigation, system, scenes, domains
        page = browser.get("/suts/pocket/try/")

    assert (page.status_code, len(page.context["scenes"])) == (200, 3)


def test_a_cost_that_cannot_be_told_is_said_to_be_unknown(browser):
    job = finished_try("A", "A")
    job.result["is_price_unknown"] = True
    job.save()

    page = browser.get(f"/suts/pocket/try/?job={job.pk}").content.decode()

    assert '<dt>Cost</dt><dd class="muted">price unknown</dd>' in page


def test_the_same_picture_can_be_asked_something_else_without_choosing_it_again(browser):
    make_sut("pocket")
    page = asked(browser, "pocket")
    first = Job.objects.get()

    browser.post(
        "/suts/pocket/try/", {"same": page.context["form"]["same"].value(), "mode": "text", "prompt": "Sure?"}
    )

    second = Job.objects.exclude(pk=first.pk).get()
    assert second.params["image_sha256"] == first.params["image_sha256"]
    assert "Ask about this picture again" in page.content.decode()


def test_a_picture_is_kept_when_another_field_has_an_error(browser):
    make_sut("pocket")
    page = browser.post("/suts/pocket/try/", {"picture": upload(jpeg()), "mode": "text", "prompt": " "})
    kept = page.context["form"]["same"].value()

    browser.post("/suts/pocket/try/", {"same": kept, "mode": "text", "prompt": "What?"})

    assert list(page.context["form"].errors) == ["prompt"]
    assert Job.objects.get().params["image_sha256"] == kept


def test_another_file_takes_the_place_of_the_picture_before(browser):
    make_sut("pocket")
    before = make_blob().sha256

    browser.post(
        "/suts/pocket/try/", {"same": before, "picture": upload(jpeg()), "mode": "text", "prompt": "What?"}
    )

    assert Job.objects.get().params["image_sha256"] != before


@pytest.mark.parametrize("same", ["0" * 64, "../../etc/passwd", "A" * 64, "0" * 64 + "\n"])
def test_a_picture_that_is_not_stored_is_refused(browser, same):
    make_sut("pocket")

    page = browser.post("/suts/pocket/try/", {"same": same, "mode": "text", "prompt": "What?"})

    assert (page.status_code, Job.objects.count()) == (422, 0)
