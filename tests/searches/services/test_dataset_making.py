"""Datasets are drawn slice by slice: same seed, same pictures, whatever happened to the workers."""

import pytest

from searches.enums import DatasetState, JobKind, JobState
from searches.models import AuditEntry, Dataset, DomainVersion, Job
from searches.services import work
from searches.services.dataset_making import go_on, make_pictures, start_dataset, stop_dataset
from searches.services.datasets import checked_recipe, create_dataset, recipe_of
from searches.services.jobs import run_job
from searches.services.leases import take_job
from searches.services.reaper import reap
from tests.doubles import FlatSceneSource
from tests.factories import make_user
from tests.searches.engine import start_run
from vlmlab.core.errors import GenerationError, SourceAwayError, VlmLabError

pytestmark = pytest.mark.django_db
SMALL = {"width": 128, "height": 96, "strata": ("street", "junction")}


@pytest.fixture(autouse=True)
def flat_scenes(settings):
    settings.SCENE_SOURCE_FACTORY = "tests.doubles.make_flat_source"


def recipe(n: int = 5, **values):
    return checked_recipe(**{"n": n, "seed": 3} | SMALL | values)


def drawn(slug: str, wish=None) -> Dataset:
    dataset = create_dataset(wish or recipe(), title="Streets", slug=slug, by=None)
    for _ in make_pictures(dataset):
        pass
    dataset.refresh_from_db()
    return dataset


def pictures_of(dataset: Dataset) -> list[tuple]:
    columns = ("order", "file_name", "image_sha256", "annotations", "description_digest", "scene_seed")
    return list(dataset.pictures.order_by("order").values_list(*columns))


def a_slice() -> Job:
    """Do one slice of the waiting long job, as a worker would."""
    lease = take_job("w:1:1:main", ["cpu"], is_long=True)
    run_job(lease)
    return Job.objects.get(pk=lease.job_id)


def test_pictures_are_dealt_to_the_strata_in_turn_and_carry_all_that_makes_them_again():
    dataset = drawn("five")

    rows = list(dataset.pictures.order_by("order"))
    assert [(one.order, one.file_name) for one in rows] == [
        (0, "street_00000.png"),
        (1, "junction_00000.png"),
        (2, "street_00001.png"),
        (3, "junction_00001.png"),
        (4, "street_00002.png"),
    ]
    assert (dataset.state, dataset.n_pictures) == (DatasetState.READY, 5)
    for row in rows:
        assert row.provenance == {"backend": "flat", "version": "1"}
        assert row.description["concepts"] == row.concepts
        assert (len(row.description_digest), row.scene_seed == row.description["seed"]) == (64, True)
        assert any(one["is_asked"] for one in row.annotations)
    assert "CC-BY 3.0" in dataset.credits
    assert [f"driving@{one.version}" for one in DomainVersion.objects.all()] == [recipe().domains["driving"]]


def test_the_same_seed_gives_the_same_digest_and_another_seed_another():
    one, same, other = drawn("one"), drawn("same"), drawn("other", recipe(seed=4))

    assert pictures_of(one) == pictures_of(same)
    assert recipe_of(one).digest == recipe_of(same).digest != recipe_of(other).digest


def test_more_pictures_begin_with_those_of_fewer():
    few, many = drawn("few", recipe(3)), drawn("many", recipe(7))

    assert pictures_of(many)[:3] == pictures_of(few)


def test_a_job_draws_slice_by_slice_and_ends_with_the_same_pictures(settings):
    settings.SLICE_SECONDS = 0.0
    dataset, job = start_dataset(recipe(), title="Sliced", by=make_user())

    states = [a_slice() for _ in range(5)]

    assert [one.state for one in states] == [JobState.QUEUED] * 5
    assert [one.result["n_answered"] for one in states] == [1, 2, 3, 4, 5]
    assert {(one.attempts, one.owner, one.lease_expires, one.finished_at) for one in states} == {
        (0, "", None, None)
    }
    last = a_slice()
    dataset.refresh_from_db()
    assert (last.pk, last.state, last.result["dataset"]) == (job.pk, JobState.DONE, "sliced")
    assert (dataset.state, dataset.n_pictures) == (DatasetState.READY, 5)
    assert pictures_of(dataset) == pictures_of(drawn("whole"))


def test_a_worker_that_dies_costs_no_picture_and_doubles_none(monkeypatch):
    dataset, job = start_dataset(recipe(), title="Crashed", by=None)
    generate, calls = FlatSceneSource.generate, []

    def die_at_third(source, concepts, *, seed):
        calls.append(seed)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return generate(source, concepts, seed=seed)

    monkeypatch.setattr(FlatSceneSource, "generate", die_at_third)
    with pytest.raises(KeyboardInterrupt):
        a_slice()
    kept = dataset.pictures.count()
    Job.objects.filter(pk=job.pk).update(lease_expires=None)
    reap()
    ended = a_slice()

    assert 0 < kept < 5
    assert (ended.state, ended.attempts) == (JobState.DONE, 2)
    assert pictures_of(dataset) == pictures_of(drawn("whole"))


