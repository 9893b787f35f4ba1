"""Decision cards: how many scenes, which verdict, which bounds, by hand and against SciPy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, binomtest

from vlmlab.core.errors import ConfigError
from vlmlab.core.verdicts.envelope import EnvelopeCell, EnvelopeSpec
from vlmlab.core.verdicts.envelope_cards import (
    CellCounts,
    Total,
    fewest_failing,
    judge_card,
    judge_cell,
    level_each,
    planned_samples,
    samples_needed,
)


def spec_of(*cells):
    return EnvelopeSpec(
        name="E", cells=tuple(EnvelopeCell(id=f"c{n}", title="C", **values) for n, values in enumerate(cells))
    )


def test_two_percent_needs_149_clean_scenes_before_correction_and_more_after():
    assert samples_needed(0.02) == 149
    assert planned_samples(spec_of({})) == [149]
    assert planned_samples(spec_of({}, {}, {}, {}, {})) == [228] * 5  # ln(0.01) / ln(0.98) = 227.9
    assert level_each(0.95, 5) == pytest.approx(0.99)


def test_errors_allowed_need_more_scenes():
    assert samples_needed(0.02, errors=1) == 236
    assert planned_samples(spec_of({"limit": 0.1, "errors_allowed": 2})) == [61]


@settings(deadline=None, max_examples=60)
@given(st.floats(0.01, 0.6), st.integers(0, 6), st.sampled_from([0.9, 0.95, 0.999]))
def test_planned_scenes_are_the_fewest_whose_bound_holds(limit, errors, level):
    n = samples_needed(limit, level=level, errors=errors)

    # The bound is at most the limit exactly where that many errors or fewer are as rare as 1 - level there.
    assert binom.cdf(errors, n, limit) <= (1 - level) * (1 + 1e-9)
    assert n == errors + 1 or binom.cdf(errors, n - 1, limit) > (1 - level) * (1 - 1e-9)


def test_a_limit_that_no_number_of_scenes_shows_is_refused():
    with pytest.raises(ConfigError, match="more than 20,000 scenes"):
        samples_needed(1e-7)
    with pytest.raises(ConfigError) as refused:
        planned_samples(spec_of({}, {"limit": 1e-4, "errors_allowed": 1000}))
    assert refused.value.field == "cells.1.limit"
    with pytest.raises(ValueError, match="limit must be between"):
        samples_needed(0.0)


def test_five_of_five_right_answers_leave_up_to_45_percent():
    reading = judge_cell(CellCounts(0, 5), limit=0.02, level=0.95, planned=149)

    assert round(reading.high, 2) == 0.45
    assert (reading.verdict, reading.rate, reading.low) == ("not_enough", 0.0, 0.0)


@pytest.mark.parametrize(
    ("errors", "n", "verdict"),
    [(0, 149, "pass"), (1, 149, "not_enough"), (7, 149, "fail"), (0, 148, "not_enough")],
)
def test_verdict_of_a_cell(errors, n, verdict):
    reading = judge_cell(CellCounts(errors, n), limit=0.02, level=0.95, planned=149)

    assert reading.verdict == verdict
    assert reading.high == pytest.approx(
        binomtest(errors, n, alternative="less").proportion_ci(0.95, method="exact").high
    )


def test_nothing_asked_is_no_evidence():
    reading = judge_cell(CellCounts(0, 0), limit=0.02, level=0.95, planned=149)

    assert (reading.verdict, reading.rate, reading.low, reading.high) == ("not_enough", None, 0.0, 1.0)


def test_a_stopped_cell_has_the_verdict_of_all_its_scenes_and_no_rate():
    fewest = fewest_failing(149, 0.02, level=0.95)

    reading = judge_cell(CellCounts(fewest, 20, is_stopped=True), limit=0.02, level=0.95, planned=149)

    assert fewest == 7
    assert (reading.verdict, reading.rate, reading.high) == ("fail", None, 1.0)
    assert reading.low == judge_cell(CellCounts(7, 149), limit=0.02, level=0.95, planned=149).low
    assert fewest_failing(2, 0.9, level=0.95) == 3


def test_a_card_passes_by_all_cells_and_fails_by_one():
    spec = spec_of({}, {})
    clean, dirty, few = CellCounts(0, 183), CellCounts(20, 183), CellCounts(0, 100)

    assert planned_samples(spec) == [183, 183]
    assert judge_card(spec, [clean, clean]).verdict == "pass"
    assert judge_card(spec, [few, dirty]).verdict == "fail"
    assert judge_card(spec, [clean, few]).verdict == "not_enough"
    with pytest.raises(ValueError, match="one entry a cell"):
        judge_card(spec, [clean])


def test_totals_weigh_cells_by_exposure_and_harm():
    spec = spec_of({"exposure": 3, "harm": 1}, {"exposure": 1, "harm": 10}, {"exposure": 0, "harm": 99})
    counts = [CellCounts(2, 100), CellCounts(10, 100), CellCounts(50, 100)]

    card = judge_card(spec, counts)

    high = [cell.high for cell in card.cells]
    assert card.exposure == Total(
        pytest.approx((3 * 0.02 + 0.1) / 4), pytest.approx((3 * high[0] + high[1]) / 4)
    )
    assert card.harm == Total(
        pytest.approx((3 * 0.02 + 10 * 0.1) / 4), pytest.approx((3 * high[0] + 10 * high[1]) / 4)
    )


def test_totals_are_open_where_a_cell_has_no_rate_or_nothing_is_met():
    stopped = judge_card(spec_of({}, {}), [CellCounts(0, 183), CellCounts(9, 30, is_stopped=True)])

    assert stopped.exposure is not None
    assert stopped.exposure.value is None
    assert stopped.exposure.high == pytest.approx((stopped.cells[0].high + 1.0) / 2)
    nothing = judge_card(spec_of({"exposure": 0}), [CellCounts(0, 149)])
    assert (nothing.exposure, nothing.harm) == (None, None)


def test_all_bounds_of_a_card_hold_together_as_often_as_it_says():
    spec = spec_of(*[{"limit": 0.1}] * 4)
    rng, rates = np.random.default_rng(2), np.array([0.02, 0.05, 0.1, 0.3])
    held = 0
    for errors in rng.binomial(42, rates, size=(600, 4)):
        card = judge_card(spec, [CellCounts(int(one), 42) for one in errors])
        held += all(rate <= cell.high for rate, cell in zip(rates, card.cells, strict=True))

    assert held / 600 > 0.95 - 3 * 0.0089


@pytest.mark.parametrize("limit", [1e-300, 1e-17, 1e-5])
def test_a_limit_that_no_number_of_scenes_could_show_is_refused(limit):
    with pytest.raises(ConfigError, match="more than 20,000 scenes"):
        samples_needed(limit)
