"""What can be done again: every table of the paper is listed, and every experiment can be built."""

import pytest

from tools.docs.reproduction import BEGIN, PAGE, generated, rewritten
from vlmlab.core.revelio.experiments import make_arms
from vlmlab.core.revelio.published import published
from vlmlab.core.revelio.published_cells import published_rows
from vlmlab.core.verdicts.reproduction import REPRODUCTIONS


def test_every_table_of_revelio_and_every_figure_of_most_is_listed():
    listed = {(one.paper, one.label) for one in REPRODUCTIONS.values()}

    assert {("Revelio", f"Table {number}") for number in range(1, 17)} <= listed
    assert {("MoST", f"Fig. {number}") for number in range(3, 8)} <= listed
    assert {("MoST", "Table 3"), ("MoST", "Table 4")} <= listed


def test_what_is_not_known_has_no_guess_and_no_start_and_all_else_has_guesses():
    for one in REPRODUCTIONS.values():
        assert (one.way == "unknown") == (not one.guesses), one.slug
        assert not one.builds_on or one.builds_on in REPRODUCTIONS
        assert one.starts_experiment == (one.way in ("experiment", "retest")), one.slug


@pytest.mark.parametrize("slug", [slug for slug, one in REPRODUCTIONS.items() if one.starts_experiment])
def test_the_arms_of_an_experiment_are_the_columns_of_its_table(slug):
    one = REPRODUCTIONS[slug]
    base = {"inference_budget": 1000, **one.settings}

    arms = make_arms(base, one.algorithms, axis=one.axis, values=one.values)

    for domain in one.domains:
        rows = published_rows(published(), one.number, domain)
        cells = {(key.algorithm, key.value) for row in rows for key in row.cells}
        assert not rows or cells == {(arm.algorithm, arm.value) for arm in arms}
    assert {arm.config.samples_per_set for arm in arms} <= {5, 10}


@pytest.mark.parametrize(("number", "domain", "count"), [
    (2, "driving", 8), (2, "indoor", 8), (6, "indoor", 1), (6, "driving", 0), (7, "driving", 1),
    (8, "indoor", 1), (9, "indoor", 0), (10, "indoor", 1), (3, "driving", 0),
])  # fmt: skip
def test_published_rows_are_those_of_the_domain_of_a_table(number, domain, count):
    assert len(published_rows(published(), number, domain)) == count


def test_the_page_of_the_manual_is_what_the_code_says():
    page = PAGE.read_text(encoding="utf-8")

    assert page == rewritten(page), "run: python -m tools.docs.reproduction"
    assert generated().startswith(BEGIN)
