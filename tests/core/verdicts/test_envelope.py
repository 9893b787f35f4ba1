"""Envelopes: which sets a cell holds, with which weights, and what is refused."""

import numpy as np
import pytest
from pydantic import ValidationError

from vlmlab.core.errors import ConceptError, ConfigError
from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.core.verdicts.envelope import (
    EnvelopeCell,
    EnvelopeSpec,
    WeightedSet,
    cell_members,
    check_envelope,
    draw_sets,
    envelope_coverage,
)

DRIVING, INDOOR = load_domain("driving"), load_domain("indoor")
NEAR_IN_FOG = EnvelopeCell(
    id="near-fog",
    title="Near obstacle in fog or rain",
    includes=(("obstruction_near", "debris_near"), ("weather_foggy", "weather_hard_rain")),
    excludes=("cone",),
    max_size=3,
)


def cell(**values):
    return EnvelopeCell(**{"id": "one", "title": "One", **values})


def keys_of(members, domain=DRIVING):
    return [domain.key_of(int(mask)) for mask in members.masks]


def test_a_cell_holds_every_valid_set_with_one_of_each_group_and_none_excluded():
    members = cell_members(DRIVING, NEAR_IN_FOG)

    slow = [
        key
        for key in (DRIVING.key_of(int(mask)) for mask in DRIVING.universe(3))
        if {"obstruction_near", "debris_near"} & set(key)
        and {"weather_foggy", "weather_hard_rain"} & set(key)
        and "cone" not in key
    ]
    assert keys_of(members) == slow
    assert keys_of(members)[:2] == [
        ("debris_near", "weather_hard_rain"),
        ("obstruction_near", "weather_hard_rain"),
    ]


def test_each_size_is_drawn_as_often_or_each_set():
    by_size = cell_members(DRIVING, NEAR_IN_FOG)
    by_set = cell_members(DRIVING, NEAR_IN_FOG.model_copy(update={"spread": "sets"}))
    sizes = np.bitwise_count(by_size.masks)

    assert by_size.weights[sizes == 2].sum() == pytest.approx(0.5)
    assert by_size.weights[sizes == 3].sum() == pytest.approx(0.5)
    assert set(by_size.weights[sizes == 2]) == {0.125}  # four sets of size 2
    assert set(by_set.weights) == {1.0 / len(by_set)}


def test_a_cell_may_take_only_sets_with_some_answers():
    everything = cell_members(DRIVING, cell(includes=[["cone"]], max_size=2))
    slow = cell_members(DRIVING, cell(includes=[["cone"]], max_size=2, expected_actions=["slow_down"]))

    assert keys_of(slow) == [key for key in keys_of(everything) if DRIVING.decide(key).action == "slow_down"]
    assert 0 < len(slow) < len(everything)


def test_sizes_bound_the_sets_of_a_cell():
    members = cell_members(DRIVING, cell(includes=[["cone"]], min_size=2, max_size=3))

    assert {len(key) for key in keys_of(members)} == {2, 3}


def test_declared_sets_have_their_declared_weights():
    members = cell_members(
        DRIVING,
        cell(
            sets=[
                WeightedSet(concepts=("weather_foggy", "cone"), weight=3),
                WeightedSet(concepts=("cone",)),
                WeightedSet(concepts=("cone", "weather_foggy"), weight=1),
            ]
        ),
    )

    assert keys_of(members) == [("cone",), ("cone", "weather_foggy")]
    assert members.weights.tolist() == [0.2, 0.8]


def test_draws_follow_the_weights_and_their_seed():
    members = cell_members(
        DRIVING, cell(sets=[{"concepts": ["cone"], "weight": 3}, {"concepts": ["cyclist"], "weight": 1}])
    )

    drawn = draw_sets(DRIVING, members, n=2000, seed=5)

    assert abs(drawn.count(("cone",)) / 2000 - 0.75) < 0.04
    assert draw_sets(DRIVING, members, n=50, seed=5) == drawn[:50]
    assert draw_sets(DRIVING, members, n=50, seed=6) != drawn[:50]


