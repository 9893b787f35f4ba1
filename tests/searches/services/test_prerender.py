"""Other workers draw ahead into the cache; a run is the same with and without them."""

from datetime import timedelta
from io import BytesIO

import pytest
from django.db import OperationalError
from django.utils import timezone
from PIL import Image

from searches.enums import JobKind, JobState, Queue
from searches.models import CachedReply, Job, SearchRun, WorkerHeartbeat
from searches.services import prerender as farm
from searches.services.advance import advance_run
from searches.services.blobs import StorageError
from searches.services.jobs import run_job
from searches.services.leases import LeaseLost, take_job, take_lease
from searches.services.reaper import reap
from searches.services.slice_ends import SliceEnd
from searches.services.spending import SpendingLimitError
from tests.searches.engine import run_digest, start_run
from vlmlab.core.errors import GenerationError, SourceAwayError, VlmLabError
from vlmlab.core.scenes.driving import sample_driving
from vlmlab.core.scenes.scene import GeneratedScene

pytestmark = pytest.mark.django_db


class SlowSource:
    """Keeps what it drew, in memory, and notes who drew what."""

    identity = "slow"

    def __init__(self):
        self.kept = {}
        self.drawn = []

    def is_kept(self, concepts, *, seed):
        return (concepts, seed) in self.kept

    def generate(self, concepts, *, seed):
        if not self.is_kept(concepts, seed=seed):
            self.drawn.append((concepts, seed))
            if "bus_stop" in concepts:
                raise GenerationError("Nothing fits.")
            buffer = BytesIO()
            Image.new("RGB", (8, 6), (seed % 256, len(concepts), 7)).save(buffer, "PNG")
            image = buffer.getvalue()
            scene = sample_driving(concepts, seed=seed)
            self.kept[concepts, seed] = GeneratedScene(scene, image, scene.digest, (), {})
        return self.kept[concepts, seed]


@pytest.fixture(autouse=True)
def no_renderers_are_remembered():
    farm.forget_renderers()
    yield
    farm.forget_renderers()


@pytest.fixture
def source(monkeypatch):
    made = SlowSource()
    for module in ("batches", "prerender"):
        monkeypatch.setattr(f"searches.services.{module}.scene_source", lambda *a, **k: made)
    return made


@pytest.fixture
def two_renderers(monkeypatch):
    monkeypatch.setattr(farm, "renderers", lambda: 2)


def advance(run, **options):
    lease = take_lease("test", ["cpu"], run_id=run.pk)
    return advance_run(lease, slice_seconds=0.0, **options)


def render_jobs():
    return Job.objects.filter(kind=JobKind.PRERENDER)


def draw_all():
    """Work as a rendering worker until nothing is left."""
    while (lease := take_job("renderer", [Queue.RENDER])) is not None:
        run_job(lease)


def test_nothing_is_shared_where_nobody_draws_ahead(source):
    assert advance(start_run()) == SliceEnd.TIME_UP
    assert not render_jobs().exists()


def test_what_comes_next_is_spread_over_the_rendering_workers(source, two_renderers):
    run = start_run()
    advance(run)
    shares = [job.params["scenes"] for job in render_jobs()]
    wanted = [tuple(scene[0]) for share in shares for scene in share]
    assert len(shares) == 2
    assert abs(len(shares[0]) - len(shares[1])) <= 1
    assert 8 <= len(wanted) <= 16
    assert {job.queue for job in render_jobs()} == {Queue.RENDER}


@pytest.fixture
def batch(source, two_renderers, monkeypatch):
    """A run, its search, and the queries of its first batch with their scenes; nothing is drawn yet."""
    shared = []
    monkeypatch.setattr("searches.services.batches.share_batch", lambda *given: shared.append(given))
    monkeypatch.setattr("searches.services.batches.draw_ahead", lambda *_given: None)
    advance(start_run(algorithm="random", inference_budget=40))
    source.kept.clear()
    ((run, live, queries),) = shared
    return run, live, queries, list(source.drawn)


