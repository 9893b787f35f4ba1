"""Stored pictures: sent once, kept by the browser, refused under any other name."""

import pytest
from django.test import Client

from tests.factories import make_blob
from vlmlab.web.roles import Role

from .people import browser_of, statuses

pytestmark = pytest.mark.django_db


def test_pictures_are_open_to_readers_only():
    blob = make_blob()

    assert statuses(f"/blobs/{blob.sha256}.png") == {
        "": 302, "admin": 200, "researcher": 200, "reviewer": 200, "annotator": 403,
    }  # fmt: skip


def test_a_picture_may_be_kept_for_ever_and_is_never_taken_for_anything_else():
    blob = make_blob()

    answer = browser_of(Role.REVIEWER).get(f"/blobs/{blob.sha256}.png")

    assert answer["Content-Type"] == "image/png"
    assert answer["Cache-Control"] == "private, max-age=31536000, immutable"
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["ETag"] == f'"{blob.sha256}"'
    assert b"".join(answer.streaming_content)[:8] == b"\x89PNG\r\n\x1a\n"


def test_a_browser_that_has_the_picture_gets_no_second_copy():
    blob = make_blob()

    answer = browser_of(Role.REVIEWER).get(
        f"/blobs/{blob.sha256}.png", headers={"If-None-Match": f'"{blob.sha256}"'}
    )

    assert (answer.status_code, answer.content) == (304, b"")


@pytest.mark.parametrize(
    "name", ["a" * 64, "A" * 64, "..%2f..%2fsecret_key", "short", f"{'a' * 63}%0a", "a" * 65]
)
def test_what_is_not_the_name_of_a_stored_picture_is_not_found(name):
    browser: Client = browser_of(Role.ADMIN)

    assert browser.get(f"/blobs/{name}.png").status_code == 404
