"""How far a campaign is: counts by state and outcome, reasons to stand still, pace, one state for all."""

from datetime import timedelta

import pytest
from django.utils import timezone

from searches.enums import ModalityStatus, RunState
from searches.models import ModalityRun, SearchRun, WorkerHeartbeat
from searches.services.modality_campaigns import create_modality_campaign
from searches.services.modality_progress import campaign_progress, progress_of_many, state_of
from searches.services.seed_plans import SeedPlan
from tests.factories import make_sut
from tests.searches.modality_factory import make_seed_dataset
from vlmlab.core.most.config import MostConfig

pytestmark = pytest.mark.django_db


def make(n: int = 4):
    return create_modality_campaign(
        MostConfig(regimes=("image",)),
        SeedPlan(seed=4),
        suts=[make_sut()],
        dataset=make_seed_dataset(n),
        name="Test",
        by=None,
    )


def change(campaign, number: int, *, status: str = "", **values) -> None:
    """Change a run of a campaign, counted from 0."""
    run = campaign.runs.order_by("pk")[number]
    SearchRun.objects.filter(pk=run.pk).update(**values)
    if status:
        ModalityRun.objects.filter(run=run).update(status=status)


def end(campaign, number: int, *, status: str = ModalityStatus.FINISHED, **values) -> None:
    now = timezone.now()
    times = {"started_at": now - timedelta(minutes=5), "finished_at": now - timedelta(minutes=1)}
    change(campaign, number, status=status, state=RunState.SUCCEEDED, **times | values)


def test_a_fresh_campaign_waits():
    progress = campaign_progress(make())

    assert (progress.by_state, progress.by_status) == ({"queued": 4}, {"unfinished": 4})
    assert (progress.n_runs, progress.n_ended, progress.state) == (4, 0, RunState.QUEUED)
    assert (progress.is_live, progress.is_final, progress.is_over) == (True, False, False)
    assert (progress.may_pause, progress.may_cancel, progress.may_resume) == (True, True, False)
    assert (progress.idle_queues, progress.pace) == (("cpu",), None)


def test_numbers_are_sums_over_the_runs():
    campaign = make()
    end(campaign, 0, n_inferences=7, spend_usd=0.5, active_seconds=3.0)
    end(campaign, 1, status=ModalityStatus.BASELINE_FAILURE, n_call_errors=1, active_seconds=0.5)
    change(campaign, 2, state=RunState.RUNNING, n_inferences=4, spend_usd=0.25, n_call_errors=2)

    progress = campaign_progress(campaign)

    assert (progress.evaluations, progress.spend_usd, progress.call_errors) == (11, 0.75, 3)
    assert progress.seconds == 3.5
    assert (progress.n_ended, progress.n_finished, progress.n_baseline_failures) == (2, 1, 1)
    assert (progress.n_running, progress.state) == (1, RunState.RUNNING)


def test_a_campaign_whose_runs_all_ended_by_themselves_is_over():
    campaign = make(2)
    end(campaign, 0)
    end(campaign, 1)

    progress = campaign_progress(campaign)

    assert (progress.is_over, progress.may_resume, progress.state) == (True, False, RunState.SUCCEEDED)


@pytest.mark.parametrize("state", [RunState.FAILED, RunState.CANCELLED])
def test_a_campaign_with_halted_runs_is_final_but_may_be_resumed(state):
    campaign = make(2)
    end(campaign, 0)
    change(campaign, 1, state=state)

    progress = campaign_progress(campaign)

    assert (progress.is_final, progress.is_over, progress.n_halted) == (True, False, 1)
    assert progress.state == state


def test_runs_without_an_answer_to_the_clean_question_may_be_resumed():
    campaign = make(2)
    end(campaign, 0)
    end(campaign, 1, status=ModalityStatus.CALL_ERROR)

    progress = campaign_progress(campaign)

    assert (progress.unasked, progress.n_unanswered, progress.may_resume) == (1, 1, True)


