"""Settings have the paper's defaults, help texts, ranges and sentences a person can act on."""

import pytest
from pydantic import ValidationError

from vlmlab.core.errors import ConfigError
from vlmlab.core.revelio.config import ALGORITHMS, PRESETS, RevelioConfig, config_from_values
from vlmlab.core.revelio.search import build_search
from vlmlab.core.revelio.types import Outcome, TrialStatus, Verdict
from vlmlab.core.scenes.catalogue import load_domain


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


WRONG = [
    ("inference_budget", "0", "Inference budget (inference_budget): Enter a whole number from "
     "1 to 1,000,000."),
    ("samples_per_set", "2.5", "Samples per set (samples_per_set): Enter a whole number from 1 to 100."),
    ("failure_rate_threshold", 1.5, "Failure rate threshold (failure_rate_threshold): Enter a number above 0 "
     "and at most 1."),
    ("algorithm", "magic", "Algorithm (algorithm): Choose one of random, beam, gpts, sits."),
    ("wall_clock_budget_s", "inf", "Time limit (wall_clock_budget_s): Enter a number above 0, or leave it "
     "empty."),
    ("curtail", "perhaps", "Stop a set early (curtail): Enter true or false."),
    ("bugdet", 3, "There is no setting called “bugdet”."),
]  # fmt: skip
CLASHES = [
    ({"strict": True, "failure_rate_threshold": 1}, "strict", "More than 1 of 5 samples cannot fail. Turn "
     "“Strictly above the threshold” off, or lower the failure rate threshold."),
    ({"excluded_concepts": "cone,far", "required_concepts": "far"}, "excluded_concepts",
     "“far” cannot be left out and always included."),
    ({"kernel": "rbf", "pool": "all"}, "pool", "The rbf kernel works only with 1,000 random candidates. "
     "Choose them, or linear."),
    ({"algorithm": "beam", "inference_budget": 4}, "inference_budget", "Enter at least 5: every set takes 5 "
     "samples, so nothing would be asked with fewer."),
    ({"algorithm": "sits", "inference_budget": 2}, "inference_budget", "Enter at least 3: a set is a failure "
     "mode after 3 wrong answers, so none can be found with fewer."),
]  # fmt: skip


@pytest.mark.parametrize(("field", "value", "message"), WRONG)
def test_a_wrong_value_is_refused_with_a_sentence_at_its_field(field, value, message):
    with pytest.raises(ConfigError) as caught:
        config_from_values({field: value})

    assert (caught.value.message, caught.value.field) == (message, field)


@pytest.mark.parametrize(("values", "field", "message"), CLASHES)
def test_values_that_exclude_each_other_are_refused_with_a_sentence_at_a_field(values, field, message):
    with pytest.raises(ConfigError) as caught:
        config_from_values(values)

    assert (caught.value.message, caught.value.field) == (message, field)


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


@pytest.mark.parametrize("curtail", [False, True])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_smallest_budget_suffices_to_find_a_failing_set(algorithm, curtail):
    settings = {"algorithm": algorithm, "curtail": curtail, "samples_per_set": 4}
    smallest = RevelioConfig(**settings).smallest_budget
    search = build_search(
        RevelioConfig(**settings, inference_budget=smallest, slots=1),
        domain=load_domain("driving"),
        run_seed=1,
    )

    while batch := search.ask():
        search.tell([Outcome(query, Verdict.FAIL) for query in batch])

    found = [one for one in search.trials.values() if one.status is TrialStatus.DECIDED_FAIL]
    assert smallest == (3 if curtail or algorithm == "sits" else 4)
    assert len(found) == 1
