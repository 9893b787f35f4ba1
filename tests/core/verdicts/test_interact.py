"""Interactions of four cells by hand, against SciPy and statsmodels, and how often they are wrong."""

from math import log

import numpy as np
import pytest
from scipy.stats import bootstrap
from statsmodels.genmod.cov_struct import Independence
from statsmodels.genmod.families import Binomial
from statsmodels.genmod.generalized_estimating_equations import GEE

from tests.core.verdicts.fresh_answers import failing, run_to_end
from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.core.stats import sign_flip_p_value
from vlmlab.core.verdicts.cells import CELLS, plan_cells
from vlmlab.core.verdicts.config import InteractConfig
from vlmlab.core.verdicts.follow_ups import FOLLOW_UPS
from vlmlab.core.verdicts.interact import judge_interaction
from vlmlab.core.verdicts.queries import ItemSpec

BASE = ("obstruction_near",)


def drawn(rates, *, n, seed, shared=0.0):
    """Fails of the four cells on n scenes; a share of the scenes has one draw for all of its cells."""
    rng = np.random.default_rng(seed)
    common, own = rng.random(n), rng.random((4, n))
    draws = np.where(rng.random(n) < shared, common, own)
    return {name: draws[index] < rates[name] for index, name in enumerate(CELLS)}


def rates(both, neither, first, second):
    return {"both": both, "neither": neither, "first": first, "second": second}


def test_interaction_by_hand():
    # 10 scenes: both fails 9 times, first and second 2 times each, neither once: 0.9 - 0.2 - 0.2 + 0.1.
    cells = {
        "both": [True] * 9 + [False],
        "neither": [True] + [False] * 9,
        "first": [True] * 2 + [False] * 8,
        "second": [True] * 2 + [False] * 8,
    }

    reading = judge_interaction(cells)

    # Scenes: 1 - 1 - 1 + 1 = 0; 1 - 1 - 1 = -1; seven times 1; 0.
    assert reading.p_value == sign_flip_p_value([0, -1] + [1] * 7 + [0])
    assert reading.fails == {"both": 9, "neither": 1, "first": 2, "second": 2}
    assert (reading.n, reading.level) == (10, 0.95)
    assert reading.additive.value == pytest.approx(0.6)
    logits = [log((fails + 0.5) / (10 - fails + 0.5)) for fails in (9, 1, 2, 2)]
    assert reading.log_odds.value == pytest.approx(logits[0] + logits[1] - logits[2] - logits[3])
    assert reading.verdict == "none_shown"


def test_independent_causes_multiply_and_the_scale_decides():
    # 0.05, 0.45, 0.45, 0.85 add up: no interaction of the probabilities.
    reading = judge_interaction(drawn(rates(0.85, 0.05, 0.45, 0.45), n=2000, seed=1))

    assert reading.verdict == "none_shown"
    assert abs(reading.additive.value) < 0.06
    # 0.1, 0.4, 0.4, 0.857 have odds of 1/9, 6/9, 6/9, 6: the log-odds are 0 apart, the probabilities 0.157.
    scaled = judge_interaction(drawn(rates(4 / 5, 0.1, 0.4, 0.4), n=4000, seed=2))
    assert (scaled.verdict, scaled.depends_on_scale) == ("synergy", True)
    assert abs(scaled.log_odds.value) < 0.25


@pytest.mark.parametrize(
    ("cell_rates", "verdict"),
    [
        (rates(0.9, 0.1, 0.15, 0.15), "synergy"),
        (rates(0.2, 0.1, 0.8, 0.8), "interference"),
        (rates(0.3, 0.3, 0.3, 0.3), "none_shown"),
    ],
)
def test_verdict_of_large_effects(cell_rates, verdict):
    reading = judge_interaction(drawn(cell_rates, n=60, seed=4, shared=0.5))

    assert (reading.verdict, reading.depends_on_scale) == (verdict, False)


@pytest.mark.parametrize("shared", [0.0, 0.6])
def test_additive_interval_is_close_to_the_bootstrap_of_scenes(shared):
    cells = drawn(rates(0.7, 0.2, 0.3, 0.4), n=150, seed=6, shared=shared)
    own = cells["both"].astype(float) + cells["neither"] - cells["first"] - cells["second"]

    reading = judge_interaction(cells)

    theirs = bootstrap((own,), np.mean, method="percentile", n_resamples=3000, random_state=1)
    interval = theirs.confidence_interval
    assert (reading.additive.low, reading.additive.high) == pytest.approx(
        (interval.low, interval.high), abs=0.03
    )


