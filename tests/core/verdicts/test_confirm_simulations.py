"""Error rates, coverage and power of confirmations over thousands of campaigns whose search chose its nulls.

Each landscape has few failure modes and many sets just below the threshold. A screen of five samples a set
picks the suspects, and its samples are not used again. So the nulls are those that were lucky.
"""

from collections.abc import Callable
from functools import lru_cache

import numpy as np
import pytest

from tests.core.verdicts.confirming import answered, play, specs
from tests.core.verdicts.synthetic_campaigns import Campaigns, Played, screened, step_up
from vlmlab.core.stats import (
    Interval,
    clopper_pearson,
    confidence_sequence,
    log_e_above,
    place_share,
    selected_level,
)
from vlmlab.core.verdicts import confirm
from vlmlab.core.verdicts.config import ConfirmConfig
from vlmlab.core.verdicts.confirm import ConfirmSearch

IntervalOf = Callable[[int, int, int], Interval]
CAMPAIGNS = 2000
SUSPECTS = 60
MODES = [0.85, 0.85, 0.85, 0.9, 0.9, 0.95]
NULLS = [0.58] * 80 + [0.5] * 80 + [0.1] * 40
LANDSCAPE = np.array(MODES + NULLS)
HARD_LANDSCAPE = np.array([0.85] * 4 + [0.6] * 80)
CONFIG = ConfirmConfig(family_size=SUSPECTS)
LEVEL = 0.08  # what the family gets of 10 %


@lru_cache(maxsize=1)
def played() -> Played:
    rng = np.random.default_rng(7)
    rates = screened(rng, LANDSCAPE, campaigns=CAMPAIGNS, suspects=SUSPECTS)
    return Campaigns(CONFIG, rates).play(rng)


def test_screens_choose_mostly_sets_below_the_threshold():
    rates = played().rates

    assert (rates <= 0.6).mean() > 0.85
    assert (rates == 0.58).mean() > 0.3


def test_false_discovery_rate_is_held():
    shares = played().false_share(played().confirmed, played().rates <= 0.6)

    assert shares.mean() <= LEVEL + 3 * shares.std() / np.sqrt(CAMPAIGNS)


def test_false_refutation_rate_is_held():
    shares = played().false_share(played().refuted, played().rates >= 0.6)

    assert shares.mean() <= LEVEL + 3 * shares.std() / np.sqrt(CAMPAIGNS)


def test_false_discovery_rate_is_held_with_every_null_exactly_at_the_threshold():
    rng = np.random.default_rng(8)
    rates = screened(rng, HARD_LANDSCAPE, campaigns=CAMPAIGNS, suspects=40)

    result = Campaigns(ConfirmConfig(family_size=40), rates).play(rng)
    shares = result.false_share(result.confirmed, rates <= 0.6)

    assert shares.mean() <= LEVEL + 3 * shares.std() / np.sqrt(CAMPAIGNS)


def test_the_level_breaks_when_each_set_is_a_family_of_its_own():
    rng = np.random.default_rng(9)
    rates = screened(rng, HARD_LANDSCAPE, campaigns=300, suspects=40)

    alone = Campaigns(ConfirmConfig(family_size=1, futility=0.0), rates.reshape(-1, 1)).play(rng)
    together = Played(*(array.reshape(rates.shape) for array in vars(alone).values()))
    shares = together.false_share(together.confirmed, rates <= 0.6)

    assert shares.mean() - 3 * shares.std() / np.sqrt(300) > 2 * LEVEL


def test_the_rule_of_the_search_itself_is_wrong_about_most_suspects():
    rates = played().rates

    assert (rates <= 0.6).mean(axis=1).mean() > 10 * LEVEL


def test_nine_in_ten_modes_that_fail_in_85_per_cent_are_confirmed_within_a_hundred_samples():
    result = played()

    assert result.samples.max() <= 100
    assert result.confirmed[result.rates == 0.85].mean() >= 0.9
    assert result.confirmed[result.rates >= 0.85].mean() >= 0.9


def test_most_samples_are_not_spent_on_nulls_at_the_cap():
    result = played()

    assert result.samples[result.rates < 0.6].mean() < 50


def in_line(highest: np.ndarray, shares: np.ndarray, *, level: float) -> np.ndarray:
    """Return what is confirmed in ``(campaigns, places)``, each stopped as soon as it reaches its bar."""
    confirmed = np.zeros(highest.shape, dtype=bool)
    for place in range(highest.shape[1]):
        before = confirmed.sum(axis=1)
        bars = -np.log(level * np.minimum(1.0, shares[place] * (before + 1)))
        confirmed[:, place] = highest[:, place] >= bars
    return confirmed


