"""Sample data: a finished run goes into files and comes back the same; loading twice changes nothing."""

import json

import pytest
from django.core.management import CommandError, call_command

from searches.models import Blob, Calibration, Campaign, SearchRun, SutRecord
from searches.services import sample_data
from searches.services.blobs import digest_of
from searches.services.calibrations import calibrate, calibration_of
from tests.searches.engine import advance, as_new_process, run_digest, scripted, start_run
from tests.searches.probing import pictures, probed_sut
from vlmlab.core.replies.version import READER_VERSION
from vlmlab.core.suts.asking import AskingParams

MEASURED = ("fingerprint", "asking", "boxes_status", "answers_status", "items", "fits", "created_at__date")

pytestmark = pytest.mark.django_db


@pytest.fixture
def fixture(tmp_path, monkeypatch):
    run = start_run(scripted("pocket"), inference_budget=40)
    advance(run)
    SutRecord.objects.update(is_sample=True)
    wanted = run_digest(run)
    call_command(
        "make_sample_fixture", str(run.pk), folder=tmp_path / "sample", name="A first look", pictures=12
    )
    Campaign.objects.all().delete()
    Blob.objects.all().delete()
    monkeypatch.setattr(sample_data, "FOLDER", tmp_path / "sample")
    return wanted


def test_a_run_written_as_sample_comes_back_with_the_same_rows(fixture):
    notes = sample_data.load_sample_data()

    run = SearchRun.objects.get()
    assert run_digest(run) == fixture
    assert run.campaign.is_sample
    assert run.campaign.name == "A first look"
    assert notes[-1] == f"Sample run loaded: 40 inferences, {run.n_modes} failure modes."
    assert Blob.objects.count() == 12
    shown = {sha256 for shas in run.findings.values_list("thumbnails", flat=True) for sha256 in shas[:1]}
    assert len(shown & set(Blob.objects.values_list("pk", flat=True))) > 0


def test_loading_twice_changes_nothing(fixture):
    sample_data.load_sample_data()
    as_new_process()

    notes = sample_data.load_sample_data()

    assert notes[-1] == "The sample run is there already."
    assert SearchRun.objects.count() == 1


def test_a_missing_model_leaves_the_run_out_and_says_so(fixture, settings, tmp_path):
    settings.SHIPPED_MODEL_DIR = tmp_path / "nothing"
    SutRecord.objects.all().delete()

    notes = sample_data.load_sample_data()

    assert notes[0].startswith("The shipped model “pocket” is not in this copy")
    assert notes[1].startswith("The shipped model “pocket-early” is not in this copy")
    assert notes[2] == "The sample run is left out: the shipped model “pocket” is not registered."
    assert SearchRun.objects.count() == 0


def test_a_system_of_ones_own_with_the_name_of_a_shipped_one_gets_no_sample_run(fixture):
    SutRecord.objects.update(is_sample=False)

    notes = sample_data.load_sample_data()

    assert notes[0].startswith("The shipped model “pocket” is left out: a system of your own has that")
    assert notes[-1] == "The sample run is left out: the shipped model “pocket” is not registered."
    assert SearchRun.objects.count() == 0
    assert SutRecord.objects.get(slug="pocket").kind == "scripted"


def test_a_model_that_an_earlier_version_registered_is_asked_for_boxes_as_it_was_trained():
    sut = SutRecord.objects.create(
        slug="pocket", name="Mine", kind="transformers_local", params={"checkpoint": "shipped:pocket"},
        is_sample=True,
    )  # fmt: skip

    first = sample_data.load_sample_data()
    sut.refresh_from_db()
    again = sample_data.load_sample_data()

    assert first[0] == "The shipped model “pocket” writes boxes now and is asked for them in its own way."
    assert sut.params == {"checkpoint": "shipped:pocket", "asking": {"prompt_style": "json_0_1000"}}
    assert sut.name == "Mine"
    assert again[0] == "The shipped model “pocket” is registered already."


def test_what_a_person_set_for_the_shipped_model_stays():
    params = {"checkpoint": "shipped:pocket", "asking": {"choice_template": "Look: {question}"}}
    SutRecord.objects.create(
        slug="pocket", name="Mine", kind="transformers_local", params=params, is_sample=True
    )

    sample_data.load_sample_data()

    assert SutRecord.objects.get(slug="pocket").params == params


def test_an_unfinished_run_cannot_become_sample_data(tmp_path):
    run = start_run()

    with pytest.raises(Exception, match="Only a finished run"):
        call_command("make_sample_fixture", str(run.pk), folder=tmp_path)


@pytest.fixture
def measured(tmp_path, monkeypatch):
    monkeypatch.setattr("vlmlab.core.replies.calibration.probe_pictures", pictures)
    monkeypatch.setattr(sample_data, "FOLDER", tmp_path)
    sut = probed_sut("pocket", fingerprint="", is_sample=True)
    calibrate(sut, by=None)
    call_command("make_sample_fixture", calibration="pocket", folder=tmp_path)
    return Calibration.objects.values(*MEASURED).get()


def test_a_measured_calibration_comes_back_with_its_pictures_and_holds(measured):
    Calibration.objects.all().delete()
    Blob.objects.all().delete()
    SutRecord.objects.update(fingerprint="")

    sample_data.load_sample_data()

    sut = SutRecord.objects.get(slug="pocket")
    assert Calibration.objects.values(*MEASURED).get() == measured
    assert calibration_of(sut).standing == "current"
    assert Blob.objects.count() == len(pictures())
    assert sut.n_calls == 40  # nothing is counted twice


def test_a_system_that_was_calibrated_here_keeps_what_was_found(measured):
    notes = sample_data.load_sample_data()

    assert Calibration.objects.count() == 1
    assert not any("calibration" in note for note in notes)


@pytest.mark.parametrize(
    "change",
    [{"is_sample": False}, {"params": {"asking": {"choice_template": "Q: {question}"}}}],
)
def test_a_system_that_is_another_or_asked_otherwise_gets_no_calibration(measured, change):
    Calibration.objects.all().delete()
    SutRecord.objects.update(**change)

    sample_data.load_sample_data()

    assert Calibration.objects.count() == 0


def test_the_shipped_calibration_fits_the_shipped_model_and_its_pictures():
    content = json.loads((sample_data.FOLDER / "calibration.json").read_text(encoding="utf-8"))

    values = content["calibration"]
    shipped = {digest_of(one.image_png) for one in pictures()}
    assert {item["image_sha256"] for item in values["items"]} == shipped
    assert values["asking"] == AskingParams(prompt_style="json_0_1000").model_dump(mode="json")
    assert values["reader_version"] == READER_VERSION


def test_the_shipped_run_and_calibration_are_of_one_model():
    run = json.loads((sample_data.FOLDER / "run.json").read_text(encoding="utf-8"))
    calibration = json.loads((sample_data.FOLDER / "calibration.json").read_text(encoding="utf-8"))

    assert run["run"]["checkpoint"]["fingerprint"] == calibration["calibration"]["fingerprint"]


def test_the_fixture_command_needs_a_run_or_a_calibration():
    with pytest.raises(
        CommandError, match="Give the number of a run, --calibration SLUG, --seeds SLUG, --campaign NUMBER"
    ):
        call_command("make_sample_fixture")
