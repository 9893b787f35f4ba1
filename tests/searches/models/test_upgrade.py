"""A lab of the version before remote systems migrates, and its runs and systems stay as they were."""

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from searches.models import SearchRun, SutRecord
from tests.factories import make_user
from vlmlab.core.revelio.config import RevelioConfig
from vlmlab.web.roles import Role

BEFORE = [("searches", "0001_initial")]


@pytest.fixture
def old_run_number(transactional_db):
    """Write a finished run with one answer into the tables of before, and migrate; return its number."""
    executor = MigrationExecutor(connection)
    executor.migrate(BEFORE)
    old = executor.loader.project_state(BEFORE).apps.get_model
    try:
        sut = old("searches", "SutRecord").objects.create(
            slug="old", name="Old", kind="scripted", fingerprint="f" * 64, n_calls=1, spend_usd=0.5
        )
        campaign = old("searches", "Campaign").objects.create(
            name="Old", domain="driving", domain_version="1", config=RevelioConfig().model_dump(mode="json")
        )
        run = old("searches", "SearchRun").objects.create(
            campaign=campaign, sut=sut, run_seed=1, state="succeeded", n_inferences=1, n_observations=1
        )
        trial = old("searches", "Trial").objects.create(
            run=run, order=0, key="cone", concepts=["cone"], size=1, expected_action="emergency_stop"
        )
        old("searches", "Sample").objects.create(
            run=run, trial=trial, step=0, position=0, number=0, scene_seed=1, prompt="?", raw_text="A",
            verdict="fail", told_verdict="fail", expected_action="emergency_stop",
        )  # fmt: skip
    finally:
        newest = MigrationExecutor(connection)
        newest.migrate(newest.loader.graph.leaf_nodes("searches"))
    return run.pk


def test_runs_and_systems_of_before_are_kept_and_their_pages_open(old_run_number, client):
    client.force_login(make_user(Role.RESEARCHER))
    paths = ("/", "/suts/", "/suts/old/", "/suts/old/calibrations/", f"/runs/{old_run_number}/", "/findings/")

    statuses = {path: client.get(path).status_code for path in paths}

    assert statuses == dict.fromkeys(paths, 200)
    run, sut = SearchRun.objects.get(), SutRecord.objects.get()
    sample = run.samples.get()
    assert (run.n_inferences, run.n_calls, run.spend_cap_usd, run.is_halted_by_spending) == (
        1,
        0,
        None,
        False,
    )
    assert (sample.raw_text, sample.n_attempts, sample.reader_version) == ("A", 1, "")
    assert (sut.spend_usd, sut.api_key, sut.last_answer_at) == (0.5, None, None)
