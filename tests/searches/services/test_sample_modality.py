"""Sample profiles: a finished modality campaign goes into a file and comes back with the same rows."""

import pytest
from django.core.management import CommandError, call_command

from searches.models import Blob, Campaign, Dataset, ModalityCase, ModalityRun, SutRecord
from searches.services.sample_modality import PROFILE_FOLDER, load_profiles
from tests.searches.modality_engine import (
    advance_all,
    breaks_when_misspelt,
    make_seed_dataset,
    modality_digest,
    runs_of,
    start_modality,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def shipped(tmp_path):
    make_seed_dataset(n=2)
    campaign = start_modality(breaks_when_misspelt(), n=2, regimes=("image", "text"))
    advance_all(campaign)
    wanted = [modality_digest(run) for run in runs_of(campaign)]
    Dataset.objects.update(is_sample=True)
    SutRecord.objects.update(is_sample=True)
    call_command(
        "make_sample_fixture",
        campaign=campaign.pk,
        slug="first",
        folder=tmp_path,
        name="A profile",
        pictures=1,
    )
    campaign.delete()
    return tmp_path / PROFILE_FOLDER.name, wanted


def test_a_campaign_written_as_sample_comes_back_with_the_same_rows(shipped):
    folder, wanted = shipped

    notes = load_profiles(folder)

    campaign = Campaign.objects.get()
    assert notes == ["Sample profile “A profile” loaded: 4 runs."]
    assert campaign.is_sample
    assert campaign.name == "A profile"
    assert campaign.dataset is not None
    assert campaign.dataset.slug == "seeds"
    assert [modality_digest(run) for run in runs_of(campaign)] == wanted
    assert campaign.clean_answers.count() == 2
    assert ModalityRun.objects.filter(clean_answer__isnull=True).count() == 0
    assert ModalityCase.objects.filter(evaluation__isnull=True).count() == 0


def test_as_many_pictures_as_asked_for_come_with_it(shipped):
    folder, _ = shipped
    Blob.objects.all().delete()

    load_profiles(folder)

    assert len(list(folder.glob("first/pictures/*.png"))) == 1
    assert list(Blob.objects.values_list("pk", flat=True)) == [
        path.stem for path in folder.glob("first/pictures/*.png")
    ]


def test_loading_twice_changes_nothing(shipped):
    folder, _ = shipped
    load_profiles(folder)

    assert load_profiles(folder) == ["The sample profile “A profile” is there already."]
    assert Campaign.objects.count() == 1


def test_other_seed_images_or_systems_leave_it_out(shipped):
    folder, _ = shipped
    SutRecord.objects.update(is_sample=False)

    notes = load_profiles(folder)

    assert notes == ["The sample profile “A profile” is left out: its seed images or systems are others."]
    assert Campaign.objects.count() == 0


def test_a_campaign_that_has_not_ended_is_refused():
    make_seed_dataset()
    campaign = start_modality(breaks_when_misspelt())

    with pytest.raises(CommandError, match="Only a finished campaign"):
        call_command("make_sample_fixture", campaign=campaign.pk)
