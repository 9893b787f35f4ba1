"""Runs whose pictures an image-generating model makes: money, refusals, outages, and the cache."""

import pytest

from searches.enums import JobState, RunState
from searches.models import PictureSource
from searches.services.endings import MAX_FRUITLESS_BATCHES
from searches.services.jobs import redraw_job, run_job
from searches.services.keys import create_key
from searches.services.leases import take_job
from searches.services.scene_sources import forget_sources
from searches.services.slice_ends import SliceEnd
from tests.peers import openai_images as peers
from tests.peers.openai_chat import KEY, WRONG_KEY
from tests.searches.engine import advance, as_new_process, scripted, start_run

pytestmark = pytest.mark.django_db
SLUG = "drawing-model"


@pytest.fixture
def peer(settings, tmp_path):
    forget_sources()
    with peers.openai_images_peer() as running:
        settings.ENDPOINT_ALLOW = [f"127.0.0.1:{running.port}"]
        settings.SCENE_CACHE_DIR = tmp_path
        yield running
    forget_sources()


@pytest.fixture
def source(peer):
    key = create_key(name="drawing", kind="openai_chat", secret=KEY, by=None, address=f"{peer.url}/v1")
    params = {
        "provider": "openai", "model": peers.MODEL, "base_url": f"{peer.url}/v1", "max_attempts": 1,
        "price_usd_per_picture": 0.04,
    }  # fmt: skip
    return PictureSource.objects.create(
        slug=SLUG, name="Drawing model", kind="image_api", params=params, api_key=key
    )


def small_run(**values):
    config = {"inference_budget": 10, "image_width": 88, "image_height": 66, "backend": SLUG, **values}
    return start_run(scripted(), algorithm="random", **config)


def test_a_run_draws_through_the_source_and_its_pictures_are_paid(peer, source):
    run = small_run()

    end = advance(run)

    source.refresh_from_db()
    n_drawn = len(peer.requests)
    provenance = run.samples.first().provenance
    assert (end, run.n_inferences) == (SliceEnd.FINISHED, 10)
    assert (source.n_pictures, source.spend_usd) == (n_drawn, pytest.approx(0.04 * n_drawn))
    assert run.spend_usd == pytest.approx(0.04 * n_drawn + 0.001 * 10)  # a scripted answer costs 0.001
    assert (provenance["backend"], provenance["model"], KEY in str(provenance)) == (
        "image_api",
        peers.MODEL,
        False,
    )


def test_the_same_run_again_asks_nobody_and_pays_nothing(peer, source):
    advance(small_run())
    n_drawn = len(peer.requests)
    as_new_process()
    forget_sources()

    again = small_run()
    advance(again)

    assert (again.n_inferences, len(peer.requests), again.spend_usd) == (10, n_drawn, 0.0)


def test_a_scene_that_is_drawn_again_is_paid_by_its_source_and_by_no_run(peer, source, settings, tmp_path):
    run = small_run()
    advance(run)
    source.refresh_from_db()
    paid, cost = source.spend_usd, run.spend_usd
    settings.SCENE_CACHE_DIR = tmp_path / "elsewhere"  # nobody keeps the picture any more

    job = redraw_job(run.samples.exclude(image_sha256="").first(), by=None)
    run_job(take_job("w:1:1:main", ["cpu"]))

    job.refresh_from_db()
    source.refresh_from_db()
    run.refresh_from_db()
    assert (job.state, job.error) == (JobState.DONE, "")
    assert (source.spend_usd, run.spend_usd) == (pytest.approx(paid + 0.04), cost)


def test_a_refusal_is_no_failure_of_the_system_and_is_counted(peer, source):
    peer.next(peers.BLOCKED)
    run = small_run()

    advance(run)

    source.refresh_from_db()
    assert (run.state, run.n_generation_errors, source.n_refusals) == (RunState.SUCCEEDED, 1, 1)
    assert "safety" in source.last_error


def test_a_provider_that_refuses_the_key_pauses_the_run_and_uses_up_no_set(peer, source):
    peer.next(WRONG_KEY)
    run = small_run()

    advance(run)
    paused = run.state, run.n_generation_errors, run.samples.count(), run.error

    assert paused[:3] == (RunState.PAUSED, 0, 0)
    assert "refused the API key" in paused[3]


def test_a_model_that_refuses_batch_after_batch_halts_its_run(peer, source):
    peer.next(*[peers.BLOCKED] * 60)
    run = small_run(inference_budget=40)

    advance(run)

    assert (run.state, run.n_inferences) == (RunState.PAUSED, 0)
    assert run.checkpoint["fruitless_batches"] == MAX_FRUITLESS_BATCHES
    assert run.error.startswith("No scene of 3 batches in a row could be drawn:")


def test_pictures_that_were_paid_before_are_used_under_a_limit_that_is_used_up(peer, source):
    first = small_run()
    advance(first)
    n_drawn = len(peer.requests)
    as_new_process()
    forget_sources()

    again = small_run(spend_cap_usd=0.02)  # less than one picture; each answer of before is cached too
    advance(again)

    assert (again.state, again.n_inferences, again.spend_usd) == (RunState.SUCCEEDED, 10, 0.0)
    assert len(peer.requests) == n_drawn


def test_a_kept_picture_that_is_damaged_is_not_bought_beyond_a_limit(peer, source, tmp_path):
    advance(small_run())
    n_drawn = len(peer.requests)
    for file in tmp_path.rglob("*.scene"):
        file.write_bytes(b"cut")
    forget_sources()

    again = small_run(spend_cap_usd=0.02)
    advance(again)

    assert (again.state, again.spend_usd, len(peer.requests)) == (RunState.PAUSED, 0.0, n_drawn)
    assert "The spending limit of this run is reached" in again.error
