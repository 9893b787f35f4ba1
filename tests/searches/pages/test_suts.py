"""Pages of systems: list, registration, changes, switching off."""

import json
from pathlib import Path

import pytest
from django.db.models import JSONField, Value

from searches.models import AuditEntry, SutRecord
from tests.factories import make_finished_run, make_sut
from vlmlab.web.roles import Role

from .people import browser_of, statuses

pytestmark = pytest.mark.django_db
READ_ONLY = {"": 302, "admin": 200, "researcher": 200, "reviewer": 200, "annotator": 403}
FOR_RESEARCHERS = {"": 302, "admin": 200, "researcher": 200, "reviewer": 403, "annotator": 403}


def write_checkpoint(folder: Path) -> Path:
    """Write the smallest folder that passes the checks: one tensor of two numbers."""
    folder.mkdir(parents=True)
    header = json.dumps({"w": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}).encode()
    (folder / "model.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + bytes(8))
    (folder / "config.json").write_text('{"model_type": "idefics3", "architectures": ["Tiny"]}')
    for name in ("tokenizer.json", "tokenizer_config.json", "preprocessor_config.json"):
        (folder / name).write_text("{}")
    (folder / "chat_template.jinja").write_text("{{ messages }}")
    return folder


NEW = "/suts/new/?kind=transformers_local"


def registration(**values: str) -> dict[str, str]:
    return {"name": "Tiny model", "folder": "lab/tiny", "device": "auto", "dtype": "auto"} | values


def test_the_list_is_open_to_readers_and_closed_to_everybody_else():
    assert statuses("/suts/") == READ_ONLY


def test_the_list_says_what_to_do_when_it_is_empty():
    page = browser_of(Role.RESEARCHER).get("/suts/").content.decode()

    assert "No system yet" in page
    assert page.count('href="/suts/new/"') == 2


def test_the_list_narrows_to_a_name_and_says_so_when_nothing_matches():
    make_sut("pocket", name="Pocket")
    make_sut("large", name="Large", is_enabled=False)
    browser = browser_of(Role.RESEARCHER)

    named = browser.get("/suts/?q=pock").context["lines"]
    switched_off = browser.get("/suts/?health=off").context["lines"]
    nothing = browser.get("/suts/?q=zebra").content.decode()

    assert [line.sut.slug for line in named] == ["pocket"]
    assert [line.sut.slug for line in switched_off] == ["large"]
    assert "No system matches" in nothing


@pytest.mark.parametrize("rows", [1, 3])
def test_the_list_asks_the_database_as_often_for_three_rows_as_for_one(rows, django_assert_num_queries):
    for _ in range(rows):
        make_finished_run(make_sut())
    browser = browser_of(Role.RESEARCHER)

    with django_assert_num_queries(7):
        browser.get("/suts/")


def test_registering_is_for_researchers():
    assert statuses("/suts/new/") == FOR_RESEARCHERS


def test_registering_stores_a_checked_checkpoint_with_one_audit_entry(settings):
    write_checkpoint(settings.MODEL_DIR / "lab" / "tiny")

    answer = browser_of(Role.RESEARCHER).post(NEW, registration(max_new_tokens="32"))

    sut = SutRecord.objects.get()
    assert (answer.status_code, answer.url) == (302, "/suts/tiny-model/")
    assert (sut.slug, sut.kind, sut.queue, sut.params["max_new_tokens"]) == (
        "tiny-model", "transformers_local", "cpu", 32,
    )  # fmt: skip
    assert sut.details["parameters"] == "2"
    assert list(AuditEntry.objects.values_list("verb", "object_label")) == [("registered", "Tiny model")]


def test_registering_refuses_a_folder_with_a_pickle_at_the_field_and_stores_nothing(settings):
    folder = write_checkpoint(settings.MODEL_DIR / "lab" / "tiny")
    (folder / "pytorch_model.bin").write_bytes(b"cos\nsystem\n")

    page = browser_of(Role.RESEARCHER).post(NEW, registration())

    assert page.status_code == 422
    assert list(page.context["form"].errors) == ["folder"]
    assert "pytorch_model.bin" in page.context["form"].errors["folder"][0]
    assert SutRecord.objects.count() == 0


def test_registering_never_offers_or_takes_a_folder_outside_the_model_directory(settings, tmp_path):
    write_checkpoint(tmp_path / "outside")
    settings.MODEL_DIR.mkdir(parents=True, exist_ok=True)

    answers = {
        wish: browser_of(Role.RESEARCHER).post(NEW, registration(folder=wish)).context["form"].errors
        for wish in ("../outside", str(tmp_path / "outside"), "%2e%2e/outside")
    }

    assert {wish: list(errors) for wish, errors in answers.items()} == {wish: ["folder"] for wish in answers}
    assert SutRecord.objects.count() == 0


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"folder": ""}, "folder"),
        ({"hub_id": "org/name"}, "hub_id"),
        ({"batch_size": "0"}, "batch_size"),
        ({"slug": "taken"}, "slug"),
        ({"slug": "new"}, "slug"),
        ({"name": ""}, "name"),
    ],
)
def test_registering_puts_each_error_at_its_field(settings, values, field):
    write_checkpoint(settings.MODEL_DIR / "lab" / "tiny")
    make_sut("taken")

    page = browser_of(Role.RESEARCHER).post(NEW, registration(**values))

    assert (page.status_code, list(page.context["form"].errors)) == (422, [field])
    assert f'href="#id_{field}"' in page.content.decode()


