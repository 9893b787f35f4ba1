"""Uploads of seed images become datasets: every format, slice by slice, whatever dies on the way."""

import csv
import io
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from searches.enums import DatasetState, JobKind, JobState
from searches.models import AuditEntry, Blob, Dataset, Job
from searches.services import seed_import_work, seed_imports
from searches.services.archives import ArchiveError
from searches.services.blobs import StorageError
from searches.services.dataset_making import stop_dataset
from searches.services.datasets import delete_dataset
from searches.services.garbage import collect_garbage
from searches.services.jobs import run_job
from searches.services.leases import take_job
from searches.services.reaper import reap
from searches.services.seed_import_files import FOLDER, archive_path
from searches.services.seed_import_report import kept_refusals, refusals_csv, seed_import_of
from searches.services.seed_imports import SeedWish, import_now, start_import
from searches.services.seed_inputs import askable_labels
from tests.core.seed_images.sources import photograph, saved
from tests.factories import make_user
from tests.searches.services.seed_uploads import FOREIGN, TABLE
from tests.searches.services.uploads import zipped
from vlmlab.core.errors import VlmLabError
from vlmlab.core.seed_images.faults import SeedImportError
from vlmlab.core.seed_images.files import ReadFiles
from vlmlab.core.seed_images.settings import ImportSettings

pytestmark = pytest.mark.django_db
SIX = {
    **{f"{name}.png": photograph(shade) for shade, name in enumerate("abcdef", start=10)},
    "c.png": b"damaged",
    "boxes.csv": b"file,label,x_min,y_min,x_max,y_max\n"
    + b"".join(f"{name}.png,cup,1,1,30,{30 + at}\n".encode() for at, name in enumerate("abcdefg")),
}


def started(files, *, title: str = "Seeds", **settings) -> tuple[Dataset, Job]:
    wish = SeedWish(title=title, settings=ImportSettings(**settings))
    return start_import(zipped(files), wish, name="street.zip", by=make_user())


def a_slice() -> Job:
    lease = take_job("w:1:1:main", ["cpu"], is_long=True)
    run_job(lease)
    return Job.objects.get(pk=lease.job_id)


def uploaded(files, **values) -> Dataset:
    dataset, _ = started(files, **values)
    a_slice()
    dataset.refresh_from_db()
    return dataset


def told(dataset: Dataset) -> list[tuple[str, str, str]]:
    return [(one.scope, one.kind, one.row) for one in kept_refusals(seed_import_of(dataset))]


def rows(dataset: Dataset) -> list[tuple]:
    columns = ("order", "file_name", "image_sha256", "stratum", "annotations", "unsure_labels")
    return list(dataset.pictures.order_by("order").values_list(*columns))


def kept_archives(settings) -> list[str]:
    folder = Path(settings.BLOB_DIR) / FOLDER
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


@pytest.mark.parametrize("name", FOREIGN)
def test_every_format_becomes_a_dataset_with_its_quirks(name):
    foreign = FOREIGN[name]
    values = {key: value == "on" or value for key, value in foreign.settings.items()}

    dataset = uploaded(foreign.files, **values)

    pictures = list(dataset.pictures.order_by("order"))
    found = {
        one.file_name: [
            (thing["label"], tuple(round(side, 3) for side in thing["box"])) for thing in one.annotations
        ]
        for one in pictures
    }
    assert (dataset.state, dataset.error, dataset.n_pictures) == (DatasetState.READY, "", len(foreign.truth))
    assert found == dict(foreign.truth)
    assert told(dataset) == foreign.refused
    assert {one.file_name: one.unsure_labels for one in pictures if one.unsure_labels} == foreign.unsure
    assert tuple(one.stratum for one in pictures) == foreign.strata
    for one in pictures:
        labels = {label for label, _ in foreign.truth[one.file_name]}
        assert askable_labels(one) == tuple(sorted(labels - set(one.unsure_labels)))


@pytest.mark.parametrize(("name", "title"), [("coco", "COCO"), ("voc", "Pascal VOC")])
def test_the_format_that_was_found_is_kept_and_shown(name, title):
    seeds = seed_import_of(uploaded(FOREIGN[name].files))

    assert (seeds.settings.format, seeds.read_as, seeds.format_title) == ("auto", name, title)
    assert seeds.model_copy(update={"read_as": ""}).format_title == "as the files look"


