"""Short jobs end with a result or a sentence; systems are checked before they are stored and loaded once."""

import pytest

from searches.enums import JobKind, JobState
from searches.models import AuditEntry, Job, SutRecord
from searches.services import suts, work
from searches.services.blobs import blob_path, store_blob
from searches.services.jobs import run_job, start_job
from searches.services.leases import LONG_KINDS, take_job
from searches.services.suts import edit_sut, load_sut, register_sut, set_enabled
from tests.doubles import paint_png
from tests.factories import make_sut, make_user
from tests.searches.engine import scripted, start_run
from vlmlab.core.errors import VlmLabError

pytestmark = pytest.mark.django_db

SCENE = {"domain": "driving", "concepts": ["cone", "on_lane", "near"], "seed": 5, "width": 64, "height": 48}


def done(kind, params):
    job = start_job(kind, params, by=None)
    run_job(take_job("w", ["cpu"], is_long=kind in LONG_KINDS))
    job.refresh_from_db()
    return job


def test_a_scene_job_gives_the_picture_with_its_truth_and_question():
    job = done(JobKind.RENDER_SCENE, SCENE)

    assert job.state == JobState.DONE
    assert blob_path(job.result["image_sha256"]).exists()
    assert job.result["decision"]["action"] == "emergency_stop"
    assert job.result["question"]["prompt"].count("\n") >= 3
    assert len(job.result["annotations"]) == 3
    assert (job.lease_expires, job.finished_at is not None) == (None, True)


def test_a_job_leaves_one_audit_entry_without_the_prompt():
    person = make_user()

    job = start_job(JobKind.TRY_SUT, {"sut": "pocket", "mode": "text", "prompt": "Secret words"}, by=person)

    entry = AuditEntry.objects.get()
    assert (entry.actor, entry.verb, entry.object_id) == (person, "asked a system", str(job.pk))
    assert entry.after == {"sut": "pocket", "mode": "text"}


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ({"concepts": ["conee"]}, "conee"),
        ({"concepts": ["near", "far", "cone", "on_lane"]}, ""),
        ({"domain": "moon"}, "moon"),
    ],
)
def test_a_scene_that_cannot_be_is_refused_with_a_sentence(change, part):
    job = done(JobKind.RENDER_SCENE, SCENE | change)

    assert job.state == JobState.FAILED
    assert part in job.error
    assert job.error.endswith(".")


def test_a_try_gives_the_raw_text_and_the_letter_read_from_it():
    sut = scripted()
    image = store_blob(paint_png((1, 2, 3), concepts=("bus_stop",)))
    params = {
        "sut": sut.slug,
        "image_sha256": image,
        "prompt": "Which?\nA) Left.\nB) Emergency stop: brake as hard as possible now.",
        "mode": "choice",
        "options": {"A": "Left.", "B": "Emergency stop: brake as hard as possible now."},
    }

    job = done(JobKind.TRY_SUT, params)

    assert job.result["text"] == "B"
    assert job.result["reading"] == {"status": "answered", "letter": "B"}
    sut.refresh_from_db()
    assert sut.n_calls == 1


def _count_words(job):
    return {"words": len(job.params["text"].split())}


def test_an_app_above_does_jobs_of_its_own_kind(settings):
    settings.JOB_WORK = {JobKind.MAKE_STUDY: f"{__name__}._count_words"}

    job = done(JobKind.MAKE_STUDY, {"text": "three short words"})

    assert (job.state, job.result) == (JobState.DONE, {"words": 3})


def test_a_bug_in_a_job_is_stored_as_a_reference(monkeypatch):
    monkeypatch.setattr("searches.services.jobs.scene_source", lambda *args, **values: 1 / 0)

    job = done(JobKind.RENDER_SCENE, SCENE)

    assert job.error == "Something went wrong inside the lab."