def test_a_worker_whose_lease_is_lost_writes_nothing(monkeypatch):
    dataset, job = start_dataset(recipe(), title="Taken over", by=None)
    generate = FlatSceneSource.generate

    def lose_the_lease(source, concepts, *, seed):
        Job.objects.filter(pk=job.pk).update(owner="another")
        return generate(source, concepts, seed=seed)

    monkeypatch.setattr(FlatSceneSource, "generate", lose_the_lease)
    a_slice()

    job.refresh_from_db()
    dataset.refresh_from_db()
    assert (job.state, job.owner, dataset.pictures.count()) == (JobState.RUNNING, "another", 0)
    assert dataset.state == DatasetState.MAKING


def test_stopping_keeps_what_is_drawn_and_going_on_draws_the_rest(settings):
    settings.SLICE_SECONDS = 0.0
    person = make_user()
    dataset, _ = start_dataset(recipe(), title="Stopped", by=person)
    a_slice()

    stop_dataset(dataset, by=person)
    dataset.refresh_from_db()
    stopped = (dataset.state, dataset.error, dataset.pictures.count())
    assert take_job("w", ["cpu"], is_long=True) is None
    again = go_on(dataset, by=person)
    assert go_on(dataset, by=person).pk == again.pk
    settings.SLICE_SECONDS = 60.0
    a_slice()

    dataset.refresh_from_db()
    assert stopped == (DatasetState.FAILED, "It was stopped.", 1)
    assert (dataset.state, dataset.error) == (DatasetState.READY, "")
    assert pictures_of(dataset) == pictures_of(drawn("whole"))
    verbs = AuditEntry.objects.filter(object_type="dataset", actor=person).values_list("verb", flat=True)
    assert sorted(verbs) == ["started a dataset", "stopped", "went on with"]


def test_a_dataset_whose_last_picture_was_just_written_cannot_be_stopped_any_more():
    dataset, job = start_dataset(recipe(2), title="Streets", by=None)
    lease = take_job("w:1:1:main", ["cpu"], is_long=True)
    for _ in make_pictures(dataset):
        pass  # complete, and the worker has not said so of its job yet

    with pytest.raises(VlmLabError, match="Nobody draws Streets"):
        stop_dataset(dataset, by=None)

    dataset.refresh_from_db()
    job.refresh_from_db()
    assert (dataset.state, job.state, lease.job_id) == (DatasetState.READY, JobState.RUNNING, str(job.pk))


def test_there_is_nothing_to_stop_or_to_go_on_with_in_a_finished_dataset():
    dataset = drawn("done")

    with pytest.raises(VlmLabError, match="Nobody draws Streets"):
        stop_dataset(dataset, by=None)
    with pytest.raises(VlmLabError, match="nothing left to draw"):
        go_on(dataset, by=None)


def test_a_place_without_a_scene_is_left_out_with_its_reason(monkeypatch):
    def refuse(source, concepts, *, seed):
        if any("light" in one for one in concepts):
            raise GenerationError("The lamp is broken.")
        return generate(source, concepts, seed=seed)

    generate = FlatSceneSource.generate
    monkeypatch.setattr("vlmlab.core.scenes.strata.TRIES", 1)
    monkeypatch.setattr(FlatSceneSource, "generate", refuse)
    dataset = drawn("dark", recipe(8, strata=("junction",)))

    found = recipe_of(dataset)
    assert dataset.state == DatasetState.READY
    assert 0 < len(found.refused) < 8
    assert dataset.n_pictures == 8 - len(found.refused)
    assert any("The lamp is broken." in reason for reason in found.refused.values())
    assert [one.order for one in dataset.pictures.all()] == sorted(set(range(8)) - set(found.refused))


def test_a_source_that_is_away_stops_the_dataset_instead_of_using_up_its_places(monkeypatch):
    def be_away(source, concepts, *, seed):
        raise SourceAwayError("The server is off.", hint="Start it.")

    dataset, _ = start_dataset(recipe(), title="Away", by=None)
    monkeypatch.setattr(FlatSceneSource, "generate", be_away)
    job = a_slice()

    dataset.refresh_from_db()
    assert (job.state, job.error, dataset.state) == (
        JobState.FAILED,
        "The server is off.",
        DatasetState.FAILED,
    )
    assert dataset.error == "The server is off. Start it."
    assert recipe_of(dataset).refused == {}


def test_a_dataset_without_any_picture_is_not_ready(monkeypatch):
    def refuse(source, concepts, *, seed):
        raise GenerationError("Nothing fits.")

    monkeypatch.setattr(FlatSceneSource, "generate", refuse)
    dataset = drawn("none", recipe(2))

    assert (dataset.state, dataset.error) == (DatasetState.FAILED, "No picture could be drawn.")


def test_people_at_pages_do_not_wait_for_a_dataset_and_runs_take_turns_with_it(settings):
    settings.SLICE_SECONDS = 0.0
    start_dataset(recipe(4), title="Long", by=None)
    run = start_run()
    scene = Job.objects.create(kind=JobKind.RENDER_SCENE, params={})
    worked = []

    def look() -> str:
        run.refresh_from_db()
        return f"{Dataset.objects.get().n_pictures} pictures, step {run.step}"

    for _ in range(5):
        assert work.work_once("w:1:1:main", ["cpu"])
        worked.append(look())
    scene.refresh_from_db()

    assert scene.state == JobState.FAILED  # it was done first; its parameters were empty
    assert worked == [
        "0 pictures, step 0",
        "0 pictures, step 1",
        "1 pictures, step 1",
        "1 pictures, step 2",
        "2 pictures, step 2",
    ]
