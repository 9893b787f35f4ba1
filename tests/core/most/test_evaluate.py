"""From a strategy to what a system sees, and from a reply to an outcome: pure, exact, and honest."""

from collections import OrderedDict

import numpy as np
import pytest

from tests.core.perturb.image_cases import photograph
from vlmlab.core.conventions import RELATIVE_1000
from vlmlab.core.images import decode_png, encode_png
from vlmlab.core.most import evaluate
from vlmlab.core.most.admission import FidelityMemory
from vlmlab.core.most.config import MostConfig
from vlmlab.core.most.evaluate import (
    BoxAnswer,
    Likeness,
    Perturber,
    SeedImage,
    outcome_of,
    read_answer,
)
from vlmlab.core.most.search import build_search, build_space
from vlmlab.core.most.types import REGIMES, AnswerStatus, Fidelity, Outcome, Query
from vlmlab.core.perturb import IMAGE_OPERATORS, TEXT_OPERATORS
from vlmlab.core.perturb.image_truth import honest_caps, moved_truth
from vlmlab.core.search import replay
from vlmlab.core.seeding import derive_seed
from vlmlab.core.suts.base import SutReply

TASK, FORMAT = "Find the red bus in the picture.", 'Answer with JSON only: [{"bbox_2d": [x1, y1, x2, y2]}].'
PROMPT = f"{TASK} {FORMAT}"
TRUTH = np.array([[60.0, 50.0, 140.0, 110.0]])
SIZE = (224, 168)


def embed(text):
    """A text is the clean prompt or another one."""
    return np.array([1.0, float(text != PROMPT)])


def seed_image(**values):
    defaults = {"image_id": "a" * 64, "pixels": photograph(), "label": "red bus", "prompt": PROMPT}
    return SeedImage(**{**defaults, "truth": TRUTH, "protected": (FORMAT,), **values})


def regime_space(regime, **values):
    return build_space(
        MostConfig(**values),
        regime=regime,
        image_operators=tuple(IMAGE_OPERATORS),
        text_operators=tuple(TEXT_OPERATORS),
    )


def make_perturber(regime="joint", *, run_seed=7, excluded=(), **values):
    space = regime_space(regime, excluded_operators=excluded)
    return Perturber(seed_image(**values), space=space, run_seed=run_seed, embed=embed)


def strategy_of(perturber, **severities):
    return perturber.space.strategy(severities)


def whole_mask():
    mask = np.zeros((1, SIZE[1], SIZE[0]), dtype=np.bool_)
    mask[0, 50:110, 60:140] = True
    return mask


@pytest.mark.parametrize("regime", REGIMES)
@pytest.mark.parametrize("masks", [None, whole_mask()])
def test_no_perturbation_is_the_clean_input_byte_for_byte(regime, masks):
    perturber = make_perturber(regime, masks=masks)

    made = perturber.perturbed(strategy_of(perturber))

    assert made.png == encode_png(photograph())
    assert made.prompt == PROMPT
    assert made.truth.boxes.tolist() == TRUTH.tolist()
    assert made.fidelity == Fidelity(0.0, 0.0, True)
    assert perturber.likeness(strategy_of(perturber)) == Likeness(1.0, 0.0)


def test_the_same_run_seed_gives_the_same_bytes_and_another_one_others():
    severities = {"gaussian_noise": 0.2, "elastic_transform": 0.1, "keyboard_typo": 0.3}
    first, second, other = (make_perturber(run_seed=seed) for seed in (7, 7, 8))

    made = [one.perturbed(strategy_of(one, **severities)) for one in (first, second, other)]

    assert made[0].png == made[1].png != made[2].png
    assert made[0].prompt == made[1].prompt != made[2].prompt
    assert made[0].truth.boxes.tolist() == made[1].truth.boxes.tolist() != made[2].truth.boxes.tolist()


def test_draws_depend_on_the_operator_and_the_seed_image_not_on_what_else_acts():
    alone, together = make_perturber("text"), make_perturber("joint")

    said = [
        alone.perturbed(strategy_of(alone, keyboard_typo=0.3)).prompt,
        together.perturbed(strategy_of(together, keyboard_typo=0.3, fog=0.3)).prompt,
    ]

    assert said[0] == said[1] != PROMPT
    assert alone.operator_seed("fog") == derive_seed(7, "perturb", "a" * 64, "fog")
    assert alone.operator_seed("fog") != alone.operator_seed("rain")
    assert alone.operator_seed("fog") != make_perturber(image_id="b" * 64).operator_seed("fog")


