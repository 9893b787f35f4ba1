"""Pictures of cases outlive the campaigns that they come from."""

from datetime import timedelta

import pytest
from django.utils import timezone

from humanstudy.enums import CaseOrigin, Instrument
from humanstudy.models import Study, StudyCase
from searches.models import Blob
from searches.services.blobs import blob_path, store_blob
from searches.services.garbage import collect_garbage

pytestmark = pytest.mark.django_db


def test_collection_spares_the_picture_of_a_case_and_takes_the_others():
    study = Study.objects.create(
        name="A study", slug="a-study", instrument=Instrument.LOCALIZATION, design={}
    )
    shown, orphan = store_blob(b"shown"), store_blob(b"orphan")
    StudyCase.objects.create(
        study=study, order=1, origin=CaseOrigin.TEST_CASE, image_sha256=shown, width=4, height=3
    )
    Blob.objects.update(touched_at=timezone.now() - timedelta(hours=3))

    removed = collect_garbage(timedelta(hours=1))

    assert removed == 1
    assert blob_path(shown).exists()
    assert not blob_path(orphan).exists()
