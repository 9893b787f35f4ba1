"""Text operators of a search: shipped tables, reviewed ones by short name, and what is refused."""

import pytest
from django.utils import timezone

from searches.models import WordTableRecord
from searches.services.word_tables import operators_of, reviewed_slugs
from vlmlab.core.errors import VlmLabError
from vlmlab.core.most.config import MostConfig
from vlmlab.core.perturb.text import TEXT_OPERATORS
from vlmlab.core.seeding import rng_for

pytestmark = pytest.mark.django_db


def make_table(slug="ours", *, kind="synonym", state="reviewed", **values):
    entries = {"car": [{"text": "motor carriage", "closeness": "generated"}]}
    return WordTableRecord.objects.create(
        slug=slug,
        title=slug.title(),
        kind=kind,
        state=state,
        table=entries,
        reviewed_at=timezone.now(),
        **values,
    )


def test_without_tables_the_shipped_operators_act_and_nothing_is_read(django_assert_num_queries):
    with django_assert_num_queries(0):
        assert operators_of(MostConfig()) is TEXT_OPERATORS


def test_a_reviewed_table_takes_the_place_of_the_shipped_one():
    make_table()

    operators = operators_of(MostConfig(synonym_table="ours"))
    changed = operators["synonym"].apply("Locate the car.", 1.0, rng_for(3, "t"))

    assert changed == "Locate the motor carriage."
    assert operators["homophone"] is TEXT_OPERATORS["homophone"]


def test_a_table_is_read_once_a_process(django_assert_num_queries):
    make_table("read-once")
    operators_of(MostConfig(synonym_table="read-once"))

    with django_assert_num_queries(1):  # whether it is there and reviewed
        operators_of(MostConfig(synonym_table="read-once"))


@pytest.mark.parametrize(
    ("row", "config", "field", "message"),
    [
        ({}, {"synonym_table": "nothing"}, "synonym_table", "There is no word table called “nothing”."),
        ({}, {"synonym_table": "a\x00b"}, "synonym_table", "There is no word table called “a\x00b”."),
        ({}, {"homophone_table": "ours"}, "homophone_table", "“Ours” is a table of synonyms."),
        (
            {"state": "draft"},
            {"synonym_table": "ours"},
            "synonym_table",
            "Nobody has finished the review of “Ours” yet.",
        ),
    ],
)
def test_what_cannot_be_used_is_refused_at_its_field(row, config, field, message):
    make_table(**row)

    with pytest.raises(VlmLabError) as caught:
        operators_of(MostConfig(**config))

    assert (caught.value.field, caught.value.message) == (field, message)


def test_a_search_may_choose_among_reviewed_tables_of_a_kind():
    make_table("b-table")
    make_table("a-table")
    make_table("draft", state="draft")
    make_table("sounds", kind="homophone")

    assert reviewed_slugs("synonym") == [("a-table", "A-Table"), ("b-table", "B-Table")]
