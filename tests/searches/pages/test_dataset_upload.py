"""The page that uploads photographs: what it takes, what it refuses at which field, what it reports."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from searches.forms import dataset_upload
from searches.models import Dataset, User
from tests.searches.services.uploads import CONE, coco, photograph, zipped
from vlmlab.web.roles import Role

from .people import browser_of

pytestmark = pytest.mark.django_db
TABLE = b"file,concepts\none.png,cone\ngone.png,cone\n"


@pytest.fixture
def researcher():
    return browser_of(Role.RESEARCHER)


def upload(browser, files: dict[str, bytes], **values):
    archive = SimpleUploadedFile("street.zip", zipped(files).read(), "application/zip")
    sent = {"title": "Street photographs", "domain": "driving", "archive": archive}
    return browser.post("/datasets/upload/", sent | values)


def test_an_upload_becomes_a_dataset_and_says_what_was_left_out(researcher):
    answer = upload(researcher, {"one.png": photograph(1), "tags.csv": TABLE}, licence="CC0")

    page = researcher.get(answer["Location"]).content.decode()

    dataset = Dataset.objects.get()
    assert (dataset.title, dataset.n_pictures, dataset.licence) == ("Street photographs", 1, "CC0")
    assert dataset.created_by == User.objects.get()
    assert "1 picture stored" in page
    assert "tags.csv, row 3" in page
    assert 'href="/sources/new/?kind=image_pool&amp;dataset=street-photographs"' in page
    assert researcher.get(dataset.get_absolute_url()).status_code == 200


def test_categories_are_mapped_line_by_line(researcher):
    files = {"one.png": photograph(1), "a.json": coco(["one.png"], [CONE], categories=("pylon",))}

    upload(researcher, files, mapping="pylon = cone\n\nsky = -\n")

    assert Dataset.objects.get().pictures.get().concepts == ["cone"]


@pytest.mark.parametrize(
    ("values", "field", "words"),
    [
        ({"mapping": "pylon"}, "mapping", "Line 1: write a category"),
        ({"mapping": "pylon = unicorn"}, "mapping", "unicorn"),
        ({"title": ""}, "title", "required"),
        ({"domain": "moon"}, "domain", "moon"),
        ({"is_strict": "on"}, "archive", "tags.csv, row 3"),
    ],
)
def test_what_is_wrong_stands_at_its_field_and_nothing_is_stored(researcher, values, field, words):
    answer = upload(researcher, {"one.png": photograph(1), "tags.csv": TABLE}, **values)

    assert answer.status_code == 422
    assert words in str(answer.context["form"].errors[field])
    assert not Dataset.objects.exists()


def test_a_hostile_archive_and_one_that_is_none_are_refused(researcher):
    outside = upload(researcher, {"../one.png": photograph(1), "tags.csv": TABLE})
    none = researcher.post(
        "/datasets/upload/",
        {"title": "T", "domain": "driving", "archive": SimpleUploadedFile("a.zip", b"no archive")},
    )

    assert "could lead outside" in str(outside.context["form"].errors["archive"])
    assert "not a ZIP archive" in str(none.context["form"].errors["archive"])
    assert not Dataset.objects.exists()


def test_an_archive_that_is_too_large_for_a_request_is_sent_to_the_command(researcher, monkeypatch):
    monkeypatch.setattr(dataset_upload, "MOST_UPLOAD_BYTES", 100)

    answer = upload(researcher, {"one.png": photograph(1), "tags.csv": TABLE})

    assert "manage.py import_dataset" in str(answer.context["form"].errors["archive"])


def test_names_in_files_cannot_write_into_the_page(researcher):
    table = b"file,concepts\none.png,cone\n<img src=x onerror=alert(1)>.png,cone\n"

    answer = upload(researcher, {"one.png": photograph(1), "tags.csv": table})

    page = researcher.get(answer["Location"]).content.decode()
    assert "<img src=x" not in page
    assert "&lt;img src=x" in page
