"""A test case as a row: every number of the core, and the reply read once more."""

import pytest

from searches.models import Evaluation
from searches.services.modality_cases import CaseReply, acting_severities, case_row, stored_reply
from searches.services.modality_inputs import perturber_of
from tests.searches.engine import advance
from tests.searches.modality_engine import RIGHT, WRONG, never_breaks, start_modality_run
from vlmlab.core.conventions import RELATIVE_1000
from vlmlab.core.images import sha256_of
from vlmlab.core.most.metrics import swtd, swtd_mean
from vlmlab.core.most.objectives import objectives_of
from vlmlab.core.most.outcomes import ReturnedCase, ReturnReason
from vlmlab.core.most.types import AnswerStatus, Fidelity, Outcome, Query, Thresholds
from vlmlab.core.suts.base import SutReply

pytestmark = pytest.mark.django_db

CLEAN_IOU = 0.8
SEVERITIES = {"contrast": 0.25, "casing": 0.5}


@pytest.fixture
def place():
    run = start_modality_run(never_breaks(), regimes=("joint",), inference_budget=2)
    advance(run)
    return run.modality


def row_of(place, *, text=WRONG, status=AnswerStatus.BOXES, iou=0.1, reason=ReturnReason.FAILURE, **values):
    perturber = perturber_of(place)
    strategy = perturber.space.strategy(values.pop("severities", SEVERITIES))
    outcome = Outcome(Query(strategy), status, iou, values.pop("fidelity", Fidelity(0.1, 0.05)))
    case = ReturnedCase(outcome, objectives_of(outcome, clean_iou=CLEAN_IOU), reason)
    row = case_row(
        place,
        perturber,
        case=case,
        said=CaseReply(SutReply(text, **values)),
        thresholds=Thresholds(),
        clean_iou=CLEAN_IOU,
        convention=RELATIVE_1000,
        evaluations=9,
    )
    return row, perturber.perturbed(strategy), perturber


def test_the_row_has_the_numbers_of_its_answer(place):
    row, _, perturber = row_of(place)

    likeness = perturber.likeness(perturber.space.strategy(SEVERITIES))
    numbers = (CLEAN_IOU, 0.1, likeness.ms_ssim, likeness.ned)
    assert (row.f1, row.f2, row.f3) == (pytest.approx(0.125), 0.1, 0.05)
    assert (row.status, row.iou, row.reason) == ("boxes", 0.1, "failure")
    assert (row.is_failure, row.is_faithful) == (True, True)
    assert (row.ms_ssim, row.ned) == likeness
    assert (row.swtd, row.swtd_mean) == (swtd(*numbers), swtd_mean(*numbers))
    assert (row.image_budget, row.text_budget, row.total_budget) == (0.25, 0.5, 0.75)
    assert (row.evaluations, row.kind) == (9, "returned")


def test_the_row_has_the_input_and_what_makes_it_again(place):
    row, made, perturber = row_of(place)

    assert row.severities == SEVERITIES
    assert list(row.severities) == ["contrast", "casing"]
    assert row.generator["seeds"] == {name: perturber.operator_seed(name) for name in SEVERITIES}
    assert (row.prompt, row.image_sha256) == (made.prompt, sha256_of(made.png))
    assert row.truth == made.truth.boxes.tolist()


def test_boxes_and_the_lenient_reading_are_read_from_the_words(place):
    cut = f"{RIGHT[:-1]}, {{"

    row, _, _ = row_of(place, text=cut, status=AnswerStatus.MALFORMED, iou=0.0, finish_reason="length")

    assert (row.status, row.iou, row.boxes) == ("malformed", 0.0, [])
    assert (row.lenient_status, row.lenient_iou) == ("boxes", pytest.approx(1.0))
    assert (row.raw_text, row.finish_reason, row.reading_reason) == (cut, "length", "truncated")
    assert (row.f1, row.is_failure) == (0.0, False)


def test_boxes_on_an_input_that_changed_too_much_are_no_failure(place):
    row, _, _ = row_of(place, fidelity=Fidelity(0.3, 0.0), reason=ReturnReason.UNFAITHFUL)

    assert (row.is_failure, row.is_faithful, row.reason) == (False, False, "unfaithful")


def test_a_case_without_a_perturbation_is_the_seed_image_itself(place):
    row, _, _ = row_of(
        place, severities={}, iou=0.8, fidelity=Fidelity(0.0, 0.0), reason=ReturnReason.CLOSEST
    )

    assert (row.image_sha256, row.severities) == (place.picture.image_sha256, {})
    assert (row.ms_ssim, row.ned, row.swtd) == (1.0, 0.0, 0.5)


def test_the_words_of_an_evaluation_are_its_reply(place):
    evaluation = Evaluation(
        raw_text=RIGHT, finish_reason="length", seen_width=64, seen_height=48, latency_ms=5.0
    )

    said = stored_reply(evaluation)

    assert said.evaluation is evaluation
    assert said.reply == SutReply(RIGHT, "length", 5.0, seen_size=(64, 48))
    assert stored_reply(Evaluation(error="The server did not answer.")).reply.is_call_error


def test_only_acting_operators_are_named(place):
    perturber = perturber_of(place)

    named = acting_severities(perturber, perturber.space.strategy({"casing": 0.5, "contrast": 0.0}))

    assert named == {"casing": 0.5}
