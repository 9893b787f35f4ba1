"""Answers: stored once, never changed, checked against the very case."""

from uuid import uuid4

import pytest

from humanstudy.enums import ParticipantState
from humanstudy.models import Assessment, Draft
from humanstudy.services.assessments import record_assessment
from humanstudy.services.drafts import DraftConflictError, ParticipationOverError, save_draft
from tests.humanstudy.services.test_claims import together
from tests.humanstudy.study_factory import TRUTH, given, make_participant, make_study
from vlmlab.core.studies.answer_checks import AnswerError

pytestmark = pytest.mark.django_db


@pytest.fixture
def participant():
    return make_participant(make_study())


@pytest.fixture
def case(participant):
    return participant.subset.cases.first()


def test_an_answer_is_kept_with_its_facts_and_its_set_iou(participant, case):
    boxes = [[10.0, 10.0, 40.0, 25.0]]  # half of the truth

    receipt = record_assessment(participant, case, given(case, boxes=boxes))

    one = Assessment.objects.get()
    assert (receipt.assessment, receipt.is_repeat) == (one, False)
    assert (one.status, one.boxes, one.set_iou) == ("drawn", boxes, pytest.approx(0.5))
    assert (one.ms_on_case, one.pointer_type, one.zoom, one.undo_count) == (9_000, "mouse", 1.0, 0)
    assert (one.image_sha256, one.version, one.is_current) == (case.image_sha256, 1, True)


@pytest.mark.parametrize(
    ("values", "iou"),
    [
        ({"status": "empty", "boxes": []}, 0.0),
        ({"status": "rejected", "boxes": [], "reason": "image"}, None),
        ({"status": "rejected", "boxes": [], "reason": "other", "reason_text": " too dark "}, None),
    ],
)
def test_an_empty_answer_is_an_acceptance_and_a_rejection_has_no_iou(participant, case, values, iou):
    record_assessment(participant, case, given(case, **values))

    one = Assessment.objects.get()
    assert (one.status, one.set_iou, one.reason_text) == (
        values["status"],
        iou,
        values.get("reason_text", "").strip(),
    )


def test_the_same_key_again_is_the_same_answer_even_after_the_end(participant, case):
    answer = given(case)
    first = record_assessment(participant, case, answer)
    participant.state = ParticipantState.SUBMITTED

    again = record_assessment(participant, case, answer)

    assert (again.assessment, again.is_repeat, Assessment.objects.count()) == (first.assessment, True, 1)


def test_another_answer_is_a_new_row_and_the_first_stays_as_it_was(participant, case):
    first = record_assessment(participant, case, given(case)).assessment

    second = record_assessment(participant, case, given(case, status="empty", boxes=[])).assessment

    rows = Assessment.objects.values_list("pk", "version", "is_current", "status")
    assert list(rows) == [(first.pk, 1, False, "drawn"), (second.pk, 2, True, "empty")]


def test_a_key_belongs_to_one_case(participant, case):
    other = participant.subset.cases.all()[1]
    answer = given(case)
    record_assessment(participant, case, answer)

    with pytest.raises(AnswerError, match="another case"):
        record_assessment(participant, other, given(other, client_key=answer.client_key))


def test_an_older_tab_cannot_save_over_an_answer(participant, case):
    save_draft(participant, case, revision=0, content={"boxes": []}, ms_on_case=0)
    record_assessment(participant, case, given(case))

    with pytest.raises(DraftConflictError) as raised:
        save_draft(participant, case, revision=1, content={"boxes": []}, ms_on_case=0)

    assert raised.value.draft.content == {"boxes": TRUTH, "choice": "", "text": ""}


