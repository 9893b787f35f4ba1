"""Campaigns of short runs on real workers: killed, several at once; each run ends as if nothing had been."""

import signal

import pytest

from searches.enums import FINAL_STATES, RunState
from searches.models import CachedReply, SearchRun
from tests.searches.engine import as_new_process
from tests.searches.faults.lab import wait_for
from tests.searches.modality_engine import (
    advance_all,
    breaks_now_and_then,
    modality_digest,
    runs_of,
    start_modality,
)

GRID = {"n": 2, "regimes": ("image", "text"), "inference_budget": 8, "slots": 4}


@pytest.fixture
def campaign(lab):
    """A campaign that waits, and what each of its runs must end with."""
    sut = breaks_now_and_then(call_error_rate=0.1)
    twin = start_modality(sut, **GRID)
    advance_all(twin)
    wanted = [modality_digest(run) for run in runs_of(twin)]
    CachedReply.objects.all().delete()
    waiting = start_modality(sut, **GRID)
    as_new_process()
    return waiting, wanted


def finish(campaign) -> None:
    wait_for(lambda: not campaign.runs.exclude(state__in=FINAL_STATES).exists(), seconds=60)


def test_a_killed_worker_changes_nothing_in_a_campaign(lab, campaign):
    waiting, wanted = campaign

    assert lab.start_worker(crash_point="inside_commit_samples@3").wait() == -signal.SIGKILL
    lab.start_worker()
    finish(waiting)

    assert [modality_digest(run) for run in runs_of(waiting)] == wanted
    assert waiting.clean_answers.count() == 2


def test_two_workers_share_a_campaign_and_its_clean_answers(lab, campaign):
    waiting, _ = campaign

    for _ in range(2):
        lab.start_worker()
    finish(waiting)

    runs = runs_of(waiting)
    evaluated = [list(run.evaluations.values_list("strategy", "status", "iou")) for run in runs]
    alone = [
        list(run.evaluations.values_list("strategy", "status", "iou"))
        for run in SearchRun.objects.exclude(campaign=waiting).order_by("pk")
    ]
    assert evaluated == alone
    assert {run.state for run in runs} == {RunState.SUCCEEDED}
    assert waiting.clean_answers.count() == 2