def test_masks_and_flags_go_along():
    [two, _] = FOREIGN["coco"].truth
    coco, voc = uploaded(FOREIGN["coco"].files), uploaded(FOREIGN["voc"].files, title="VOC")

    assert [bool(one["mask"]) for one in coco.pictures.get(file_name=two).annotations] == [True]
    assert [one["flags"] for one in voc.pictures.get().annotations] == [[], ["difficult", "truncated"]]
    assert [one["is_asked"] for one in voc.pictures.get().annotations] == [True, False]


def test_an_import_by_slices_is_the_import_in_one_and_its_archive_is_gone(settings):
    whole = uploaded(SIX, title="Whole")
    settings.SLICE_SECONDS = 0.0
    dataset, _ = started(SIX, title="Sliced")

    states = [a_slice() for _ in range(6)]
    last = a_slice()

    dataset.refresh_from_db()
    assert [one.state for one in states] == [JobState.QUEUED] * 6
    assert [one.result["n_answered"] for one in states] == [1, 2, 3, 4, 5, 6]
    assert (states[0].result["n_calls"], states[0].result["unit"]) == (6, "Pictures")
    assert (last.state, last.result) == (
        JobState.DONE,
        {"dataset": "sliced", "n_pictures": 5, "n_refused": 2},
    )
    assert rows(dataset) == rows(whole)
    assert (seed_import_of(dataset), told(dataset)) == (seed_import_of(whole), told(whole))
    assert kept_archives(settings) == []
    assert list(AuditEntry.objects.filter(object_label="Sliced").values_list("verb", flat=True)) == [
        "imported"
    ]


@pytest.mark.parametrize("dies_at", [1, 3, 5])
def test_a_worker_that_dies_costs_no_picture_and_doubles_none(monkeypatch, settings, dies_at):
    settings.SLICE_SECONDS = 0.0
    whole = import_now(ReadFiles(tuple(SIX), SIX.__getitem__), SeedWish(title="Whole"), name="street.zip")
    dataset, job = started(SIX, title="Crashed")
    store, calls = seed_import_work.store_blob, []

    def die(content):
        calls.append(content)
        if len(calls) == dies_at:
            raise KeyboardInterrupt
        return store(content)

    monkeypatch.setattr(seed_import_work, "store_blob", die)
    while Job.objects.get(pk=job.pk).state != JobState.DONE:
        try:
            a_slice()
        except KeyboardInterrupt:
            Job.objects.filter(pk=job.pk).update(lease_expires=None)
            reap()

    dataset.refresh_from_db()
    assert len(calls) == 6
    assert rows(dataset) == rows(whole)
    assert seed_import_of(dataset) == seed_import_of(whole)


def test_a_worker_that_lost_the_job_writes_nothing_and_leaves_the_archive(monkeypatch):
    dataset, job = started(SIX)
    monkeypatch.setattr(seed_imports, "has_waiting_job", lambda _queues: _steal(job))

    a_slice()

    dataset.refresh_from_db()
    assert (dataset.n_pictures, dataset.state) == (0, DatasetState.MAKING)
    assert archive_path(job.params["archive"]).exists()


def _steal(job: Job) -> bool:
    Job.objects.filter(pk=job.pk).update(owner="other:2:2:main")
    return True


def test_a_job_that_is_done_again_after_its_dataset_is_ready_changes_nothing():
    dataset, job = started(SIX)
    a_slice()
    Job.objects.filter(pk=job.pk).update(state=JobState.QUEUED)
    before = rows(dataset)

    again = a_slice()

    assert (again.state, again.result["n_pictures"], rows(dataset)) == (JobState.DONE, 5, before)


def test_where_no_picture_is_sound_the_dataset_says_so_and_keeps_the_reasons(settings):
    dataset = uploaded({"one.png": b"damaged", "boxes.csv": TABLE.files["boxes.csv"]})

    assert (dataset.state, dataset.n_pictures) == (DatasetState.FAILED, 0)
    assert dataset.error == "No picture can be used. What was refused, and why, stands below."
    assert told(dataset) == [("picture", "picture", "")]
    assert Job.objects.get().state == JobState.FAILED
    assert kept_archives(settings) == []


