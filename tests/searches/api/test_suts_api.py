"""Systems over the API: lists, registration, changes, trying; a secret goes in and never comes out."""

from uuid import uuid4

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from searches.enums import JobKind, JobState
from searches.models import ApiKey, AuditEntry, Job, SutRecord
from searches.services.keys import create_key
from searches.services.trying import MOST_PROMPT_CHARACTERS
from tests.doubles import paint_png
from tests.factories import make_sut
from tests.searches.api.asking import Program
from vlmlab.core.suts.kinds import SUT_KINDS
from vlmlab.core.suts.remote_params import GeminiParams

pytestmark = pytest.mark.django_db
SECRET = "sk-very-secret-0123456789"


def remote(**changes):
    return {
        "slug": "far-away",
        "kind": "gemini",
        "params": {"model": "gemini-3-flash"},
        "secret": SECRET,
    } | changes


@pytest.mark.parametrize("count", [1, 3])
def test_the_list_asks_the_database_the_same_whatever_its_length(count, django_assert_num_queries):
    program = Program()
    for number in range(count):
        key = create_key(name=f"key {number}", kind="gemini", secret=SECRET, by=None)
        make_sut(kind="gemini", params={"model": "gemini-3-flash"}, api_key=key)

    with django_assert_num_queries(3):  # token, systems with keys, calibrations
        answer = program.get("/suts")

    assert len(answer["items"]) == count


def test_the_list_can_be_narrowed_and_read_in_pages():
    for slug in ("first", "second", "third"):
        make_sut(slug)
    make_sut("off", is_enabled=False)
    program = Program()

    page = program.get("/suts?is_enabled=true&limit=2")
    rest = program.get(page["next"].removeprefix("/api/v1"))

    assert [sut["slug"] for sut in page["items"]] == ["third", "second"]
    assert ([sut["slug"] for sut in rest["items"]], rest["next"]) == (["first"], None)


def test_kinds_come_with_the_schema_of_their_settings():
    kinds = {kind["name"]: kind for kind in Program().get("/kinds")}

    assert set(kinds) == set(SUT_KINDS)
    assert "model" in kinds["openai_chat"]["params"]["required"]


def test_a_registered_system_can_be_read_and_its_secret_cannot():
    program = Program()

    sut = program.post("/suts", remote())
    text = program.last.content.decode() + str(program.get("/suts/far-away")) + str(program.get("/suts"))

    assert program.status == 200
    assert (sut["slug"], sut["api_key"]["name"], sut["queue"]) == ("far-away", "far-away", "api")
    assert SECRET not in text
    assert ApiKey.objects.get().secret.reveal() == SECRET
    assert SECRET not in str(list(AuditEntry.objects.values()))


@pytest.mark.parametrize("reference", ["name", "id"])
def test_a_stored_key_is_named_by_its_name_or_its_id(reference):
    key = create_key(name="shared", kind="gemini", secret=SECRET, by=None)
    named = "shared" if reference == "name" else key.pk

    sut = Program().post("/suts", remote(secret="", api_key=named))

    assert sut["api_key"] == {
        "id": key.pk,
        "name": "shared",
        "origin": "https://generativelanguage.googleapis.com",
    }


def test_a_preset_gives_kind_and_settings_and_may_be_changed():
    program = Program()
    preset = next(one for one in program.get("/presets") if one["kind"] == "gemini")

    sut = program.post(
        "/suts", {"slug": "g", "preset": preset["name"], "params": {"temperature": 0.5}, "secret": SECRET}
    )

    assert (sut["kind"], sut["preset"], sut["params"]["model"]) == (
        "gemini", preset["name"], preset["params"]["model"],
    )  # fmt: skip
    assert sut["params"]["temperature"] == 0.5


@pytest.mark.parametrize(
    ("body", "status", "field", "sentence"),
    [
        ("{oops", 400, None, "not JSON"),
        ([], 422, None, "Send an object."),
        ({}, 422, "slug", "slug: This is missing."),
        (remote(colour="red"), 422, "colour", "There is no field called “colour”."),
        (remote(slug="A b"), 422, "slug", "a character that is not allowed"),
        (remote(kind="quantum"), 422, "kind", "There is no kind"),
        (remote(kind="scripted", secret=""), 422, "kind", "cannot be registered here"),
        (remote(params={"model": "x", "temperature": 99}), 422, "temperature", "from 0 to 2"),
        (remote(params={"model": "x", "modle": 1}), 422, "modle", "There is no setting"),
        (remote(secret=""), 422, "api_key", "needs a key"),
        (remote(secret="two\nlines"), 422, "secret", "one line"),
        (remote(api_key="nobody's", secret=""), 422, "api_key", "There is no key"),
        (remote(api_key=1), 422, "secret", "not both"),
        (remote(kind="", preset="nothing"), 422, "preset", "There is no preset"),
        (remote(slug="taken"), 422, "slug", "already a system"),
        (
            {"slug": "x", "kind": "openai_chat", "params": {"model": "m", "base_url": "http://10.0.0.1/v1"}},
            422, "base_url", "not allowed",
        ),
    ],
)  # fmt: skip
def test_a_refused_registration_says_what_is_wrong_and_where(body, status, field, sentence):
    make_sut("taken")
    program = Program()

    problem = program.post("/suts", body)

    assert (program.status, problem["field"]) == (status, field)
    assert sentence in problem["message"]
    assert SutRecord.objects.count() == 1
    assert ApiKey.objects.count() == 0  # what goes with it is stored with it or not at all