def test_the_draft_of_a_case_says_what_was_answered(participant, case):
    record_assessment(participant, case, given(case, status="rejected", boxes=[], reason="prompt"))

    assert Draft.objects.get().content == {"boxes": [], "choice": "prompt", "text": ""}


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"image_sha256": "0" * 64}, "image"),
        ({"natural_width": 48, "natural_height": 64}, "image"),
        ({"natural_width": "64"}, "image"),
        ({"boxes": []}, "boxes"),
        ({"boxes": [[0, 0, 65, 10]]}, "boxes"),
        ({"status": "rejected", "reason": "image"}, "boxes"),
        ({"status": "rejected", "boxes": [], "reason": "other"}, "reason_text"),
        ({"status": "maybe"}, "status"),
    ],
)
def test_an_answer_that_does_not_fit_its_case_is_refused_at_its_field(participant, case, values, field):
    with pytest.raises(AnswerError) as raised:
        record_assessment(participant, case, given(case, **values))

    assert raised.value.field == field
    assert not Assessment.objects.exists()


@pytest.mark.parametrize("state", [ParticipantState.SUBMITTED, ParticipantState.WITHDRAWN])
def test_after_the_end_no_new_answer_is_taken(participant, case, state):
    participant.state = state

    with pytest.raises(ParticipationOverError):
        record_assessment(participant, case, given(case))


def test_facts_that_make_no_sense_are_left_out(participant, case):
    facts = {
        "css_width": -1,
        "zoom": "big",
        "device_pixel_ratio": 1e9,
        "pointer_type": "<b>",
        "undo_count": None,
    }

    record_assessment(participant, case, given(case, facts=facts))

    one = Assessment.objects.get()
    assert (one.css_width, one.zoom, one.device_pixel_ratio, one.pointer_type, one.undo_count) == (
        None,
        None,
        None,
        "",
        0,
    )


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_30_identical_posts_at_once_make_one_row():
    participant = make_participant(make_study())
    case = participant.subset.cases.first()
    answer = given(case)

    results = together(30, lambda _: record_assessment(participant, case, answer))

    assert {type(one).__name__ for one in results} == {"Receipt"}
    assert sorted(one.is_repeat for one in results) == [False] + [True] * 29
    assert Assessment.objects.count() == 1


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_two_tabs_that_answer_at_once_leave_one_current_answer():
    participant = make_participant(make_study())
    case = participant.subset.cases.first()

    results = together(6, lambda _: record_assessment(participant, case, given(case, client_key=uuid4())))

    assert {type(one).__name__ for one in results} == {"Receipt"}
    assert sorted(Assessment.objects.values_list("version", flat=True)) == [1, 2, 3, 4, 5, 6]
    assert Assessment.objects.filter(is_current=True).count() == 1


@pytest.mark.parametrize("facts", [None, [], "x", 7, {"pointer_type": []}, {"pointer_type": {"a": [[]]}}])
def test_facts_that_are_none_are_left_out(participant, case, facts):
    record_assessment(participant, case, given(case, facts=facts))

    one = Assessment.objects.get()
    assert (one.pointer_type, one.ms_on_case, one.zoom) == ("", 0, None)


@pytest.mark.parametrize("wrong", [None, 0, False, [], {}, ["image"]])
@pytest.mark.parametrize("field", ["status", "reason", "reason_text"])
def test_an_answer_with_something_else_than_text_is_refused_at_its_field(participant, case, field, wrong):
    rejected = {"status": "rejected", "boxes": [], "reason": "image"}

    with pytest.raises(AnswerError) as raised:
        record_assessment(participant, case, given(case, **rejected | {field: wrong}))

    assert (raised.value.field, Assessment.objects.count()) == (field, 0)


@pytest.mark.parametrize(
    "size", [pytest.param(10**5_000, id="huge"), pytest.param("x" * 100_000, id="long"), [[]], None]
)
def test_a_refusal_does_not_repeat_what_a_page_sent(participant, case, size):
    with pytest.raises(AnswerError) as raised:
        record_assessment(participant, case, given(case, natural_width=size))

    assert raised.value.message == "The picture is not shown with its 64 x 48 pixels."


def test_nobody_answers_a_case_of_another_subset():
    one = make_participant(make_study(n_subsets=2))
    case = one.study.subsets.exclude(pk=one.subset_id).get().cases.first()

    with pytest.raises(ValueError, match="case must be of subset"):
        record_assessment(one, case, given(case))

    assert not Assessment.objects.exists()
