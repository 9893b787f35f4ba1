"""Sample data: a finished run goes into files and comes back the same; loading twice changes nothing."""

import pytest
from django.core.management import call_command

from searches.models import Blob, Campaign, SearchRun, SutRecord
from searches.services import sample_data
from tests.searches.engine import advance, as_new_process, run_digest, scripted, start_run

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
