"""A wish is saved first and announced after; a dead queue delays work and never loses it."""

import pytest
from kombu.exceptions import OperationalError

from searches import launch, tasks
from searches.enums import JobKind
from searches.models import Job, SearchRun
from tests.factories import make_run, make_sut, make_user
from vlmlab.core.errors import VlmLabError
from vlmlab.core.revelio.config import RevelioConfig

pytestmark = pytest.mark.django_db


@pytest.fixture
def sent(settings, monkeypatch):
    """Collect the queues that wake-ups are sent to."""
    settings.BROKER_URL = "redis://nowhere"
    queues: list[str] = []
    monkeypatch.setattr(
        tasks.advance_run_task, "apply_async", lambda queue, **values: queues.append(queue), raising=False
    )
    return queues


@pytest.fixture
def dead_queue(settings, monkeypatch):
    settings.BROKER_URL = "redis://nowhere"

    def refuse(**values):
        raise OperationalError("nobody listens")

    monkeypatch.setattr(tasks.advance_run_task, "apply_async", refuse, raising=False)


def start(**values):
    wish = {
        "config": RevelioConfig(),
        "suts": [make_sut()],
        "domain_slug": "driving",
        "name": "x",
        "run_seed": 1,
        "by": make_user(),
    }
    return launch.start_campaign(**wish | values)


def test_a_wake_up_is_sent_for_each_run_only_after_the_commit(sent, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks() as callbacks:
        start(suts=[make_sut(), make_sut(queue="gpu")])
        assert sent == []

    for callback in callbacks:
        callback()
    assert sorted(sent) == ["cpu", "gpu"]
    assert SearchRun.objects.filter(dispatched_at__isnull=False).count() == 2


def test_a_dead_queue_leaves_the_run_queued_for_the_reaper(dead_queue, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks(execute=True):
        campaign = start()

    run = campaign.runs.get()
    assert (run.state, run.dispatched_at) == ("queued", None)


def test_without_a_broker_nothing_is_sent(settings):
    settings.BROKER_URL = ""

    assert launch.wake_up("cpu") is False


def test_a_refused_wish_announces_nothing(sent, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks(execute=True), pytest.raises(VlmLabError):
        start(suts=[])

    assert sent == []


def test_resume_retry_and_jobs_wake_their_queue(sent, django_capture_on_commit_callbacks):
    paused = make_run(make_sut(queue="gpu"), state="paused")
    failed = make_run(state="succeeded", n_call_errors=1)

    with django_capture_on_commit_callbacks(execute=True):
        launch.resume_run(paused, by=None)
        launch.retry_call_errors(failed, by=None)
        launch.start_job(JobKind.RENDER_SCENE, {}, by=None, queue="api")

    assert sent == ["gpu", "cpu", "api"]
    assert Job.objects.count() == 1


def test_the_reaper_task_wakes_the_queues_where_work_waits(sent):
    make_run(make_sut(queue="gpu"))

    tasks.reap_task.run()

    assert sent == ["gpu"]


def test_a_task_passes_the_baton_while_there_is_work(sent, monkeypatch):
    make_run(), make_run()
    monkeypatch.setattr(tasks, "work_once", lambda owner, queues, should_stop: True)

    tasks.advance_run_task.run()

    assert sent == ["cpu"]


def test_a_worker_looks_at_all_its_queues_whichever_woke_it(sent, monkeypatch):
    make_run(make_sut(queue="api"))
    asked: list[list[str]] = []
    monkeypatch.setattr(tasks, "served", {"api", "cpu"})
    monkeypatch.setattr(
        tasks, "work_once", lambda owner, queues, should_stop: bool(asked.append(queues)) or True
    )

    tasks.advance_run_task.run()

    assert (asked, sent) == ([["cpu", "api"]], ["api"])


def test_a_task_with_nothing_to_do_sends_nothing(sent):
    tasks.advance_run_task.run()

    assert sent == []
