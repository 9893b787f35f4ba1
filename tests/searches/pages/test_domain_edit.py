"""The page that changes a domain: its sections and rows, saving, drafts that are refused, the preview."""

import pytest
import yaml

from searches.models import AuditEntry, DomainVersion
from searches.services.domain_store import current_domain
from vlmlab.core.scenes.catalogue import built_in_content
from vlmlab.core.scenes.domain_files import check_domain_file, example_text, write_domain_file
from vlmlab.web.roles import Role

from .domain_texts import changed, fields
from .people import browser_of

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    "path", ["preview/", "warehouse/use/", "warehouse/archive/", "warehouse/edit/", "new/"]
)
def test_a_reviewer_can_post_nothing(path, warehouse):
    assert browser_of(Role.REVIEWER).post(f"/domains/{path}", {}).status_code == 403


@pytest.mark.parametrize("path", ["edit/", "versions/", "file/"])
def test_an_unknown_domain_is_not_found(path, browser):
    assert browser.get(f"/domains/sailing/{path}").status_code == 404


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
        page = browser.post("/domains/preview/", fields(example_text(), pick=["spill"]))

    assert (page.status_code, page.context["preview"].trial.prompt != "") == (200, True)
    assert "1,491 valid sets of up to 4" in page.content.decode()
