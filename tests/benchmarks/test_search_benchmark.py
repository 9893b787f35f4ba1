"""The search benchmark counts what it says: true modes, minimal ones, ratios over seeds, replays."""

import json

import numpy as np
import pytest

from benchmarks.landscapes import FAMILIES, Ground, minimal_among, rates
from benchmarks.search import Score, landscape, missed_goals, play, ratio, replayed
from vlmlab.core.errors import ConfigError
from vlmlab.core.revelio.bench import bench_config, oracle_space, run_bench
from vlmlab.core.scenes.catalogue import load_domain


@pytest.fixture(scope="module")
def ground():
    return Ground.of(load_domain("driving"))


def score(algorithm, *, true, family="f", seed=0, reported=10):
    return Score(family, algorithm, seed, reported, true, 0, 50, 100, 0.1)


def export(path, **changes):
    row = {"concepts": ["cone"], "status": "decided_fail", "fails": 4, "passes": 1, "is_curtailed": False}
    path.write_text(json.dumps({"sets": [row | changes]}))
    return path


@pytest.mark.parametrize("family", FAMILIES)
def test_each_family_is_repeatable_and_has_rare_modes_to_find(ground, family):
    first = rates(family, ground=ground, seed=3)

    assert (first == rates(family, ground=ground, seed=3)).all()
    assert (first != rates(family, ground=ground, seed=4)).any()
    assert ((first >= 0) & (first <= 1)).all()
    assert 20 <= (first >= 0.6).sum() <= 0.2 * len(first)


def test_modes_are_the_sets_whose_true_rate_reaches_the_threshold(ground):
    world = landscape("rules", ground=ground, seed=1, tau=0.6)

    truth = dict(zip(world.oracle.masks.tolist(), world.oracle.rates.tolist(), strict=True))
    assert world.modes == {mask for mask, rate in truth.items() if rate >= 0.6}


def test_minimal_modes_hold_no_other_mode_whatever_the_size():
    assert minimal_among(np.array([0b00001, 0b10111, 0b00110, 0b01110])) == {0b00001, 0b00110}


def test_a_report_is_true_by_its_true_rate_and_not_by_its_samples(ground):
    world = landscape("answer_bias", ground=ground, seed=0, tau=0.6)
    config = bench_config("random", budget=300, params={})
    space = oracle_space(ground.domain, config, oracle=world.oracle)

    result = play(config, name="random", world=world, ground=ground, space=space)

    told = run_bench(config, domain=ground.domain, space=space, oracle=world.oracle, seed=0)
    truth = world.oracle.rate_of(np.array([ground.domain.mask(key) for key in told.reported]))
    assert (result.inferences, result.touched) == (300, 60)
    assert (result.reported, result.true) == (len(truth), int((truth >= 0.6).sum()))
    assert 0 < result.true < result.reported


def test_ratio_is_that_of_means_and_its_middle_geometric():
    scores = [
        score("sits", true=true, family=family, seed=seed)
        for family, found in (("f", (6, 10)), ("g", (1, 1)))
        for seed, true in enumerate(found)
    ]
    scores += [
        score("gpts", true=true, family=family, seed=seed)
        for family, found in (("f", (1, 1)), ("g", (0, 1)))
        for seed, true in enumerate(found)
    ]

    parts, middle, (low, high) = ratio(scores, ["f", "g"], ("sits", "gpts"), lambda one: one.true)

    assert parts == [8.0, 2.0]
    assert middle == pytest.approx(4.0)
    assert low <= middle <= high


def test_missed_goals_name_each_goal_that_was_missed():
    scores = [score("sits", true=5), score("gpts", true=2), score("beam", true=1)]

    assert missed_goals(scores, ["f"]) == ["sits finds 2.50 times the true modes of gpts, wanted 3"]


def test_a_replay_takes_the_sets_of_a_run_export_that_have_all_samples(ground, tmp_path):
    world = replayed(export(tmp_path / "run.json"), ground=ground, seed=0, tau=0.6)

    assert world.oracle.masks.tolist() == [ground.domain.mask(["cone"])]
    assert world.oracle.rates.tolist() == [4.5 / 6]
    assert world.modes == world.minimal == {ground.domain.mask(["cone"])}


@pytest.mark.parametrize("changes", [{"is_curtailed": True}, {"status": "open"}, {"status": "parked"}])
def test_a_replay_refuses_an_export_without_such_sets(ground, tmp_path, changes):
    path = export(tmp_path / "run.json", **changes)

    with pytest.raises(ConfigError, match="no concept set with all its samples"):
        replayed(path, ground=ground, seed=0, tau=0.6)