def test_a_regime_leaves_the_other_modality_alone():
    image, text = make_perturber("image"), make_perturber("text")

    seen = image.perturbed(strategy_of(image, gaussian_blur=0.5))
    read = text.perturbed(strategy_of(text, casing=1.0))

    assert (seen.prompt, seen.fidelity.prompt_distance) == (PROMPT, 0.0)
    assert (read.pixels is photograph(), read.fidelity.image_distance) == (True, 0.0)
    assert read.png == encode_png(photograph())
    assert image.likeness(seen.strategy).ned == 0.0
    assert text.likeness(read.strategy).ms_ssim == 1.0


def test_one_operator_alone_is_what_the_operator_itself_does():
    perturber = make_perturber()

    image = perturber.perturbed(strategy_of(perturber, spatter=0.4))
    text = perturber.perturbed(strategy_of(perturber, char_swap=0.4))

    spatter = IMAGE_OPERATORS["spatter"].apply(photograph(), 0.4, perturber.rng_of("spatter"))
    swapped = TEXT_OPERATORS["char_swap"].apply(PROMPT, 0.4, perturber.rng_of("char_swap"), protect=(FORMAT,))
    assert np.array_equal(decode_png(image.png), spatter)
    assert text.prompt == swapped


def test_distances_are_those_worked_by_hand():
    perturber = make_perturber()

    made = perturber.perturbed(strategy_of(perturber, brightness=0.5, casing=0.5))

    difference = made.pixels.astype(float) - photograph().astype(float)
    root_mean_square = np.sqrt((difference**2).sum() / (168 * 224 * 3))
    assert made.fidelity.image_distance == pytest.approx(root_mean_square / 255.0, rel=1e-12)
    assert made.fidelity.prompt_distance == pytest.approx(1.0 - 1.0 / np.sqrt(2.0))


def test_what_says_how_to_answer_stays_readable_under_every_text_operator_at_once():
    perturber = make_perturber("text")
    strongest = dict.fromkeys(TEXT_OPERATORS, 1.0)
    unprotected = make_perturber("text", protected=())

    said = perturber.perturbed(perturber.space.strategy(strongest)).prompt

    assert FORMAT in said
    assert TASK not in said
    assert FORMAT not in unprotected.perturbed(unprotected.space.strategy(strongest)).prompt


def test_the_truth_moves_with_the_picture():
    perturber = make_perturber()

    made = perturber.perturbed(strategy_of(perturber, translate_scale=0.4))

    moved = IMAGE_OPERATORS["translate_scale"].apply_boxes(
        TRUTH, 0.4, perturber.rng_of("translate_scale"), SIZE
    )
    assert made.truth.boxes.tolist() == moved.tolist() != TRUTH.tolist()
    assert made.fidelity.is_admissible


def test_a_truth_that_several_operators_lose_together_is_not_admissible():
    edge = np.array([[0.0, 0.0, 40.0, 30.0]])
    perturber = make_perturber(truth=edge)
    severities = dict.fromkeys(("rotate", "shear", "perspective", "translate_scale"), 1.0)

    made = perturber.perturbed(perturber.space.strategy(severities))

    assert not made.fidelity.is_admissible


def test_operators_are_capped_where_the_truth_is_no_longer_honest():
    perturber = make_perturber("image")
    most = perturber.space.repair(np.eye(len(perturber.space.operators)))
    caps = honest_caps(TRUTH, rng_of=perturber.rng_of, image_size=SIZE)

    severities = dict(zip(perturber.space.operators, most.max(axis=0).tolist(), strict=True))

    assert severities == {name: caps.get(name, 1.0) for name in IMAGE_OPERATORS}
    assert 0.02 < severities["rotate"] < 0.3
    assert severities["gaussian_noise"] == 1.0
    for name in caps:
        truth = moved_truth(TRUTH, {name: severities[name]}, rng_of=perturber.rng_of, image_size=SIZE)
        assert truth.is_honest, name


def test_masks_lift_the_caps_of_operators_that_turn_things():
    perturber = make_perturber("image", masks=whole_mask())

    caps = dict(zip(perturber.space.operators, perturber.space.caps, strict=True))

    assert caps["rotate"] == caps["shear"] == 1.0