def test_reasons_to_stand_still_are_told_with_how_many_runs_the_most_frequent_first():
    campaign = make(5)
    for number in (0, 1, 2):
        change(campaign, number, state=RunState.PAUSED, error="No money.", hint="Raise it.")
    change(campaign, 3, state=RunState.FAILED, error="It broke.")
    change(campaign, 4, state=RunState.RUNNING, error="old")

    halts = campaign_progress(campaign).halts

    assert [(one.error, one.hint, one.n_runs) for one in halts] == [
        ("No money.", "Raise it.", 3),
        ("It broke.", "", 1),
    ]


def test_time_left_follows_the_runs_that_ended_lately():
    campaign = make(10)
    for number in range(4):
        end(campaign, number, n_inferences=30)  # began five minutes ago
    change(campaign, 4, state=RunState.RUNNING)

    pace = campaign_progress(campaign).pace

    assert pace is not None
    assert pace.evaluations_a_minute == pytest.approx(4 * 30 / 5, rel=0.05)
    assert pace.seconds_left == pytest.approx(6 * 300 / 4, rel=0.05)


def test_there_is_no_pace_before_a_few_runs_have_ended_or_while_nobody_works():
    campaign = make(10)
    end(campaign, 0)
    end(campaign, 1)
    change(campaign, 4, state=RunState.RUNNING)
    too_few = campaign_progress(campaign).pace
    end(campaign, 2)
    change(campaign, 4, state=RunState.QUEUED)

    assert (too_few, campaign_progress(campaign).pace) == (None, None)


def test_a_queue_that_a_living_worker_serves_is_not_idle():
    campaign = make()
    WorkerHeartbeat.objects.create(
        owner="a:1:1:main",
        host="a",
        pid=1,
        queues=["cpu"],
        mode="poll",
        seen_at=timezone.now(),
        started_at=timezone.now(),
    )

    assert campaign_progress(campaign).idle_queues == ()


def test_a_worker_that_fell_silent_is_noticed():
    campaign = make()
    change(campaign, 0, state=RunState.RUNNING, lease_expires=timezone.now() - timedelta(minutes=1))
    change(campaign, 1, state=RunState.RUNNING, lease_expires=timezone.now() + timedelta(minutes=1))

    assert campaign_progress(campaign).late == 1


def test_the_mark_of_a_page_changes_with_what_it_shows():
    campaign = make()
    marks = [campaign_progress(campaign).etag, campaign_progress(campaign).etag]
    change(campaign, 0, state=RunState.RUNNING)
    marks.append(campaign_progress(campaign).etag)
    change(campaign, 0, n_inferences=1)
    marks.append(campaign_progress(campaign).etag)
    end(campaign, 0, status=ModalityStatus.BASELINE_FAILURE)
    marks.append(campaign_progress(campaign).etag)

    assert marks[0] == marks[1]
    assert len(set(marks)) == 4


def test_the_number_of_queries_does_not_depend_on_the_number_of_runs(django_assert_num_queries):
    small, large = make(1), make(60)

    for campaign in (small, large):
        with django_assert_num_queries(6):
            campaign_progress(campaign)


def test_many_campaigns_are_counted_in_one_query(django_assert_num_queries):
    first, second = make(2), make(3)
    change(second, 0, state=RunState.FAILED)

    with django_assert_num_queries(1):
        found = progress_of_many([first, second])

    assert found == {first.pk: {"queued": 2}, second.pk: {"queued": 2, "failed": 1}}


@pytest.mark.parametrize(
    ("by_state", "state"),
    [
        ({"succeeded": 5, "queued": 1, "running": 1}, RunState.RUNNING),
        ({"succeeded": 5, "cancelling": 1, "queued": 1}, RunState.CANCELLING),
        ({"succeeded": 5, "queued": 1, "failed": 1}, RunState.QUEUED),
        ({"succeeded": 5, "paused": 1, "failed": 1}, RunState.PAUSED),
        ({"succeeded": 5, "failed": 1, "cancelled": 1}, RunState.FAILED),
        ({"succeeded": 5, "cancelled": 1}, RunState.CANCELLED),
        ({"succeeded": 5, "failed": 0}, RunState.SUCCEEDED),
    ],
)
def test_one_state_stands_for_all_runs(by_state, state):
    assert state_of(by_state) == state