@pytest.mark.parametrize(
    ("values", "error", "field"),
    [
        ({"includes": [["cyclist", "unicorn"]]}, ConceptError, "includes"),
        ({"excludes": ["unicorn"]}, ConceptError, "excludes"),
        ({"includes": [["cone"]], "excludes": ["cone"]}, ConceptError, "includes"),
        ({"expected_actions": ["fly"]}, ConfigError, "expected_actions"),
        ({"sets": [{"concepts": ["weather_foggy"]}]}, ConceptError, "sets"),
        ({"sets": [{"concepts": ["cone"]}], "excludes": ["cone"]}, ConceptError, "sets"),
        ({"sets": [{"concepts": ["cone"]}], "min_size": 2}, ConceptError, "sets"),
    ],
)
def test_what_holds_no_set_is_refused_at_its_field(values, error, field):
    with pytest.raises(error) as refused:
        cell_members(DRIVING, cell(**values))

    assert refused.value.field == field
    with pytest.raises(error) as refused:
        check_envelope(DRIVING, EnvelopeSpec(name="E", cells=(NEAR_IN_FOG, cell(**values))))
    assert refused.value.field == f"cells.1.{field}"


@pytest.mark.parametrize(
    "values",
    [
        {"limit": 0.0},
        {"id": "Not a name"},
        {"counts": ["sneeze"]},
        {"min_size": 3, "max_size": 2},
        {"includes": [[]]},
        {"exposure": -1},
        {"harm": float("inf")},
        {"colour": "red"},
    ],
)
def test_cells_out_of_range_are_refused(values):
    with pytest.raises(ValidationError):
        cell(**values)


def test_cells_have_different_names():
    with pytest.raises(ValidationError, match="same short name"):
        EnvelopeSpec(name="E", cells=(NEAR_IN_FOG, NEAR_IN_FOG))
    with pytest.raises(ValidationError):
        EnvelopeSpec(name="E", cells=())


def test_a_stored_spec_is_read_as_it_was():
    spec = EnvelopeSpec(name="E", cells=(NEAR_IN_FOG, cell(counts=["invalid", "under-reaction"], harm=10)))

    assert EnvelopeSpec.model_validate_json(spec.model_dump_json()) == spec


def test_coverage_says_what_no_cell_speaks_of_and_what_cells_share():
    spec = EnvelopeSpec(
        name="E", cells=(cell(id="fog", includes=[["weather_foggy"]]), cell(id="cone", includes=[["cone"]]))
    )
    members = check_envelope(DRIVING, spec)

    coverage = envelope_coverage(DRIVING, members)

    fog, cone, both = (
        set(keys_of(members["fog"])),
        set(keys_of(members["cone"])),
        {("fog", "cone")},
    )
    assert coverage.sets == len(DRIVING.universe()) == 110_664
    assert coverage.covered == len(fog | cone)
    assert coverage.overlaps == dict.fromkeys(both, len(fog & cone))
    assert coverage.covered_by_size[1] == (1, 20)
    assert sum(covered for covered, _ in coverage.covered_by_size.values()) == coverage.covered


def test_domains_that_decide_by_the_best_fit_have_cells_too():
    members = cell_members(INDOOR, cell(includes=[["glass_tipped"]], expected_actions=["safe"]))

    assert {INDOOR.decide(key).action for key in keys_of(members, INDOOR)} == {"safe"}


@pytest.mark.parametrize(
    "values",
    [
        {"exposure": 1e308},
        {"harm": 1e308},
        {"sets": [{"concepts": ["cone"], "weight": 1e308}]},
        {"sets": [{"concepts": ["cone"]}] * 2_001},
        {"includes": [["cone"]] * 21},
        {"excludes": ["cone"] * 401},
    ],
)
def test_numbers_that_would_overflow_and_lists_without_end_are_refused(values):
    with pytest.raises(ValidationError):
        EnvelopeCell(id="a", title="A", **values)
