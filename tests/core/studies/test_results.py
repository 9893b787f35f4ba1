"""The numbers of a study against worked examples (``stat_examples.json``) and slow, obvious versions."""

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from vlmlab.core.boxes import set_iou
from vlmlab.core.sampling import shuffled
from vlmlab.core.stats import fleiss_kappa, holm, krippendorff_alpha, observed_agreement, randolph_kappa
from vlmlab.core.studies.judgements import JudgedCase, Judgement, summarise_cases
from vlmlab.core.studies.results import compare_with_systems, group_result, results_by
from vlmlab.core.studies.valid_failures import FailingShare, valid_rate

EXAMPLES = {
    one["id"]: one
    for one in json.loads((Path(__file__).parent / "stat_examples.json").read_text())["examples"]
}


def boxes(rows):
    return np.array(rows, dtype=np.float64).reshape(-1, 4)


def exact(number):
    return None if number is None else pytest.approx(float(Fraction(number["exact"])), abs=1e-12)


def study_of(example):
    cases, judgements = [], []
    for row in example["input"]["cases"]:
        truth = boxes(row["gt"])
        cases.append(
            JudgedCase(row["case"], sut="a", sut_iou=set_iou(boxes(row["vlm"]), truth), is_failure=True)
        )
        for number, answer in enumerate(row["answers"]):
            is_accepted = answer["status"] == "draw"
            judgements.append(
                Judgement(
                    participant=f"p{number}",
                    case=row["case"],
                    is_accepted=is_accepted,
                    iou=set_iou(boxes(answer["boxes"]), truth) if is_accepted else 0.0,
                    boxes=tuple(map(tuple, answer["boxes"])),
                    reason=answer.get("reason", ""),
                )
            )
    return cases, judgements


@pytest.mark.parametrize("name", [name for name in sorted(EXAMPLES) if name.startswith("A")])
def test_agreement_is_that_of_the_worked_example(name):
    example = EXAMPLES[name]
    ratings, k, expected = (
        example["input"]["ratings_per_item"],
        example["input"]["k"],
        example["expected"],
    )

    assert observed_agreement(ratings) == exact(expected["Po_item_mean"])
    assert randolph_kappa(ratings, k) == exact(expected["randolph_kappa"])
    assert fleiss_kappa(ratings, k) == exact(expected["fleiss_kappa"])
    assert krippendorff_alpha(ratings) == exact(expected["krippendorff_alpha_nominal"])


@pytest.mark.parametrize("name", [name for name in sorted(EXAMPLES) if name.startswith("B")])
def test_set_iou_is_that_of_the_worked_example(name):
    example = EXAMPLES[name]

    value = set_iou(boxes(example["input"]["pred"]), boxes(example["input"]["gt"]))

    assert value == exact(example["expected"]["set_iou_hungarian_over_max"])


def test_each_case_of_the_worked_study_has_its_numbers():
    cases, judgements = study_of(EXAMPLES["S1"])

    found = summarise_cases(cases, judgements)

    for one, expected in zip(found, EXAMPLES["S1"]["expected"]["per_case"], strict=True):
        assert (one.case.key, one.n, one.n_accepted) == (
            expected["case"],
            expected["n"],
            expected["n_accept"],
        )
        assert one.acceptance == exact(expected["accept_rate"])
        assert one.human_iou == exact(expected["human_iou"])
        assert one.human_star == exact(expected["human_star"])
        assert one.case.sut_iou == exact(expected["vlm_iou"])


def test_the_worked_study_has_its_numbers_as_a_whole():
    cases, judgements = study_of(EXAMPLES["S1"])
    expected = EXAMPLES["S1"]["expected"]

    found = group_result(cases, judgements)

    assert found.acceptance.rate == exact(expected["accept_rate_assessments"])
    assert [found.acceptance.naive.low, found.acceptance.naive.high] == pytest.approx(
        expected["accept_wilson95"], abs=1e-9
    )
    macro, micro, means = expected["macro"], expected["micro"], found.means
    assert means.cases_used == macro["cases_used"]
    assert means.human_iou.value == exact(macro["human_iou"])
    assert means.sut_iou == exact(macro["vlm_iou_same_cases"])
    assert means.human_star.value == exact(macro["human_star_all_cases"])
    assert means.sut_iou_all == exact(macro["vlm_iou_all_cases"])
    assert means.micro_human_iou == exact(micro["human_iou"])
    assert means.micro_sut_iou == exact(micro["vlm_iou_weighted_by_acceptances"])
    assert means.micro_human_star == exact(micro["human_star"])
    assert means.micro_sut_iou_all == exact(micro["vlm_iou_weighted_by_assessments"])
    assert found.agreement.randolph == exact(expected["randolph_kappa_draw_vs_reject"])
    assert found.agreement.pairwise_iou == exact(expected["pairwise_human_iou_mean_of_cases"])