def test_caps_are_found_once_for_all_regimes_of_a_seed_image_and_not_at_all_for_texts(monkeypatch):
    asked = []
    monkeypatch.setattr(evaluate, "_caps_known", OrderedDict())
    monkeypatch.setattr(
        evaluate, "honest_caps", lambda *args, **named: asked.append(named) or {"rotate": 0.1}
    )
    perturbers = [make_perturber(regime, image_id="c" * 64) for regime in ("image", "joint", "text", "image")]
    others = [make_perturber("image", image_id="c" * 64, run_seed=8), make_perturber(image_id="d" * 64)]

    spaces = [one.space for one in perturbers + others]

    assert [space.caps[:1] for space in spaces] == [(0.1,), (0.1,), (1.0,), (0.1,), (0.1,), (0.1,)]
    assert len(asked) == 3


@pytest.mark.parametrize("algorithm", ["screen", "random", "nsga2"])
def test_searches_stay_below_the_caps_and_a_replay_asks_the_same(algorithm):
    rotating = tuple(sorted(set(IMAGE_OPERATORS) - {"rotate", "contrast", "brightness"}))

    def play():
        perturber = make_perturber("image", excluded=rotating)
        memory = FidelityMemory(perturber.fidelity)
        config = MostConfig(
            algorithm=algorithm, inference_budget=16, population_size=8, excluded_operators=rotating
        )
        target = perturber.target(clean_iou=0.8, fidelity=memory)
        return build_search(config, target=target, run_seed=3), perturber, memory

    search, perturber, memory = play()
    batches = []
    while batch := search.ask():
        outcomes = [
            Outcome(query, AnswerStatus.BOXES, 0.8 - 0.1 * max(query.strategy), memory(query.strategy))
            for query in batch
        ]
        search.tell(outcomes)
        batches.append((batch, outcomes))
    again, _, _ = play()
    replay(again, batches)

    asked = np.array([query.strategy for batch, _ in batches for query in batch])
    rotate = perturber.space.operators.index("rotate")
    assert 0.0 < asked[:, rotate].max() <= perturber.space.caps[rotate] < 0.5
    assert list(again.outcomes) == list(search.outcomes)
    assert again.ask() == search.ask()


def test_inputs_that_were_forgotten_are_made_again(monkeypatch):
    monkeypatch.setattr(evaluate, "MOST_KEPT_BYTES", 1)
    perturber = make_perturber()
    first, second = strategy_of(perturber, fog=0.3), strategy_of(perturber, snow=0.3)

    made = [perturber.perturbed(one) for one in (first, second, first)]

    assert made[0] is not made[2]
    assert made[0].png == made[2].png
    assert perturber.perturbed(first) is made[2]


@pytest.mark.parametrize("shape", [(1, 1), (3, 50)])
def test_pictures_of_hardly_any_pixels_have_inputs_and_likeness_too(shape):
    pixels = np.full((*shape, 3), 90, dtype=np.uint8)
    perturber = make_perturber(pixels=pixels, truth=np.array([[0.0, 0.0, shape[1], shape[0]]]))
    strategies = [strategy_of(perturber, **{name: 0.5}) for name in perturber.space.operators]

    made = [perturber.perturbed(one) for one in strategies]

    assert {one.pixels.shape for one in made} == {(*shape, 3)}
    assert all(0.0 <= perturber.likeness(one.strategy).ms_ssim <= 1.0 for one in made)


def test_a_seed_image_without_truth_is_refused():
    with pytest.raises(ValueError, match="at least one box"):
        make_perturber(truth=np.zeros((0, 4)))


@pytest.mark.parametrize(
    ("status", "iou", "expected"),
    [(AnswerStatus.BOXES, 0.8, 0.5), (AnswerStatus.BOXES, 0.2, 0.875), (AnswerStatus.EMPTY, 0.0, 1.0)],
)
def test_swtd_of_the_clean_input_is_half_plus_half_of_what_was_lost(status, iou, expected):
    perturber = make_perturber()
    outcome = Outcome(Query(strategy_of(perturber)), status, iou, Fidelity(0.0, 0.0))

    assert perturber.swtd(outcome, clean_iou=0.8) == pytest.approx(expected)


