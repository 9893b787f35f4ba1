"""Strategies of a regime: repair by hand, its invariants, and where a search begins."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from vlmlab.core.most.config import MostConfig
from vlmlab.core.most.genotype import OperatorSpace, SpentBudget, operator_space
from vlmlab.core.most.search import build_search
from vlmlab.core.most.types import Fidelity, SearchTarget

IMAGE = ("rotate", "fog", "motion_blur")
TEXT = ("keyboard_typo", "synonym")
JOINT = OperatorSpace(IMAGE, TEXT)
ROWS = arrays(np.float64, st.tuples(st.integers(1, 6), st.just(5)), elements=st.floats(-2, 3))


def repaired(*row, space=JOINT):
    return tuple(space.repair(np.array([row]))[0].tolist())


def names_of(regime, **settings):
    return operator_space(regime, image_operators=IMAGE, text_operators=TEXT, **settings).operators


def test_regimes_activate_their_modalities():
    assert names_of("image") == IMAGE
    assert names_of("text") == TEXT
    assert names_of("joint") == IMAGE + TEXT


def test_excluded_operators_have_no_severity_and_those_of_the_other_modality_are_passed_over():
    assert names_of("image", excluded=("fog", "synonym")) == ("rotate", "motion_blur")
    with pytest.raises(ValueError, match="unknown operators: foggy"):
        names_of("image", excluded=("foggy",))
    with pytest.raises(ValueError, match="at least one name"):
        names_of("text", excluded=TEXT)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ((0.1, 0.2, 0.0, 0.3, 0.4), (0.1, 0.2, 0.0, 0.3, 0.4)),  # as much as the budget
        ((0.019, 0.02, 0.0, -0.5, 0.0), (0.0, 0.02, 0.0, 0.0, 0.0)),
        ((0.0, 0.0, 1.7, 0.0, 0.0), (0.0, 0.0, 1.0, 0.0, 0.0)),
        ((1.0, 0.5, 0.0, 0.25, 0.25), (0.5, 0.25, 0.0, 0.125, 0.125)),  # half of everything
        ((1.0, 0.96, 0.0, 0.0, 0.04), (0.5, 0.48, 0.0, 0.0, 0.02)),
        ((1.0, 0.97, 0.0, 0.0, 0.03), (0.5, 0.485, 0.0, 0.0, 0.0)),  # 0.015 is too small to stay
    ],
)
def test_repair_by_hand(given, expected):
    assert repaired(*given) == pytest.approx(expected)
    assert [severity == 0.0 for severity in repaired(*given)] == [severity == 0.0 for severity in expected]


def test_repair_spends_another_budget_over_both_modalities():
    space = OperatorSpace(IMAGE, TEXT, perturbation_budget=2.0, smallest_severity=0.1)

    assert repaired(1.0, 1.0, 1.0, 1.0, 0.0, space=space) == (0.5, 0.5, 0.5, 0.5, 0.0)
    assert repaired(1.0, 0.09, 0.0, 0.5, 0.0, space=space) == (1.0, 0.0, 0.0, 0.5, 0.0)


@settings(deadline=None)
@given(ROWS)
def test_repaired_rows_are_allowed_and_come_back_bit_by_bit(rows):
    once = JOINT.repair(rows)

    assert ((once == 0.0) | ((once >= 0.02) & (once <= 1.0))).all()
    assert (once.sum(axis=1) <= 1.0).all()
    assert np.array_equal(JOINT.repair(once), once)
    assert np.array_equal(np.vstack([JOINT.repair(row[None, :]) for row in rows]), once)


@settings(deadline=None)
@given(ROWS)
def test_repair_only_shrinks_and_keeps_the_direction_of_what_stays(rows):
    clipped = np.clip(rows, 0.0, 1.0)

    after = JOINT.repair(rows)

    assert (after <= clipped).all()
    for before, row in zip(clipped, after, strict=True):
        kept = row > 0.0
        factors = row[kept] / before[kept]
        assert np.ptp(factors, axis=0) < 1e-9 if kept.any() else row.sum() == 0.0


def test_repair_does_not_depend_on_the_order_of_memory():
    rows = np.random.default_rng(0).random((7, 41))
    space = OperatorSpace(tuple(f"image_{n}" for n in range(26)), tuple(f"text_{n}" for n in range(15)))

    assert np.array_equal(space.repair(np.asfortranarray(rows)), space.repair(rows))


@pytest.mark.parametrize("rows", [np.zeros((2, 4)), np.zeros(5), np.full((1, 5), np.nan)])
def test_repair_refuses_other_columns_and_missing_values(rows):
    with pytest.raises(ValueError, match="severities must"):
        JOINT.repair(rows)


def test_a_search_begins_with_no_perturbation_and_small_severities():
    rows = JOINT.initial(50, np.random.default_rng(0))

    assert rows.shape == (50, 5)
    assert not rows[0].any()
    assert rows[1:].max() <= 0.1
    assert np.array_equal(JOINT.repair(rows), rows)
    # Uniform below 0.1: a fifth is below 0.02 and so none; 245 draws, standard deviation 0.026.
    assert (rows[1:] == 0.0).mean() == pytest.approx(0.2, abs=0.08)
    assert np.array_equal(JOINT.initial(50, np.random.default_rng(0)), rows)


def test_many_operators_begin_within_the_budget():
    space = OperatorSpace(tuple(f"image_{n}" for n in range(26)), ())

    rows = space.initial(50, np.random.default_rng(0))

    assert rows.sum(axis=1).max() <= 1.0
    assert rows[1:].sum(axis=1).max() == pytest.approx(1.0)


def test_a_search_needs_a_strategy_to_begin_with():
    assert JOINT.initial(1, np.random.default_rng(0)).tolist() == [[0.0] * 5]
    with pytest.raises(ValueError, match="count"):
        JOINT.initial(0, np.random.default_rng(0))


def test_a_strategy_splits_into_modalities_and_back():
    strategy = (0.25, 0.0, 0.25, 0.125, 0.0)

    assert JOINT.spent(strategy) == SpentBudget(image=0.5, text=0.125)
    assert JOINT.spent(strategy).total == 0.625
    assert JOINT.image_severities(strategy) == {"rotate": 0.25, "motion_blur": 0.25}
    assert JOINT.text_severities(strategy) == {"keyboard_typo": 0.125}
    assert JOINT.strategy({"keyboard_typo": 0.125, "rotate": 0.25, "motion_blur": 0.25}) == strategy
    with pytest.raises(ValueError, match="not active: foggy"):
        JOINT.strategy({"foggy": 0.5})
    with pytest.raises(ValueError, match="5 severities"):
        JOINT.spent((0.5,))


def test_a_regime_of_one_modality_spends_nothing_on_the_other():
    space = operator_space("text", image_operators=IMAGE, text_operators=TEXT)

    assert space.spent((0.5, 0.25)) == SpentBudget(image=0.0, text=0.75)
    assert space.image_severities((0.5, 0.25)) == {}


@pytest.mark.parametrize(
    ("values", "name"),
    [
        ({"text_operators": ("fog",)}, "operators"),
        ({"perturbation_budget": 0.0}, "perturbation_budget"),
        ({"smallest_severity": 1.5}, "smallest_severity"),
        ({"largest_initial_severity": 0.0}, "largest_initial_severity"),
    ],
)
def test_spaces_out_of_range_are_refused(values, name):
    with pytest.raises(ValueError, match=f"^{name} must"):
        OperatorSpace(**{"image_operators": IMAGE, "text_operators": TEXT, **values})


@pytest.mark.parametrize("algorithm", ["random", "nsga2", "screen"])
def test_searches_ask_only_strategies_of_the_space(algorithm):
    config = MostConfig(algorithm=algorithm, slots=8, population_size=8)
    target = SearchTarget(JOINT, fidelity=lambda strategy: Fidelity(0.0, 0.0), clean_iou=0.8)

    asked = [query.strategy for query in build_search(config, target=target, run_seed=0).ask()]

    assert len(asked) > 1
    assert asked == [repaired(*strategy) for strategy in asked]


def test_repair_holds_an_operator_below_its_cap_before_it_shrinks():
    capped = JOINT.capped({"rotate": 0.1, "synonym": 0.0, "unknown": 0.5})

    assert capped.caps == (0.1, 1.0, 1.0, 1.0, 0.0)
    assert repaired(1.0, 0.3, 0.0, 0.0, 0.9, space=capped) == (0.1, 0.3, 0.0, 0.0, 0.0)
    assert repaired(1.0, 1.0, 1.0, 0.0, 0.0, space=capped) == pytest.approx(
        (0.1 / 2.1, 1 / 2.1, 1 / 2.1, 0.0, 0.0)
    )
    assert repaired(1.0, 0.0, 0.0, 0.0, 0.0, space=JOINT.capped({"rotate": 0.01})) == (0.0,) * 5


@settings(max_examples=100, deadline=None)
@given(ROWS, st.tuples(*[st.floats(0, 1)] * 5))
def test_repair_with_caps_stays_below_them_and_changes_nothing_twice(rows, caps):
    space = OperatorSpace(IMAGE, TEXT, caps=caps)

    once = space.repair(rows)

    assert (once <= np.array(caps)).all()
    assert np.array_equal(space.repair(once), once)


@pytest.mark.parametrize("caps", [(0.5,), (0.5, 0.5, 0.5, 0.5, 1.5), (0.5, 0.5, 0.5, 0.5, float("nan"))])
def test_caps_are_one_share_for_each_operator(caps):
    with pytest.raises(ValueError, match="caps must"):
        OperatorSpace(IMAGE, TEXT, caps=caps)
