"""The pages of seed images: the upload, what it refuses at which field, the dataset with its refusals."""

import csv
import io

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from searches.enums import DatasetOrigin, DatasetState, JobKind, JobState
from searches.forms import seed_upload
from searches.models import AuditEntry, Blob, Campaign, Dataset, Job, User
from searches.services.jobs import run_job
from searches.services.leases import take_job
from searches.services.seed_import_report import seed_import_of
from tests.core.seed_images.sources import photograph
from tests.searches.services.seed_uploads import COCO, FOREIGN
from tests.searches.services.uploads import zipped
from vlmlab.web.roles import Role

from .people import browser_of, statuses

pytestmark = pytest.mark.django_db
ADDRESS = "/datasets/upload/seed-images/"
HEAD = b"file,label,x_min,y_min,x_max,y_max\n"
SIMPLE = {"one.png": photograph(1), "boxes.csv": HEAD + b"one.png,cup,1,1,30,30\ngone.png,cup,1,1,9,9\n"}


@pytest.fixture
def researcher():
    return browser_of(Role.RESEARCHER)


def upload(browser, files: dict[str, bytes] | bytes, **values):
    content = files if isinstance(files, bytes) else zipped(files).read()
    archive = SimpleUploadedFile("street.zip", content, "application/zip")
    defaults = {"title": "Street", "archive": archive, "format": "auto", "stratum": "all"}
    return browser.post(ADDRESS, defaults | values)


def worked() -> Job:
    lease = take_job("w:1:1:main", ["cpu"], is_long=True)
    run_job(lease)
    return Job.objects.get(pk=lease.job_id)


def test_researchers_upload_and_readers_look():
    for_researchers = {"": 302, "admin": 200, "researcher": 200, "reviewer": 403, "annotator": 403}
    upload(browser_of(Role.RESEARCHER), SIMPLE)
    worked()

    assert statuses(ADDRESS) == for_researchers
    assert statuses("/datasets/street/refused.csv") == for_researchers | {"reviewer": 200}


@pytest.mark.parametrize("name", FOREIGN)
def test_every_format_goes_the_way_of_the_page(researcher, name):
    foreign = FOREIGN[name]

    answer = upload(researcher, dict(foreign.files), **foreign.settings)
    waiting = researcher.get(answer.url)
    worked()
    page = researcher.get(answer.url)

    dataset = Dataset.objects.get()
    assert (answer.status_code, answer.url) == (302, "/datasets/street/")
    assert waiting.context["job"].kind == JobKind.IMPORT_SEEDS
    assert (dataset.origin, dataset.state) == (DatasetOrigin.UPLOAD, DatasetState.READY)
    assert dataset.created_by == User.objects.get()
    assert [shot.row.file_name for shot in page.context["part"].shots] == list(foreign.truth)
    assert page.context["page"].refusals.n_refused == len(foreign.refused)
    assert list(AuditEntry.objects.values_list("verb", flat=True)) == ["imported", "uploaded seed images"]


def test_what_was_refused_stands_on_the_page_and_in_a_table(researcher):
    url = upload(researcher, SIMPLE).url
    worked()

    page = researcher.get(url).content.decode()
    table = b"".join(researcher.get(f"{url}refused.csv").streaming_content).decode()

    assert "boxes.csv" in page
    assert "row 3" in page
    assert "names the picture “gone.png”, which is not there" in page
    assert "Add the picture, or take its rows out." in page
    rows = list(csv.DictReader(io.StringIO(table)))
    assert [(row["kind"], row["file"], row["row"]) for row in rows] == [
        ("missing_picture", "boxes.csv", "row 3")
    ]


def test_a_table_of_refusals_that_is_gone_is_told_and_the_page_still_opens(researcher):
    url = upload(researcher, SIMPLE).url
    worked()
    from searches.services.blobs import blob_path

    sha256 = seed_import_of(Dataset.objects.get()).report_sha256
    blob_path(sha256, Blob.objects.get(pk=sha256).media_type).unlink()

    assert "not kept any more" in researcher.get(f"{url}refused.csv").content.decode()
    assert "Their words are not kept any more." in researcher.get(url).content.decode()


def test_labels_and_settings_of_the_form_are_used_and_shown(researcher):
    files = {"kitchen/one.png": photograph(1), "boxes.csv": HEAD + b"one.png,cup,1,1,30,30\n"}

    url = upload(
        researcher, files, labels="cup = mug\n\npan = -\n", strata_by_folder="on", slug="mugs", licence="CC0"
    ).url
    worked()
    page = researcher.get(url).content.decode()

    dataset = Dataset.objects.get()
    assert (url, dataset.licence) == ("/datasets/mugs/", "CC0")
    assert [(one.stratum, one.annotations[0]["label"]) for one in dataset.pictures.all()] == [
        ("kitchen", "mug")
    ]
    assert "cup = mug, pan = -" in page


