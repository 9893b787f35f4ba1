"""Systems on paper: what they answer, and that they are what their families say."""

import numpy as np
import pytest

from vlmlab.core.most.landscapes import CLEAN_IOU, FAMILIES, Landscape, Sensitivity, landscape
from vlmlab.core.most.types import AnswerStatus, Fidelity, Query, Thresholds

families = pytest.mark.parametrize("family", FAMILIES)


def sensitivity(**values) -> Sensitivity:
    plain = {
        "slopes": np.array([1.0, 2.0, 0.0]), "powers": np.array([1.0, 2.0, 1.0]),
        "pairs": np.zeros((3, 3)), "silence": np.zeros(3),
        "image_distances": np.array([0.3, 0.4, 0.0]), "prompt_distances": np.array([0.0, 0.0, 0.5]),
    }  # fmt: skip
    return Sensitivity(**{**plain, **values})


def test_the_load_adds_slopes_and_pairs():
    pairs = np.array([[0.0, 3.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])

    load = sensitivity(pairs=pairs).load(np.array([0.5, 0.5, 0.2]))

    assert load == pytest.approx(0.5 + 2.0 * 0.25 + 3.0)


def test_the_iou_falls_gradually_or_at_a_capacity():
    severities = np.array([0.5, 0.0, 0.0])

    assert sensitivity().survival(severities) == pytest.approx(np.exp(-0.5))
    assert sensitivity(capacity=0.6).survival(severities) == 1.0
    assert sensitivity(capacity=0.5).survival(severities) == 0.3


def test_image_distances_add_like_errors_and_prompt_distances_like_chances():
    fidelity = sensitivity(prompt_distances=np.array([0.5, 0.0, 0.5])).fidelity(np.array([1.0, 1.0, 1.0]))

    assert (fidelity.image_distance, fidelity.prompt_distance) == pytest.approx((0.5, 0.75))


def test_a_silent_answer_has_no_boxes():
    world = Landscape(("a", "b", "c"), sensitivity(silence=np.array([2.0, 0.0, 0.0])), 0)

    assert world.answer(Query((0.5, 0.0, 0.0))).status is AnswerStatus.EMPTY
    assert world.answer(Query((0.4, 0.0, 0.0))).status is AnswerStatus.BOXES


@families
def test_the_clean_input_is_answered_as_it_should(family):
    world = landscape(family, regime="joint", seed=0)

    outcome = world.answer(Query((0.0,) * len(world.operators)))

    assert (outcome.status, outcome.iou, outcome.fidelity) == (
        AnswerStatus.BOXES,
        CLEAN_IOU,
        Fidelity(0.0, 0.0),
    )
    assert outcome.swtd == 0.5


@families
def test_a_system_is_the_same_in_every_regime(family):
    joint = landscape(family, regime="joint", seed=3).sensitivity
    image = landscape(family, regime="image", seed=3).sensitivity
    text = landscape(family, regime="text", seed=3).sensitivity

    severities = np.random.default_rng(0).uniform(0.0, 0.1, 41)
    left, right = severities.copy(), severities.copy()
    left[26:], right[:26] = 0.0, 0.0
    assert joint.load(left) == pytest.approx(image.load(severities[:26]))
    assert joint.load(right) == pytest.approx(text.load(severities[26:]))
    assert joint.load(severities) >= joint.load(left) + joint.load(right) - 1e-9


@families
def test_answers_are_a_function_of_the_strategy_and_the_seed(family):
    query = Query(tuple(np.random.default_rng(0).uniform(0.0, 0.05, 41).tolist()))

    first, again, other = (landscape(family, regime="joint", seed=seed).answer(query) for seed in (1, 1, 2))

    assert first == again
    assert first != other


@families
def test_more_of_an_operator_never_brings_the_input_closer_or_the_load_down(family):
    world = landscape(family, regime="joint", seed=5).sensitivity
    rng = np.random.default_rng(1)

    for _ in range(20):
        low = rng.uniform(0.0, 0.5, 41)
        high = low + rng.uniform(0.0, 0.5, 41)
        assert world.load(high) >= world.load(low)
        assert world.fidelity(high).image_distance >= world.fidelity(low).image_distance
        assert world.fidelity(high).prompt_distance >= world.fidelity(low).prompt_distance


@pytest.mark.parametrize("seed", range(3))
def test_in_few_strong_three_image_and_two_text_operators_break_the_system_alone(seed):
    slopes = landscape("few_strong", regime="joint", seed=seed).sensitivity.slopes

    assert (slopes[:26] >= 1.0).sum() == 3
    assert (slopes[26:] >= 1.0).sum() == 2


def test_in_pairs_no_operator_alone_is_a_failure():
    world = landscape("pairs", regime="joint", seed=0)
    rows = np.eye(len(world.operators)) * 0.7

    answers = [world.answer(Query(tuple(row.tolist()))) for row in rows]

    assert sum(Thresholds().is_hit(answer) for answer in answers) <= 3
