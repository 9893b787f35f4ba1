"""A run advances in slices that may be cut anywhere, and always ends with the same rows."""

import pytest

from searches.enums import RunState
from searches.models import Blob, Sample
from searches.services.advance import SliceEnd
from tests.searches.engine import FLAT, advance, as_new_process, run_digest, scripted, start_run

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def flat_scenes(settings):
    settings.SCENE_SOURCE_FACTORY = FLAT
    as_new_process()
    yield
    as_new_process()


def test_a_run_takes_exactly_its_budget_and_finishes():
    run = start_run(inference_budget=60)

    end = advance(run)

    assert end == SliceEnd.FINISHED
    assert run.state == RunState.SUCCEEDED
    assert run.n_inferences == 60
    assert run.samples.count() == 60
    assert run.n_modes == run.findings.count() > 0
    assert run.ending == f"the budget of 60 answers is used up, {run.n_modes} failure modes."
