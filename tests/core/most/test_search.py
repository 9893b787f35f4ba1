"""The strategies that a configuration allows, and the searches it builds."""

import pytest

from tests.core.most.tiny import tiny_search
from vlmlab.core.errors import ConfigError
from vlmlab.core.most.config import MostConfig
from vlmlab.core.most.nsga2 import Nsga2Search
from vlmlab.core.most.random_search import RandomSearch
from vlmlab.core.most.screen import ScreenSearch
from vlmlab.core.most.search import build_space
from vlmlab.core.most.sweep import SweepSearch

OPERATORS = {"image_operators": ("rotate", "fog"), "text_operators": ("typo", "casing")}


@pytest.mark.parametrize(
    ("regime", "active"),
    [
        ("image", ("rotate", "fog")),
        ("text", ("typo", "casing")),
        ("joint", ("rotate", "fog", "typo", "casing")),
    ],
)
def test_a_regime_has_the_operators_of_its_modalities(regime, active):
    assert build_space(MostConfig(), regime=regime, **OPERATORS).operators == active


def test_a_space_takes_severities_and_budget_from_the_settings():
    config = MostConfig(
        perturbation_budget=0.5,
        smallest_severity=0.1,
        largest_initial_severity=0.3,
        excluded_operators=("fog",),
    )

    space = build_space(config, regime="joint", **OPERATORS)

    assert space.operators == ("rotate", "typo", "casing")
    assert (space.perturbation_budget, space.smallest_severity) == (0.5, 0.1)
    assert space.largest_initial_severity == 0.3


def test_an_operator_to_leave_out_that_nobody_knows_is_refused():
    with pytest.raises(ConfigError, match="no operator called “haze”") as caught:
        build_space(MostConfig(excluded_operators=("haze",)), regime="image", **OPERATORS)

    assert caught.value.field == "excluded_operators"
    assert caught.value.hint == "Known: rotate, fog, typo, casing."


def test_a_regime_without_an_operator_is_refused():
    config = MostConfig(excluded_operators=("typo", "casing"))

    with pytest.raises(ConfigError, match="No operator is left for the regime text"):
        build_space(config, regime="text", **OPERATORS)
    assert build_space(config, regime="joint", **OPERATORS).operators == ("rotate", "fog")


@pytest.mark.parametrize(
    ("algorithm", "kind"),
    [
        ("screen", ScreenSearch),
        ("nsga2", Nsga2Search),
        ("random", RandomSearch),
        ("sweep", SweepSearch),
    ],
)
def test_an_algorithm_builds_its_search(algorithm, kind):
    assert type(tiny_search(algorithm=algorithm)) is kind
