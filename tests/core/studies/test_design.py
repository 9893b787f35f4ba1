"""Cells, subsets and orders of a human study."""

from collections import Counter
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from vlmlab.core.studies.design import (
    Candidate,
    EmptyCellError,
    StudyDesign,
    case_order,
    draw_subsets,
    paper_design,
)

SUTS, SCENES, REGIMES = "abcd", ("street", "junction", "counter", "floor"), ("image", "text", "joint")
CELLS = list(product(SUTS, SCENES, REGIMES))


def candidates(each=2, pictures=100):
    return [
        Candidate(
            key=f"{'-'.join(cell)}-{number}", cell=cell, picture=f"p{(index * each + number) % pictures}"
        )
        for index, cell in enumerate(CELLS)
        for number in range(each)
    ]


def test_the_published_design_has_48_cells_two_checks_and_20_valid_submissions():
    design = paper_design(seed=3)

    assert (len(CELLS), design.cases_per_cell, design.n_checks, design.valid_per_subset) == (48, 1, 2, 20)


def test_each_subset_has_the_wanted_number_of_cases_of_each_cell_and_no_case_is_drawn_twice():
    subsets = draw_subsets(candidates(), cells=CELLS, cases_per_cell=1, n_subsets=2, seed=5)

    assert [Counter(case.cell for case in subset) for subset in subsets] == [Counter(CELLS)] * 2
    assert len({case.key for subset in subsets for case in subset}) == 96


def test_the_draw_depends_on_the_seed_and_not_on_the_order_of_the_candidates():
    given_order = candidates(each=3)

    first, again, other = (
        draw_subsets(rows, cells=CELLS, cases_per_cell=1, n_subsets=1, seed=seed)
        for rows, seed in ((given_order, 1), (given_order[::-1], 1), (given_order, 2))
    )

    assert first == again
    assert {case.key for case in first[0]} != {case.key for case in other[0]}


def test_a_subset_shows_no_picture_twice_while_others_are_left():
    cells = [("a",), ("b",), ("c",)]
    rows = [Candidate(f"{cell[0]}{n}", cell, f"picture {n}") for cell in cells for n in range(3)]

    (subset,) = draw_subsets(rows, cells=cells, cases_per_cell=1, n_subsets=1, seed=0)

    assert sorted(case.picture for case in subset) == ["picture 0", "picture 1", "picture 2"]


def test_cells_with_too_few_cases_are_named_with_what_they_have():
    rows = [Candidate("x", ("a", "street"), "p")]

    with pytest.raises(EmptyCellError) as raised:
        draw_subsets(rows, cells=[("a", "street"), ("b", "street")], cases_per_cell=1, n_subsets=1, seed=0)

    assert raised.value.message == "The design needs 1 cases in each cell, but b / street has 0."


def test_the_published_design_takes_no_other_strata():
    with pytest.raises(ValidationError, match="one case for each system, scene type and regime"):
        StudyDesign(preset="paper", strata=("sut",))


def test_a_stratum_stands_once():
    with pytest.raises(ValidationError, match="Name each stratum once"):
        StudyDesign(strata=("sut", "sut"))


@given(n_cases=st.integers(2, 60), n_checks=st.integers(0, 5), seed=st.integers(0, 2**63 - 1))
def test_no_check_comes_first_or_last_and_nobody_misses_a_case(n_cases, n_checks, seed):
    cases, checks = list(range(n_cases)), list(range(1_000, 1_000 + n_checks))

    order = case_order(cases, checks, seed=seed)

    assert sorted(order) == cases + checks
    assert order[0] < 1_000
    assert order[-1] < 1_000


def test_orders_of_two_participants_differ_and_each_stays():
    cases, checks = list(range(48)), [100, 101]

    first, again, other = (case_order(cases, checks, seed=seed) for seed in (1, 1, 2))

    assert first == again
    assert first != other


def least_repeats(rows, cells):
    """Return the fewest cases beyond the first of their picture, by trying every choice."""
    choices = product(*([one for one in rows if one.cell == cell] for cell in cells))
    return min(len(choice) - len({one.picture for one in choice}) for choice in choices)


@given(
    st.lists(st.lists(st.integers(0, 4), min_size=1, max_size=3), min_size=1, max_size=5), st.integers(0, 99)
)
def test_a_picture_is_never_shown_twice_where_another_choice_avoids_it(pictures, seed):
    cells = [(str(number),) for number in range(len(pictures))]
    rows = [
        Candidate(f"{cell[0]}-{number}", cell, f"p{picture}")
        for cell, own in zip(cells, pictures, strict=True)
        for number, picture in enumerate(own)
    ]

    (subset,) = draw_subsets(rows, cells=cells, cases_per_cell=1, n_subsets=1, seed=seed)

    assert sorted(case.cell for case in subset) == sorted(cells)
    assert len(subset) - len({case.picture for case in subset}) == least_repeats(rows, cells)