def test_false_discovery_rate_of_later_suspects_is_held_where_each_alone_breaks_it():
    rng = np.random.default_rng(13)
    level, places = 0.3, 20
    rates = np.where(np.arange(places) % 5 == 1, 0.9, 0.6)
    fails = (rng.random((1000, places, 100)) < rates[:, None]).cumsum(axis=2)
    grid = np.minimum(np.arange(101)[None, :], np.arange(101)[:, None])
    table = log_e_above(grid, np.arange(101)[:, None], threshold=0.6)
    highest = table[np.arange(1, 101), fails].max(axis=2)

    def false_share(shares: np.ndarray) -> np.ndarray:
        confirmed = in_line(highest, shares, level=level)
        return (confirmed & (rates == 0.6)).sum(axis=1) / np.maximum(1, confirmed.sum(axis=1))

    held = false_share(np.array([place_share(place + 1) for place in range(places)]))
    broken = false_share(np.ones(places))

    assert held.mean() <= level + 3 * held.std() / np.sqrt(1000)
    assert broken.mean() - 3 * broken.std() / np.sqrt(1000) > level


def missing_share(result: Played, chosen: np.ndarray, interval_of: IntervalOf) -> np.ndarray:
    """Return the share of the chosen suspects' intervals that miss the true rate, of each campaign."""
    misses = np.zeros(chosen.shape, dtype=bool)
    for campaign, suspect in np.argwhere(chosen):
        interval = interval_of(
            int(result.fails[campaign, suspect]),
            int(result.samples[campaign, suspect]),
            int(chosen[campaign].sum()),
        )
        misses[campaign, suspect] = not interval.low <= result.rates[campaign, suspect] <= interval.high
    return result.false_share(chosen, misses)


def widened(fails: int, samples: int, selected: int) -> Interval:
    return confidence_sequence(fails, samples, selected_level(0.95, selected=selected, share=1 / SUSPECTS))


def plain(fails: int, samples: int, selected: int) -> Interval:
    return clopper_pearson(fails, samples, 0.95)


def test_intervals_of_confirmed_sets_cover_after_the_choice():
    missing = missing_share(played(), played().confirmed, widened)

    assert missing.mean() <= 0.05 + 3 * missing.std() / np.sqrt(CAMPAIGNS)


def test_intervals_of_the_highest_rates_seen_cover_only_when_widened_for_the_choice():
    rng = np.random.default_rng(10)
    rates = np.full((CAMPAIGNS, SUSPECTS), 0.5)
    fails = rng.binomial(20, rates)
    nobody = np.zeros(rates.shape, dtype=bool)
    sampled = Played(rates, fails, np.full_like(fails, 20), nobody, nobody)
    places = np.argsort(np.argsort(-fails, axis=1, kind="stable"), axis=1)
    highest = places < 3

    assert missing_share(sampled, highest, widened).mean() <= 0.05
    assert missing_share(sampled, highest, plain).mean() > 0.3


@pytest.mark.parametrize("futility", [0.0, 0.05])
def test_the_search_and_the_arrays_decide_the_same(monkeypatch, futility):
    monkeypatch.setattr(confirm, "MOST_AT_ONCE", 1)  # rounds, as the arrays play
    rng = np.random.default_rng(11)
    config = ConfirmConfig(family_size=30, slots=30, futility=futility)
    rates = screened(rng, LANDSCAPE, campaigns=3, suspects=30)
    luck = rng.random((3, 30, 100))

    arrays = Campaigns(config, rates).play(luck)

    for campaign in range(3):
        search = ConfirmSearch(config, specs(30))
        fails = luck[campaign] < rates[campaign][:, None]
        play(search, lambda query: answered(query, "F" if fails[query.item, query.number] else "P"))  # noqa: B023
        results = search.results()
        assert [one.samples for one in results] == list(arrays.samples[campaign])
        assert [one.fails for one in results] == list(arrays.fails[campaign])
        assert [one.state == "confirmed" for one in results] == list(arrays.confirmed[campaign])
        assert [one.state == "refuted" for one in results] == list(arrays.refuted[campaign])


def test_real_searches_hold_the_level_and_find_the_modes():
    rng = np.random.default_rng(12)
    rates = screened(rng, LANDSCAPE, campaigns=8, suspects=30)
    shares, found = [], []
    for campaign in range(8):
        search = ConfirmSearch(ConfirmConfig(family_size=30), specs(30))
        fails = rng.random((30, 300)) < rates[campaign][:, None]
        play(search, lambda query: answered(query, "F" if fails[query.item, query.number] else "P"))  # noqa: B023
        confirmed = np.array([one.state == "confirmed" for one in search.results()])
        shares.append((confirmed & (rates[campaign] <= 0.6)).sum() / max(1, confirmed.sum()))
        found += list(confirmed[rates[campaign] >= 0.85])

    assert np.mean(shares) <= LEVEL + 3 * np.std(shares) / np.sqrt(8)
    assert np.mean(found) >= 0.9


def test_the_step_up_of_the_arrays_by_hand():
    values = np.log([[50.0, 25.0, 12.0, 1.0], [14.0, 14.0, 14.0, 1.0], [1.0, 1.0, 1.0, 1.0]])

    rejected = step_up(values, level=0.1, family_size=4)

    assert rejected.tolist() == [[True, True, False, False], [True, True, True, False], [False] * 4]
