"""Lift beside its line of no effect, and the interaction on the scale of log odds."""

from math import exp, log, sqrt

import numpy as np
import pytest
import statsmodels.api as sm

from vlmlab.core.verdicts.concept_rates import MeasuredSet
from vlmlab.core.verdicts.pair_effects import log_odds_interaction, pair_effects

CELLS = {
    (True, True): [MeasuredSet(("a", "b"), 8, 10), MeasuredSet(("a", "b"), 3, 10)],
    (True, False): [MeasuredSet(("a",), 2, 10), MeasuredSet(("a",), 6, 20)],
    (False, True): [MeasuredSet(("b",), 1, 10), MeasuredSet(("b",), 5, 10)],
    (False, False): [MeasuredSet(("c",), 1, 10), MeasuredSet(("c",), 2, 15)],
}


def test_the_interaction_agrees_with_a_saturated_quasi_binomial_model():
    rows = [
        (one.fails, one.samples - one.fails, first, second)
        for (first, second), cell in CELLS.items()
        for one in cell
    ]
    data = np.array(rows, dtype=float)
    design = np.column_stack([np.ones(len(data)), data[:, 2], data[:, 3], data[:, 2] * data[:, 3]])
    asked = data[:, 0] + data[:, 1]
    model = sm.GLM(data[:, 0] / asked, design, family=sm.families.Binomial(), var_weights=asked)
    fitted = model.fit(scale="X2")

    found = log_odds_interaction(CELLS, correction=0.0)

    low, high = fitted.conf_int(0.05)[3]
    assert found.design_effect == pytest.approx(fitted.scale)
    assert found.design_effect > 1.0
    assert found.value == pytest.approx(fitted.params[3])
    assert (found.low, found.high) == (pytest.approx(low), pytest.approx(high))


def test_the_interaction_is_worked_by_hand_with_half_an_answer_added_to_every_count():
    cells = {cell: [MeasuredSet(("x",), fails, 4)] for cell, fails in zip(CELLS, (4, 2, 2, 0), strict=True)}

    found = log_odds_interaction(cells)

    # logits: both log(4.5/0.5), one alone log(2.5/2.5) = 0 twice, neither log(0.5/4.5): they cancel.
    assert found.value == pytest.approx(0.0)
    half = 1.959964 * sqrt(2 * (1 / 4.5 + 1 / 0.5) + 4 / 2.5)
    assert (found.low, found.high) == (pytest.approx(-half, rel=1e-6), pytest.approx(half, rel=1e-6))
    assert found.direction == "undetermined"


def test_the_interaction_tells_synergy_from_interference():
    def cells(*fails):
        return {cell: [MeasuredSet(("x",), one, 200)] for cell, one in zip(CELLS, fails, strict=True)}

    together, apart = log_odds_interaction(cells(180, 20, 20, 20)), log_odds_interaction(cells(5, 80, 80, 20))

    assert (together.direction, apart.direction) == ("synergy", "interference")
    assert together.ratio == pytest.approx(exp(log(180.5 / 20.5) - log(20.5 / 180.5)))


def test_there_is_no_interaction_where_a_cell_is_empty():
    assert log_odds_interaction({cell: CELLS[cell] for cell in list(CELLS)[:3]}) is None


def test_pairs_are_shown_from_the_asked_number_of_sets_with_both():
    sets = [one for cell in CELLS.values() for one in cell]

    rows = pair_effects(sets, least_sets=2)

    assert [row.pair for row in rows] == [("a", "b")]
    assert pair_effects(sets, least_sets=3) == ()
    row = rows[0]
    first, second = (0.8 + 0.3 + 0.2 + 0.3) / 4, (0.8 + 0.3 + 0.1 + 0.5) / 4
    overall = sum(one.rate for one in sets) / len(sets)
    assert row.base == pytest.approx(first + second - first * second)
    assert row.lift == pytest.approx(0.55 - row.base)
    assert row.no_effect == pytest.approx(overall**2 - overall)


def test_nothing_is_said_of_pairs_without_sets():
    assert pair_effects([], least_sets=1) == ()
