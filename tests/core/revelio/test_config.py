"""Settings have the paper's defaults, help texts, ranges and sentences a person can act on."""

import pytest
from pydantic import ValidationError

from vlmlab.core.errors import ConfigError
from vlmlab.core.revelio.config import PRESETS, RevelioConfig, config_from_values


def test_defaults_are_those_of_the_paper():
    config = RevelioConfig()

    assert (config.failure_rate_threshold, config.samples_per_set, config.inference_budget) == (0.6, 5, 1000)
    assert (config.beam_width, config.max_set_size, config.diversity_weight) == (5, 5, 0.25)
    assert (config.warm_start_share, config.strict, config.curtail) == (0.5, False, False)


def test_every_setting_has_a_title_and_a_help_text():
    bare = [
        name for name, field in RevelioConfig.model_fields.items() if not field.title or not field.description
    ]

    assert bare == []


@pytest.mark.parametrize("name", PRESETS)
def test_presets_are_valid(name):
    assert RevelioConfig(**PRESETS[name].values).inference_budget >= 60


def test_config_is_frozen_and_closed():
    with pytest.raises(ValidationError, match="frozen"):
        RevelioConfig().inference_budget = 3
    with pytest.raises(ValidationError, match="Extra inputs"):
        RevelioConfig(budget=3)


def test_stored_json_gives_the_same_settings():
    config = RevelioConfig(algorithm="beam", excluded_concepts=("cone",))

    assert RevelioConfig.model_validate_json(config.model_dump_json()) == config


TOGETHER = "The settings do not fit together: "
WRONG = [
    ("inference_budget", "0", "Inference budget (inference_budget): Input should be "
     "greater than or equal to 1."),
    ("failure_rate_threshold", 1.5, "Failure rate threshold (failure_rate_threshold): Input should be less "
     "than or equal to 1."),
    ("algorithm", "magic", "Algorithm (algorithm): Input should be 'random', 'beam', 'gpts' or 'sits'."),
    ("wall_clock_budget_s", "inf", "Time limit (wall_clock_budget_s): Input should be a finite number."),
    ("bugdet", 3, "There is no setting called 'bugdet'."),
]  # fmt: skip
CLASHES = [
    ({"strict": True, "failure_rate_threshold": 1}, "no number of wrong answers can be above a "
     "threshold of 1: turn strict off or lower failure_rate_threshold."),
    ({"excluded_concepts": "cone,far", "required_concepts": "far"}, "far cannot be in excluded_concepts and "
     "in required_concepts."),
    ({"kernel": "rbf", "pool": "all"}, "the rbf kernel works only with pool rand1000: choose it or the "
     "linear kernel."),
]  # fmt: skip


@pytest.mark.parametrize(("field", "value", "message"), WRONG)
def test_a_wrong_value_is_refused_with_a_sentence_at_its_field(field, value, message):
    with pytest.raises(ConfigError) as caught:
        config_from_values({field: value})

    assert (caught.value.message, caught.value.field) == (message, field)


@pytest.mark.parametrize(("values", "message"), CLASHES)
def test_values_that_exclude_each_other_are_refused_with_a_sentence(values, message):
    with pytest.raises(ConfigError) as caught:
        config_from_values(values)

    assert (caught.value.message, caught.value.field) == (TOGETHER + message, None)


def test_values_may_be_words():
    config = config_from_values(
        {"curtail": "true", "inference_budget": "60", "excluded_concepts": "cone, far", "novelty": ""}
    )

    assert (config.curtail, config.inference_budget, config.excluded_concepts) == (True, 60, ("cone", "far"))
    assert config.novelty is None


def test_minimal_preset_sets_novelty_and_size_penalty_unless_given():
    assert (RevelioConfig().novelty_weight, RevelioConfig().size_weight) == (1.0, 0.3)
    assert RevelioConfig(minimal=False).novelty_weight == 0.0
    assert RevelioConfig(novelty=0.2).novelty_weight == 0.2


def test_sits_always_stops_early():
    assert RevelioConfig(algorithm="sits").is_curtailed
    assert not RevelioConfig(algorithm="gpts").is_curtailed