def test_a_system_page_is_open_to_readers():
    make_sut("pocket")

    assert statuses("/suts/pocket/") == READ_ONLY


def test_a_system_page_shows_effective_settings_and_marks_what_differs_from_the_default():
    make_sut("pocket", kind="transformers_local", params={"checkpoint": "shipped:pocket", "batch_size": 4})

    overview = browser_of(Role.RESEARCHER).get("/suts/pocket/").context["overview"]

    shown = {
        setting.name: (setting.value, setting.is_default)
        for _, settings in overview.setting_groups
        for setting in settings
    }
    assert shown["Checkpoint"] == ("shipped:pocket", False)
    assert shown["Batch size"] == ("4", False)
    assert shown["Longest reply"] == ("128 tokens", True)


def test_a_system_page_shows_settings_in_the_words_and_units_of_the_form():
    make_sut("far", kind="openai_chat", params={"model": "m", "thinking": "low", "spend_cap_usd": 1500.0})

    overview = browser_of(Role.RESEARCHER).get("/suts/far/").context["overview"]

    shown = {one.name: one.value for _, settings in overview.setting_groups for one in settings}
    assert (shown["Coordinates"], shown["Order"]) == ("shares of the picture", "x first (xyxy)")
    assert (shown["Syntax"], shown["Thinking"]) == ("JSON", "low")
    assert (shown["Time limit"], shown["Longest side"]) == ("120 seconds", "1,568 pixels")
    assert shown["Spending limit of the system"] == "$1,500.00"
    assert shown["Price of a million input tokens"] == "unknown"


@pytest.mark.parametrize("params", [[1, 2], "text", None, {"model": 7}])
def test_settings_that_cannot_be_read_are_told_in_the_row_of_the_list_and_on_the_page(params):
    make_sut("fine", kind="openai_chat", params={"model": "m"})
    broken = make_sut("broken", kind="openai_chat", params={"model": "m"})
    SutRecord.objects.filter(pk=broken.pk).update(params=Value(params, JSONField()))
    browser = browser_of(Role.RESEARCHER)

    page = browser.get("/suts/")

    assert {line.sut.slug: line.is_readable for line in page.context["lines"]} == {
        "fine": True, "broken": False,
    }  # fmt: skip
    assert page.content.decode().count("settings cannot be read") == 1
    for path in ("/suts/broken/", "/suts/broken/edit/", "/suts/?health=limit", "/"):
        assert browser.get(path).status_code == 200
    assert browser.get("/suts/broken/").context["overview"].settings_problem


@pytest.mark.parametrize(
    ("values", "label"),
    [
        ({}, "Not asked here yet"),
        ({"n_calls": 5, "n_call_errors": 1}, "Ready"),
        ({"n_calls": 5, "n_call_errors": 5}, "Fails"),
        ({"is_enabled": False, "n_calls": 5}, "Switched off"),
    ],
)
def test_a_system_page_says_how_the_system_does(values, label):
    make_sut("pocket", **values)

    overview = browser_of(Role.RESEARCHER).get("/suts/pocket/").context["overview"]

    assert overview.health.label == label


def test_an_answer_with_markup_in_an_error_is_shown_as_text():
    make_sut("pocket", n_calls=1, n_call_errors=1, last_error="<img src=x onerror=alert(1)>")

    page = browser_of(Role.RESEARCHER).get("/suts/pocket/").content.decode()

    assert ("<img src=x" in page, "&lt;img src=x onerror=alert(1)&gt;" in page) == (False, True)


def test_editing_keeps_the_short_name_changes_the_rest_and_leaves_one_audit_entry(settings):
    write_checkpoint(settings.MODEL_DIR / "lab" / "tiny")
    browser = browser_of(Role.RESEARCHER)
    browser.post(NEW, registration())

    answer = browser.post("/suts/tiny-model/edit/", registration(name="Tiny", device="cuda"))

    sut = SutRecord.objects.get()
    assert (answer.status_code, sut.slug, sut.name, sut.queue) == (302, "tiny-model", "Tiny", "gpu")
    assert AuditEntry.objects.filter(verb="edited").count() == 1


def test_switching_off_needs_a_post_and_leaves_an_audit_entry():
    sut = make_sut("pocket")
    browser = browser_of(Role.RESEARCHER)

    by_get = browser.get("/suts/pocket/toggle/").status_code
    browser.post("/suts/pocket/toggle/")

    sut.refresh_from_db()
    assert (by_get, sut.is_enabled) == (405, False)
    assert AuditEntry.objects.filter(verb="switched off").count() == 1


def test_a_reviewer_can_switch_nothing_off():
    sut = make_sut("pocket")

    status = browser_of(Role.REVIEWER).post("/suts/pocket/toggle/").status_code

    sut.refresh_from_db()
    assert (status, sut.is_enabled) == (403, True)


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (lambda folder: (folder / "chat_template.jinja").unlink(), "has no chat template"),
        (lambda folder: (folder / "config.json").write_text('{"model_type": "lava_lamp"}'), "“lava_lamp”"),
    ],
)
def test_a_checkpoint_that_no_worker_could_load_is_refused_at_its_field(settings, damage, sentence):
    damage(write_checkpoint(settings.MODEL_DIR / "lab" / "tiny"))

    answer = browser_of(Role.RESEARCHER).post(NEW, registration())

    assert (answer.status_code, list(answer.context["form"].errors)) == (422, ["folder"])
    assert sentence in str(answer.context["form"].errors["folder"])
    assert SutRecord.objects.count() == 0
