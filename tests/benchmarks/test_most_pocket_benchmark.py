"""The comparison on the pocket VLM plays whole searches and counts what it says."""

import numpy as np
import pytest

from benchmarks.most_pocket import SIZE, Pocket, search_of, table
from vlmlab.core.images import encode_png, sha256_of
from vlmlab.core.most.config import MostConfig
from vlmlab.core.most.evaluate import SeedImage
from vlmlab.core.perturb import IMAGE_OPERATORS
from vlmlab.core.suts.scripted import ScriptedParams, ScriptedSut

RIGHT, WRONG = '[{"bbox_2d": [250, 250, 750, 750]}]', '[{"bbox_2d": [0, 0, 100, 100]}]'
PICTURE = np.full((SIZE[1], SIZE[0], 3), 90, dtype=np.uint8)
CHEAP = ("brightness", "contrast", "saturate")
CONFIG = MostConfig(
    algorithm="random",
    inference_budget=6,
    slots=3,
    excluded_operators=tuple(name for name in IMAGE_OPERATORS if name not in CHEAP),
)


def searched(*, clean, perturbed):
    """Search an image that a scripted system answers in one way as it is and in another way when changed."""
    rules = [{"image_sha256": sha256_of(encode_png(PICTURE)), "answer": clean}]
    pocket = Pocket(ScriptedSut(ScriptedParams(default=perturbed, rules=rules)))
    seed_image = SeedImage("a" * 64, PICTURE, "cup", "Find the cup.", np.array([[112.0, 84.0, 336.0, 252.0]]))
    return search_of(pocket, CONFIG, seed_image, stratum="kitchen_floor", number=3, regime="image")


def test_a_system_that_breaks_under_anything_is_found_out_by_the_first_batch():
    result = searched(clean=RIGHT, perturbed=WRONG)

    assert result is not None
    bench = result.bench
    assert (bench.first_hit, bench.evaluations, bench.batches) == (1, 3, 1)
    assert (bench.algorithm, bench.family, bench.regime, bench.seed) == (
        "random",
        "kitchen_floor",
        "image",
        3,
    )
    assert set(bench.strategy) <= set(CHEAP)
    assert result.perturbing > 0.0


def test_a_system_that_stands_takes_the_whole_budget():
    result = searched(clean=RIGHT, perturbed=RIGHT)

    assert result is not None
    assert (result.bench.first_hit, result.bench.evaluations, result.bench.end_reason) == (
        None,
        6,
        "budget_spent",
    )


def test_a_seed_image_that_is_not_eligible_is_left_out():
    assert searched(clean=WRONG, perturbed=WRONG) is None


def test_the_table_counts_failures_and_answers_of_each_algorithm():
    found, missed = searched(clean=RIGHT, perturbed=WRONG), searched(clean=RIGHT, perturbed=RIGHT)
    assert found is not None
    assert missed is not None

    line = table([found, missed], ["screen", "random"])[-1]

    assert line.startswith("| image | random | 1/2 [")
    assert "| 4 |" in line  # (3 + 6) / 2 answers, rounded to even


@pytest.mark.parametrize("answers", [RIGHT, WRONG])
def test_searches_repeat(answers):
    first, second = (searched(clean=RIGHT, perturbed=answers) for _ in range(2))

    assert first is not None
    assert second is not None
    assert (first.bench.strategy, first.bench.swtd) == (second.bench.strategy, second.bench.swtd)