@pytest.mark.parametrize(
    "body",
    [
        '{"slug": "a", "slug": "b", "kind": "openai_chat", "params": {"model": "m"}}',
        '{"slug": "a", "kind": "openai_chat", "params": {"model": "m", "extra_body": {"a": NaN}}}',
        '{"slug": "a", "kind": "openai_chat", "params": {"model": "m", "temperature": -Infinity}}',
        '{"slug": "a", "params": ' + "[" * 64 + "]" * 64 + "}",
        '{"slug": "a", "params": ' + '{"a":' * 900 + "1" + "}" * 901,
        '{"slug": "' + "a" * 1_000_000 + '"}',
        "9" * 5_000,
    ],
    ids=["name twice", "nan", "infinity", "lists", "objects", "megabyte", "digits"],
)
def test_json_that_not_every_reader_takes_is_refused_before_it_is_used(body):
    program = Program()

    problem = program.post("/suts", body)

    assert (program.status, problem["message"]) == (
        400,
        "The body of the request is not JSON that can be read.",
    )
    assert "no name twice" in problem["hint"]
    assert SutRecord.objects.count() == 0


@pytest.mark.parametrize("extra", [{"a": "x" * 100_000}, {str(number): number for number in range(10_000)}])
def test_settings_that_no_page_could_show_are_refused(extra):
    program = Program()

    problem = program.post(
        "/suts", {"slug": "a", "kind": "openai_chat", "params": {"model": "m", "extra_body": extra}}
    )

    assert (program.status, problem["field"]) == (422, "extra_body")
    assert "more than 100,000 characters" in problem["message"]


def test_a_change_leaves_the_rest_as_it_was():
    program = Program()
    program.post("/suts", remote(description="Old words"))

    sut = program.patch("/suts/far-away", {"params": {"temperature": 0.0}, "name": "Far away"})

    assert (sut["name"], sut["description"]) == ("Far away", "Old words")
    assert (sut["params"]["model"], sut["params"]["temperature"]) == ("gemini-3-flash", 0.0)
    assert sut["api_key"]["name"] == "far-away"


def test_a_table_of_answers_cannot_be_changed():
    make_sut("toy", params={"default": "A"})
    program = Program()

    problem = program.patch("/suts/toy", {"params": {"default": "B"}})

    assert (program.status, problem["field"]) == (422, "kind")
    assert SutRecord.objects.get().params == {"default": "A"}


@pytest.mark.parametrize(
    ("change", "field", "sentence"),
    [
        ({"params": {"temperature": 9}}, "temperature", "from 0 to 2"),
        ({"params": {"model": None}}, "model", "Enter a value."),
        ({"name": ""}, "name", "at least one character"),
        ({"api_key": None}, "api_key", "needs a key"),
        ({"kind": "openai_chat"}, "kind", "There is no field called “kind”."),
        ({"params": []}, "params", "Send an object."),
    ],
)
def test_a_refused_change_changes_nothing(change, field, sentence):
    program = Program()
    before = program.post("/suts", remote())

    problem = program.patch("/suts/far-away", change)

    assert (program.status, problem["field"]) == (422, field)
    assert sentence in problem["message"]
    assert program.get("/suts/far-away") == before


def test_null_puts_a_setting_back_to_its_default():
    program = Program()
    program.post("/suts", remote(params={"model": "gemini-3-flash", "max_output_tokens": 7}))

    sut = program.patch("/suts/far-away", {"params": {"max_output_tokens": None}})

    default = GeminiParams.model_fields["max_output_tokens"].default
    assert sut["params"]["max_output_tokens"] == default


def test_a_system_is_switched_off_and_on_again():
    make_sut("toy")
    program = Program()

    assert program.post("/suts/toy/disable")["is_enabled"] is False
    assert program.post("/suts/toy/enable")["is_enabled"] is True


