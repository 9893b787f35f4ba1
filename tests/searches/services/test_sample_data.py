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

    assert notes[0].startswith("The shipped model is not in this copy")
    assert notes[1] == "The sample run is left out: its system “pocket” is not registered."
    assert SearchRun.objects.count() == 0


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

    sut = SutRecord.objects.get()
    assert Calibration.objects.values(*MEASURED).get() == measured
    assert calibration_of(sut).standing == "current"
    assert Blob.objects.count() == len(pictures())
    assert sut.n_calls == 40  # nothing is counted twice


def test_a_system_that_was_calibrated_here_keeps_what_was_found(measured):
    notes = sample_data.load_sample_data()

    assert Calibration.objects.count() == 1
    assert "Its calibration is loaded." not in notes


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
    assert values["asking"] == AskingParams().model_dump(mode="json")
    assert values["reader_version"] == READER_VERSION


def test_the_fixture_command_needs_a_run_or_a_calibration():
    with pytest.raises(CommandError, match="Give the number of a run, or --calibration SLUG"):
        call_command("make_sample_fixture")
