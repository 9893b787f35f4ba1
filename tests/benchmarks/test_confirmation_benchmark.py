"""The benchmark of confirmation counts by true rates, and its fresh samples are its own."""

import numpy as np
import pytest

from benchmarks.confirmation import RULES, Count, World, row, table
from benchmarks.landscapes import Ground
from benchmarks.search import landscape
from vlmlab.core.revelio.bench import bench_config, oracle_space
from vlmlab.core.scenes.catalogue import load_domain


def count(rule, *, found, true, family="f", **more):
    return Count(family, "beam", 0, rule, 10, 12, found, true, **more)


@pytest.fixture(scope="module")
def world():
    domain = load_domain("driving")
    masks = domain.universe(max_size=3)
    bits, actions = np.arange(len(domain.concepts), dtype=np.int64), list(domain.actions)
    expected = np.array([actions.index(domain.decide(domain.key_of(int(one))).action) for one in masks])
    ground = Ground(domain, masks, ((masks[:, None] >> bits) & 1).astype(np.float64), expected)
    config = bench_config("beam", budget=300, params={})
    known = landscape("answer_bias", ground=ground, seed=0, tau=0.6)
    return World(known, "beam", ground, config), oracle_space(ground.domain, config, oracle=known.oracle)


def test_rules_are_counted_by_the_true_rates_of_what_they_call_found(world):
    played, space = world

    counts = played.counts(space, fresh_budget=200)
    found, retested, some, limited, everything = counts

    assert [one.rule for one in counts] == list(RULES)
    assert found.suspects == found.found >= found.true
    assert (found.fresh, retested.fresh) == (0, 20 * retested.suspects)
    assert some.suspects <= everything.suspects == found.suspects
    assert everything.true <= everything.found <= found.found
    assert everything.fresh > some.fresh > 0
    assert 0 < limited.fresh <= 200
    assert everything.strong == found.strong == found.strong_found


def test_true_rates_tell_modes(world):
    played, space = world

    keys = [state.key for state in played.suspects(space)]

    assert keys
    assert [played.is_mode(key) for key in keys] == [played.rate(key) >= 0.6 for key in keys]


def test_shares_are_pooled_and_meant_over_campaigns():
    counts = [
        count("confirmed, all", found=10, true=9, refuted=3, wrongly_refuted=1, strong=4, strong_found=3)
    ]
    counts.append(count("confirmed, all", found=0, true=0, refuted=1))

    cells = row(counts, "all", "beam", "confirmed, all").split(" | ")

    assert cells[3:] == ["12.0", "5.0", "4.5", "0.50", "10.0", "5.0", "3 of 4", "1 of 4", "10 |"]


def test_the_table_has_a_row_for_each_family_search_and_rule():
    counts = [count(rule, found=1, true=1, family=family) for rule in RULES for family in ("f", "g")]

    assert len(table(counts, ["f", "g"], ["beam"])) == 2 + 3 * len(RULES)
