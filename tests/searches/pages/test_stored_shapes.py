"""Pages of what another version of the lab stored say so, and the log keeps why."""

import logging

import pytest

from searches.enums import JobKind, JobState
from searches.models import Calibration, Job
from tests.factories import make_sut
from vlmlab.core.suts.kinds import parse_params
from vlmlab.web.roles import Role

from .people import browser_of

pytestmark = pytest.mark.django_db
WORDS = "was stored by another version of the lab and cannot be read."


def page_at(path: str):
    return browser_of(Role.RESEARCHER).get(path)


@pytest.mark.parametrize(
    "values",
    [
        {"asking": {"colour": "red"}},
        {"items": [{"number": 1}]},
        {"items": [7]},
        {"fits": [{"convention": {"space": "the moon"}}]},
        {"fits": ["none"]},
    ],
)
def test_a_calibration_of_another_shape(values, caplog):
    row = Calibration.objects.create(
        sut=make_sut("pocket"),
        fingerprint="f",
        boxes_status="calibrated",
        answers_status="calibrated",
        reader_version="1",
        **{"asking": {}} | values,
    )

    with caplog.at_level(logging.ERROR, logger="searches"):
        page = page_at(row.get_absolute_url())

    assert (page.status_code, f"This calibration {WORDS}" in page.content.decode()) == (400, True)
    assert "Calibrate the system again." in page.content.decode()
    assert "a stored calibration cannot be read" in caplog.text


@pytest.mark.parametrize(
    ("kind", "result", "what"),
    [
        (JobKind.RENDER_SCENE, {}, "scene"),
        (JobKind.RENDER_SCENE, {"description": 7, "decision": []}, "scene"),
        (JobKind.TRY_SUT, {"boxes": {"items": "none"}}, "answer"),
        (JobKind.TRY_SUT, {"reading": [1, 2]}, "answer"),
    ],
)
def test_a_job_with_a_result_of_another_shape(kind, result, what):
    job = Job.objects.create(kind=kind, state=JobState.DONE, result=result, params={"sut": "pocket"})

    page = page_at(f"/jobs/{job.pk}/")

    assert (page.status_code, f"This {what} {WORDS}" in page.content.decode()) == (400, True)


@pytest.mark.parametrize(
    ("kind", "params"),
    [
        ("quantum", {"a": 1}),
        ("openai_chat", {}),
        ("openai_chat", {"model": "m", "asking": 7}),
        ("openai_chat", {"model": "m", "asking": {"convention": {"scale": "x"}}}),
        ("openai_chat", {"model": "m", "input_price_usd": "free", "spend_cap_usd": "lots"}),
        ("openai_chat", {"model": "m", "base_url": "\\\\x"}),
        ("transformers_local", {"checkpoint": "../../etc", "source": "folder"}),
        (
            "gemini",
            parse_params("gemini", {"model": "m"}).model_dump(mode="json")
            | {"asking": {"prompt_style": "gone"}},
        ),
    ],
)
def test_every_page_of_a_system_whose_settings_are_not_valid_any_more_opens(kind, params):
    make_sut("odd", kind=kind, params=params, queue="api")
    browser = browser_of(Role.RESEARCHER)
    paths = (
        "/suts/",
        "/suts/odd/",
        "/suts/odd/edit/",
        "/suts/odd/preview/",
        "/suts/odd/try/",
        "/suts/compare/",
    )

    found = {
        path: browser.get(path).status_code for path in (*paths, "/suts/odd/calibrations/", "/runs/new/")
    }

    is_known = kind in ("openai_chat", "gemini", "transformers_local")
    assert {path for path, status in found.items() if status != 200} == (
        set() if is_known else {"/suts/odd/edit/"}
    )
    assert browser.post("/suts/odd/calibrate/").status_code == 302