def test_a_full_disk_fails_the_import_and_takes_the_archive_away(monkeypatch, settings):
    def full(_content):
        raise StorageError("The disk for pictures is full.")

    dataset, _ = started(SIX)
    monkeypatch.setattr(seed_import_work, "store_blob", full)

    job = a_slice()

    dataset.refresh_from_db()
    assert (job.state, job.error) == (JobState.FAILED, "The disk for pictures is full.")
    assert (dataset.state, dataset.error) == (DatasetState.FAILED, "The disk for pictures is full.")
    assert kept_archives(settings) == []


def test_the_archive_of_a_job_that_was_given_up_is_collected_and_a_report_in_use_is_not(settings):
    kept = uploaded(SIX, title="Kept")
    _, job = started(SIX, title="Given up")
    Job.objects.filter(pk=job.pk).update(state=JobState.FAILED)
    _, waiting = started(SIX, title="Waiting")
    Blob.objects.update(touched_at="2020-01-01T00:00:00Z")

    collect_garbage(timedelta(seconds=-60))

    assert kept_archives(settings) == [f"{waiting.params['archive']}.zip"]
    assert len(told(kept)) == 2


def test_a_stopped_import_leaves_a_dataset_that_can_be_deleted():
    dataset, _ = started(SIX)

    stop_dataset(dataset, by=None)
    dataset.refresh_from_db()

    assert dataset.error == "It was stopped. Upload the archive again to import it."
    delete_dataset(dataset, by=None)
    assert not Dataset.objects.exists()


def test_refusals_are_a_table_without_formulas():
    files = {
        "=1+1.png": photograph(3),
        "one.png": photograph(4),
        "boxes.csv": b"file,label,x_min,y_min,x_max,y_max\none.png,cup,1,1,9,9\n",
    }

    lines = list(csv.reader(io.StringIO("".join(refusals_csv(seed_import_of(uploaded(files)))))))

    assert lines[0] == ["what", "kind", "file", "row", "picture", "reason", "hint"]
    assert lines[1][:3] == ["picture", "not_named", "'=1+1.png"]
    assert lines[1][5:] == ["is described by no file", "Describe it in a file, or leave it out."]


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("cut.jpg", photograph(5, size=(640, 480), form="JPEG")[:2000], "is refused"),
        ("text.png", b"<html>no picture</html>", "is refused"),
        ("tiny.png", photograph(5, size=(1, 1)), "the shorter side must have at least 32"),
        ("large.png", b"", "has 6000 x 5000 pixels; at most 16 million"),
    ],
)
def test_pictures_that_cannot_be_used_are_refused_with_file_and_reason(name, content, reason):
    from PIL import Image

    if name == "large.png":
        content = saved(Image.new("L", (6000, 5000)), "PNG")
    table = f"file,label,x_min,y_min,x_max,y_max\n{name},cup,0,0,1,1\nfine.png,cup,1,1,9,9\n".encode()

    dataset = uploaded({name: content, "fine.png": photograph(9), "boxes.csv": table})

    [refusal] = kept_refusals(seed_import_of(dataset))
    assert (dataset.n_pictures, refusal.file, refusal.kind in ("picture", "too_small")) == (1, name, True)
    assert reason in refusal.reason


def test_pictures_of_other_kinds_become_plain_upright_ones():
    from PIL import Image

    pictures = {
        "cmyk.jpg": saved(Image.new("CMYK", (60, 40), (0, 255, 255, 0)), "JPEG"),
        "deep.png": saved(Image.new("I;16", (60, 40), 1 << 15), "PNG"),
        "alpha.png": saved(Image.new("RGBA", (60, 40), (255, 0, 0, 128)), "PNG"),
        "turned.jpg": photograph(5, size=(40, 60), form="JPEG", turn=6),
    }
    table = b"file,label,x_min,y_min,x_max,y_max,width,height\n" + b"".join(
        f"{name},cup,10,5,30,20,60,40\n".encode() for name in pictures
    )

    dataset = uploaded({**pictures, "boxes.csv": table})

    found = {
        one.file_name: (one.width, one.height, one.annotations[0]["box"]) for one in dataset.pictures.all()
    }
    assert told(dataset) == []
    assert found == dict.fromkeys(pictures, (60, 40, [10.0, 5.0, 30.0, 20.0]))


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"../boxes.csv": TABLE.files["boxes.csv"]}, "could lead outside"),
        ({"/boxes.csv": TABLE.files["boxes.csv"]}, "absolute path"),
        ({"readme.txt": b"nothing"}, "No file says what the pictures show"),
    ],
)
def test_an_archive_that_cannot_be_used_is_refused_at_once_and_nothing_is_kept(files, words, settings):
    with pytest.raises(VlmLabError, match=words):
        started(files)

    assert (Dataset.objects.count(), Job.objects.count(), kept_archives(settings)) == (0, 0, [])


