"""Files by content: written whole, touched on reuse."""

import errno
import os
from datetime import timedelta

import pytest
from django.utils import timezone

from searches.models import Blob
from searches.services import blobs
from searches.services.blobs import StorageError, blob_path, open_blob, store_blob, touch_blob
from tests.doubles import paint_png

pytestmark = pytest.mark.django_db

OLD = timedelta(hours=3)


def test_a_stored_file_lies_under_its_digest_and_can_be_read():
    png = paint_png((1, 2, 3))

    sha256 = store_blob(png)

    assert blob_path(sha256).parent.name == sha256[:2]
    with open_blob(sha256) as file:
        assert file.read() == png
    assert Blob.objects.get(pk=sha256).size == len(png)


def test_storing_again_touches_the_row():
    sha256 = store_blob(b"x")
    Blob.objects.update(touched_at=timezone.now() - OLD)

    store_blob(b"x")

    assert Blob.objects.get(pk=sha256).touched_at > timezone.now() - timedelta(minutes=1)


def test_touching_keeps_a_file_away_from_collection_without_writing_it():
    sha256 = store_blob(b"x")
    Blob.objects.update(touched_at=timezone.now() - OLD)

    touch_blob(sha256)

    assert Blob.objects.get(pk=sha256).touched_at > timezone.now() - timedelta(minutes=1)


def test_a_file_cut_short_is_written_again():
    sha256 = store_blob(b"whole")
    blob_path(sha256).write_bytes(b"who")

    store_blob(b"whole")

    assert blob_path(sha256).read_bytes() == b"whole"


@pytest.mark.parametrize(
    ("number", "sentence"),
    [
        (errno.ENOSPC, "The disk for pictures is full."),
        (errno.EDQUOT, "The disk for pictures is full."),
        (errno.EACCES, "A picture could not be stored: Permission denied."),
    ],
)
def test_a_failed_write_says_what_to_do_and_leaves_nothing_behind(monkeypatch, number, sentence):
    def fail(source, target):
        raise OSError(number, "no")

    monkeypatch.setattr(os, "replace", fail)

    with pytest.raises(StorageError) as caught:
        store_blob(b"x")

    assert caught.value.message == sentence
    assert caught.value.hint
    assert [path for path in blob_path("0" * 64).parent.parent.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize("name", ["../../etc/passwd", "A" * 64, "0" * 63, ""])
def test_a_name_that_is_no_digest_is_refused(name):
    with pytest.raises(ValueError, match="64 hexadecimal digits"):
        blob_path(name)


def test_a_picture_that_is_not_kept_can_be_drawn_again():
    with pytest.raises(StorageError, match="not kept"):
        open_blob("0" * 64)


def test_the_disk_is_not_asked_for_a_file_of_another_type():
    assert blobs.blob_path("0" * 64, "application/json").suffix == ".json"