def test_a_batch_is_wished_from_its_end_because_its_run_draws_from_its_front(batch):
    run, live, queries, scenes = batch

    farm.share_batch(run, live, queries)

    shares = [[(tuple(key), seed) for key, seed in job.params["scenes"]] for job in render_jobs()]
    backwards = scenes[::-1]
    assert len(scenes) == len(queries) > 3
    assert sorted(shares) == sorted([backwards[0::2], backwards[1::2]])


def test_scenes_that_are_kept_are_not_wished(source, batch):
    run, live, queries, scenes = batch
    for key, seed in scenes[1::2]:
        source.generate(key, seed=seed)

    farm.share_batch(run, live, queries)

    wishes = {(tuple(key), seed) for job in render_jobs() for key, seed in job.params["scenes"]}
    assert wishes == set(scenes[0::2])


def test_the_last_scene_that_is_left_of_a_batch_is_drawn_by_its_run_alone(source, batch):
    run, live, queries, scenes = batch
    for key, seed in scenes[2:]:
        source.generate(key, seed=seed)

    farm.share_batch(run, live, queries)
    two_left = render_jobs().count()
    farm.withdraw(run.pk)
    source.generate(scenes[1][0], seed=scenes[1][1])
    farm.share_batch(run, live, queries)

    assert (two_left, render_jobs().count()) == (2, 0)


def test_nothing_is_drawn_ahead_of_a_batch_that_the_cache_answers(source, two_renderers, monkeypatch):
    ahead = []
    monkeypatch.setattr("searches.services.batches.draw_ahead", lambda run, _live: ahead.append(run.pk))
    first = start_run(algorithm="random", inference_budget=40)
    advance(first)
    again = start_run(first.sut, algorithm="random", inference_budget=40)
    advance(again)

    again.refresh_from_db()
    assert again.n_cached == again.n_inferences > 0
    assert ahead == [first.pk]


def test_the_next_batch_finds_most_of_its_scenes_drawn(source, two_renderers):
    run = start_run(algorithm="random", inference_budget=40)
    advance(run)
    draw_all()
    ahead = len(source.drawn)
    advance(run)
    assert ahead >= 16
    assert len(source.drawn) == ahead  # the second batch drew nothing itself
    assert not render_jobs().filter(state=JobState.DONE).exists()


def test_a_run_is_the_same_with_and_without_rendering_workers(source, monkeypatch):
    alone = start_run(run_seed=4)
    while advance(alone) == SliceEnd.TIME_UP:
        pass
    source.kept.clear()
    CachedReply.objects.all().delete()
    monkeypatch.setattr(farm, "renderers", lambda: 2)
    helped = start_run(alone.sut, run_seed=4)
    while advance(helped) == SliceEnd.TIME_UP:
        draw_all()

    assert SearchRun.objects.get(pk=helped.pk).n_observations == 60
    assert run_digest(helped) == run_digest(alone)


def test_new_wishes_replace_those_that_are_left(source, two_renderers):
    run = start_run()
    advance(run)
    first = set(render_jobs().values_list("pk", flat=True))
    advance(run)
    assert first.isdisjoint(render_jobs().values_list("pk", flat=True))


def test_nothing_is_left_to_draw_when_a_run_has_ended(source, two_renderers):
    run = start_run(inference_budget=10)
    while advance(run) == SliceEnd.TIME_UP:
        assert render_jobs().exists()
    assert not render_jobs().exists()


def test_a_worker_whose_wish_is_withdrawn_stops_after_its_scene(source, two_renderers):
    run = start_run(algorithm="random", inference_budget=40)
    advance(run)
    lease = take_job("renderer", [Queue.RENDER])
    job = Job.objects.get(pk=lease.job_id)
    before = len(source.drawn)
    farm.withdraw(run.pk)
    assert farm.prerender(job) == {"drawn": 0}
    assert len(source.drawn) == before


