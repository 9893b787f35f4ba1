"""Transfer matrices by hand: equal n, the diagonal measured again, ratios to random sets."""

from math import inf

import pytest

from vlmlab.core.stats import ratio_of_means
from vlmlab.core.verdicts.regimes import MeanRate
from vlmlab.core.verdicts.transfer import SetCounts, ratio_between, transfer_matrix

COUNTS = [
    SetCounts("a", "a", 18, 20),
    SetCounts("a", "a", 10, 20),
    SetCounts("a", "b", 4, 20),
    SetCounts("a", "b", 0, 20),
    SetCounts("b", "b", 20, 20),
    SetCounts("", "a", 2, 20),
    SetCounts("", "a", 0, 20),
    SetCounts("", "b", 5, 20),
    SetCounts("b", "a", 0, 0),
]


def test_each_cell_is_the_mean_over_the_sets_of_its_source():
    matrix = transfer_matrix(COUNTS)

    assert (matrix.sources, matrix.targets, matrix.samples_per_set) == (("a", "b"), ("a", "b"), 20)
    assert set(matrix.cells) == {("a", "a"), ("a", "b"), ("b", "b")}
    own = matrix.cells["a", "a"]
    assert own.is_own
    assert own.rate == MeanRate(pytest.approx(0.7), sets=2, fails=28, samples=40)
    assert own.random == MeanRate(pytest.approx(0.05), sets=2, fails=2, samples=40)
    assert own.ratio == ratio_of_means(own.rate.value, 2, own.random.value, 2)
    assert own.ratio.value == pytest.approx(14.0)
    assert not matrix.cells["a", "b"].is_own
    assert matrix.cells["a", "b"].ratio.value == pytest.approx(0.4)


def test_unequal_numbers_of_scenes_are_told():
    assert transfer_matrix([*COUNTS, SetCounts("b", "a", 1, 10)]).samples_per_set is None
    assert transfer_matrix([]).cells == {}


def test_without_random_sets_there_is_no_ratio():
    matrix = transfer_matrix([row for row in COUNTS if row.source])

    assert matrix.cells["a", "a"].ratio is None
    assert matrix.cells["a", "a"].random.value is None


def test_a_system_that_never_fails_at_random_has_an_infinite_ratio_with_a_lower_bound():
    ratio = ratio_between(MeanRate(0.5, 10), MeanRate(0.0, 20))

    assert ratio is not None
    assert (ratio.value, ratio.high) == (inf, inf)
    assert ratio.low > 1.0