def test_an_unknown_system_is_told_by_name():
    program = Program()

    problem = program.get("/suts/nothing")

    assert (program.status, problem["message"]) == (404, "There is no system “nothing”.")


def test_calibrating_starts_one_job():
    make_sut("toy")
    program = Program()

    job = program.post("/suts/toy/calibrate")

    assert (program.status, job["kind"], job["is_ended"]) == (202, "calibrate_sut", False)
    assert program.get(f"/jobs/{job['id']}")["state"] == "queued"


def test_a_picture_is_tried_and_its_job_can_be_read():
    make_sut("toy")
    program = Program()

    job = program.upload(
        "/suts/toy/try", picture=SimpleUploadedFile("a.png", paint_png((9, 9, 9))), prompt="Hm?"
    )

    assert (program.status, job["kind"]) == (202, "try_sut")
    assert Job.objects.get().params["prompt"] == "Hm?"


@pytest.mark.parametrize(
    ("fields", "field", "sentence"),
    [
        ({}, "picture", "nothing to ask about"),
        ({"picture": SimpleUploadedFile("a.png", b"hello")}, "picture", "not a readable image"),
        ({"scene": "00000000-0000-0000-0000-000000000001"}, "scene", "This scene is gone."),
        ({"scene": "seven"}, "scene", "This is not an id."),
    ],
)
def test_a_refused_picture_or_scene_stands_at_its_field(fields, field, sentence):
    make_sut("toy")
    program = Program()

    problem = program.upload("/suts/toy/try", **fields)

    assert (program.status, problem["field"]) == (422, field)
    assert sentence in problem["message"]
    assert Job.objects.count() == 0


def test_more_than_one_thing_to_ask_is_refused():
    make_sut("pocket")
    program = Program()

    problem = program.upload("/suts/pocket/try", scene=str(uuid4()), prompt="What?", targets="the car")

    assert (program.status, problem["field"]) == (422, "prompt")
    assert "not both" in problem["message"]


@pytest.mark.parametrize(
    ("fields", "field", "sentence"),
    [
        ({"promt": "What?"}, "promt", "There is no field called “promt”."),
        ({"image": SimpleUploadedFile("a.png", b"x")}, "image", "There is no field called “image”."),
        ({"picture": "a.png"}, "picture", "This is no file."),
    ],
)
def test_a_field_of_the_form_that_is_not_known_is_refused_by_its_name(fields, field, sentence):
    make_sut("pocket")
    program = Program()

    problem = program.upload("/suts/pocket/try", scene=str(uuid4()), **fields)

    assert (program.status, problem["field"]) == (422, field)
    assert sentence in problem["message"]


def test_a_prompt_may_be_as_long_as_on_the_page():
    make_sut("pocket")
    program = Program()
    picture = paint_png((9, 9, 9))

    long = program.upload(
        "/suts/pocket/try",
        picture=SimpleUploadedFile("a.png", picture),
        prompt="x" * MOST_PROMPT_CHARACTERS,
    )
    assert (program.status, long["kind"]) == (202, "try_sut")

    problem = program.upload(
        "/suts/pocket/try",
        picture=SimpleUploadedFile("a.png", picture),
        prompt="x" * (MOST_PROMPT_CHARACTERS + 1),
    )
    assert (program.status, problem["field"]) == (422, "prompt")


def test_a_request_of_too_many_parts_is_told_as_such():
    make_sut("pocket")
    program = Program()

    problem = program.upload("/suts/pocket/try", **{f"f{number}": "x" for number in range(1_001)})

    assert (program.status, problem["hint"]) == (413, "Send less at once.")


def test_a_job_at_work_says_how_far_it_is_and_nothing_else():
    job = Job.objects.create(
        kind=JobKind.CALIBRATE_SUT,
        state=JobState.RUNNING,
        params={},
        result={"n_answered": 8, "n_calls": 40, "held_usd": 1.5},
    )
    program = Program()
    path = f"/jobs/{job.pk}"

    first = program.get(path)
    tag = program.last["ETag"]
    program.get(path, **{"If-None-Match": tag})
    same = program.status
    Job.objects.filter(pk=job.pk).update(result={"n_answered": 16, "n_calls": 40})
    later = program.get(path, **{"If-None-Match": tag})

    assert first["result"] == {"n_answered": 8, "n_calls": 40}
    assert (same, later["result"]["n_answered"]) == (304, 16)


def test_a_system_whose_stored_settings_have_no_shape_is_listed_without_any():
    SutRecord.objects.filter(pk=make_sut("odd").pk).update(params=[1, 2])

    assert [item["params"] for item in Program().get("/suts")["items"]] == [{}]