def test_a_zip_bomb_is_refused_before_it_is_unpacked(monkeypatch):
    monkeypatch.setattr(
        seed_imports,
        "WEB_LIMITS",
        seed_imports.SeedLimits(
            archive=seed_imports.ArchiveLimits(max_members=10, max_bytes=1_000_000),
            files=seed_imports.WEB_LIMITS.files,
        ),
    )
    wish = SeedWish(title="Bomb")

    with pytest.raises(ArchiveError, match="GB together"):
        seed_imports.check_archive(zipped({"a.png": bytes(2_000_000)}), wish, limits=seed_imports.WEB_LIMITS)


def test_an_import_with_too_many_pixels_ends_with_a_reason(monkeypatch):
    web = seed_imports.WEB_LIMITS
    monkeypatch.setattr(seed_imports, "WEB_LIMITS", seed_imports.SeedLimits(web.archive, web.files, 10_000))

    dataset = uploaded(SIX)

    assert dataset.state == DatasetState.FAILED
    assert "million pixels together" in dataset.error


def test_a_shell_imports_a_folder_with_labels_and_writes_what_was_refused(tmp_path, capsys):
    folder = tmp_path / "seeds"
    folder.mkdir()
    for name, content in SIX.items():
        (folder / name).write_bytes(content)
    options = {"kind": "seeds", "title": "Cups", "label": ["cup=mug"], "stratum": "kitchen"}

    call_command("import_dataset", folder, refused=tmp_path / "refused.csv", **options)

    dataset, out = Dataset.objects.get(), capsys.readouterr().out
    seeds = seed_import_of(dataset)
    assert (dataset.slug, dataset.n_pictures, dataset.state) == ("cups", 5, DatasetState.READY)
    assert {one.stratum for one in dataset.pictures.all()} == {"kitchen"}
    assert askable_labels(dataset.pictures.first()) == ("mug",)
    assert f"5 pictures with 5 things stored as the dataset cups, digest {seeds.digest}." in out
    assert "c.png: is refused" in out
    assert len((tmp_path / "refused.csv").read_text().splitlines()) == 3
    assert not Job.objects.filter(kind=JobKind.IMPORT_SEEDS).exists()


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"kind": "seeds", "domain": "driving"}, 2),
        ({"kind": "seeds", "label": ["cup"]}, 2),
        ({"kind": "seeds", "least_side": 0}, 2),
        ({"kind": "photographs"}, 2),
        ({"kind": "seeds", "format": "voc"}, 1),
        ({"kind": "seeds", "annotation_file": "none.csv"}, 1),
    ],
)
def test_a_shell_that_asks_for_what_cannot_be_gets_a_reason_and_a_code(tmp_path, options, code):
    (tmp_path / "boxes.csv").write_bytes(SIX["boxes.csv"])

    with pytest.raises(CommandError) as error:
        call_command("import_dataset", tmp_path, title="Cups", **options)

    assert (error.value.returncode, Dataset.objects.count()) == (code, 0)


def test_a_shell_import_that_was_killed_can_be_done_again():
    source = ReadFiles(tuple(SIX), SIX.__getitem__)
    wish = SeedWish(title="Cups", slug="cups")
    seed_imports.new_dataset(wish, archive="cups", by=None)

    dataset = import_now(source, wish, name="cups")

    assert (dataset.slug, dataset.n_pictures, Dataset.objects.count()) == ("cups", 5, 1)


def test_a_shell_import_without_a_sound_picture_stores_nothing():
    files = {"one.png": b"damaged", "boxes.csv": TABLE.files["boxes.csv"]}

    with pytest.raises(SeedImportError, match=r"No picture can be used\. one\.png: is refused"):
        import_now(ReadFiles(tuple(files), files.__getitem__), SeedWish(title="Cups"), name="cups")

    assert not Dataset.objects.exists()
