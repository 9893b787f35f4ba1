"""Pages of envelopes and decision cards: the form row by row, previews, starting, the card, its files."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from searches.enums import RunState
from searches.models import Campaign, Envelope
from searches.services.cards import settle_cards
from searches.services.envelopes import stored_of
from tests.factories import make_run, make_sut
from tests.searches.gate_factory import make_card, make_confirmed, make_envelope
from tests.searches.pages.people import browser_of, statuses
from vlmlab.web.figures import validate_with_plotly
from vlmlab.web.roles import Role

pytestmark = pytest.mark.django_db
FOR_READERS = {"": 302, "admin": 200, "researcher": 200, "reviewer": 200, "annotator": 403}
FOR_RESEARCHERS = {"": 302, "admin": 200, "researcher": 200, "reviewer": 403, "annotator": 403}
HTMX = {"HX-Request": "true"}


def text_of(answer) -> str:
    return " ".join(answer.content.decode().split())


def row(place: int, **values) -> dict[str, object]:
    cell = {
        "title": "Near obstacles", "id": "", "includes": "Debris, near\nall Weather", "excludes": "",
        "limit": "5", "errors_allowed": "0", "requirement": "REQ-1", "exposure": "1", "harm": "1",
        "min_size": "1", "max_size": "3", "spread": "sizes", "sets": "",
    } | values  # fmt: skip
    return {f"cells-{place}-{name}": value for name, value in cell.items()}


def form(*rows: dict[str, object], **values) -> dict[str, object]:
    facts = {"name": "Streets", "domain": "driving", "level": "0.95", "backend": "embedded", "do": "save"}
    counts = {"cells-TOTAL_FORMS": str(len(rows)), "cells-INITIAL_FORMS": "0"}
    cells = {name: value for one in rows for name, value in one.items()}
    return facts | counts | cells | values


def declare(*rows: dict[str, object], **values):
    return browser_of(Role.RESEARCHER).post("/cards/new/", form(*rows, **values))


def test_cards_are_read_by_readers_and_declared_by_researchers():
    run = make_card(make_envelope(), {"near": (0, 183), "fog": (0, 36)})

    for path in ("/cards/city-streets/", f"/cards/of/{run.pk}/"):
        assert statuses(path) == FOR_READERS, path
    assert statuses("/cards/city-streets/edit/") == FOR_RESEARCHERS
    assert "Make a card" not in text_of(browser_of(Role.REVIEWER).get("/cards/city-streets/"))


@pytest.mark.parametrize("rows", [1, 3])
def test_the_list_takes_the_same_queries_for_any_number_of_envelopes(rows, django_assert_num_queries):
    for number in range(rows):
        make_card(make_envelope(name=f"Streets {number}"), {"near": (0, 1), "fog": (0, 1)})
    browser = browser_of(Role.REVIEWER)

    with django_assert_num_queries(6):  # session, person, count, envelopes, archived, navigation
        page = text_of(browser.get("/cards/"))

    assert page.count('class="primary-link"') == rows


def test_an_envelope_is_declared_in_the_form_and_changed_in_it():
    made = declare(
        row(0, counts=["under-reaction", "invalid"]), row(1, title="Fog", includes="Fog", limit="10")
    )

    envelope = Envelope.objects.get()
    assert (made.status_code, made.url) == (302, "/cards/streets/")
    near, fog = stored_of(envelope).cells
    assert (near.id, near.includes[0], len(near.includes[1])) == ("near-obstacles", ("debris_near",), 6)
    assert (near.limit, near.counts, near.max_size, fog.id) == (0.05, ("under-reaction", "invalid"), 3, "fog")
    ref = f"driving@{envelope.domain_version}"
    page = text_of(browser_of(Role.RESEARCHER).get("/cards/streets/edit/"))
    assert "Debris, near all Weather</textarea>" in page
    kept = row(0, id=near.id, limit="2"), row(1, id="fog", DELETE="on")
    changed = browser_of(Role.RESEARCHER).post("/cards/streets/edit/", form(*kept, domain=ref))
    envelope.refresh_from_db()
    assert changed.status_code == 302
    assert [(cell.id, cell.limit) for cell in stored_of(envelope).cells] == [("near-obstacles", 0.02)]


def test_what_a_file_says_and_the_form_does_not_show_stays_when_it_is_changed():
    envelope = make_envelope(image_width=320, image_height=240, level=0.975)
    values = form(row(0), domain=f"driving@{envelope.domain_version}", level="0.975")

    changed = browser_of(Role.RESEARCHER).post("/cards/city-streets/edit/", values)

    envelope.refresh_from_db()
    stored = stored_of(envelope)
    assert changed.status_code == 302
    assert (stored.image_width, stored.image_height, stored.level) == (320, 240, 0.975)


@pytest.mark.parametrize(
    ("values", "said", "place"),
    [
        ({"includes": "Moon"}, "has no concept “Moon”", "includes"),
        ({"includes": "Red light\nGreen light"}, "No valid set fits the cell", "includes"),
        ({"limit": "0"}, "greater than or equal to 0.001", "limit"),
        ({"limit": "0.001"}, "more than 20,000 scenes", "limit"),
        ({"min_size": "3", "max_size": "2"}, "The largest set must not be smaller", "includes"),
        ({"sets": "Cone : none"}, "is not a weight", "sets"),
        ({"title": ""}, "This field is required.", "title"),
        ({"exposure": "inf"}, "Enter a number.", "exposure"),
        ({"counts": ["everything"]}, "Select a valid choice", "counts"),
    ],
)
def test_what_is_wrong_with_a_cell_stands_at_its_field_and_nothing_is_lost(values, said, place):
    answer = declare(row(0), row(1, **{"title": "Other", "includes": "Cone"} | values))

    page = text_of(answer)
    assert answer.status_code == 422
    assert said in page.partition('id="cell-1"')[2].partition("</fieldset>")[0]
    assert [list(cell.errors) for cell in answer.context["editor"].cells] == [[], [place]]
    assert "Debris, near all Weather</textarea>" in page
    assert not Envelope.objects.exists()


def test_a_forged_form_is_refused_without_a_crash():
    browser = browser_of(Role.RESEARCHER)

    for values in (
        {"cells-TOTAL_FORMS": "many"}, {"domain": "moon"}, {"level": "2"},
        {"do": "add", "cells-TOTAL_FORMS": "9" * 9}, {"name": "\x00"},
    ):  # fmt: skip
        assert browser.post("/cards/new/", form(row(0)) | values).status_code in (200, 422), values
    assert browser.post("/cards/new/", {}).status_code == 422
    assert not Envelope.objects.exists()


def test_a_cell_can_be_added_without_a_script():
    answer = declare(row(0), do="add")

    assert answer.status_code == 200
    assert 'name="cells-1-title"' in text_of(answer)
    assert "Debris, near all Weather</textarea>" in text_of(answer)


def test_the_preview_says_what_the_form_declares_as_it_stands():
    browser = browser_of(Role.RESEARCHER)

    good = text_of(browser.post("/cards/preview/", form(row(0)), headers=HTMX))
    bad = text_of(browser.post("/cards/preview/", form(row(0, includes="Moon")), headers=HTMX))

    assert "59 scenes a system" in good  # ln(.05) / ln(.95) = 58.4
    assert "100 % expect emergency stop" in good
    assert "Near obstacles: The domain Driving has no concept “Moon”." in bad
    assert "Give each cell a title" in text_of(browser.post("/cards/preview/", {}, headers=HTMX))
    assert browser.post("/cards/preview/", form(row(0))).status_code == 302
    assert Client().post("/cards/preview/", form(row(0))).status_code == 302


@pytest.mark.parametrize("fmt", ["yaml", "json"])
def test_an_envelope_goes_out_as_a_file_and_comes_in_again(fmt):
    make_envelope()
    browser = browser_of(Role.RESEARCHER)

    sent = browser.get(f"/cards/city-streets/file/{fmt}/")
    file = SimpleUploadedFile(f"streets.{fmt}", sent.content)
    made = browser.post("/cards/new/", {"file": file})

    assert (made.status_code, made.url) == (302, "/cards/city-streets-2/")
    assert browser.get("/cards/city-streets/file/xml/").status_code == 404


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name: [", "file"),
        ("name: A\ndomain: driving\ncells: []", "at least one cell"),
        ("name: A\ndomain: driving\ncells: [{title: X, includes: [[moon]]}]", "no concept “moon”"),
        ("name: A\ndomain: driving\nlevel: 7\ncells: [{title: X, includes: [[cone]]}]", "Confidence"),
    ],
)
def test_a_file_that_declares_nothing_is_refused_with_a_sentence(text, said):
    file = SimpleUploadedFile("a.yaml", text.encode())

    answer = browser_of(Role.RESEARCHER).post("/cards/new/", {"file": file})

    assert answer.status_code == 422
    assert said in text_of(answer)


def test_cards_are_started_on_systems_and_without_one_the_field_says_so():
    make_envelope()
    make_sut("one")
    make_sut("two")
    browser = browser_of(Role.RESEARCHER)

    refused = browser.post("/cards/city-streets/start/", {})
    single = browser.post("/cards/city-streets/start/", {"suts": ["one"]})
    both = browser.post("/cards/city-streets/start/", {"suts": ["one", "two"]}, follow=True)

    assert refused.status_code == 422
    first = Campaign.objects.filter(kind="envelope").earliest("pk")
    assert single.url == f"/cards/of/{first.runs.get().pk}/"
    assert "2 cards are queued." in text_of(both)
    assert text_of(both).count("Queued</span>") == 3


def test_a_card_shows_verdict_bounds_modes_and_what_was_not_tested():
    run = make_card(make_envelope(), {"near": (0, 183), "fog": (3, 36)})
    make_confirmed(make_run(run.sut), ("debris_near",))
    settle_cards(run.campaign)
    browser = browser_of(Role.REVIEWER)

    answer = browser.get(f"/cards/of/{run.pk}/")

    page = text_of(answer)
    assert "It is not shown that" in page
    assert "0 counted errors in 183 scenes: at most 2 %, which is within the limit of 2 %." in page
    assert "a card that passes does not make them safe" in page
    assert "valid sets of Driving lie inside" in page
    assert "K = 2, corrected after Bonferroni" in page
    validate_with_plotly(answer.context["chart"].spec)
    assert "Not enough evidence</span>" in text_of(browser.get("/cards/city-streets/"))


@pytest.mark.parametrize("cells", [1, 2])
def test_a_card_takes_the_same_queries_for_any_number_of_cells(cells, django_assert_num_queries):
    names = ("near", "fog")[:cells]
    envelope = make_envelope()
    envelope.spec["cells"] = envelope.spec["cells"][:cells]
    envelope.save()
    run = make_card(envelope, dict.fromkeys(names, (0, 36)))
    browser = browser_of(Role.REVIEWER)

    with django_assert_num_queries(11):
        browser.get(f"/cards/of/{run.pk}/")


def test_a_card_at_work_asks_for_its_progress_and_gives_no_verdict():
    run = make_card(make_envelope(), {"near": (0, 9), "fog": (0, 0)}, state=RunState.RUNNING)
    browser = browser_of(Role.REVIEWER)

    page = text_of(browser.get(f"/cards/of/{run.pk}/"))
    part = browser.get(f"/cards/of/{run.pk}/progress/")

    assert "No verdict" in page
    assert "9 of 219 scenes" in page
    assert part.status_code == 200
    again = browser.get(f"/cards/of/{run.pk}/progress/", headers={"If-None-Match": part["ETag"]})
    assert again.status_code == 304


def test_without_a_chromium_the_page_says_how_to_print_it(settings):
    settings.CHROMIUM = "/nonexistent/chromium"
    run = make_card(make_envelope(), {"near": (0, 183), "fog": (0, 36)})
    browser = browser_of(Role.REVIEWER)

    page = text_of(browser.get(f"/cards/of/{run.pk}/"))
    sent_back = browser.get(f"/cards/of/{run.pk}/pdf/", follow=True)

    assert "Print to PDF with your browser" in page
    assert f"/cards/of/{run.pk}/pdf/" not in page
    assert "No Chromium is on this server." in text_of(sent_back)


@pytest.mark.parametrize("path", ["of/99/", "of/99/pdf/", "of/99999999999999999999/", "nothing/"])
def test_what_is_no_card_is_not_found(path):
    other = make_run(state=RunState.SUCCEEDED)

    assert browser_of(Role.REVIEWER).get(f"/cards/{path}").status_code == 404
    assert browser_of(Role.REVIEWER).get(f"/cards/of/{other.pk}/").status_code == 404
