"""Settings of a modality search: defaults of the paper, presets, and complaints at their field."""

import pytest
from pydantic import ValidationError

from vlmlab.core.errors import ConfigError
from vlmlab.core.most.config import ALGORITHMS, PRESETS, MostConfig, config_from_values
from vlmlab.core.most.search import SEARCHES
from vlmlab.core.most.types import Thresholds


def test_defaults_are_the_papers_thresholds_and_budget():
    config = MostConfig()

    assert config.thresholds == Thresholds(iou=0.5, image_distance=0.2, prompt_distance=0.15)
    assert (config.perturbation_budget, config.smallest_severity) == (1.0, 0.02)
    assert (config.largest_initial_severity, config.eligible_iou) == (0.1, 0.5)
    assert config.regimes == ("image", "text", "joint")
    assert config.algorithm == "screen"


def test_the_faithful_preset_is_nsga2_with_the_papers_numbers():
    config = config_from_values(PRESETS["faithful"].values)

    assert config.algorithm == "nsga2"
    assert config.population_size * (1 + config.generations) == config.inference_budget == 5050
    assert (config.give_up_after, config.fidelity_first, config.early_stop) == (None, False, True)


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_is_valid_and_survives_storing(name):
    config = config_from_values(PRESETS[name].values)

    assert MostConfig.model_validate_json(config.model_dump_json()) == config


def test_the_table_has_a_search_for_every_algorithm():
    assert tuple(SEARCHES) == ALGORITHMS


def test_words_become_values():
    config = config_from_values(
        {
            "regimes": "image, joint",
            "excluded_operators": "fog,rotate",
            "give_up_after": "",
            "early_stop": "false",
            "iou_threshold": "0.75",
        }
    )

    assert config.regimes == ("image", "joint")
    assert config.excluded_operators == ("fog", "rotate")
    assert (config.give_up_after, config.early_stop) == (None, False)
    assert config.thresholds.iou == 0.75


@pytest.mark.parametrize(("threshold", "needed"), [(0.25, 0.5), (0.5, 0.5), (0.75, 0.75)])
def test_a_seed_image_must_reach_both_the_baseline_and_the_threshold(threshold, needed):
    assert MostConfig(iou_threshold=threshold).eligible_iou == needed


@pytest.mark.parametrize(
    ("values", "field", "said"),
    [
        ({"regimes": ""}, "regimes", "Choose any of image, text, joint."),
        ({"regimes": "image,image"}, "regimes", "Name each regime once."),
        ({"regimes": "sound"}, "regimes", "Choose any of image, text, joint."),
        ({"algorithm": "sits"}, "algorithm", "Choose one of screen, nsga2, random, sweep."),
        ({"inference_budget": 0}, "inference_budget", "Enter a whole number from 1 to 1,000,000."),
        ({"perturbation_budget": 0.01}, "smallest_severity", "within a perturbation budget of 0.01"),
        ({"refine": True}, "refine", "Refining goes on after a failure."),
        (
            {"refine": True, "early_stop": False, "algorithm": "nsga2"},
            "refine",
            "Only screen can be refined.",
        ),
        ({"iou_threshold": "nan"}, "iou_threshold", "Enter a number above 0 and at most 1."),
        ({"budget": 3}, "budget", "There is no setting called “budget”."),
    ],
)
def test_a_complaint_stands_at_its_field(values, field, said):
    with pytest.raises(ConfigError) as caught:
        config_from_values(values)

    assert caught.value.field.split(".")[0] == field
    assert said in caught.value.message


def test_settings_do_not_change():
    with pytest.raises(ValidationError, match="frozen"):
        MostConfig().slots = 3


def test_every_setting_has_a_title_and_a_sentence_of_help():
    fields = MostConfig.model_fields.items()

    assert [
        name for name, info in fields if not info.title or not (info.description or "").endswith(".")
    ] == []
