"""Arms of an experiment: what is varied, what is refused, what is stored."""

import pytest

from vlmlab.core.errors import ConfigError
from vlmlab.core.revelio.config import RevelioConfig
from vlmlab.core.revelio.experiments import (
    AXES,
    CONCERNS,
    FIXED,
    ExperimentSpec,
    axis_of,
    make_arms,
    make_spec,
    read_values,
    varied_settings,
)

BASE = {"inference_budget": 1000}


def names(*args, **kwargs):
    return [arm.name for arm in make_arms(BASE, *args, **kwargs)]


def test_a_comparison_has_an_arm_for_each_algorithm():
    arms = make_arms(BASE, ["random", "beam-literal", "sits-minimal", "random"])

    assert [arm.name for arm in arms] == ["random", "beam-literal", "sits-minimal"]
    assert [(arm.config.algorithm, arm.config.beam_literal) for arm in arms] == [
        ("random", False), ("beam", True), ("sits", False),
    ]  # fmt: skip
    assert {arm.config.inference_budget for arm in arms} == {1000}


def test_an_axis_gives_an_arm_for_each_algorithm_and_value():
    assert names(["beam"], axis="beam_width") == ["k = 1", "k = 5", "k = 10"]
    assert names(["beam", "gpts"], axis="samples", values=["5", "10"]) == [
        "beam, m = 5", "beam, m = 10", "gpts, m = 5", "gpts, m = 10",
    ]  # fmt: skip


def test_an_algorithm_that_does_not_read_the_setting_has_one_arm():
    assert names(["random", "gpts"], axis="kernel") == [
        "random", "gpts, kernel = Linear (published)", "gpts, kernel = RBF (for comparison)",
    ]  # fmt: skip


def test_the_warm_start_goes_from_nothing_to_everything():
    arms = make_arms(BASE, ["gpts"], axis="warm_start")

    assert [int(arm.config.warm_start_share * 1000) for arm in arms] == [0, 250, 500, 750, 1000]


@pytest.mark.parametrize("name", AXES)
def test_every_axis_of_the_table_makes_different_searches(name):
    arms = make_arms(BASE, ["gpts"], axis=name)

    assert len({arm.config.model_dump_json() for arm in arms}) == len(AXES[name].values)


@pytest.mark.parametrize("field", sorted(set(RevelioConfig.model_fields) - FIXED))
def test_every_other_setting_can_be_varied_by_its_name(field):
    assert axis_of(field).field == field
    assert field in {axis_of(name).field for name in varied_settings()}


def test_the_table_of_what_concerns_whom_names_settings_that_the_descriptions_name_so():
    for field, info in RevelioConfig.model_fields.items():
        stem, colon, _ = (info.description or "").partition(":")
        said = {part.strip() for part in stem.split(",")} if colon else set()
        if said and said <= {"beam", "gpts", "sits", "random"}:
            assert CONCERNS[field] == said, field


@pytest.mark.parametrize(
    ("algorithms", "options", "field"),
    [
        ([], {}, "algorithms"),
        (["magic"], {}, "algorithms"),
        (["beam"], {"values": ["1"]}, "values"),
        (["beam"], {"axis": "backend"}, "axis"),
        (["beam"], {"axis": "slots"}, "values"),
        (["beam"], {"axis": "beam_width", "values": ["1", "0"]}, "values"),
        (["beam"], {"axis": "beam_width", "values": ["5", "5.0"]}, "values"),
        (["sits", "random"], {"axis": "beam_width"}, "axis"),
        (["beam-literal"], {"axis": "beam_literal"}, "axis"),
        (["beam"], {"axis": "beam_width", "values": [str(one) for one in range(1, 27)]}, "values"),
        (["beam"], {"axis": "samples", "values": ["5", "2000"]}, "values"),
    ],
)
def test_what_makes_no_experiment_is_refused_at_its_field(algorithms, options, field):
    with pytest.raises(ConfigError) as caught:
        make_arms(BASE, algorithms, **options)

    assert caught.value.field == field


def test_values_are_read_from_words_with_commas_each_once():
    assert read_values(" 1, 5,,10 ,5") == ["1", "5", "10"]


def test_a_stored_experiment_is_read_back_as_it_was_and_counts_its_runs():
    spec = make_spec(
        domain="driving@1", suts=("a", "b"), axis="beam_width", run_seeds=(3, 4),
        arms=make_arms(BASE, ["beam"], axis="beam_width"),
    )  # fmt: skip

    assert ExperimentSpec.model_validate(spec.model_dump(mode="json")) == spec
    assert (spec.n_runs, spec.n_inferences, spec.axis_title) == (12, 12_000, "Beam width k")


def test_an_experiment_without_systems_or_seeds_is_refused():
    with pytest.raises(ConfigError):
        make_spec(domain="driving@1", suts=(), arms=make_arms(BASE, ["beam"]), run_seeds=(1,))
