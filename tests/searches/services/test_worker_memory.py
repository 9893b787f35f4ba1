"""A worker that has grown too large ends in good order, after the work in its hands."""

import pytest

from searches.services import work
from tests.searches.engine import scripted, start_run

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def ended(monkeypatch):
    """Count how often the process would have ended."""
    calls = []
    monkeypatch.setattr(work, "end_process", lambda: calls.append("end"))
    return calls


def test_a_worker_over_its_memory_limit_writes_a_batch_gives_the_run_back_and_ends(
    settings, ended, monkeypatch
):
    settings.MAX_WORKER_MB = 1
    monkeypatch.setattr(work, "JOB_CHECK_SECONDS", 0.0)
    run = start_run(scripted(), inference_budget=40)

    did_something = work.work_once("worker", ["cpu"])

    run.refresh_from_db()
    assert (did_something, ended, run.state, run.step) == (True, ["end"], "queued", 1)


def test_a_worker_without_a_memory_limit_goes_on(settings, ended):
    settings.MAX_WORKER_MB = 0
    run = start_run(scripted(), inference_budget=16)

    work.work_once("worker", ["cpu"])

    run.refresh_from_db()
    assert (ended, run.state) == ([], "succeeded")