def test_a_job_that_was_taken_over_is_not_written():
    start_job(JobKind.RENDER_SCENE, SCENE, by=None)
    lease = take_job("w", ["cpu"])
    Job.objects.update(attempts=2)

    run_job(lease)

    assert Job.objects.get().state == JobState.RUNNING


def test_a_worker_does_jobs_before_runs_and_leaves_a_run_for_a_job(settings):
    settings.SLICE_SECONDS = 1000
    run = start_run(inference_budget=40)
    start_job(JobKind.RENDER_SCENE, SCENE, by=None)

    assert work.work_once("w", ["cpu"])
    assert (Job.objects.get().state, run.samples.count()) == (JobState.DONE, 0)
    assert work.work_once("w", ["cpu"])
    assert run.samples.count() == 40
    assert not work.work_once("w", ["cpu"])


def test_a_system_is_stored_with_checked_settings_and_an_audit_entry():
    sut = register_sut(slug="table", name="Table", kind="scripted", params={"default": "B"}, by=None)

    assert sut.params["default"] == "B"
    assert sut.params["batch_size"] == 8
    assert AuditEntry.objects.get().verb == "registered"


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"kind": "oracle"}, "kind"),
        ({"params": {"unknown": 1}}, "unknown"),
        ({"params": {"batch_size": 0}}, "batch_size"),
        ({"slug": "taken"}, "slug"),
    ],
)
def test_wrong_settings_are_refused_at_their_field(values, field):
    make_sut("taken")

    with pytest.raises(VlmLabError) as caught:
        register_sut(**{"slug": "s", "name": "S", "kind": "scripted", "params": {}, "by": None} | values)

    assert caught.value.field == field
    assert SutRecord.objects.count() == 1


def test_a_table_of_answers_cannot_be_registered_by_a_person_in_the_browser():
    with pytest.raises(VlmLabError, match="cannot be registered here"):
        register_sut(slug="s", name="S", kind="scripted", params={}, by=make_user())


def test_a_checkpoint_that_is_not_there_is_refused():
    with pytest.raises(VlmLabError):
        register_sut(
            slug="s", name="S", kind="transformers_local", params={"checkpoint": "nowhere"}, by=make_user()
        )

    assert SutRecord.objects.count() == 0


def test_one_system_is_kept_in_memory_and_replaced_by_the_next():
    first, second = scripted(), scripted(default="B")

    assert load_sut(first) is load_sut(first)
    assert load_sut(second) is not load_sut(first)
    assert suts.loaded_sut().slug == first.slug


def test_changed_settings_load_the_system_anew():
    sut = scripted()
    before = load_sut(sut)

    edit_sut(sut, name="New", params=sut.params | {"default": "C"}, by=None, description="", queue=sut.queue)

    after = load_sut(SutRecord.objects.get(pk=sut.pk))
    assert after.info.fingerprint != before.info.fingerprint


@pytest.mark.parametrize(
    ("change", "kept"),
    [
        ({"model": "other"}, ""),
        ({"temperature": 0.5}, ""),
        ({"input_price_usd": 2.0, "spend_cap_usd": None}, "f" * 64),
        ({"asking": {"choice_template": "Look closely. {question}"}}, "f" * 64),
    ],
)
def test_a_system_keeps_its_identity_when_only_prices_limits_or_words_change(change, kept):
    params = {"base_url": "https://models.example.org/v1", "model": "one"}
    sut = register_sut(slug="served", name="Served", kind="openai_chat", params=params, by=None)
    SutRecord.objects.filter(pk=sut.pk).update(fingerprint="f" * 64)
    sut.refresh_from_db()

    edit_sut(sut, name="Served", params=params | change, by=None, description="", queue=sut.queue)

    assert SutRecord.objects.get(pk=sut.pk).fingerprint == kept


def test_a_system_that_is_switched_off_is_not_loaded():
    sut = scripted()
    set_enabled(sut, is_enabled=False, by=None)

    with pytest.raises(VlmLabError, match="is switched off"):
        load_sut(SutRecord.objects.get(pk=sut.pk))
