"""Collection takes old jobs and pictures that nothing names, and never what is in use."""

import os
import threading
from datetime import timedelta

import pytest
from django.contrib.sessions.models import Session
from django.utils import timezone

from searches.enums import JobState
from searches.models import Blob, Job, ModalityCase
from searches.services import work
from searches.services.blobs import blob_path, store_blob
from searches.services.garbage import collect_garbage
from tests.factories import make_finished_run, make_sut
from tests.searches.modality_factory import Ending, make_grid, make_modality_campaign, make_seed_dataset

pytestmark = pytest.mark.django_db

OLD = timedelta(hours=3)


def test_collection_takes_what_nothing_names_and_nobody_touched_lately():
    run = make_finished_run()
    named = set(run.samples.values_list("image_sha256", flat=True))
    in_job, orphan, young = store_blob(b"job"), store_blob(b"orphan"), store_blob(b"young")
    Job.objects.create(kind="try_sut", params={"image_sha256": in_job})
    Blob.objects.exclude(pk=young).update(touched_at=timezone.now() - OLD)

    removed = collect_garbage(timedelta(hours=1))

    assert removed == 1
    assert set(Blob.objects.values_list("pk", flat=True)) == named | {in_job, young}
    assert not blob_path(orphan).exists()
    assert all(blob_path(sha256).exists() for sha256 in named | {in_job, young})


def test_pictures_of_modality_cases_stay():
    make_grid(make_modality_campaign(make_seed_dataset(1)), suts=[make_sut()], ended=lambda place: Ending())
    named, orphan = store_blob(b"perturbed"), store_blob(b"orphan")
    ModalityCase.objects.update(image_sha256=named)
    Blob.objects.update(touched_at=timezone.now() - OLD)

    collect_garbage(timedelta(hours=1))

    assert blob_path(named).exists()
    assert not blob_path(orphan).exists()


def test_unfinished_files_of_killed_writers_are_swept():
    leftover = blob_path(store_blob(b"x")).parent / ".new-abc"
    leftover.write_bytes(b"half")
    os.utime(leftover, (1, 1))

    collect_garbage()

    assert not leftover.exists()


@pytest.mark.parametrize(("state", "is_kept"), [("done", False), ("failed", False), ("queued", True)])
def test_jobs_that_ended_long_ago_go_with_their_pictures(state, is_kept):
    uploaded, drawn = store_blob(b"uploaded"), store_blob(b"drawn")
    long_ago = timezone.now() - timedelta(days=8)
    ended = None if state == "queued" else long_ago
    Job.objects.create(
        kind="try_sut",
        params={"image_sha256": uploaded},
        result={"image_sha256": drawn},
        state=state,
        finished_at=ended,
    )
    Blob.objects.update(touched_at=long_ago)

    removed = collect_garbage()

    assert removed == (0 if is_kept else 2)
    assert Job.objects.count() == int(is_kept)
    assert blob_path(uploaded).exists() == blob_path(drawn).exists() == is_kept


def test_jobs_of_the_last_days_stay():
    Job.objects.create(kind="try_sut", params={}, state=JobState.DONE, finished_at=timezone.now() - OLD)

    collect_garbage()

    assert Job.objects.count() == 1


def test_sessions_that_are_over_go():
    for days in (-1, 1):
        Session.objects.create(
            session_key=f"of day {days}",
            session_data="",
            expire_date=timezone.now() + timedelta(days=days),
        )

    collect_garbage()

    assert [one.session_key for one in Session.objects.all()] == ["of day 1"]


def test_a_worker_without_a_queue_collects_too(monkeypatch, settings):
    settings.GARBAGE_SECONDS = settings.POLL_SECONDS = 0.001
    stop, swept = threading.Event(), []
    monkeypatch.setattr(work, "collect_garbage", lambda: (swept.append(1), stop.set()))

    work.run_forever(["cpu"], stop=stop)

    assert swept == [1]