def test_a_scene_that_cannot_be_made_is_left_to_the_run(source, two_renderers):
    job = Job.objects.create(
        kind=JobKind.PRERENDER,
        queue=Queue.RENDER,
        params={
            "domain": "driving",
            "backend": "embedded",
            "width": 8,
            "height": 6,
            "scenes": [[["bus_stop"], 1], [["cone"], 2]],
        },
    )
    draw_all()
    assert source.is_kept(("cone",), seed=2)
    assert not Job.objects.filter(pk=job.pk).exists()


def test_the_reaper_takes_wishes_of_dead_workers_away_and_wakes_nobody_for_them(source, two_renderers):
    run = start_run()
    advance(run)
    SearchRun.objects.filter(pk=run.pk).delete()
    assert render_jobs().count() == 2
    take_job("renderer", [Queue.RENDER])
    render_jobs().filter(state=JobState.RUNNING).update(lease_expires=None)
    report = reap()
    assert render_jobs().count() == 1
    assert Queue.RENDER.value not in report.queues


def test_wishes_that_nobody_drew_for_long_go_and_fresh_ones_stay(source, two_renderers):
    advance(start_run())
    old, fresh = render_jobs().order_by("created_at")
    Job.objects.filter(pk=old.pk).update(created_at=timezone.now() - timedelta(minutes=11))
    Job.objects.filter(pk=fresh.pk).update(created_at=timezone.now() - timedelta(minutes=9))

    reap()

    assert list(render_jobs()) == [fresh]


@pytest.mark.parametrize(
    "error",
    [
        SpendingLimitError("The limit is reached."),
        SourceAwayError("Away."),
        StorageError("Full."),
        VlmLabError("Broken."),
        RuntimeError("a bug"),
    ],
    ids=lambda one: type(one).__name__,
)
def test_nothing_is_left_to_draw_when_a_run_halts(source, two_renderers, monkeypatch, error):
    run = start_run()
    advance(run)
    assert render_jobs().exists()

    def fail(*_arguments, **_options):
        raise error

    monkeypatch.setattr("searches.services.scene_slice.answer_batch", fail)
    assert advance(run) in (SliceEnd.PAUSED, SliceEnd.FAILED)

    assert not render_jobs().exists()


@pytest.mark.parametrize("error", [LeaseLost(), OperationalError("away")], ids=lambda one: type(one).__name__)
def test_a_worker_that_has_lost_its_run_leaves_the_wishes_of_the_one_that_has_it(
    source, two_renderers, monkeypatch, error
):
    run = start_run()
    advance(run)
    wanted = set(render_jobs())

    def fail(*_arguments, **_options):
        raise error

    # The connection holds the transaction of this test.
    monkeypatch.setattr("searches.services.slice_ends.connection.close", lambda: None)
    monkeypatch.setattr("searches.services.scene_slice.answer_batch", fail)
    advance(run)

    assert wanted
    assert set(render_jobs()) == wanted


def test_a_database_that_is_away_while_wishes_are_withdrawn_changes_no_end(
    source, two_renderers, monkeypatch
):
    run = start_run(inference_budget=10)

    def away(_run_id):
        raise OperationalError("away")

    while (end := advance(run)) == SliceEnd.TIME_UP:
        if SearchRun.objects.get(pk=run.pk).n_inferences >= 8:
            monkeypatch.setattr(farm, "_wishes", away)

    assert end == SliceEnd.FINISHED


def test_renderers_are_counted_among_the_workers_that_report(monkeypatch):
    monkeypatch.setattr(farm, "WORKERS_KNOWN_SECONDS", 3600.0)
    assert farm.renderers() == 0
    now = timezone.now()
    WorkerHeartbeat.objects.create(owner="a", host="h", pid=1, queues=["render"], started_at=now, seen_at=now)
    assert farm.renderers() == 0  # known for some seconds
    farm.forget_renderers()
    assert farm.renderers() == 1
    farm.forget_renderers()
