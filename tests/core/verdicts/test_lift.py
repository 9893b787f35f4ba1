"""The published lift against the paper's own numbers, and its line of no effect."""

import pytest

from vlmlab.core.revelio.published import published
from vlmlab.core.verdicts.lift import no_effect_lift, published_base, published_lift


def test_lift_by_hand():
    # Base 0.5 + 0.4 - 0.2 = 0.7.
    assert published_base(0.5, 0.4) == pytest.approx(0.7)
    assert published_lift(0.9, 0.5, 0.4) == pytest.approx(0.2)


def test_without_any_effect_the_lift_is_below_zero():
    assert no_effect_lift(0.2) == pytest.approx(-0.16)
    assert no_effect_lift(0.2) == pytest.approx(published_lift(0.2, 0.2, 0.2))
    assert no_effect_lift(0.0) == no_effect_lift(1.0) == 0.0
    assert no_effect_lift(0.5) == -0.25


@pytest.mark.parametrize(("concepts", "pairs"), [("table_13", "table_15"), ("table_14", "table_16")])
def test_base_is_the_papers_where_it_gives_both_rates(concepts, pairs):
    tables = published()
    rates = {row.concept: row.failure / 100 for row in getattr(tables, concepts)}
    known = [row for row in getattr(tables, pairs) if row.a in rates and row.b in rates]

    for row in known:
        assert published_base(rates[row.a], rates[row.b]) == pytest.approx(row.base / 100, abs=1.1e-3)
        lift = published_lift(row.sfr / 100, rates[row.a], rates[row.b])
        assert lift == pytest.approx(row.lift / 100, abs=1.1e-3)
    assert len(known) >= 2


@pytest.mark.parametrize("rates", [(1.2, 0.1, 0.1), (0.1, -0.1, 0.1)])
def test_rates_out_of_range_are_refused(rates):
    with pytest.raises(ValueError, match="must lie in"):
        published_lift(*rates)
