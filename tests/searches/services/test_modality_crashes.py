"""A worker that dies at any named place of a MoST run changes nothing of what the run ends with."""

import pytest

from searches.enums import RunState
from searches.models import Blob, SearchRun
from searches.services.blobs import blob_path
from searches.services.crashes import CRASH_POINTS
from searches.services.reaper import reap
from tests.searches.dying import Killed
from tests.searches.engine import advance, as_new_process
from tests.searches.modality_engine import breaks_now_and_then, modality_digest, start_modality_run

pytestmark = pytest.mark.django_db


PLACES = [
    f"{place}@{number}"
    for place in CRASH_POINTS
    for number in ((1, 2) if place not in ("after_blobs", "before_ending") else (1,))
]


@pytest.mark.parametrize("place", PLACES)
def test_a_run_whose_worker_dies_ends_like_one_that_nobody_disturbed(place, dies_at):
    sut = breaks_now_and_then(call_error_rate=0.1)
    config = {"slots": 4, "inference_budget": 8, "algorithm": "random", "early_stop": False}
    whole, disturbed = start_modality_run(sut, **config), start_modality_run(sut, **config)
    advance(whole)
    as_new_process()
    dies_at(place)
    deaths = 0

    while not disturbed.is_final:
        try:
            advance(disturbed, slice_seconds=0)  # a batch a slice, so that each place is passed often
        except Killed:
            deaths += 1
            as_new_process()
            SearchRun.objects.filter(pk=disturbed.pk, state=RunState.RUNNING).update(lease_expires=None)
            reap()
            disturbed.refresh_from_db()

    assert deaths == 1
    assert modality_digest(disturbed) == modality_digest(whole)
    assert all(blob_path(sha256).exists() for sha256 in Blob.objects.values_list("pk", flat=True))
