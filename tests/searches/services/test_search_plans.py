"""A plan sums up its runs, and the command it shows starts the same search as the form."""

import shlex

import pytest

from searches.services.estimates import estimate
from searches.services.search_plans import plan_search, shell_command
from tests.factories import make_sut
from vlmlab.core.errors import ConfigError
from vlmlab.core.revelio.bench import bench_config
from vlmlab.core.revelio.config import PRESETS, RevelioConfig, config_from_values


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("change", [{}, {"algorithm": "beam", "beam_literal": True}])
def test_the_shown_command_starts_the_search_of_the_form(preset, change):
    values = PRESETS[preset].values | {"excluded_concepts": ("far", "cone"), "strict": True}
    config = config_from_values(values | change)

    command = shell_command(config, "pocket", domain_slug="driving", run_seed=7)

    words = shlex.split(command)
    params = dict(words[at + 1].split("=", 1) for at, word in enumerate(words) if word == "--param")
    algorithm, budget = words[words.index("--algorithm") + 1], words[words.index("--budget") + 1]
    assert bench_config(algorithm, budget=int(budget), params=params) == config
    assert words[words.index("--seed") + 1] == "7"


@pytest.mark.django_db
def test_a_plan_adds_up_the_runs_of_its_systems():
    suts = [make_sut("fast", n_calls=10, latency_ms_sum=1000.0), make_sut("slow")]
    config = RevelioConfig(inference_budget=100, max_set_size=2)

    plan = plan_search(config, suts, domain_slug="driving", run_seed=1)

    assert (plan.n_runs, plan.n_inferences, plan.n_sets) == (2, 200, 364)
    assert plan.seconds == sum(estimate(sut, config).seconds for sut in suts)
    assert [command.split("--sut ")[1].split()[0] for command in plan.shell] == ["fast", "slow"]


@pytest.mark.django_db
def test_a_plan_without_a_set_to_search_is_refused():
    config = RevelioConfig(required_concepts=("light_red", "light_green"))

    with pytest.raises(ConfigError, match="No valid concept set is left"):
        plan_search(config, [make_sut()], domain_slug="driving", run_seed=1)
