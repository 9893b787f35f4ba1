"""Pages that make and change domains: upload, copy, the editor with its preview, versions, archive."""

import copy

import pytest
import yaml
from django.core.files.uploadedfile import SimpleUploadedFile

from searches.models import AuditEntry, DomainRecord, DomainVersion
from searches.services.domain_edits import add_domain
from searches.services.domain_store import current_domain
from tests.factories import make_campaign, make_user
from tests.searches.pools import make_pool, make_source
from vlmlab.core.scenes.catalogue import built_in_content, load_domain
from vlmlab.core.scenes.domain_files import check_content, check_domain_file, example_text, write_domain_file
from vlmlab.web.roles import Role

from .people import browser_of

pytestmark = pytest.mark.django_db
HOSTILE = "<script>alert(1)</script>"


@pytest.fixture
def warehouse():
    return add_domain(
        check_domain_file(example_text()), by=make_user(Role.RESEARCHER), note="From the example"
    )


def fields(text, **more):
    """Return what the editor sends."""
    return {"text": text, "base": "", "section": "text", "open": "", "note": "", "do": "apply"} | more


def changed(**values) -> str:
    return write_domain_file(check_domain_file(example_text()).content | values)


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


def test_a_reviewer_reads_versions_and_files_and_edits_nothing(warehouse):
    browser = browser_of(Role.REVIEWER)
    pages = ("versions/", "file/", "edit/")

    answers = {page: browser.get(f"/domains/warehouse/{page}") for page in pages}

    assert {page: answer.status_code for page, answer in answers.items()} == {
        "versions/": 200, "file/": 200, "edit/": 403,
    }  # fmt: skip
    assert b"Make current" not in answers["versions/"].content


@pytest.mark.parametrize(
    "path", ["preview/", "warehouse/use/", "warehouse/archive/", "warehouse/edit/", "new/"]
)
def test_a_reviewer_can_post_nothing(path, warehouse):
    assert browser_of(Role.REVIEWER).post(f"/domains/{path}", {}).status_code == 403


@pytest.mark.parametrize("path", ["edit/", "versions/", "file/"])
def test_an_unknown_domain_is_not_found(path, browser):
    assert browser.get(f"/domains/sailing/{path}").status_code == 404


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


def test_the_editor_shows_each_section_and_every_row(browser, warehouse):
    for section, rows in (("actions", 2), ("concepts", 15), ("constraints", 6), ("rules", 21), ("facts", 0)):
        page = browser.get(f"/domains/warehouse/edit/?show={section}")
        assert (page.status_code, len(page.context["editor"].lines)) == (200, rows)


def test_saving_makes_a_new_version_and_keeps_the_old_one(browser, person, warehouse):
    old = warehouse.version

    answer = browser.post(
        "/domains/warehouse/edit/",
        fields(changed(title="Storehouse"), base=old, note="  A better\nword ", do="save"),
    )

    warehouse.refresh_from_db()
    assert (answer.status_code, warehouse.title, warehouse.version == old) == (302, "Storehouse", False)
    assert list(DomainVersion.objects.values_list("number", "note")) == [
        (2, "A better word"),
        (1, "From the example"),
    ]
    entry = AuditEntry.objects.latest("pk")
    assert (entry.verb, entry.before, entry.after["version"]) == (
        "changed",
        {"version": old},
        warehouse.version,
    )


def test_a_changed_rule_is_saved_from_its_row(browser, warehouse):
    text = write_domain_file(check_domain_file(example_text()).content)
    page = browser.post("/domains/warehouse/edit/", fields(text, section="rules", do="open:0"))
    row = {
        f"row-{name}": page.context["editor"].form[name].value() or ""
        for name in page.context["editor"].form.fields
    }
    row |= {"row-sent": "1", "row-title": "Beside", "row-when__lacks": "cone, spill", "row-priority": "3"}
    row = {name: value for name, value in row.items() if value is not False}

    browser.post(
        "/domains/warehouse/edit/",
        fields(page.context["editor"].text, section="rules", open="0", do="save", **row),
    )

    rule = current_domain("warehouse").rules[0]
    assert (rule.title, rule.condition.lacks, rule.priority) == ("Beside", ("cone", "spill"), 3)
    assert rule.condition.elements == (("forklift_moving",), ("worker_no_vest",))


def row_of(browser, slug, text, **where):
    """Return the editor after a click."""
    return browser.post(f"/domains/{slug}/edit/", fields(text, **where)).context["editor"]


def test_rows_are_added_moved_and_removed_in_the_text(browser, warehouse):
    text = write_domain_file(check_domain_file(example_text()).content)

    text = row_of(browser, "warehouse", text, section="rules", do="down:0").text
    text = row_of(browser, "warehouse", text, section="rules", do="remove:2").text
    added = row_of(browser, "warehouse", text, section="rules", do="add")

    ids = [row["id"] for row in yaml.safe_load(added.text)["rules"]]
    assert ids[:3] == ["moving_vest_spill", "moving_no_vest", "parked_worker"]
    assert (len(ids), ids[-1], added.open_row) == (21, "R21", 20)
    assert DomainVersion.objects.count() == 1


