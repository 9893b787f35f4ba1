"""Pages of datasets: who may do what, making one, its pictures, one picture with its truth, deleting."""

import io
import json
import zipfile

import numpy as np
import pytest
from PIL import Image

from searches.enums import DatasetOrigin, DatasetState, JobKind, JobState
from searches.models import AuditEntry, Dataset, DatasetPicture, Job, PictureSource
from searches.services.blobs import store_blob
from searches.services.dataset_making import make_pictures, start_dataset
from searches.services.datasets import checked_recipe
from searches.services.jobs import run_job
from searches.services.leases import take_job
from tests.doubles import paint_png
from vlmlab.core.scenes.masks import encode_mask
from vlmlab.web.roles import Role

from .people import browser_of, statuses

pytestmark = pytest.mark.django_db
FOR_READERS = {"": 302, "admin": 200, "researcher": 200, "reviewer": 200, "annotator": 403}
FOR_RESEARCHERS = {"": 302, "admin": 200, "researcher": 200, "reviewer": 403, "annotator": 403}
WISH = {
    "title": "Streets at noon",
    "n": "6",
    "strata": ["street", "junction"],
    "size": "320x240",
    "seed": "3",
    "backend": "embedded",
}


@pytest.fixture(autouse=True)
def flat_scenes(settings):
    settings.SCENE_SOURCE_FACTORY = "tests.doubles.make_flat_source"


def make_dataset(slug: str = "streets", *, n: int = 0, **values) -> Dataset:
    recipe = checked_recipe(n=max(n, 1), seed=3, width=128, height=96, strata=("street", "junction"))
    defaults = {
        "title": slug.title(),
        "origin": DatasetOrigin.SCENES,
        "recipe": recipe.model_dump(mode="json"),
        "credits": "Cones by Ada.",
        "licence": "CC-BY 3.0",
        "n_pictures": n,
    }
    dataset = Dataset.objects.create(slug=slug, **defaults | values)
    for order in range(n):
        make_picture(dataset, order)
    return dataset


def make_picture(dataset: Dataset, order: int, **values) -> DatasetPicture:
    mask = np.zeros((96, 128), np.bool_)
    mask[10:20, 30:40] = True
    truth = {
        "label": "traffic cone", "kind": "cone", "concept": "cone", "is_asked": True,
        "box": [30.0, 10.0, 40.0, 20.0], "amodal_box": [30.0, 10.0, 44.0, 20.0], "visible_pixels": 100,
        "visible_fraction": 0.71, "mask": encode_mask(mask),
    }  # fmt: skip
    defaults = {
        "file_name": f"street_{order:05d}.png",
        "image_sha256": store_blob(paint_png((order % 250, 3, 3), width=128, height=96)),
        "width": 128,
        "height": 96,
        "stratum": ("street", "junction")[order % 2],
        "concepts": ["cone", "far"] if order % 2 else ["cone"],
        "annotations": [truth],
        "description": {"domain": "driving", "concepts": ["cone"], "seed": 77},
        "description_digest": "d" * 64,
        "scene_seed": 77,
        "attempt": 1,
        "provenance": {"backend": "embedded", "version": "9", "quality": "standard"},
    }
    return DatasetPicture.objects.create(dataset=dataset, order=order, **defaults | values)


def test_datasets_are_read_by_readers_and_made_by_researchers():
    make_dataset(n=1)

    for path in ("/datasets/", "/datasets/streets/", "/datasets/streets/0/", "/datasets/streets/0/masks.png"):
        assert statuses(path) == FOR_READERS, path
    assert statuses("/datasets/streets/dataset.zip") == FOR_READERS
    assert statuses("/datasets/new/") == FOR_RESEARCHERS
    for verb in ("stop", "go-on", "delete"):
        answers = statuses(f"/datasets/streets/{verb}/", method="post")
        assert (answers["reviewer"], answers["annotator"]) == (403, 403), verb


@pytest.mark.parametrize(
    "path", ["/datasets/none/", "/datasets/streets/7/", "/datasets/streets/99999999999/"]
)
def test_what_there_is_not_is_not_found(path):
    make_dataset()

    assert browser_of(Role.RESEARCHER).get(path).status_code == 404


def test_the_list_says_what_to_do_when_it_is_empty():
    page = browser_of(Role.RESEARCHER).get("/datasets/").content.decode()

    assert "No dataset yet" in page
    assert 'href="/datasets/new/"' in page


