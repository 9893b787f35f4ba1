"""Agreement by worked examples in exact fractions, against statsmodels, and at its limits.

The examples A1, A2, A5 and A7 are those of the lab's statistics handbook (``stat_examples.json``), worked by
hand with the rule that an item with one rating holds no pair.
"""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.inter_rater import fleiss_kappa as fleiss_of_statsmodels

from vlmlab.core.stats import fleiss_kappa, krippendorff_alpha, observed_agreement, randolph_kappa

D, R = "draw", "reject"
EXAMPLES = {
    "A1: three raters": ([[D, D, D], [D, D, R], [D, R, R], [R, R, R]], 2, "2/3", "1/3", "1/3", "7/18"),
    "A2: 4, 3, 2, 5 and 1 raters": (
        [[D] * 4, [D, D, R], [D, R], [R] * 5, [D]], 2, "7/12", "1/6", "43/418", "23/49",
    ),
    "A5: always opposite": ([[D, R], [D, R], [D, R]], 2, "0", "-1", "-1", "-2/3"),
    "A7: two of five categories used": (
        [["none", "none"], ["none", "noise"], ["noise", "noise"]], 5, "2/3", "7/12", "1/3", "4/9",
    ),
}  # fmt: skip
VARYING = st.lists(st.lists(st.sampled_from("abc"), max_size=5), max_size=8)


@pytest.mark.parametrize("example", EXAMPLES.values(), ids=EXAMPLES)
def test_worked_examples(example):
    ratings, k, observed, randolph, fleiss, krippendorff = example

    assert observed_agreement(ratings) == pytest.approx(float(Fraction(observed)))
    assert randolph_kappa(ratings, k) == pytest.approx(float(Fraction(randolph)))
    assert fleiss_kappa(ratings, k) == pytest.approx(float(Fraction(fleiss)))
    assert krippendorff_alpha(ratings) == pytest.approx(float(Fraction(krippendorff)))


def test_an_item_with_one_rating_moves_only_the_margins_of_fleiss():
    pairs = [[D, D], [D, R], [R, R]]

    more = [*pairs, [D], []]

    assert randolph_kappa(more, 2) == randolph_kappa(pairs, 2)
    assert krippendorff_alpha(more) == krippendorff_alpha(pairs)
    # Shares of draw: (1 + 1/2 + 0 + 1) / 4 = 5/8, so chance is 34/64 and kappa (2/3 - 34/64) / (30/64).
    assert fleiss_kappa(more, 2) == pytest.approx((2 / 3 - 34 / 64) / (30 / 64))


def test_randolph_depends_on_the_categories_offered_and_fleiss_does_not():
    ratings = [[D, D], [D, R]]

    assert randolph_kappa(ratings, 2) == 0.0
    assert randolph_kappa(ratings, 5) == pytest.approx((1 / 2 - 1 / 5) / (4 / 5))
    assert fleiss_kappa(ratings, 2) == fleiss_kappa(ratings, 5)


def test_without_variation_only_randolph_is_defined():
    ratings = [[D, D], [D, D, D]]

    assert randolph_kappa(ratings, 2) == 1.0
    assert fleiss_kappa(ratings, 2) is None
    assert krippendorff_alpha(ratings) is None


@pytest.mark.parametrize("ratings", [[], [[]], [[D], [R]]])
def test_without_a_pair_of_ratings_nothing_is_defined(ratings):
    assert observed_agreement(ratings) is None
    assert randolph_kappa(ratings, 2) is None
    assert fleiss_kappa(ratings, 2) is None
    assert krippendorff_alpha(ratings) is None


@pytest.mark.parametrize("kappa", [randolph_kappa, fleiss_kappa])
def test_more_labels_than_categories_are_refused(kappa):
    with pytest.raises(ValueError, match="at most k = 2"):
        kappa([["a", "b"], ["c"]], 2)
    with pytest.raises(ValueError, match="at least 2"):
        kappa([["a", "a"]], 1)


@pytest.mark.parametrize("seed", range(10))
def test_kappas_of_constant_raters_are_those_of_statsmodels(seed):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 4, size=(12, 3))
    table = np.array([np.bincount(row, minlength=4) for row in labels])

    assert fleiss_kappa(labels.tolist(), 4) == pytest.approx(fleiss_of_statsmodels(table, method="fleiss"))
    assert randolph_kappa(labels.tolist(), 4) == pytest.approx(
        fleiss_of_statsmodels(table, method="randolph")
    )


def alpha_by_coincidences(ratings):
    """Krippendorff's coincidence matrix, written out pair by pair."""
    pairs = [
        (one, other, 1 / (len(item) - 1))
        for item in ratings
        for place, one in enumerate(item)
        for seat, other in enumerate(item)
        if place != seat
    ]
    values = [value for item in ratings if len(item) > 1 for value in item]
    n = len(values)
    observed = sum(weight for one, other, weight in pairs if one != other) / n
    expected = sum(one != other for one in values for other in values) / (n * (n - 1))
    return 1 - observed / expected


@settings(deadline=None, max_examples=60)
@given(VARYING)
def test_alpha_is_that_of_the_coincidence_matrix(ratings):
    alpha = krippendorff_alpha(ratings)

    paired = {label for item in ratings if len(item) > 1 for label in item}
    assert (alpha is None) == (len(paired) < 2)
    if alpha is not None:
        assert alpha == pytest.approx(alpha_by_coincidences(ratings))


@settings(deadline=None, max_examples=60)
@given(VARYING, st.randoms(use_true_random=False))
def test_neither_the_order_of_raters_nor_that_of_items_matters(ratings, random):
    shuffled = [random.sample(item, len(item)) for item in ratings]
    random.shuffle(shuffled)

    assert randolph_kappa(shuffled, 3) == randolph_kappa(ratings, 3)
    assert fleiss_kappa(shuffled, 3) == fleiss_kappa(ratings, 3)
    assert krippendorff_alpha(shuffled) == krippendorff_alpha(ratings)
