"""What a concept contributes, by hand, and how often that is wrong."""

import numpy as np
import pytest

from vlmlab.core.stats import PairedCounts, upper_bound
from vlmlab.core.verdicts.necessity import NecessityRules, judge_drops

RULES = NecessityRules()


@pytest.mark.parametrize(
    ("counts", "necessity"),
    [
        (PairedCounts(4, 32, 0, 4), "necessary"),  # 36 of 40 with it, 4 without
        (PairedCounts(20, 16, 0, 4), "contributory"),  # 36 with, 20 without: not surely below 60 %
        (PairedCounts(2, 14, 0, 24), "contributory"),  # 16 with, 2 without: the set itself is no failure mode
        (PairedCounts(24, 0, 12, 4), "protective"),
        (PairedCounts(36, 0, 0, 4), "irrelevant"),
        (PairedCounts(34, 1, 1, 4), "undetermined"),  # the interval reaches 11 points
        (PairedCounts(0, 5, 0, 0), "undetermined"),  # p = 0.0625
        (PairedCounts(0, 0, 0, 0), "undetermined"),
    ],
)
def test_necessity_of_one_concept(counts, necessity):
    assert judge_drops([counts], RULES)[0].necessity == necessity


def test_numbers_behind_the_words_by_hand():
    # p of 6 : 0 is 2 / 64; Holm doubles it for two drops, and each bound is at 1 - 0.05 / 2.
    first, second = judge_drops([PairedCounts(30, 6, 0, 4), PairedCounts(36, 0, 0, 4)], RULES)

    assert (first.p_value, first.adjusted) == (0.03125, 0.0625)
    assert first.necessity == "undetermined"
    assert first.counts.difference == pytest.approx(0.15)
    assert first.rest_high == pytest.approx(upper_bound(30, 40, 0.975))
    assert (first.rest_passes, second.rest_passes) == (False, False)
    assert second.difference.is_inside(0.1)
    assert second.difference.level == 0.95
    assert judge_drops([PairedCounts(30, 6, 0, 4)], RULES)[0].necessity == "contributory"


def test_no_significance_is_no_irrelevance():
    wide = judge_drops([PairedCounts(18, 1, 1, 0)], RULES)[0]

    assert wide.p_value == 1.0
    assert wide.necessity == "undetermined"
    assert judge_drops([PairedCounts(180, 4, 4, 12)], RULES)[0].necessity == "irrelevant"
    assert (
        judge_drops([PairedCounts(180, 4, 4, 12)], NecessityRules(margin=0.02))[0].necessity == "undetermined"
    )


def test_no_drops_no_words():
    assert judge_drops([], RULES) == []
    with pytest.raises(ValueError, match="threshold must be between 0 and 1"):
        NecessityRules(threshold=1.0)


def test_concepts_without_effect_are_rarely_given_one():
    rng = np.random.default_rng(7)
    wrong = 0
    for _ in range(500):
        drawn = rng.multinomial(40, [0.5, 0.2, 0.2, 0.1], size=3)
        words = {one.necessity for one in judge_drops([PairedCounts(*map(int, row)) for row in drawn], RULES)}
        wrong += bool(words & {"necessary", "contributory", "protective"})

    assert wrong / 500 < 0.05 + 3 * 0.0098


def test_a_concept_that_changes_the_rate_by_the_margin_is_rarely_irrelevant():
    rng = np.random.default_rng(8)

    words = [
        judge_drops([PairedCounts(*map(int, row))], RULES)[0].necessity
        for row in rng.multinomial(120, [0.6, 0.12, 0.02, 0.26], size=500)
    ]

    assert words.count("irrelevant") / 500 < 0.025 + 3 * 0.007
