"""A remote system in a real browser: register, calibrate, try, compare, and a limit that pauses a run."""

import hashlib
import io
import re
from functools import lru_cache

import pytest
from PIL import Image

from searches.enums import RunState
from searches.models import Calibration, SearchRun, SutRecord
from searches.services.jobs import run_job
from searches.services.leases import take_job
from searches.services.slice_ends import SliceEnd
from tests.factories import make_sut
from tests.peers import openai_chat as wire
from tests.peers.server import Answer, Asked, json_answer
from tests.searches.engine import FLAT, advance, as_new_process
from tests.searches.probing import pictures, relative_1000
from vlmlab.core.replies.probe_pictures import ProbePicture
from vlmlab.web.roles import Role

LONGEST_REPLY = 100  # tokens; at the price below a reply costs up to 0.10 dollars
OUTPUT_PRICE = "1000"


def digest(picture: Image.Image) -> str:
    """Digest what a picture shows, whatever its file is."""
    return hashlib.sha256(picture.convert("RGB").tobytes()).hexdigest()


@lru_cache(1)
def probes() -> dict[str, ProbePicture]:
    """Return the probe pictures by what they show."""
    return {digest(Image.open(io.BytesIO(one.image_png))): one for one in pictures()}


def answer(asked: Asked) -> Answer:
    """Find the rectangle of a probe picture, name its colour; take the first option of any other question."""
    probe, said = probes().get(digest(wire.sent_picture(asked))), "A"
    if probe is not None:
        is_colour_asked = probe.question in wire.sent_prompt(asked)
        said = probe.expected_letter if is_colour_asked else relative_1000(probe)
    usage = {"prompt_tokens": 10, "completion_tokens": LONGEST_REPLY}
    return json_answer(wire.completion(said, usage=usage))


@pytest.fixture
def peer(settings, monkeypatch):
    settings.SCENE_SOURCE_FACTORY = FLAT
    monkeypatch.setattr("vlmlab.core.replies.calibration.probe_pictures", pictures)
    as_new_process()
    with wire.openai_peer(answer) as server:
        settings.ENDPOINT_ALLOW = [f"127.0.0.1/32:{server.port}"]
        yield server
    as_new_process()


def work() -> None:
    """Do every waiting job, as workers would."""
    while (lease := take_job("test", ["cpu", "api"])) is not None:
        run_job(lease)


def ask_for_the_rectangle(page) -> None:
    """Fill the question of a try or a comparison with a probe picture."""
    picture = {"name": "probe.png", "mimeType": "image/png", "buffer": pictures()[0].image_png}
    page.set_input_files("#id_picture", picture)
    page.get_by_label("Find things").check()
    page.fill("#id_targets", pictures()[0].target)


def test_a_remote_system_is_registered_calibrated_tried_compared_and_held_by_its_limit(
    visit, transactional_db, peer
):
    visitor = visit(Role.RESEARCHER)
    page = visitor.page

    visitor.open("/suts/new/?kind=openai_chat")
    for name, text in {
        "name": "Far away", "base_url": f"{peer.url}/v1", "model": wire.MODEL, "secret": wire.KEY,
        "max_output_tokens": str(LONGEST_REPLY), "input_price_usd": "0", "output_price_usd": OUTPUT_PRICE,
    }.items():  # fmt: skip
        page.fill(f"#id_{name}", text)
    page.get_by_role("button", name="Register the system").click()
    page.wait_for_url("**/suts/far-away/")
    page.get_by_role("link", name="A calibration").click()
    page.wait_for_url("**/calibrations/?job=*")
    work()
    page.get_by_role("link", name="Look at the 20 pictures").click()
    page.wait_for_url("**/calibrations/*/")
    page.locator("[data-plot][data-drawn]").wait_for()
    visitor.note_violations("calibration")

    found = Calibration.objects.get()
    assert (found.boxes_status, found.answers_status, found.n_calls) == ("calibrated", "calibrated", 40)
    assert page.locator(".probe svg rect.bx").count() == 40  # the true box and the one that was read

    visitor.open("/suts/far-away/try/")
    ask_for_the_rectangle(page)
    page.get_by_role("button", name="Ask the system").click()
    page.wait_for_url("**/try/?job=*")
    work()
    page.locator("#answer svg rect.bx").wait_for()
    visitor.note_violations("try")

    assert page.locator("#answer .badge.done").inner_text() == "Boxes"

    make_sut("table", name="Table", params={"default": relative_1000(pictures()[0])})
    visitor.open("/suts/compare/?sut=far-away&sut=table")
    ask_for_the_rectangle(page)
    page.get_by_role("button", name="Ask them all").click()
    page.wait_for_url("**/suts/compare/?group=*")
    work()
    page.get_by_text("They agree").wait_for()
    visitor.note_violations("comparison")

    assert page.locator(".columns svg rect.bx").count() == 2
    assert visitor.problems == []


def test_a_run_that_its_limit_pauses_goes_on_once_the_limit_is_raised(visit, transactional_db, peer):
    sut = SutRecord.objects.create(
        slug="far", name="Far away", kind="openai_chat", queue="api",
        params={"base_url": f"{peer.url}/v1", "model": wire.MODEL, "max_output_tokens": LONGEST_REPLY,
                "input_price_usd": 0.0, "output_price_usd": float(OUTPUT_PRICE)},
    )  # fmt: skip
    visitor = visit(Role.RESEARCHER)
    page = visitor.page

    visitor.open(f"/runs/new/?sut={sut.pk}")
    page.get_by_label("Far away").set_checked(True)
    page.locator("input[name=algorithm][value=random]").check()
    for name, text in {
        "inference_budget": "15",
        "slots": "8",
        "spend_cap_usd": "1",
        "run_seed": "11",
    }.items():
        page.fill(f"#id_{name}", text)
    page.get_by_role("button", name="Start search").click()
    page.wait_for_url(re.compile(r"/runs/\d+/$"))
    run = SearchRun.objects.get()
    end = advance(run)
    page.locator("#limit").wait_for()
    visitor.note_violations("limit")

    assert (end, run.state, run.n_calls, run.spend_usd) == (
        SliceEnd.PAUSED,
        RunState.PAUSED,
        8,
        pytest.approx(0.8),
    )
    assert "$0.80 of $1.00" in page.locator("#limit").inner_text()

    page.fill("#id_new_limit", "0.5")
    page.get_by_role("button", name="Set the limit and resume").click()
    complaint = page.locator("#limit .error").inner_text()
    page.fill("#id_new_limit", "2")
    page.get_by_role("button", name="Set the limit and resume").click()
    page.get_by_text("The new limit holds").wait_for()
    end = advance(run)
    page.locator(".badge.done").wait_for()
    visitor.note_violations("finished")

    assert complaint.startswith("Enter more than the $0.80 that are spent already.")
    assert (end, run.n_calls, run.spend_usd) == (SliceEnd.FINISHED, 15, pytest.approx(1.5))
    # The answer to the limit that was too small is a 422; the browser notes that in its console.
    assert [one for one in visitor.problems if "422" not in one] == []
