"""The shipped follow-ups: they load onto the shipped run once, and written again they are the same."""

import gzip
import json

import pytest
from django.core.management import CommandError, call_command

from searches.models import Blob, Campaign, Finding, FollowUpItem, Sample, SearchRun
from searches.services.sample_data import FOLDER, load_run
from searches.services.sample_follow_ups import (
    FIXTURE,
    FOLLOW_UP_FOLDER,
    dump_follow_ups,
    load_follow_ups,
)
from tests.factories import make_sut

pytestmark = pytest.mark.django_db


@pytest.fixture
def sample_run(tmp_path):
    make_sut("pocket", is_sample=True)
    content = json.loads((FOLDER / "run.json").read_text(encoding="utf-8"))
    return load_run(content, pictures=tmp_path)


def content_of(folder):
    return json.loads(gzip.decompress((folder / FIXTURE).read_bytes()))


def test_the_shipped_follow_ups_settle_the_shipped_run(sample_run):
    note = load_follow_ups()

    states = list(sample_run.findings.order_by("id").values_list("state", flat=True))
    assert note.startswith("Sample follow-ups loaded: 4 follow-ups with ")
    assert states.count("confirmed") == 11
    assert states.count("undetermined") == 1
    assert list(Campaign.objects.exclude(kind="").order_by("pk").values_list("kind", flat=True)) == [
        "confirm", "probe", "ablate", "confirm",
    ]  # fmt: skip
    assert not FollowUpItem.objects.filter(finding=None).exists()
    reducible = sample_run.findings.exclude(minimality="").first()
    assert reducible is not None
    assert set(reducible.necessity) <= set(reducible.concepts)


def test_what_an_ablation_found_is_explained_and_confirmed(sample_run):
    load_follow_ups()

    smaller = Finding.objects.filter(run__campaign__kind="ablate")
    assert {one.key for one in smaller} == {"light_green+cyclist", "light_green+emergency_vehicle"}
    assert {one.state for one in smaller} == {"confirmed"}
    assert all(one.covers.exists() for one in smaller)
    assert {one.trial.run_id for one in smaller} == {one.run_id for one in smaller}


def test_every_picture_that_a_list_shows_is_shipped(sample_run):
    load_follow_ups()

    new = Finding.objects.filter(run__campaign__kind="ablate")
    shown = {sha256 for shas in new.values_list("thumbnails", flat=True) for sha256 in shas}
    assert shown
    assert shown <= set(Blob.objects.values_list("pk", flat=True))


def test_loading_twice_changes_nothing(sample_run):
    load_follow_ups()
    before = (Campaign.objects.count(), Sample.objects.count(), FollowUpItem.objects.count())

    note = load_follow_ups()

    assert note == "The sample run has been followed up already."
    assert (Campaign.objects.count(), Sample.objects.count(), FollowUpItem.objects.count()) == before


def test_a_run_that_somebody_settled_is_left_alone(sample_run):
    sample_run.findings.filter(pk=sample_run.findings.first().pk).update(state="refuted")

    assert load_follow_ups() == "The sample run has been followed up already."
    assert Campaign.objects.count() == 1


def test_follow_ups_of_another_sample_run_are_left_out(sample_run):
    sample_run.findings.first().delete()

    assert "belong to another version" in load_follow_ups()
    assert Campaign.objects.count() == 1


def test_without_the_sample_run_there_is_nothing_to_say(db):
    assert load_follow_ups() == ""


def test_written_again_the_follow_ups_are_the_same(sample_run, tmp_path):
    load_follow_ups()

    dump_follow_ups(sample_run, folder=tmp_path, pictures=0)

    again, shipped = content_of(tmp_path), content_of(FOLLOW_UP_FOLDER)
    for campaign in [*again["campaigns"], *shipped["campaigns"]]:
        for run in campaign["runs"]:
            run["row"].pop("finished_at")
            for finding in run["findings"]:
                finding.pop("thumbnails")  # no picture is written here
            for event in run["events"]:
                event.pop("at", None)
    assert again == shipped


def test_a_run_without_follow_ups_cannot_be_written(sample_run, tmp_path):
    with pytest.raises(CommandError, match="no follow-ups"):
        call_command("make_sample_fixture", follow_ups=sample_run.pk, folder=tmp_path)


def test_a_follow_up_that_works_cannot_be_written(sample_run, tmp_path):
    load_follow_ups()
    SearchRun.objects.exclude(pk=sample_run.pk).update(state="running")

    with pytest.raises(CommandError, match="has not ended"):
        call_command("make_sample_fixture", follow_ups=sample_run.pk, folder=tmp_path)
