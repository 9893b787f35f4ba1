"""Versions of a domain: listed, compared, made current, downloaded; and domains that are archived."""

import copy

import pytest

from searches.models import AuditEntry, DomainRecord, DomainVersion
from searches.services.domain_store import current_domain
from tests.factories import make_campaign
from vlmlab.core.scenes.catalogue import built_in_content, load_domain
from vlmlab.core.scenes.domain_files import check_content, check_domain_file, example_text, write_domain_file
from vlmlab.web.roles import Role

from .domain_texts import changed, fields
from .people import browser_of

pytestmark = pytest.mark.django_db
HOSTILE = "<script>alert(1)</script>"


def test_a_reviewer_reads_versions_and_files_and_edits_nothing(warehouse):
    browser = browser_of(Role.REVIEWER)
    pages = ("versions/", "file/", "edit/")

    answers = {page: browser.get(f"/domains/warehouse/{page}") for page in pages}

    assert {page: answer.status_code for page, answer in answers.items()} == {
        "versions/": 200, "file/": 200, "edit/": 403,
    }  # fmt: skip
    assert b"Make current" not in answers["versions/"].content


@pytest.mark.parametrize("n", [1, 3])
def test_the_list_of_versions_asks_the_same_number_of_questions(
    browser, warehouse, django_assert_num_queries, n
):
    for number in range(n):
        text = changed(title=f"Title {number}")
        browser.post("/domains/warehouse/edit/", fields(text, do="save"))

    browser.get("/domains/warehouse/versions/")  # the message of the last change is shown

    with django_assert_num_queries(7):
        page = browser.get("/domains/warehouse/versions/")

    assert len(page.context["lines"]) == n + 1


def test_versions_tell_who_what_and_how_many_searches(browser, person, warehouse):
    make_campaign(domain="warehouse", domain_version=warehouse.version)
    browser.post("/domains/warehouse/edit/", fields(changed(title="Two"), note="Why", do="save"))

    lines = browser.get("/domains/warehouse/versions/").context["lines"]

    assert [
        (line.number, line.note, line.who == person.username, line.n_searches, line.is_current)
        for line in lines
    ] == [
        (2, "Why", True, 0, True),
        (1, "From the example", False, 1, False),
    ]


def test_two_versions_are_compared_in_words(browser, warehouse):
    content = copy.deepcopy(check_domain_file(example_text()).content)
    content["rules"][0], content["rules"][1] = content["rules"][1], content["rules"][0]
    content["rules"][2]["action"] = "hazard"
    content["concepts"][0]["label"] = HOSTILE
    browser.post("/domains/warehouse/edit/", fields(write_domain_file(content), do="save"))
    new = current_domain("warehouse").version

    page = browser.get(f"/domains/warehouse/versions/?before={warehouse.version}&after={new}")

    changes = [
        (one.kind, one.row, one.field, one.before, one.after)
        for group in page.context["changes"]
        for one in group.changes
    ]
    assert changes == [
        ("changed", "hall", "label", "Storage hall", HOSTILE),
        ("changed", "moving_vest", "action", "safe", "hazard"),
        ("moved", "moving_no_vest", "", "1", "2"),
    ]
    assert HOSTILE not in page.content.decode()
    assert HOSTILE not in browser.get("/domains/warehouse/edit/?show=concepts").content.decode()


def test_an_older_version_is_made_current_and_the_newer_one_stays(browser, warehouse):
    first = warehouse.version
    browser.post("/domains/warehouse/edit/", fields(changed(title="Two"), do="save"))

    browser.post("/domains/warehouse/use/", {"version": first})

    assert current_domain("warehouse").version == first
    assert DomainVersion.objects.count() == 2
    assert AuditEntry.objects.latest("pk").verb == "made another version current of"
    assert browser.post("/domains/warehouse/use/", {"version": "0" * 12}).status_code == 404


def test_a_built_in_domain_is_changed_and_set_back(browser):
    built_in = load_domain("driving").version
    content = copy.deepcopy(built_in_content("driving"))
    content["rules"][0]["action"] = "slow_down"
    browser.post("/domains/driving/edit/", fields(write_domain_file(content), base=built_in, do="save"))
    changed_version = current_domain("driving").version

    back = browser.post("/domains/driving/use/", {"version": built_in})

    assert (changed_version != built_in, current_domain("driving").version) == (True, built_in)
    assert (back.status_code, DomainRecord.objects.count()) == (302, 0)
    assert sorted(DomainVersion.objects.values_list("version", flat=True)) == sorted(
        [built_in, changed_version]
    )
    assert AuditEntry.objects.latest("pk").verb == "went back to the built-in version of"


def test_an_archived_domain_leaves_the_choices_and_comes_back(browser, warehouse):
    browser.post("/domains/warehouse/archive/", {"archive": "1"})
    hidden = browser.get("/runs/new/").content.decode()

    browser.post("/domains/warehouse/archive/", {"archive": "0"})

    assert 'value="warehouse"' not in hidden
    assert 'value="warehouse"' in browser.get("/runs/new/").content.decode()
    assert list(AuditEntry.objects.order_by("pk").values_list("verb", flat=True)) == [
        "added",
        "archived",
        "brought back",
    ]


def test_a_built_in_domain_cannot_be_archived(browser):
    page = browser.post("/domains/driving/archive/", {"archive": "1"}, follow=True)

    assert "Only a domain of one&#x27;s own can be archived." in page.content.decode()


@pytest.mark.parametrize("file_format", ["yaml", "json"])
def test_a_version_is_downloaded_and_read_again_as_the_same(browser, warehouse, file_format):
    answer = browser.get(f"/domains/warehouse/file/?version={warehouse.version}&format={file_format}")

    assert answer["Content-Disposition"] == (
        f'attachment; filename="warehouse-{warehouse.version}.{file_format}"'
    )
    assert check_domain_file(answer.content).domain.version == warehouse.version
    assert browser.get("/domains/warehouse/file/?format=xml").status_code == 404


def test_content_that_is_checked_without_its_text_is_the_same_version(warehouse):
    assert check_content(DomainVersion.objects.get().content).domain.version == warehouse.version


def test_an_older_version_is_shown_as_it_was(browser, warehouse):
    first = warehouse.version
    browser.post("/domains/warehouse/edit/", fields(changed(title="Storehouse"), do="save"))

    old = browser.get(f"/domains/warehouse/?version={first}&show=rules")

    assert (old.context["domain"].title, old.context["domain"].version) == ("Warehouse", first)
    assert f"version={first}&amp;show=concepts" in old.content.decode()
    assert browser.get("/domains/warehouse/?version=000000000000").status_code == 404


def test_the_list_of_domains_names_the_archived_ones(browser, warehouse):
    browser.post("/domains/warehouse/archive/", {"archive": "1"})

    page = browser.get("/domains/")

    assert [one.domain.slug for one in page.context["overviews"]] == ["driving", "indoor"]
    assert [record.slug for record in page.context["archived"]] == ["warehouse"]