@pytest.mark.parametrize("rows", [1, 3])
def test_the_list_takes_the_same_queries_for_any_number_of_rows(rows, django_assert_num_queries):
    for number in range(rows):
        make_dataset(f"set-{number}")
    browser = browser_of(Role.REVIEWER)

    with django_assert_num_queries(5):  # session, person, count, datasets, navigation
        page = browser.get("/datasets/").content.decode()

    assert page.count('class="primary-link"') == rows


@pytest.mark.parametrize("rows", [1, 3])
def test_the_page_of_a_dataset_takes_the_same_queries_for_any_number_of_pictures(
    rows, django_assert_num_queries
):
    make_dataset(n=rows)
    browser = browser_of(Role.REVIEWER)

    with django_assert_num_queries(11):  # the pictures are counted once a process
        page = browser.get("/datasets/streets/")

    assert page.status_code == 200
    assert page.content.decode().count('<a class="shot"') == rows


def test_a_form_starts_a_job_that_makes_the_pictures():
    browser = browser_of(Role.RESEARCHER)

    answer = browser.post("/datasets/new/", WISH)
    before = browser.get("/datasets/streets-at-noon/").content.decode()
    run_job(take_job("w", ["cpu"], is_long=True))
    page = browser.get("/datasets/streets-at-noon/")

    dataset = Dataset.objects.get()
    assert (answer.status_code, answer.url) == (302, "/datasets/streets-at-noon/")
    assert ("Waiting for a worker" in before or "No worker serves" in before, ">Stop<" in before) == (
        True,
        True,
    )
    assert (dataset.state, dataset.n_pictures) == (DatasetState.READY, 6)
    assert [one.label for one in page.context["page"].counts.strata] == ["Street", "Junction"]
    assert len(page.context["part"].shots) == 6
    assert page.context["page"].recipe.digest in page.content.decode()
    assert list(AuditEntry.objects.values_list("verb", flat=True)) == [
        "asked for a dataset",
        "started a dataset",
    ]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"title": ""}, "title"),
        ({"n": "0"}, "n"),
        ({"n": "20001"}, "n"),
        ({"strata": []}, "strata"),
        ({"strata": ["moon"]}, "strata"),
        ({"size": "1x1"}, "size"),
        ({"seed": "-1"}, "seed"),
        ({"backend": "nobody"}, "backend"),
    ],
)
def test_a_wrong_value_is_told_at_its_field_and_nothing_is_started(change, field):
    page = browser_of(Role.RESEARCHER).post("/datasets/new/", WISH | change)

    assert (page.status_code, list(page.context["form"].errors)) == (422, [field])
    assert (Dataset.objects.count(), Job.objects.count()) == (0, 0)


def test_two_datasets_of_one_title_get_two_addresses():
    browser = browser_of(Role.RESEARCHER)

    urls = [browser.post("/datasets/new/", WISH | {"title": title}).url for title in ("New", "New", "Upload")]

    assert urls == ["/datasets/new-2/", "/datasets/new-3/", "/datasets/upload-2/"]


def test_the_gallery_has_pages_and_can_be_narrowed():
    dataset = make_dataset(n=30)
    ball = {"label": "ball", "kind": "ball", "concept": "", "is_asked": True, "box": [1, 2, 9, 9]}
    make_picture(
        dataset, 30, stratum="street", annotations=[ball, ball | {"label": "hoop", "is_asked": False}]
    )
    browser = browser_of(Role.REVIEWER)

    def shown(query: str) -> list[int]:
        part = browser.get(f"/datasets/streets/?{query}").context["part"]
        return [shot.row.order for shot in part.shots]

    assert (shown(""), shown("page=2")) == (list(range(24)), list(range(24, 31)))
    assert shown("stratum=junction") == shown("concept=far") == list(range(1, 30, 2))[:24]
    assert (shown("label=ball"), shown("label=hoop"), shown("label=ball&stratum=junction")) == ([30], [], [])
    nothing = browser.get("/datasets/streets/?concept=fa")
    assert (nothing.context["part"].shots, "No picture matches" in nothing.content.decode()) == ([], True)


