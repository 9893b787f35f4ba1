"""The page that shows the exact request of a registered system."""

import pytest

from tests.factories import make_sut
from vlmlab.web.roles import Role

from .people import browser_of, statuses

pytestmark = pytest.mark.django_db


def test_the_exact_request_of_a_registered_system_is_open_to_readers():
    make_sut("remote", kind="openai_chat", params={"model": "m-1"})

    page = browser_of(Role.REVIEWER).get("/suts/remote/preview/").content.decode()

    assert "&quot;model&quot;: &quot;m-1&quot;" in page
    assert statuses("/suts/remote/preview/") == {
        "": 302, "admin": 200, "researcher": 200, "reviewer": 200, "annotator": 403,
    }  # fmt: skip


def test_settings_that_are_not_valid_any_more_are_told_instead_of_a_request():
    make_sut("remote", kind="openai_chat", params={"model": "m-1", "odd": 1})

    page = browser_of(Role.RESEARCHER).get("/suts/remote/preview/")

    assert (page.status_code, "There is no setting called “odd”" in page.content.decode()) == (200, True)
