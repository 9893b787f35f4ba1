"""How far people agree who sorted the same items into categories without an order.

``ratings`` is one list of labels for each item; items may have different numbers of ratings. An item with
fewer than two ratings holds no pair, so it says nothing on agreement; only the margins of Fleiss count it.
"""

from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from fractions import Fraction

from vlmlab.core.checks import check_count

Ratings = Sequence[Sequence[Hashable]]


def observed_agreement(ratings: Ratings) -> float | None:
    """Return the mean over items of the share of pairs of ratings that agree.

    Returns:
        P_o in [0, 1]; None where no item has two ratings.
    """
    share = _item_mean_agreement(ratings)
    return None if share is None else float(share)


def randolph_kappa(ratings: Ratings, k: int) -> float | None:
    """Return the free-marginal kappa (Randolph 2005): ``(P_o - 1/k) / (1 - 1/k)``.

    Args:
        ratings: labels of each item.
        k: categories that the raters could choose from, at least 2, whether or not each was chosen.

    Returns:
        A value in [-1/(k-1), 1]; None where no item has two ratings.

    Raises:
        ValueError: there are more than ``k`` different labels, or ``k`` is below 2.
    """
    _check_categories(ratings, k)
    observed = _item_mean_agreement(ratings)
    if observed is None:
        return None
    chance = Fraction(1, k)
    return float((observed - chance) / (1 - chance))


def fleiss_kappa(ratings: Ratings, k: int) -> float | None:
    """Return the kappa of Fleiss (1971) for items that may have different numbers of ratings.

    Chance is the sum of squares of the categories' shares, each the mean over items of its share there
    (Gwet 2014, chapter 3): every item with a rating weighs the same, as it does in the observed agreement.
    With as many ratings on each item it is the statistic of 1971.

    Args:
        ratings: labels of each item.
        k: categories that the raters could choose from, at least 2; it only bounds the labels.

    Returns:
        A value in [-1, 1]; None where no item has two ratings, or where all ratings are the same.

    Raises:
        ValueError: there are more than ``k`` different labels, or ``k`` is below 2.
    """
    _check_categories(ratings, k)
    observed = _item_mean_agreement(ratings)
    if observed is None:
        return None
    rated = [item for item in ratings if item]
    shares: defaultdict[Hashable, Fraction] = defaultdict(Fraction)
    for item in rated:
        for label, count in Counter(item).items():
            shares[label] += Fraction(count, len(item) * len(rated))
    chance = sum((share**2 for share in shares.values()), Fraction(0))
    return None if chance == 1 else float((observed - chance) / (1 - chance))


def krippendorff_alpha(ratings: Ratings) -> float | None:
    """Return the nominal alpha of Krippendorff (2011): ``1 - D_o / D_e``.

    Args:
        ratings: labels of each item.

    Returns:
        A value in [-1, 1]; None where no item has two ratings, or where all ratings in pairs are the same.
    """
    paired = [Counter(item) for item in ratings if len(item) >= 2]
    totals = sum(paired, Counter[Hashable]())
    if len(totals) < 2:
        return None
    n = totals.total()
    agreeing = sum(
        (Fraction(sum(count * (count - 1) for count in item.values()), item.total() - 1) for item in paired),
        Fraction(0),
    )
    observed = 1 - agreeing / n
    expected = 1 - Fraction(sum(count * (count - 1) for count in totals.values()), n * (n - 1))
    return float(1 - observed / expected)


def _item_mean_agreement(ratings: Ratings) -> Fraction | None:
    shares = [
        Fraction(sum(count * (count - 1) for count in Counter(item).values()), len(item) * (len(item) - 1))
        for item in ratings
        if len(item) >= 2
    ]
    return sum(shares, Fraction(0)) / len(shares) if shares else None


def _check_categories(ratings: Ratings, k: int) -> None:
    check_count("k", k, low=2)
    labels = {label for item in ratings for label in item}
    if len(labels) > k:
        raise ValueError(f"ratings must name at most k = {k} categories, got {len(labels)}")