def test_a_new_rule_stands_above_the_one_that_catches_the_rest(browser):
    text = write_domain_file(built_in_content("driving"))

    editor = row_of(browser, "driving", text, section="rules", do="add")

    assert [row["id"] for row in yaml.safe_load(editor.text)["rules"]][-2:] == ["R8", "R7_default"]


def test_a_new_id_of_a_concept_is_changed_wherever_it_is_named(browser, warehouse):
    text = write_domain_file(check_domain_file(example_text()).content)

    editor = row_of(
        browser,
        "warehouse",
        text,
        section="concepts",
        open="9",
        do="close",
        **{"row-sent": "1", "row-id": "puddle"},
    )

    content = yaml.safe_load(editor.text)
    named = [row["when"]["elements"] for row in content["rules"] if "puddle" in row["when"]["elements"]]
    assert named == [["forklift_moving", "worker_vest", "puddle"], ["puddle", "cone"], ["puddle"]]
    assert content["concepts"][9]["id"] == "puddle"
    assert editor.check().is_valid


def test_a_wrong_field_stays_open_with_what_was_typed_and_nothing_is_saved(browser, warehouse):
    text = write_domain_file(check_domain_file(example_text()).content)

    page = browser.post(
        "/domains/warehouse/edit/",
        fields(text, section="facts", do="save", **{"row-sent": "1", "row-max_size": "many"}),
    )

    assert (page.status_code, DomainVersion.objects.count()) == (422, 1)
    assert page.context["editor"].form.errors["max_size"] == ["Enter a whole number."]
    assert 'value="many"' in page.content.decode()


def test_a_refused_save_keeps_the_whole_draft(browser, warehouse):
    text = changed(question="No place for the answers")

    page = browser.post(
        "/domains/warehouse/edit/", fields(text, base=warehouse.version, note="Mine", do="save")
    )

    assert (page.status_code, DomainVersion.objects.count()) == (422, 1)
    assert (page.context["editor"].text, page.context["editor"].note) == (text, "Mine")
    assert "The question has no place for the answers." in page.content.decode()


def test_text_that_cannot_be_read_is_kept_and_named_with_its_line(browser, warehouse):
    page = browser.post("/domains/warehouse/edit/", fields("slug: a\n  b: [", section="rules", do="open:0"))

    assert (page.status_code, page.context["editor"].section) == (200, "text")
    assert page.context["editor"].text == "slug: a\n  b: ["
    assert "line 2" in str(page.context["preview"].checked.errors[0])


def test_saving_without_a_change_is_said(browser, warehouse):
    page = browser.post("/domains/warehouse/edit/", fields(example_text(), base=warehouse.version, do="save"))

    assert page.status_code == 422
    assert "Nothing has changed." in page.content.decode()


def test_the_short_name_stays(browser, warehouse):
    page = browser.post(
        "/domains/warehouse/edit/", fields(changed(slug="other"), base=warehouse.version, do="save")
    )

    assert page.status_code == 422
    assert "The short name must stay “warehouse”." in page.content.decode()


def test_a_change_over_somebody_elses_shows_both_and_goes_on_top_when_saved_again(browser, warehouse):
    first = warehouse.version
    browser.post("/domains/warehouse/edit/", fields(changed(title="Theirs"), base=first, do="save"))

    page = browser.post("/domains/warehouse/edit/", fields(changed(max_size=3), base=first, do="save"))

    assert (page.status_code, DomainVersion.objects.count()) == (409, 2)
    assert [change.row for group in page.context["theirs"] for change in group.changes] == ["title"]
    assert [change.row for group in page.context["mine"] for change in group.changes] == ["max_size"]
    editor = page.context["editor"]
    again = browser.post("/domains/warehouse/edit/", fields(editor.text, base=editor.base, do="save"))
    assert (again.status_code, current_domain("warehouse").max_size) == (302, 3)


def test_the_preview_counts_sets_names_problems_and_stores_nothing(browser):
    page = browser.post("/domains/preview/", fields(example_text(), pick=["spill", "cone"]))
    wrong = browser.post("/domains/preview/", fields(changed(question="x")))

    preview = page.context["preview"]
    assert (preview.checked.sense.valid_sets, preview.trial.rule_id, preview.trial.expected) == (
        1491,
        "spill_cone",
        "Safe",
    )
    assert preview.trial.prompt.startswith(
        "The picture was taken by a camera in a warehouse. Can somebody slip without being warned?\nA) "
    )
    assert "1,491 valid sets of up to 4" in page.content.decode()
    assert "The question has no place for the answers." in wrong.content.decode()
    assert DomainVersion.objects.count() == 0


def test_the_preview_says_why_a_tried_set_is_not_valid(browser):
    page = browser.post(
        "/domains/preview/", fields(example_text(), pick=["fire_exit_clear", "fire_exit_blocked", "no_such"])
    )

    assert page.context["preview"].trial.problem.startswith(
        "“Clear fire exit” and “Blocked fire exit” exclude each other"
    )


def test_the_preview_asks_the_database_only_who_is_there(browser, django_assert_num_queries):
    browser.get("/")

    with django_assert_num_queries(2):
        browser.post("/domains/preview/", fields(example_text(), pick=["spill"]))


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


def test_the_example_is_sent_with_its_comments(browser):
    assert browser.get("/domains/example/").content.decode() == example_text()


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