def test_the_gallery_draws_the_boxes_of_what_can_be_asked_for_or_of_the_label_asked():
    dataset = make_dataset()
    things = [
        {"label": label, "kind": label, "concept": "", "is_asked": label != "tree", "box": [1, 2, 9, 12]}
        for label in ("ball", "cat", "dog", "egg", "tree")
    ]
    make_picture(dataset, 0, annotations=things)
    browser = browser_of(Role.REVIEWER)

    [shot] = browser.get("/datasets/streets/").context["part"].shots
    [narrowed] = browser.get("/datasets/streets/?label=cat").context["part"].shots

    assert [box.label for box in shot.boxes] == ["ball", "cat", "dog", "egg"]
    assert (shot.boxes[0].x, shot.boxes[0].y, shot.boxes[0].width, shot.boxes[0].height) == (1, 2, 8, 10)
    assert shot.words == "ball, cat, dog and 1 more"
    assert [box.label for box in narrowed.boxes] == ["cat"]


def test_a_dataset_tells_what_can_be_asked_for_in_which_kind_of_scene():
    dataset = make_dataset(n=3)
    make_picture(dataset, 3, annotations=[])

    page = browser_of(Role.REVIEWER).get("/datasets/streets/")

    counts = page.context["page"].counts
    assert [(one.id, one.count, one.n_usable) for one in counts.strata] == [
        ("street", 2, 2),
        ("junction", 2, 1),
    ]
    assert counts.columns == ("Street", "Junction")
    [row] = counts.label_rows
    assert (row.label, row.by_stratum, row.n_pictures, row.n_things) == ("traffic cone", (2, 1), 3, 3)
    assert "3 of them usable as seed images" in page.content.decode()


def test_a_picture_shows_its_truth_what_made_it_and_why_an_answer_is_expected():
    make_dataset(n=3)

    answer = browser_of(Role.REVIEWER).get("/datasets/streets/1/")

    page, facts = answer.content.decode(), answer.context["facts"]
    assert (answer.context["page"].previous, answer.context["page"].following) == (0, 2)
    assert (facts.seed, facts.attempt, facts.digest) == (77, 1, "d" * 64)
    assert facts.made_by == (("Back end", "Embedded renderer, version 9"), ("Quality", "standard"))
    [line] = facts.lines
    assert (line.label, line.kind, line.concept, line.box, line.amodal_box) == (
        "traffic cone",
        "cone",
        "cone",
        "30, 10, 40, 20",
        "30, 10, 44, 20",
    )
    assert (line.visible_percent, line.asked, line.has_mask) == (71, "yes", True)
    assert facts.decision.label in ("Emergency stop", "Slow down", "Continue")
    assert facts.decision.why in page
    assert "&quot;seed&quot;: 77" in page
    assert 'src="/datasets/streets/1/masks.png"' in page


def test_the_masks_of_a_picture_are_a_transparent_picture_of_its_size():
    make_dataset(n=1)

    answer = browser_of(Role.REVIEWER).get("/datasets/streets/0/masks.png")

    pixels = np.asarray(Image.open(io.BytesIO(answer.content)))
    assert pixels.shape == (96, 128, 4)
    assert int((pixels[..., 3] > 0).sum()) == 100
    assert (pixels[10, 30, 3] > 0, pixels[9, 30, 3]) == (True, 0)


def test_a_damaged_mask_is_not_found_instead_of_an_error():
    dataset = make_dataset()
    make_picture(dataset, 0, annotations=[{"label": "x", "box": [0, 0, 1, 1], "mask": "\x7f\x7f"}])

    assert browser_of(Role.REVIEWER).get("/datasets/streets/0/masks.png").status_code == 404


def test_a_photograph_has_neither_description_nor_masks():
    dataset = make_dataset("photos", origin=DatasetOrigin.UPLOAD, recipe={"file": "x.zip"})
    make_picture(
        dataset, 0, description={}, provenance={}, scene_seed=None, description_digest="", stratum="",
        annotations=[{"label": "forklift", "concept": "", "box": [1, 2, 30, 40], "mask": ""}],
    )  # fmt: skip
    browser = browser_of(Role.REVIEWER)

    page = browser.get("/datasets/photos/0/").content.decode()

    assert "A photograph has no scene description." in page
    assert "forklift" in page
    assert "masks.png" not in page
    assert browser.get("/datasets/photos/").status_code == 200


def test_the_description_is_downloaded_as_json():
    make_dataset(n=1)

    answer = browser_of(Role.REVIEWER).get("/datasets/streets/0/?as=json")

    assert answer["Content-Disposition"] == 'attachment; filename="streets-0.scene.json"'
    assert json.loads(answer.content)["seed"] == 77


