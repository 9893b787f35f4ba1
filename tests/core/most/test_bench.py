"""Searches against systems on paper: what is counted, and names that a shell may give."""

import json

import pytest

from vlmlab.core.errors import ConfigError
from vlmlab.core.most.bench import ALGORITHM_NAMES, bench_config, run_bench, scripted_family
from vlmlab.core.most.config import MostConfig


def bench(algorithm="screen", *, family="few_strong", regime="joint", seed=0, clock=None, **params):
    config = bench_config(algorithm, {"inference_budget": "200", **params})
    return run_bench(config, algorithm=algorithm, family=family, regime=regime, seed=seed, clock=clock)


@pytest.mark.parametrize("algorithm", ALGORITHM_NAMES)
def test_a_bench_is_repeatable_and_stays_within_its_budget(algorithm):
    first = bench(algorithm, family="robust", regime="text", early_stop="false")

    assert first == bench(algorithm, family="robust", regime="text", early_stop="false")
    assert (first.evaluations, first.end_reason) == (200, "budget_spent")


def test_a_found_failure_is_told_with_the_operators_of_its_case():
    result = bench("screen", regime="text")

    assert result.first_hit <= result.evaluations < 200
    assert result.end_reason == "failure_found"
    assert result.strategy
    assert all(name.startswith("text_") and severity > 0.0 for name, severity in result.strategy.items())
    assert 0.0 < result.swtd <= 1.0


def test_only_the_search_itself_is_timed():
    ticks = iter(range(10_000))

    result = bench("random", clock=lambda: float(next(ticks)))

    assert result.own_seconds == 2 * result.batches + 1


def test_a_result_is_json():
    result = bench("screen")

    assert json.loads(result.to_json())["first_hit"] == result.first_hit


def test_the_published_search_measures_no_distance_on_its_own():
    assert bench("nsga2").fidelities == 0
    assert bench("nsga2-admitted").fidelities > 0


def test_names_of_algorithms_may_have_underscores_and_settings_override():
    config = bench_config("NSGA2_admitted", {"population_size": "20"})

    assert (config.algorithm, config.fidelity_first, config.population_size) == ("nsga2", True, 20)


def test_without_settings_a_name_is_its_preset():
    assert bench_config("screen") == MostConfig()


@pytest.mark.parametrize("sut", ["few_strong", "scripted:", "scripted:unknown"])
def test_an_unknown_system_is_refused_with_the_known_ones(sut):
    with pytest.raises(ConfigError, match="scripted:few_strong") as caught:
        scripted_family(sut)

    assert caught.value.field == "sut"


def test_a_system_on_paper_is_named_by_its_family():
    assert scripted_family("scripted:pairs") == "pairs"


def test_an_unknown_algorithm_is_refused():
    with pytest.raises(ConfigError, match="no algorithm 'annealing'"):
        bench_config("annealing")
