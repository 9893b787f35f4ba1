"""F(c): means over sets, ranks."""

import pytest

from vlmlab.core.verdicts.concept_rates import MeasuredSet, concept_rates, ranks

SETS = (
    MeasuredSet(("a",), 1, 5),
    MeasuredSet(("a", "b"), 5, 5),
    MeasuredSet(("b", "c"), 10, 20, invalid=2),
    MeasuredSet(("a", "b", "c"), 0, 5),
)


def test_every_set_has_the_same_weight_however_often_it_was_asked():
    rates = concept_rates(SETS)

    assert list(rates) == ["a", "b", "c"]
    assert rates["a"].value == pytest.approx((0.2 + 1.0 + 0.0) / 3)
    assert rates["b"].value == pytest.approx((1.0 + 0.5 + 0.0) / 3)  # 15 of 30 answers, but a mean of sets
    assert (rates["b"].sets, rates["b"].fails, rates["b"].samples) == (3, 15, 30)


def test_equal_rates_share_the_better_place():
    assert ranks({"a": 0.5, "b": 0.1, "c": 0.5, "d": 0.0}) == {"a": 1, "b": 3, "c": 1, "d": 4}
