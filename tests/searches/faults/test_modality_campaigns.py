"""Campaigns of short runs on real workers: killed, several at once; each run ends as if nothing had been."""

import signal
import threading
import time
from collections.abc import Callable

import pytest
from django.db import connections, transaction

from searches.enums import FINAL_STATES, RunState, WordTableKind, WordTableState
from searches.models import CachedReply, Campaign, SearchRun, User, WordTableRecord
from searches.services.datasets import delete_dataset
from searches.services.word_table_review import delete_word_table
from tests.patience import PATIENCE_SECONDS
from tests.searches.engine import as_new_process
from tests.searches.faults.lab import wait_for
from tests.searches.modality_engine import (
    advance_all,
    breaks_now_and_then,
    make_seed_dataset,
    modality_digest,
    runs_of,
    start_modality,
)
from vlmlab.core.errors import VlmLabError

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
    wait_for(lambda: not campaign.runs.exclude(state__in=FINAL_STATES).exists())


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


class UnderWay:
    """A deletion in another connection that commits a little later."""

    def __init__(self, delete: Callable[[], None]) -> None:
        self._delete, self._began = delete, threading.Event()
        self._thread = threading.Thread(target=self._work)
        self._thread.start()
        assert self._began.wait(PATIENCE_SECONDS)

    def _work(self) -> None:
        try:
            with transaction.atomic():
                self._delete()
                self._began.set()
                time.sleep(0.4)
        finally:
            connections.close_all()

    def end(self) -> None:
        self._thread.join()


def test_a_campaign_on_a_dataset_that_is_being_deleted_is_refused_at_its_field(lab):
    sut, dataset = breaks_now_and_then(), make_seed_dataset(n=1)
    deletion = UnderWay(lambda: delete_dataset(dataset, by=None))

    with pytest.raises(VlmLabError, match="was deleted meanwhile") as caught:
        start_modality(sut, dataset=dataset, **GRID)
    deletion.end()

    assert (caught.value.field, Campaign.objects.count()) == ("dataset", 0)


def test_a_campaign_with_a_word_table_that_is_being_deleted_is_refused_at_its_field(lab):
    sut, dataset = breaks_now_and_then(), make_seed_dataset(n=1)
    table = WordTableRecord.objects.create(
        slug="words", title="Words", kind=WordTableKind.SYNONYM, state=WordTableState.REVIEWED
    )
    person = User.objects.create(username="ada")
    deletion = UnderWay(lambda: delete_word_table(table, by=person))

    with pytest.raises(VlmLabError, match="no word table called “words”") as caught:
        start_modality(sut, dataset=dataset, synonym_table="words", **GRID)
    deletion.end()

    assert (caught.value.field, Campaign.objects.count()) == ("synonym_table", 0)
