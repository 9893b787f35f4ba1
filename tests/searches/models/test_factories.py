"""The factories make a run whose rows agree with each other."""

import pytest

from searches.models import Blob, Sample
from tests.factories import make_finished_run

pytestmark = pytest.mark.django_db


def test_finished_run_has_counters_that_agree_with_its_rows():
    run = make_finished_run()

    assert run.n_trials == run.trials.count()
    assert run.n_modes == run.findings.count()
    assert run.n_inferences == Sample.objects.filter(run=run, verdict__in=["pass", "fail"]).count()
    assert Blob.objects.filter(pk__in=run.samples.values("image_sha256")).count() > 0
