"""Pages of reproductions: every table and figure opens, with numbers, guesses, and what does not fit."""

from html import unescape

import pytest

from searches.services.experiment_reproductions import paper_tables
from tests.searches.experiment_rows import make_experiment
from vlmlab.core.verdicts.reproduction import REPRODUCTIONS
from vlmlab.web.roles import Role

from .people import browser_of, statuses

pytestmark = pytest.mark.django_db
PAGE = "/experiments/reproduce/"
READERS = {"": 302, "admin": 200, "researcher": 200, "reviewer": 200, "annotator": 403}


def test_pages_are_open_to_readers_and_start_buttons_to_researchers():
    assert statuses(PAGE) == statuses(f"{PAGE}revelio-table-6/") == READERS

    shown = [browser_of(role).get(f"{PAGE}revelio-table-6/").content.decode() for role in
             (Role.RESEARCHER, Role.REVIEWER)]  # fmt: skip

    assert ["scale=0.1" in text for text in shown] == [True, False]


def test_every_card_stands_on_the_page_and_counts_what_was_started(django_assert_num_queries):
    make_experiment(seeds=(1,), fails=None, preset="revelio-table-2")
    browser = browser_of(Role.RESEARCHER)

    with django_assert_num_queries(4):
        page = browser.get(PAGE)

    cards = {card.reproduction.slug: card for _, cards in page.context["papers"] for card in cards}
    assert set(cards) == set(REPRODUCTIONS)
    assert (cards["revelio-table-2"].n_started, cards["revelio-table-1"].n_started) == (1, 0)
    assert "Started here 1 time." in page.content.decode()


def test_every_page_opens_with_all_its_guesses():
    browser = browser_of(Role.RESEARCHER)

    for slug, one in REPRODUCTIONS.items():
        page = browser.get(f"{PAGE}{slug}/")
        text = unescape(page.content.decode())
        assert page.status_code == 200
        assert [guess for guess in one.guesses if guess not in text] == [], slug


def test_published_tables_are_shown_as_they_were_printed():
    text = browser_of(Role.REVIEWER).get(f"{PAGE}revelio-table-13/").content.decode()

    assert "97.6 %" in text
    assert "Labelled Mixed with R 92.6 % and F 15.6 %" in text


@pytest.mark.parametrize(
    ("slug", "rows", "first"),
    [
        ("revelio-table-1", [8, 8], ("Gemini (minimal)", "82 ± 16.6 %, 5 of 10")),
        ("revelio-table-2", [8, 8], ("Gemini 3 Flash (minimal)", "3.5 %")),
        ("revelio-table-3", [5], ("Gemini (medium)", "9.5 %")),
        ("revelio-table-9", [1], ("Gemini 3 Flash (medium)", "6.5 %")),
        ("revelio-table-10", [1, 1], ("Gemini 3 Flash (medium)", "10.5 %")),
        ("revelio-table-12", [120], ("Gemini (minimal)", "Random")),
        ("revelio-table-16", [10], ("glass_upright + toddler_standing", "35.4 %")),
        ("revelio-table-4", [], ()), ("most-figure-4", [], ()),
        ("most-table-3", [10], ("Systems", "Qwen3-VL-4B-Instruct, Kimi-VL-A3B-Instruct, Nemotron3 Nano "
                                "Omni-30B, InternVL3.5-8B")),
    ],
)  # fmt: skip
def test_each_table_has_its_rows(slug, rows, first):
    tables = paper_tables(REPRODUCTIONS[slug])

    assert [len(table.rows) for table in tables] == rows
    assert not tables or tables[0].rows[0][:2] == first


def test_experiments_that_reproduce_a_table_stand_on_its_page():
    experiment = make_experiment(seeds=(1,), fails=None, preset="revelio-table-2")

    pages = {
        slug: browser_of(Role.REVIEWER).get(f"{PAGE}{slug}/").context["page"].lines
        for slug in ("revelio-table-2", "revelio-table-11", "revelio-table-6")
    }

    assert {slug: [line.experiment for line in lines] for slug, lines in pages.items()} == {
        "revelio-table-2": [experiment], "revelio-table-11": [experiment], "revelio-table-6": [],
    }  # fmt: skip


@pytest.mark.parametrize("slug", ["nothing", "revelio-table-99"])
def test_an_unknown_table_is_not_found(slug):
    assert browser_of(Role.RESEARCHER).get(f"{PAGE}{slug}/").status_code == 404
