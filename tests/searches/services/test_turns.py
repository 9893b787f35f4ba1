"""Campaigns take turns, a system in memory has a turn but no monopoly, short runs share a slice."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from searches.enums import JobKind, RunState
from searches.models import Campaign, Job, SearchRun
from searches.services import work
from searches.services.leases import release_lease, take_lease
from tests.factories import make_campaign, make_run, make_sut
from tests.searches.engine import scripted, start_run
from tests.searches.modality_engine import never_breaks, runs_of, start_modality

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def fresh_turns(monkeypatch):
    monkeypatch.setattr(work, "_turns", work._Turns())


def claimed(**values) -> SearchRun | None:
    lease = take_lease("w", ["cpu"], **values)
    return None if lease is None else SearchRun.objects.select_related("campaign", "sut").get(pk=lease.run_id)


def queued(*, campaigns: int, runs: int) -> list[Campaign]:
    sut, made = make_sut(), [make_campaign() for _ in range(campaigns)]
    for campaign in made:
        SearchRun.objects.bulk_create(
            [SearchRun(campaign=campaign, sut=sut, queue="cpu", run_seed=0) for _ in range(runs)]
        )
    return made


def test_campaigns_take_turns_however_many_runs_each_has():
    large, small = queued(campaigns=2, runs=5)
    SearchRun.objects.filter(campaign=small).exclude(pk=small.runs.last().pk).delete()

    served = [claimed().campaign for _ in range(6)]

    assert served == [large, small, large, large, large, large]


def test_a_long_search_that_comes_back_waits_for_the_campaigns_served_longer_ago():
    first, second, third = queued(campaigns=3, runs=1)
    lease = take_lease("w", ["cpu"])
    release_lease(lease)

    served = [claimed().campaign for _ in range(3)]

    assert served == [second, third, first]


def test_the_runs_of_a_campaign_stay_with_one_system_oldest_first():
    campaign, suts = make_campaign(), (make_sut(), make_sut())
    runs = [make_run(suts[number % 2], campaign=campaign) for number in range(6)]

    served = [claimed(loaded_sut_id=suts[1].pk, has_turn=False) for _ in range(6)]

    assert served == [runs[1], runs[3], runs[5], runs[0], runs[2], runs[4]]


@pytest.mark.parametrize("has_turn", [True, False])
def test_a_system_in_memory_goes_before_other_campaigns_only_while_it_has_its_turn(has_turn):
    loaded, campaign = make_sut(), make_campaign()
    _, second = (make_run(loaded, campaign=campaign) for _ in range(2))
    waiting = make_run(make_sut())
    claimed()

    assert claimed(loaded_sut_id=loaded.pk, has_turn=has_turn) == (second if has_turn else waiting)


def test_a_claim_for_a_campaign_takes_nothing_of_another_campaign_system_or_queue():
    sut = make_sut()
    campaign = make_run(sut).campaign
    make_run(make_sut(), campaign=campaign)
    make_run(sut)

    mine = {"loaded_sut_id": sut.pk, "campaign_id": campaign.pk}

    assert take_lease("w", ["gpu"], **mine) is None
    assert claimed(**mine).sut == sut
    assert claimed(**mine) is None


def test_a_claim_asks_as_often_and_looks_into_the_index_however_many_runs_wait():
    queued(campaigns=1, runs=1)
    with CaptureQueriesContext(connection) as few:
        take_lease("w", ["api", "cpu"])
    queued(campaigns=3, runs=400)
    with CaptureQueriesContext(connection) as many:
        take_lease("w", ["api", "cpu"])

    assert len(many) == len(few)
    if connection.vendor == "sqlite":
        for query in many.captured_queries[:2]:
            plan = " ".join(_plan(query["sql"]))
            assert "SEARCH" in plan
            assert "searches_se_campaig_68808f_idx" in plan
            assert "SCAN searches_searchrun" not in plan


def test_a_worker_does_the_short_runs_of_a_campaign_in_one_slice():
    campaign = start_modality(never_breaks(), n=3, inference_budget=2)

    assert work.work_once("w", ["cpu"])

    assert {run.state for run in runs_of(campaign)} == {RunState.SUCCEEDED}


def test_a_slice_that_is_full_gives_the_next_campaign_its_turn(settings):
    settings.SLICE_SECONDS = 0
    sut = never_breaks()
    first = start_modality(sut, n=2, inference_budget=2)
    second = start_modality(sut, seed=6, n=1, inference_budget=2)

    served = _order_of_work()

    assert served[:2] == [first.pk, second.pk]
    assert {run.state for run in SearchRun.objects.all()} == {RunState.SUCCEEDED}


def test_thousands_of_short_runs_and_a_long_search_do_not_starve_each_other(settings):
    settings.SLICE_SECONDS = settings.SYSTEM_TURN_SECONDS = 0
    short = start_modality(never_breaks(), n=6, inference_budget=2)
    long = start_run(scripted(), inference_budget=40).campaign

    for _ in range(8):
        work.work_once("w", ["cpu"])

    assert long.runs.get().step == 4
    assert sum(run.step for run in runs_of(short)) == 4


@pytest.mark.parametrize(
    ("turn", "expected"), [(1000, [0, 0, 0, 0, 0, 0, 1, 1]), (0, [0, 1, 0, 1, 0, 0, 0, 0])]
)
def test_a_loaded_system_keeps_its_worker_only_while_its_turn_lasts(settings, turn, expected):
    settings.SLICE_SECONDS, settings.SYSTEM_TURN_SECONDS = 0, turn
    long = start_modality(never_breaks(), n=3, inference_budget=1)
    short = start_modality(never_breaks(), seed=6, n=1, inference_budget=1)

    served = _order_of_work()  # a clean answer and an evaluation are two slices a run

    assert served == [(long.pk, short.pk)[number] for number in expected]


def test_a_person_who_waits_at_a_page_comes_before_the_next_short_run(settings, monkeypatch):
    monkeypatch.setattr(work, "JOB_CHECK_SECONDS", 0)
    campaign = start_modality(never_breaks(), n=3, inference_budget=2)
    real = work.advance_run

    def asked_meanwhile(lease, **values):
        Job.objects.get_or_create(kind=JobKind.RENDER_SCENE, queue="cpu", defaults={"params": {}})
        return real(lease, **values)

    monkeypatch.setattr(work, "advance_run", asked_meanwhile)
    work.work_once("w", ["cpu"])

    assert [run.state for run in runs_of(campaign)].count(RunState.QUEUED) == 3


def _order_of_work() -> list[int]:
    """Work until nothing is left and return the campaigns in the order in which they were served."""
    with pytest.MonkeyPatch.context() as patch:
        served, advance_run = [], work.advance_run
        patch.setattr(
            work,
            "advance_run",
            lambda lease, **values: served.append(lease.campaign_id) or advance_run(lease, **values),
        )
        while work.work_once("w", ["cpu"]):
            pass
    return served


def _plan(sql: str) -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN QUERY PLAN {sql}")
        return [row[3] for row in cursor.fetchall()]
