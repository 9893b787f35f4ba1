"""Choices are fair, seeded and as even as the groups allow."""

from collections import Counter

import numpy as np
import pytest

from vlmlab.core.sampling import shuffled, stratified, top


def rng(seed=0):
    return np.random.default_rng(seed)


def test_shuffled_keeps_every_item_and_depends_on_the_seed():
    items = list(range(20))

    assert sorted(shuffled(items, rng())) == items
    assert shuffled(items, rng()) == shuffled(items, rng())
    assert shuffled(items, rng(0)) != shuffled(items, rng(1))


def test_top_gives_the_best_first_and_breaks_ties_at_random():
    words = ["a", "b", "c", "ddd", "ee"]

    picks = [top(words, 3, score=len, rng=rng(seed)) for seed in range(60)]

    assert all(pick[:2] == ["ddd", "ee"] for pick in picks)
    assert set(Counter(pick[2] for pick in picks)) == {"a", "b", "c"}


def test_stratified_spreads_over_groups_and_fills_up_from_the_large_one():
    items = [("x", n) for n in range(10)] + [("y", 0)] + [("z", n) for n in range(3)]

    chosen = stratified(items, 8, group=lambda item: item[0], rng=rng())

    assert Counter(group for group, _ in chosen) == {"x": 4, "y": 1, "z": 3}
    assert len(set(chosen)) == 8


def test_stratified_gives_everything_when_more_is_wanted():
    assert sorted(stratified([3, 1, 2], 9, group=lambda item: item % 2, rng=rng())) == [1, 2, 3]


def test_negative_counts_are_refused():
    with pytest.raises(ValueError, match="count must be at least 0"):
        top([1], -1, score=float, rng=rng())