def test_systems_are_compared_on_exactly_the_cases_that_somebody_accepted():
    cases = [
        JudgedCase("c1", sut="a", sut_iou=0.2, asked_again_iou=0.4),
        JudgedCase("c2", sut="a", sut_iou=0.9),
        JudgedCase("c3", sut="a", sut_iou=0.1, asked_again_iou=0.1),
        JudgedCase("clean", sut="a", sut_iou=1.0, is_control=True),
        JudgedCase("d1", sut="b", sut_iou=0.6),
    ]
    judgements = [
        Judgement("p", "c1", True, 0.8),
        Judgement("q", "c1", False),
        Judgement("p", "c2", False),
        Judgement("p", "c3", True, 0.5),
        Judgement("p", "clean", True, 1.0),
        Judgement("p", "d1", True, 0.6),
    ]

    first, second = compare_with_systems(cases, judgements)
    (again,) = compare_with_systems(cases, judgements, asked_again=True)

    assert (first.sut, first.n_cases) == ("a", 2)
    assert (first.human_iou, first.sut_iou) == (pytest.approx(0.65), pytest.approx(0.15))
    assert (first.p_value, first.effect) == (0.5, 1.0)
    assert (second.sut, second.n_cases, second.p_value, second.effect) == ("b", 1, 1.0, 0.0)
    assert [first.adjusted_p_value, second.adjusted_p_value] == holm([0.5, 1.0])
    assert (again.sut, again.n_cases, again.sut_iou) == ("a", 2, pytest.approx(0.25))


def test_groups_are_sorted_and_hold_only_judged_cases():
    cases = [
        JudgedCase("c1", regime="text"),
        JudgedCase("c2", regime="image"),
        JudgedCase("c3", regime="joint"),
    ]
    judgements = [Judgement("p", "c1", True, 1.0), Judgement("p", "c2", False)]

    found = results_by(cases, judgements, key=lambda case: (case.regime,))

    assert [(one.key, one.acceptance.k, one.acceptance.n) for one in found] == [
        (("image",), 0, 1),
        (("text",), 1, 1),
    ]


def test_a_study_without_answers_has_no_numbers_and_no_error():
    found = group_result([JudgedCase("c1")], [])

    assert (found.n_cases, found.acceptance.rate, found.acceptance.interval) == (0, None, None)
    assert (found.means.human_iou.value, found.agreement.observed) == (None, None)


def test_where_nothing_varies_agreement_is_undefined_but_observed():
    cases = [JudgedCase("c1"), JudgedCase("c2")]
    judgements = [Judgement(who, case, True, 1.0) for who in "pq" for case in ("c1", "c2")]

    found = group_result(cases, judgements).agreement

    assert (found.observed, found.randolph) == (1.0, 1.0)
    assert (found.fleiss, found.krippendorff) == (None, None)


def test_items_with_one_answer_are_left_out_and_counted():
    cases = [JudgedCase("c1"), JudgedCase("c2")]
    judgements = [Judgement("p", "c1", True), Judgement("q", "c1", False), Judgement("p", "c2", True)]

    found = group_result(cases, judgements).agreement

    assert (found.n_items, found.n_items_used, found.observed) == (2, 1, 0.0)


@pytest.mark.parametrize(
    ("judgements", "words"),
    [
        ([Judgement("p", "elsewhere", True)], "must name cases of the study"),
        ([Judgement("p", "c1", True), Judgement("p", "c1", False)], "once, got two"),
    ],
)
def test_judgements_that_do_not_fit_the_study_are_refused(judgements, words):
    with pytest.raises(ValueError, match=words):
        group_result([JudgedCase("c1")], judgements)


def test_reasons_are_counted_by_case():
    judgements = [
        Judgement("p", "c1", False, reason="image"),
        Judgement("q", "c1", False, reason="prompt"),
        Judgement("r", "c1", False, reason="image"),
        Judgement("s", "c1", True, 1.0),
    ]

    (found,) = summarise_cases([JudgedCase("c1")], judgements)

    assert found.reasons == {"image": 2, "prompt": 1}


def test_no_number_hangs_on_the_order_in_which_answers_or_cases_are_read():
    rng = np.random.default_rng(4)
    cases = [JudgedCase(f"c{n}", sut="a", sut_iou=float(rng.random()), is_failure=True) for n in range(12)]
    judgements = [
        Judgement(f"p{who}", case.key, bool(rng.random() < 0.7), float(rng.random()))
        for case in cases
        for who in range(9)
    ]
    orders = [
        (cases, judgements),
        (cases[::-1], judgements[::-1]),
        (shuffled(cases, rng), shuffled(judgements, rng)),
    ]

    results = [group_result(*order) for order in orders]
    comparisons = [compare_with_systems(*order) for order in orders]
    rates = [valid_rate(FailingShare(3, 4), *order) for order in orders]

    for found in (results, comparisons, rates):
        assert found[1:] == [found[0], found[0]]
