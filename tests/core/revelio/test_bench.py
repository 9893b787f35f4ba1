"""A search on a known landscape: seeds, limits, and files that cannot be used."""

import json

import numpy as np
import pytest

from tests.core.revelio.tiny import TinyDomain
from vlmlab.core.errors import ConfigError
from vlmlab.core.revelio.bench import (
    ALGORITHM_NAMES,
    Oracle,
    algorithm_name,
    bench_config,
    load_oracle,
    oracle_space,
    run_bench,
    sample,
)
from vlmlab.core.revelio.types import Verdict


def bench(name, *, seed=0, masks=None, rate=1.0, budget=80, **params):
    domain = TinyDomain("abcdefgh", max_size=4)
    known = domain.universe() if masks is None else masks
    oracle = Oracle.of(known, np.full(len(known), rate))
    config = bench_config(name, budget=budget, params=params)
    space = oracle_space(domain, config, oracle=oracle)
    return run_bench(config, domain=domain, space=space, oracle=oracle, seed=seed)


@pytest.mark.parametrize("name", ALGORITHM_NAMES)
def test_every_algorithm_reports_sets_of_a_landscape_that_always_fails(name):
    result = bench(name)

    assert len(result.reported) >= 16
    assert result.inferences <= 80
    assert result.trace_length == result.inferences


@pytest.mark.parametrize("name", ALGORITHM_NAMES)
def test_nothing_is_reported_where_nothing_fails(name):
    assert bench(name, rate=0.0).reported == ()


def test_same_seed_gives_the_same_result():
    assert bench("sits", rate=0.5, seed=3) == bench("sits", rate=0.5, seed=3)
    assert bench("sits", rate=0.5, seed=3) != bench("sits", rate=0.5, seed=4)


def test_only_sets_that_the_oracle_knows_are_searched():
    result = bench("random", masks=np.array([6, 1, 3, 1 << 40]))

    assert sorted(result.reported) == [("a",), ("a", "b"), ("b", "c")]


def test_an_oracle_without_a_valid_set_is_refused():
    with pytest.raises(ConfigError, match="knows no valid concept set"):
        bench("random", masks=np.array([1 << 40]))
    with pytest.raises(ConfigError, match="knows no valid concept set"):
        bench("random", masks=np.array([], dtype=np.int64))


def test_a_sample_is_the_same_for_every_algorithm():
    draws = [sample(1, 5, number=number, rate=0.5) for number in range(200)]

    assert draws == [sample(1, 5, number=number, rate=0.5) for number in range(200)]
    assert 70 < draws.count(Verdict.FAIL) < 130
    assert draws != [sample(1, 6, number=number, rate=0.5) for number in range(200)]


def test_names_may_have_underscores_and_unknown_ones_are_refused():
    assert bench_config("beam_literal", budget=9, params={}).beam_literal
    assert bench_config("sits_minimal", budget=9, params={}).minimal
    with pytest.raises(ConfigError, match=r"no algorithm 'sitz'\. Known: random, beam, beam-literal, gpts"):
        bench_config("sitz", budget=9, params={})


def test_params_override_the_named_algorithm():
    config = bench_config("gpts", budget=9, params={"curtail": "true", "max_set_size": "3"})

    assert (config.curtail, config.max_set_size, config.inference_budget) == (True, 3, 9)


def test_json_names_what_the_search_found():
    told = json.loads(bench("beam", budget=20).to_json())

    assert set(told) == {
        "algorithm", "reported", "inferences", "sets_touched", "trace", "trace_length", "batches",
    }  # fmt: skip
    assert told["algorithm"] == "beam"
    assert (told["inferences"], told["trace"], told["sets_touched"]) == (20, 20, 4)
    assert all(isinstance(concept, str) for key in told["reported"] for concept in key)


def test_oracle_is_read_from_an_archive(tmp_path):
    np.savez(tmp_path / "o.npz", masks=np.array([3, 1]), rate=np.array([0.25, 1.0]))

    oracle = load_oracle(tmp_path / "o.npz")

    assert oracle.rate_of(np.array([1, 3])).tolist() == [1.0, 0.25]
    assert np.isnan(oracle.rate_of(np.array([2]))).all()


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"masks": np.array([1])}, "lacks an array"),
        ({"masks": np.array([1, 1]), "rate": np.array([0.1, 0.2])}, "twice"),
        ({"masks": np.array([1.5]), "rate": np.array([0.1])}, "whole numbers"),
        ({"masks": np.array([1, 2]), "rate": np.array([0.1])}, "2 masks but 1 rates"),
        ({"masks": np.array([1]), "rate": np.array([1.1])}, r"lie in \[0, 1\]"),
        ({"masks": np.array([1]), "rate": np.array([np.nan])}, r"lie in \[0, 1\]"),
    ],
)
def test_unusable_archives_are_refused(tmp_path, arrays, message):
    np.savez(tmp_path / "o.npz", **arrays)

    with pytest.raises(ConfigError, match=message):
        load_oracle(tmp_path / "o.npz")


@pytest.mark.parametrize("content", [None, b"", b"no archive", b"PK\x03\x04 cut off"])
def test_missing_or_broken_files_are_refused(tmp_path, content):
    path = tmp_path / "o.npz"
    if content is not None:
        path.write_bytes(content)

    with pytest.raises(ConfigError, match="cannot be read"):
        load_oracle(path)


@pytest.mark.parametrize("name", ALGORITHM_NAMES)
def test_the_name_of_what_ran_is_the_one_it_was_asked_by(name):
    for asked in (name, name.replace("-", "_"), name.upper()):
        assert algorithm_name(bench_config(asked, budget=50, params={})) == name


def test_a_setting_that_changes_the_algorithm_changes_its_name():
    assert algorithm_name(bench_config("sits", budget=50, params={"minimal": "true"})) == "sits-minimal"
    assert algorithm_name(bench_config("beam", budget=50, params={"beam_literal": "true"})) == "beam-literal"