def test_log_odds_interval_is_that_of_a_logistic_model_with_scenes_as_groups():
    n = 400
    cells = drawn(rates(0.7, 0.2, 0.3, 0.4), n=n, seed=7, shared=0.5)
    first, second = {"both": 1, "first": 1}, {"both": 1, "second": 1}
    outcomes = np.concatenate([cells[name] for name in CELLS]).astype(float)
    design = np.array([[1, first.get(name, 0), second.get(name, 0)] for name in CELLS for _ in range(n)])
    design = np.column_stack([design, design[:, 1] * design[:, 2]])
    fitted = GEE(
        outcomes, design, groups=np.tile(np.arange(n), 4), family=Binomial(), cov_struct=Independence()
    ).fit()

    reading = judge_interaction(cells)

    assert reading.log_odds.value == pytest.approx(fitted.params[3], abs=0.02)
    theirs = fitted.conf_int()[3]
    assert (reading.log_odds.low, reading.log_odds.high) == pytest.approx(tuple(theirs), abs=0.04)


def test_swapping_the_concepts_changes_nothing_and_flipping_one_turns_the_sign():
    cells = drawn(rates(0.7, 0.2, 0.3, 0.4), n=50, seed=8)
    swapped = {**cells, "first": cells["second"], "second": cells["first"]}
    turns = {"both": "second", "second": "both", "first": "neither", "neither": "first"}
    flipped = {name: cells[other] for name, other in turns.items()}

    reading, other, turned = map(judge_interaction, (cells, swapped, flipped))

    assert (other.p_value, other.additive.value) == (reading.p_value, pytest.approx(reading.additive.value))
    assert turned.additive.value == pytest.approx(-reading.additive.value)
    assert turned.p_value == reading.p_value


@pytest.mark.parametrize("shared", [0.0, 0.5])
@pytest.mark.parametrize(
    "cell_rates", [rates(0.85, 0.05, 0.45, 0.45), rates(0.2, 0.2, 0.2, 0.2), rates(0.3, 0.0, 0.1, 0.2)]
)
def test_concepts_that_add_up_are_rarely_said_to_interact(cell_rates, shared):
    readings = [judge_interaction(drawn(cell_rates, n=60, seed=seed, shared=shared)) for seed in range(200)]

    wrong = sum(reading.verdict != "none_shown" for reading in readings)
    covered = sum(reading.additive.low <= 0.0 <= reading.additive.high for reading in readings)
    assert wrong / 200 < 0.05 + 3 * 0.0155
    assert covered / 200 > 0.95 - 3 * 0.0155


@pytest.mark.parametrize(
    "cells",
    [{}, {name: [] for name in CELLS}, {"both": [True], "first": [True], "second": [True]},
     {"both": [True], "first": [True], "second": [True], "neither": [True, False]}],
)  # fmt: skip
def test_cells_are_complete_and_equally_long(cells):
    with pytest.raises(ValueError, match="equally long and not empty"):
        judge_interaction(cells)


@pytest.mark.parametrize("order", [(1, 2, 3), (3, 2, 1), (2, 3, 1)])
def test_the_search_tells_its_cells_apart_in_any_order(order):
    plan = plan_cells(load_domain("driving"), "cyclist", "weather_foggy", base=BASE)
    item = ItemSpec(0, "b", plan.keys[0], tuple(plan.keys[index] for index in order), plan.settings)
    search = FOLLOW_UPS["interact"].build_search(InteractConfig(scenes=40), items=[item], run_seed=1)

    asked = run_to_end(search, failing(lambda key: {3: 1.0, 2: 0.2, 1: 0.0}[len(key)]))

    (result,) = search.results()
    assert len(asked) == 160
    interaction = result.numbers["interaction"]
    assert (result.state, result.reason, interaction["n"]) == ("synergy", "complete", 40)
    assert (interaction["fails"]["both"], interaction["fails"]["neither"]) == (40, 0)
    assert interaction["fails"]["first"] == interaction["fails"]["second"]


def test_without_answers_there_is_no_interaction():
    item = ItemSpec(0, "b", ("a", "b", "c"), (("c",), ("a", "c"), ("b", "c")))
    search = FOLLOW_UPS["interact"].build_search(InteractConfig(), items=[item], run_seed=1)

    assert search.results()[0].numbers.get("interaction") is None