@pytest.mark.parametrize(
    ("values", "field", "words"),
    [
        ({"title": ""}, "title", "required"),
        ({"slug": "upload"}, "slug", "cannot be a short name"),
        ({"labels": "cup"}, "labels", "Line 1: write a class"),
        ({"labels": "cup = mug\ncup = jug"}, "labels", "Line 2: “cup” stands there already."),
        ({"labels": f"cup = {'x' * 200}"}, "labels", "at most 100 characters"),
        ({"format": "word"}, "format", "none of the choices"),
        ({"stratum": "s" * 40}, "stratum", "32"),
        ({"least_side": "0"}, "least_side", "1"),
        ({"least_side": "many"}, "least_side", "whole number"),
        ({"annotation_file": "other.csv"}, "annotation_file", "not in the source"),
    ],
)
def test_what_is_wrong_stands_at_its_field_and_nothing_is_stored(researcher, values, field, words):
    answer = upload(researcher, SIMPLE, **values)

    assert (answer.status_code, list(answer.context["form"].errors)) == (422, [field])
    assert words in str(answer.context["form"].errors[field])
    assert (Dataset.objects.count(), Job.objects.count()) == (0, 0)


@pytest.mark.parametrize(
    ("files", "field", "words"),
    [
        (b"no archive", "archive", "not a ZIP archive"),
        (zipped(SIMPLE).read()[:-30], "archive", "not a ZIP archive"),
        ({"../one.png": photograph(1)}, "archive", "could lead outside"),
        ({"one.png": photograph(1)}, "format", "No file says what the pictures show"),
    ],
)
def test_an_archive_that_cannot_be_used_is_refused_at_once(researcher, files, field, words):
    answer = upload(researcher, files)

    assert (answer.status_code, list(answer.context["form"].errors)) == (422, [field])
    assert words in str(answer.context["form"].errors[field])
    assert not Dataset.objects.exists()


def test_an_archive_that_is_too_large_for_a_request_is_sent_to_the_command(researcher, monkeypatch):
    monkeypatch.setattr(seed_upload, "MOST_UPLOAD_BYTES", 100)

    answer = upload(researcher, SIMPLE)

    assert "import_dataset --kind seeds" in str(answer.context["form"].errors["archive"])


def test_labels_and_names_of_files_cannot_write_into_the_page(researcher):
    rows = '<b>.png,"""><script>alert(1)</script>",1,1,30,30\nгде.png,cup,1,1,9,9\n'.encode()

    url = upload(researcher, {"<b>.png": photograph(1), "boxes.csv": HEAD + rows}).url
    worked()
    pages = [researcher.get(f"{url}{path}").content.decode() for path in ("", "0/")]

    for page in pages:
        assert ("<script>alert" in page, "&lt;script&gt;alert(1)&lt;/script&gt;" in page) == (False, True)
    assert "где.png" in pages[0]


def test_the_job_says_how_much_was_stored_and_leads_to_the_dataset(researcher):
    upload(researcher, SIMPLE)

    page = researcher.get(f"/jobs/{worked().pk}/").content.decode()

    assert "1 picture stored, 1 refusal." in page
    assert 'href="/datasets/street/"' in page


def test_an_import_that_failed_says_why_on_its_page(researcher):
    url = upload(researcher, {"one.png": b"damaged", "boxes.csv": HEAD + b"one.png,cup,1,1,9,9\n"}).url

    assert worked().state == JobState.FAILED
    page = researcher.get(url).content.decode()

    assert "No picture can be used." in page
    assert "one.png" in page
    assert 'popovertarget="delete-dataset"' in page


def test_a_dataset_that_a_modality_search_starts_from_is_not_deleted(researcher):
    url = upload(researcher, SIMPLE).url
    worked()
    Campaign.objects.create(name="Night", method="most", dataset=Dataset.objects.get(), config={})

    researcher.post(f"{url}delete/")

    assert Dataset.objects.count() == 1
    assert "The modality search “Night” starts from it." in researcher.get(url).content.decode()


def test_a_dataset_that_is_ready_leads_to_a_modality_search_and_an_unusable_one_does_not(researcher):
    url = upload(researcher, SIMPLE).url
    before = researcher.get(url).content.decode()
    worked()
    after = researcher.get(url).content.decode()

    link = 'href="/modality/new/?dataset=street"'
    assert (link in before, link in after) == (False, True)
    assert link not in browser_of(Role.REVIEWER).get(url).content.decode()


@pytest.mark.parametrize("n", [1, 3])
def test_the_page_of_an_import_takes_the_same_queries_for_any_number_of_pictures(
    n, researcher, django_assert_num_queries
):
    files = {f"{at}.png": photograph(at) for at in range(n)}
    rows = b"".join(f"{at}.png,cup,1,1,30,30\n".encode() for at in range(n))
    url = upload(researcher, files | {"boxes.csv": HEAD + rows}).url
    worked()

    with django_assert_num_queries(11):
        page = researcher.get(url)

    assert len(page.context["part"].shots) == n


def test_the_picture_page_tells_what_can_be_asked_for(researcher):
    url = upload(researcher, dict(COCO.files)).url
    worked()

    page = researcher.get(f"{url}1/").context["page"]

    assert (page.asked, page.unsure) == (("toothbrush",), ("person",))
