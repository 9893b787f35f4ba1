"""Pages that make domains: upload, copy, and what a domain that nothing draws offers."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from searches.models import AuditEntry, DomainRecord, DomainVersion
from searches.services.domain_store import current_domain
from tests.searches.pools import make_pool, make_source
from vlmlab.core.scenes.domain_files import example_text
from vlmlab.web.roles import Role

from .people import browser_of

pytestmark = pytest.mark.django_db


def upload(browser, content):
    file = SimpleUploadedFile("mine.yaml", content if isinstance(content, bytes) else content.encode())
    return browser.post("/domains/new/", {"do": "upload", "file": file})


def test_a_domain_that_nothing_draws_says_where_its_pictures_come_from_and_offers_no_drawing(warehouse):
    browser = browser_of(Role.RESEARCHER)

    concepts = browser.get("/domains/warehouse/").content.decode()
    composed = browser.get("/domains/warehouse/compose/?c=spill").content.decode()

    assert "Nothing built in draws this domain." in concepts
    assert "render_concept_thumbnails" not in concepts
    assert "Expected answer:" in composed
    assert "has no world for the domain Warehouse" in composed
    assert "Draw the scene" not in composed


def test_a_search_on_a_domain_that_nothing_draws_begins_with_a_source_that_has_pictures_of_it(warehouse):
    browser, shown = browser_of(Role.RESEARCHER), (("spill", "hall"), ("forklift_moving", "hall"))
    without = browser.get("/runs/new/?domain=warehouse").context["form"].initial
    make_source("streets")
    make_source("floor", dataset=make_pool("floor-pool", domain="warehouse", shown=shown))

    form = browser.get("/runs/new/?domain=warehouse").context["form"].initial

    assert (without["domain"], without["backend"]) == ("warehouse", "embedded")
    assert (form["domain"], form["backend"]) == ("warehouse", "floor")
    assert {"spill", "hall"} & set(form["excluded_concepts"]) == set()
    assert "worker_on_ladder" in form["excluded_concepts"]


def test_an_uploaded_file_becomes_version_1_with_an_audit_entry(browser, person):
    answer = upload(browser, example_text())

    row, version = DomainRecord.objects.get(), DomainVersion.objects.get()
    assert answer.url == "/domains/warehouse/edit/"
    assert (row.slug, row.version, row.created_by) == ("warehouse", version.version, person)
    assert (version.number, version.note) == (1, "Uploaded mine.yaml")
    assert AuditEntry.objects.values_list("verb", "object_label", "actor_name").get() == (
        "added",
        "Warehouse",
        person.username,
    )


def test_a_refused_upload_shows_every_problem_and_the_text_to_correct(browser):
    text = example_text().replace("action: hazard", "action: hazzard").replace("[spill]", "[spil]")

    page = upload(browser, text)

    assert (page.status_code, DomainRecord.objects.count()) == (422, 0)
    assert "Did you mean hazard?" in page.content.decode()
    assert "There is no concept “spil”. Did you mean spill?" in page.content.decode()
    assert page.context["text"] == text
    stored = browser.post("/domains/new/", {"do": "store", "text": example_text()})
    assert (stored.status_code, DomainRecord.objects.count()) == (302, 1)


@pytest.mark.parametrize(
    "content",
    [
        b"\x89PNG\x00\x01",
        b"\xff\xfea\x00",
        b"a: !!python/object/apply:os.system [x]",
        b"a: &a [*a]",
        b"[" * 900,
    ],
)
def test_a_hostile_upload_is_refused_in_words(browser, content):
    page = upload(browser, content)

    assert (page.status_code, DomainRecord.objects.count()) == (422, 0)
    assert len(page.context["problems"]) == 1


def test_a_file_over_the_limit_is_refused_at_its_field(browser):
    page = upload(browser, b"a: " + b"x" * 1_000_000)

    assert page.status_code == 422
    assert page.context["upload"].errors["file"] == [
        "The file has 1,000,003 bytes; at most 1,000,000 are read."
    ]


def test_a_short_name_that_is_taken_is_refused(browser, warehouse):
    page = upload(browser, example_text())

    assert page.status_code == 422
    assert [str(one) for one in page.context["problems"]] == [
        "slug: There is a domain “warehouse” already. Choose another short name, or put the text into that "
        "domain's editor as a new version."
    ]


@pytest.mark.parametrize("slug", ["driving", "new", "Ab c", ""])
def test_a_copy_needs_a_short_name_of_its_own(browser, slug):
    page = browser.post("/domains/new/", {"do": "copy", "source": "driving", "title": "Mine", "slug": slug})

    assert (page.status_code, list(page.context["copy"].errors)) == (422, ["slug"])


def test_a_copy_of_a_built_in_domain_is_drawn_by_the_same_world(browser):
    browser.post(
        "/domains/new/", {"do": "copy", "source": "driving", "title": "Wet drive", "slug": "wet-drive"}
    )

    domain = current_domain("wet-drive")
    assert (domain.title, domain.draws_as, len(domain.rules)) == ("Wet drive", "driving", 7)


def test_the_example_is_sent_with_its_comments(browser):
    assert browser.get("/domains/example/").content.decode() == example_text()