def test_a_dataset_is_downloaded_as_an_archive():
    make_dataset(n=2)

    answer = browser_of(Role.REVIEWER).get("/datasets/streets/dataset.zip")

    archive = zipfile.ZipFile(io.BytesIO(b"".join(answer.streaming_content)))
    assert answer["Content-Type"] == "application/zip"
    assert answer["Content-Disposition"].startswith('attachment; filename="vlmlab-dataset-streets-')
    assert "images/street_00001.png" in archive.namelist()
    assert b"Cones by Ada." in archive.read("CREDITS.txt")


def test_a_dataset_is_stopped_gone_on_with_and_deleted():
    _, job = start_dataset(
        checked_recipe(n=3, width=128, height=96, strata=("street",)), title="Streets", by=None
    )
    browser = browser_of(Role.RESEARCHER)

    at_work = browser.get("/datasets/streets/").content.decode()
    browser.post("/datasets/streets/delete/")
    assert Dataset.objects.count() == 1
    browser.post("/datasets/streets/stop/")
    stopped = browser.get("/datasets/streets/").content.decode()
    browser.post("/datasets/streets/go-on/")

    assert ("It is being made." in at_work, 'action="/datasets/streets/delete/"' in at_work) == (True, False)
    assert ("It was stopped." in stopped, ">Go on<" in stopped) == (True, True)
    job.refresh_from_db()
    assert job.state == JobState.FAILED
    assert Job.objects.filter(kind=JobKind.MAKE_DATASET, state=JobState.QUEUED).count() == 1
    browser.post("/datasets/streets/stop/")
    answer = browser.post("/datasets/streets/delete/")
    assert (answer.url, Dataset.objects.count()) == ("/datasets/", 0)
    assert AuditEntry.objects.first().verb in ("deleted", "started a dataset")
    assert dict(AuditEntry.objects.get(verb="deleted").before) == {"slug": "streets", "pictures": 0}


def test_a_dataset_that_a_picture_source_draws_from_is_not_deleted():
    dataset = make_dataset()
    PictureSource.objects.create(slug="pool", name="Photographs", kind="image_pool", dataset=dataset)
    browser = browser_of(Role.RESEARCHER)

    browser.post("/datasets/streets/delete/")
    page = browser.get("/datasets/streets/").content.decode()

    assert Dataset.objects.count() == 1
    assert "The picture source “Photographs” draws from it." in page


def test_places_without_a_picture_are_listed_with_their_reason():
    dataset = make_dataset(n=1)
    dataset.recipe |= {"n": 3, "refused": {"1": "Nothing fits.", "2": "Too dark."}}
    dataset.save()

    page = browser_of(Role.REVIEWER).get("/datasets/streets/")

    assert page.context["page"].refused == [("Junction 1", "Nothing fits."), ("Street 2", "Too dark.")]
    assert "2 pictures could not be drawn" in page.content.decode()


def test_a_job_that_three_workers_gave_up_is_told_and_can_go_on():
    _, job = start_dataset(
        checked_recipe(n=3, width=128, height=96, strata=("street",)), title="Streets", by=None
    )
    Job.objects.filter(pk=job.pk).update(state=JobState.FAILED, error="Three workers stopped.", hint="Look.")

    page = browser_of(Role.RESEARCHER).get("/datasets/streets/").content.decode()

    assert ("Three workers stopped. Look." in page, ">Go on<" in page) == (True, True)


def test_the_job_of_a_dataset_shows_how_far_it_is_and_leads_to_it(settings):
    settings.SLICE_SECONDS = 0.0
    dataset, job = start_dataset(
        checked_recipe(n=2, width=128, height=96, strata=("street",)), title="Streets", by=None
    )
    run_job(take_job("w", ["cpu"], is_long=True))
    browser = browser_of(Role.RESEARCHER)

    half = browser.get(f"/jobs/{job.pk}/").content.decode()
    settings.SLICE_SECONDS = 60.0
    run_job(take_job("w", ["cpu"], is_long=True))
    done = browser.get(f"/jobs/{job.pk}/").content.decode()

    assert ("1 of 2" in half, 'aria-label="Pictures"' in half) == (True, True)
    assert 'href="/datasets/streets/"' in done
    assert list(make_pictures(dataset)) == []