def test_swtd_counts_what_was_altered():
    perturber = make_perturber()
    strategy = strategy_of(perturber, gaussian_blur=0.3, casing=0.3)
    likeness = perturber.likeness(strategy)

    swtd = perturber.swtd(Outcome(Query(strategy), AnswerStatus.BOXES, 0.4, Fidelity(0, 0)), clean_iou=0.8)

    assert 0.0 < likeness.ms_ssim < 1.0
    assert 0.0 < likeness.ned < 1.0
    assert swtd == pytest.approx(0.5 * 0.5 + 0.5 * likeness.ms_ssim * (1.0 - likeness.ned))


def read(text, *, truth=((0.0, 0.0, 100.0, 100.0),), **values):
    return read_answer(SutReply(text, **values), truth=truth, convention=RELATIVE_1000, image_size=(200, 100))


@pytest.mark.parametrize(
    ("truth", "iou"),
    [
        (((0.0, 0.0, 100.0, 100.0),), 1.0),
        (((50.0, 0.0, 150.0, 100.0),), 1 / 3),  # 50 x 100 of 150 x 100 pixels
        (((100.0, 0.0, 200.0, 100.0),), 0.0),
        (
            ((0.0, 0.0, 50.0, 100.0), (50.0, 0.0, 100.0, 100.0)),
            0.25,
        ),  # one half is found by half, the other missed
    ],
)
def test_boxes_of_a_reply_are_compared_with_the_truth(truth, iou):
    answer = read('[{"bbox_2d": [0, 0, 500, 1000], "label": "bus"}]', truth=truth)

    assert (answer.status, answer.boxes) == (AnswerStatus.BOXES, ((0.0, 0.0, 100.0, 100.0),))
    assert answer.iou == pytest.approx(iou)
    assert (answer.lenient_status, answer.lenient_boxes) == (AnswerStatus.BOXES, answer.boxes)
    assert answer.lenient_iou == answer.iou


def test_complete_boxes_of_a_reply_that_was_cut_count_in_the_lenient_reading_only():
    answer = read('[{"bbox_2d": [0, 0, 500, 1000]}, {"bbox_2d": [1, 2', finish_reason="length")

    assert (answer.status, answer.iou, answer.boxes) == (AnswerStatus.MALFORMED, 0.0, ())
    assert (answer.lenient_status, answer.lenient_iou) == (AnswerStatus.BOXES, 1.0)
    assert answer.reason == "truncated"


@pytest.mark.parametrize(
    ("text", "status"), [("[]", AnswerStatus.EMPTY), ("The bus is on the left.", AnswerStatus.MALFORMED)]
)
def test_a_reply_without_boxes_has_no_iou_in_either_reading(text, status):
    answer = read(text)

    assert (answer.status, answer.iou, answer.boxes) == (status, 0.0, ())
    assert (answer.lenient_status, answer.lenient_iou, answer.lenient_boxes) == (status, 0.0, ())


def test_a_failed_call_is_no_answer():
    answer = read("", call_error="The server did not answer.")

    assert answer == BoxAnswer(AnswerStatus.CALL_ERROR)
    assert not answer.status.is_answer


def test_pixels_of_a_smaller_picture_that_the_system_saw_are_scaled_back():
    pixels = RELATIVE_1000.model_copy(update={"space": "seen_pixels", "scale": None})
    reply = SutReply('[{"bbox_2d": [0, 0, 50, 50]}]', seen_size=(100, 50))

    answer = read_answer(reply, truth=[[0, 0, 100, 100]], convention=pixels, image_size=(200, 100))

    assert (answer.boxes, answer.iou) == (((0.0, 0.0, 100.0, 100.0),), 1.0)


def test_a_search_is_told_the_strict_reading():
    query, fidelity = Query((0.5,)), Fidelity(0.1, 0.2)
    answer = BoxAnswer(AnswerStatus.MALFORMED, lenient_status=AnswerStatus.BOXES, lenient_iou=0.9)

    assert outcome_of(query, answer, fidelity) == Outcome(query, AnswerStatus.MALFORMED, 0.0, fidelity)


def test_every_input_and_likeness_that_is_made_is_told_once():
    told = []
    perturber = Perturber(
        seed_image(),
        space=regime_space("text"),
        run_seed=7,
        embed=embed,
        on_progress=lambda: told.append(True),
    )
    strategy = perturber.space.strategy({"casing": 0.3})

    perturber.fidelity(strategy)
    perturber.perturbed(strategy)
    made = len(told)
    perturber.likeness(strategy)

    assert (made, len(told)) == (1, 2)
