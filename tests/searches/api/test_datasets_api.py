"""Datasets over the API and with the client: make, wait, read, download; the same files as the pages."""

import io
import zipfile

import pytest

from searches.models import Dataset
from searches.services.dataset_making import make_pictures
from searches.services.datasets import checked_recipe, create_dataset
from searches.services.jobs import run_job
from searches.services.leases import take_job
from tests.searches.api.asking import Program
from vlmlab.web.roles import Role

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def flat_scenes(settings):
    settings.SCENE_SOURCE_FACTORY = "tests.doubles.make_flat_source"


@pytest.fixture
def program():
    return Program()


def make(slug: str = "streets", n: int = 2) -> Dataset:
    recipe = checked_recipe(n=n, seed=1, width=128, height=96, strata=("street",))
    dataset = create_dataset(recipe, title=slug, slug=slug, by=None)
    list(make_pictures(dataset))
    return dataset


def test_a_dataset_is_asked_for_and_read_until_it_is_ready(program):
    made = program.post(
        "/datasets", {"title": "Streets", "n": 2, "width": 128, "height": 96, "strata": ["street"]}
    )
    status = program.status
    run_job(take_job("w", ["cpu"], is_long=True))
    ready = program.get("/datasets/streets")

    assert (status, made["slug"], made["state"], made["n_pictures"]) == (202, "streets", "making", 0)
    assert (ready["state"], ready["n_pictures"], ready["page"]) == ("ready", 2, "/datasets/streets/")
    assert len(ready["recipe"]["digest"]) == 64


def test_a_dataset_whose_worker_met_a_bug_is_read_as_failed_and_not_waited_for(program, monkeypatch):
    def bug(*_arguments, **_options):
        raise RuntimeError("bug")

    program.post("/datasets", {"title": "Streets", "n": 2, "width": 128, "height": 96, "strata": ["street"]})
    monkeypatch.setattr("searches.services.dataset_making.make_pictures", bug)

    run_job(take_job("w", ["cpu"], is_long=True))

    read = program.get("/datasets/streets")
    assert (read["state"], read["n_pictures"]) == ("failed", 0)
    assert read["error"].startswith("Something went wrong inside the lab. Try again;")


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"n": 0}, "n"),
        ({"strata": ["moon"]}, "strata"),
        ({"slug": "new"}, "slug"),
        ({"backend": "x"}, "backend"),
    ],
)
def test_a_wrong_value_is_refused_at_its_field(program, change, field):
    problem = program.post("/datasets", {"title": "Streets"} | change)

    assert (program.status, problem["field"], Dataset.objects.count()) == (422, field, 0)


def test_reviewers_read_and_do_not_make():
    reviewer = Program(role=Role.REVIEWER)
    make()

    assert reviewer.get("/datasets/streets")["n_pictures"] == 2
    reviewer.post("/datasets", {"title": "Streets"})
    assert reviewer.status == 403


@pytest.mark.parametrize("count", [1, 3])
def test_the_list_asks_the_database_the_same_whatever_its_length(program, count, django_assert_num_queries):
    for number in range(count):
        Dataset.objects.create(slug=f"d{number}", title="D", origin="upload")

    with django_assert_num_queries(2):  # token, datasets
        answer = program.get("/datasets")

    assert len(answer["items"]) == count


def test_pictures_come_in_pages_with_their_truth(program):
    dataset = make(n=3)

    first = program.get("/datasets/streets/pictures?limit=2")
    second = program.get(first["next"].removeprefix("/api/v1"))

    rows = first["items"] + second["items"]
    assert [row["order"] for row in rows] == [0, 1, 2]
    assert [row["annotations"] for row in rows] == list(
        dataset.pictures.values_list("annotations", flat=True)
    )
    assert program.get(rows[0]["picture"].removeprefix("/api/v1"))["Content-Type"] == "image/png"


def test_the_archive_holds_every_picture(program):
    make()

    answer = program.get("/datasets/streets/export.zip")

    names = zipfile.ZipFile(io.BytesIO(b"".join(answer.streaming_content))).namelist()
    assert (answer["Content-Type"], names[-1]) == ("application/zip", "images/street_00001.png")


@pytest.mark.parametrize("path", ["", "/pictures", "/export.zip"])
def test_an_unknown_dataset_is_told(program, path):
    problem = program.get(f"/datasets/none{path}")

    assert (program.status, problem["message"]) == (404, "There is no dataset “none”.")
