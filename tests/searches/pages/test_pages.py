"""Manual, credits and the components page."""

import pytest

from searches.models import Dataset
from vlmlab.core.scenes.render.credits import ATTRIBUTION_FILE, attributions
from vlmlab.web.roles import Role

from .people import browser_of, statuses

pytestmark = pytest.mark.django_db
EVERYBODY = {"": 302, "admin": 200, "researcher": 200, "reviewer": 200, "annotator": 200}


def test_manual_and_credits_are_open_to_everybody_who_signed_in():
    assert statuses("/manual/index/") == EVERYBODY
    assert statuses("/manual/") == EVERYBODY
    assert statuses("/credits/") == EVERYBODY


def test_the_components_page_is_for_researchers():
    assert statuses("/components/") == EVERYBODY | {"reviewer": 403, "annotator": 403}


@pytest.mark.parametrize("name", ["no-such-page", "..", "index.md", "settings"])
def test_a_page_that_the_manual_does_not_have_is_not_found(name):
    assert browser_of(Role.ANNOTATOR).get(f"/manual/{name}/").status_code == 404


def test_every_page_of_the_manual_opens_without_inline_styles():
    browser = browser_of(Role.ANNOTATOR)
    contents = browser.get("/manual/").context["contents"]

    pages = {entry.name: browser.get(f"/manual/{entry.name}/") for entry in contents}

    assert contents[0].name == "index"
    assert {name: page.status_code for name, page in pages.items()} == dict.fromkeys(pages, 200)
    assert [name for name, page in pages.items() if "style=" in page.content.decode()] == []


def test_the_credits_name_author_and_licence_of_every_asset():
    page = browser_of(Role.ANNOTATOR).get("/credits/").content.decode()

    assets = attributions()
    assert len(assets) > 20
    assert [one.asset for one in assets if one.author not in page or one.licence not in page] == []
    assert [one.asset for one in assets if f'href="{one.licence_address}"' not in page] == []
    assert [one.asset for one in assets if one.modified not in page or one.source_address not in page] == []


def test_the_credits_are_sent_as_the_table_that_travels_with_downloads():
    answer = browser_of(Role.ANNOTATOR).get("/credits/?as=tsv")

    assert answer.content == ATTRIBUTION_FILE.read_bytes()


def test_the_credits_name_pictures_that_come_with_the_lab_and_no_others():
    Dataset.objects.create(slug="a", title="Shelves", origin="sample", is_sample=True, credits="By Ada.")
    Dataset.objects.create(slug="b", title="Our secret", origin="upload", credits="By us.")

    page = browser_of(Role.ANNOTATOR).get("/credits/").content.decode()

    assert ("Shelves" in page, "By Ada." in page, "Our secret" in page) == (True, True, False)
