"""The shipped tables hold what they promise, and the page about them says what they hold."""

from pathlib import Path

import pytest

from tests.core.perturb.text_cases import Draws
from tools.word_tables.names import COCO
from tools.word_tables.tables import MadeTables, coverage_page
from vlmlab.core.perturb.text import TEXT_OPERATORS
from vlmlab.core.perturb.text_tokens import words_of
from vlmlab.core.perturb.word_tables import (
    Alternative,
    LabelForm,
    WordTable,
    label_key,
    label_sets,
    shipped_table,
    table_of,
)
from vlmlab.core.scenes.asked_labels import LABELS, VARIANTS

PAGE = Path(__file__).resolve().parents[3] / "docs" / "word_tables.md"
KINDS = pytest.mark.parametrize("kind", ["homophone", "synonym"])
AGAIN = "run python -m tools.word_tables again"


def alternative(text):
    return Alternative(text=text, closeness="whole")


def test_a_table_finds_labels_whatever_their_capitals_and_blanks():
    table = table_of("synonym", {"Bus  Stop": [alternative("bus halt")], "cup": []})

    assert table.alternatives("bus stop") == ("bus halt",)
    assert table.alternatives(" BUS\nSTOP ") == ("bus halt",)
    assert table.alternatives("cup") == ()
    assert table.missing(["Bus Stop", "cup", "knife"]) == ("cup", "knife")


def test_a_label_is_no_alternative_of_itself_and_stands_once():
    assert table_of("synonym", {"cup": [alternative("Cup"), alternative("mug")]}).alternatives("cup") == (
        "mug",
    )
    with pytest.raises(ValueError, match="two labels are the same but for capitals and blanks: 'CUP'"):
        table_of("synonym", {"cup": [], "Cup": [alternative("mug")], "CUP": [alternative("mug")]})


def test_labels_that_begin_alike_are_tried_from_the_longest_in_the_singular_and_the_plural():
    table = table_of("synonym", {one: [alternative("x")] for one in ("bus", "bus stop sign", "bus stop")})

    assert table.forms_by_first_word == {
        "bus": (
            LabelForm("bus stop sign", "bus stop sign", 3, is_plural=False),
            LabelForm("bus stop signs", "bus stop sign", 3, is_plural=True),
            LabelForm("bus stop", "bus stop", 2, is_plural=False),
            LabelForm("bus stops", "bus stop", 2, is_plural=True),
            LabelForm("bus", "bus", 1, is_plural=False),
        ),
        "buses": (LabelForm("buses", "bus", 1, is_plural=True),),
    }


def test_a_label_that_is_the_plural_of_another_counts_as_itself():
    table = table_of("synonym", {"glass": [alternative("tumbler")], "glasses": [alternative("spectacles")]})

    assert table.forms_by_first_word["glasses"] == (LabelForm("glasses", "glasses", 1, is_plural=False),)


@KINDS
def test_shipped_entries_are_clean(kind):
    table = shipped_table(kind)
    texts = [(label, one) for label in table.entries for one in table.alternatives(label)]

    assert [label for label in table.entries if label != label_key(label)] == []
    assert [
        pair for pair in texts if label_key(pair[1]) == pair[0] or pair[1] != " ".join(pair[1].split())
    ] == []
    assert {len(table.alternatives(label)) for label in table.entries} <= {1, 2, 3, 4, 5, 6}
    assert [
        label for label in table.entries if len(set(table.alternatives(label))) < len(table.entries[label])
    ] == []


@KINDS
def test_each_shipped_label_gives_way_in_a_prompt(kind):
    kept = [
        label
        for label in shipped_table(kind).entries
        if TEXT_OPERATORS[kind].apply(label, 1.0, Draws(*[[0.0, 0.0]] * len(words_of(label)))) == label
    ]

    assert kept == []


def test_no_shipped_homophone_is_another_label():
    labels = {label_key(label) for labels in label_sets().values() for label in labels}

    assert {
        text for one in shipped_table("homophone").entries.values() for text in one if text.text in labels
    } == set()


def test_the_sets_are_the_labels_of_today():
    asked = {label.text for label in LABELS.values()} | set(VARIANTS.values())

    assert set(label_sets()["sample"]) == asked, AGAIN
    assert label_sets()["coco"] == COCO
    assert len(label_sets()["coco"]) == 80
    assert len(label_sets()["imagenet"]) == 998  # of 1,000 classes; two pairs share their first name


@pytest.mark.parametrize(
    ("kind", "name", "least"),
    [
        *[("homophone", "sample", 0.9), ("homophone", "coco", 0.9), ("homophone", "imagenet", 0.75)],
        *[("synonym", "sample", 1.0), ("synonym", "coco", 0.8), ("synonym", "imagenet", 0.4)],
    ],
)
def test_the_shipped_tables_cover_their_labels_as_far_as_is_promised(kind, name, least):
    labels = label_sets()[name]

    assert 1 - len(shipped_table(kind).missing(labels)) / len(labels) >= least


def test_the_page_says_what_the_tables_cover_and_names_every_label_without_an_entry():
    tables: dict[str, WordTable] = {kind: shipped_table(kind) for kind in ("homophone", "synonym")}

    assert PAGE.read_text("utf-8") == coverage_page(MadeTables(label_sets(), tables)), AGAIN
