"""The end of a participation: submitted, surplus, excluded, withdrawn."""

import pytest

from humanstudy.enums import CaseRole, ParticipantState, PaymentState
from humanstudy.models import Assessment, Draft, Participant, PaymentRecord, ProblemReport, Slot
from humanstudy.services.assessments import record_assessment
from humanstudy.services.case_orders import ordered_case_ids, progress_of
from humanstudy.services.claims import StudyFullError, claim_place, extend_claim, open_slots
from humanstudy.services.drafts import DraftConflictError, ParticipationOverError, save_draft
from humanstudy.services.participants import (
    find_participant,
    move_participant,
    participant_token,
    valid_participants,
)
from humanstudy.services.pseudonyms import BadLinkError
from humanstudy.services.submissions import (
    NotFinishedError,
    check_verdicts,
    exclude_participant,
    include_participant,
    report_problem,
    submit_participation,
    withdraw_participation,
)
from searches.models import AuditEntry
from tests.factories import make_user
from tests.humanstudy.services.test_claims import together
from tests.humanstudy.study_factory import arrival, given, make_participant, make_study, run_out
from vlmlab.core.errors import VlmLabError

pytestmark = pytest.mark.django_db


def answer_all(participant, **by_role):
    for case in participant.subset.cases.all():
        record_assessment(participant, case, given(case, **by_role.get(case.role, {})))
    return participant


def finished(study, **by_role):
    participant = answer_all(make_participant(study), **by_role)
    return submit_participation(participant).participant


def filled(study):
    return Slot.objects.filter(subset__study=study, is_filled=True).count()


def test_a_submission_fills_its_slot_and_is_owed_its_payment():
    study = make_study()
    participant = answer_all(make_participant(study))
    PaymentRecord.objects.create(study=study, participant=participant, platform="link", amount="2.50")

    done = submit_participation(participant, comment=" Thanks ").participant

    assert (done.state, done.checks_passed, done.is_surplus) == (ParticipantState.SUBMITTED, True, False)
    assert (done.comment, filled(study)) == ("Thanks", 1)
    assert PaymentRecord.objects.get().state == PaymentState.OWED
    assert list(valid_participants()) == [done]


def test_a_second_submission_changes_nothing():
    study = make_study()
    done = finished(study)
    before = done.submitted_at

    again = submit_participation(done, comment="other words")

    assert (again.is_repeat, again.participant.submitted_at, again.participant.comment) == (True, before, "")


def test_what_is_not_finished_is_not_submitted_and_the_first_missing_case_is_named():
    participant = make_participant(make_study())
    first = participant.subset.cases.get(pk=ordered_case_ids(participant)[0])
    record_assessment(participant, first, given(first))

    with pytest.raises(NotFinishedError, match="Case 2 has no answer yet"):
        submit_participation(participant)

    assert progress_of(participant).n_done == 1


WRONG_EASY = {CaseRole.CHECK_EASY: {"boxes": [[50.0, 40.0, 60.0, 47.0]]}}
WRONG_INSTRUCTED = {CaseRole.CHECK_INSTRUCTED: {"reason": "image"}}


@pytest.mark.parametrize(
    ("wrong", "passed", "slots"),
    [(WRONG_EASY, True, 1), (WRONG_INSTRUCTED, True, 1), (WRONG_EASY | WRONG_INSTRUCTED, False, 0)],
)
def test_only_who_fails_every_check_is_invalid_and_gives_the_slot_back(wrong, passed, slots):
    study = make_study()

    done = finished(study, **wrong)

    assert (done.checks_passed, filled(study), valid_participants().count()) == (passed, slots, slots)


def test_a_late_submission_whose_place_was_taken_is_surplus_and_counts():
    study = make_study(slots=1)
    late = answer_all(make_participant(study))
    run_out(late)
    taker = make_participant(study)
    late.refresh_from_db()

    done = submit_participation(late).participant

    assert (done.state, done.is_surplus) == (ParticipantState.SUBMITTED, True)
    assert Slot.objects.get().holder == taker
    assert done in valid_participants()


def test_a_late_submission_whose_place_nobody_took_fills_it():
    study = make_study(slots=1)
    late = answer_all(make_participant(study))
    run_out(late)

    done = submit_participation(late).participant

    assert (done.is_surplus, filled(study)) == (False, 1)


def test_an_exclusion_keeps_the_answers_says_why_and_opens_the_slot():
    study, person = make_study(slots=1), make_user()
    done = finished(study)

    exclude_participant(done, reason=" one box everywhere ", by=person)

    done.refresh_from_db()
    assert (done.excluded_reason, done.excluded_by) == ("one box everywhere", person)
    assert (Assessment.objects.count(), open_slots(study), valid_participants().count()) == (5, 1, 0)
    assert AuditEntry.objects.get().after == {"reason": "one box everywhere"}


def test_who_is_included_again_is_surplus_where_the_slot_was_filled_meanwhile():
    study, person = make_study(slots=1), make_user()
    first = finished(study)
    exclude_participant(first, reason="fast", by=person)
    second = finished(study)
    first.refresh_from_db()

    include_participant(first, by=person)

    first.refresh_from_db()
    assert (first.is_surplus, first.excluded_at, Slot.objects.get().holder) == (True, None, second)


@pytest.mark.parametrize("reason", ["", "   "])
def test_nobody_is_excluded_without_a_reason_or_twice(reason):
    done, person = finished(make_study()), make_user()

    with pytest.raises(VlmLabError, match="Say why"):
        exclude_participant(done, reason=reason, by=person)
    exclude_participant(done, reason="fast", by=person)
    with pytest.raises(VlmLabError, match="already"):
        exclude_participant(done, reason="fast", by=person)


@pytest.mark.parametrize("is_submitted", [True, False])
def test_a_withdrawal_deletes_every_answer_and_word_and_keeps_the_payment(is_submitted):
    study = make_study(slots=1)
    participant = answer_all(make_participant(study))
    PaymentRecord.objects.create(study=study, participant=participant, platform="link")
    report_problem(participant, "It is dark.")
    if is_submitted:
        participant = submit_participation(participant, comment="words").participant

    withdraw_participation(participant)
    withdraw_participation(participant)

    participant.refresh_from_db()
    assert (participant.state, participant.comment) == (ParticipantState.WITHDRAWN, "")
    assert [model.objects.count() for model in (Assessment, Draft, ProblemReport)] == [0, 0, 0]
    assert (open_slots(study), PaymentRecord.objects.count()) == (1, 1)


def test_who_withdrew_cannot_submit():
    participant = answer_all(make_participant(make_study()))
    withdraw_participation(participant)
    participant.refresh_from_db()

    with pytest.raises(VlmLabError, match="withdrawn"):
        submit_participation(participant)


def test_a_participant_is_found_by_their_link_alone(django_assert_num_queries):
    participant = make_participant(make_study())
    token = participant_token(participant)

    with django_assert_num_queries(1):
        found = find_participant(token)

    assert found == participant
    for wrong in (token[:-1] + "x", "f" * 48, ""):
        with pytest.raises(BadLinkError):
            find_participant(wrong)


def test_moves_that_are_not_in_the_table_are_refused():
    with pytest.raises(ValueError, match="may not move from withdrawn to active"):
        move_participant(1, frm=ParticipantState.WITHDRAWN, to=ParticipantState.ACTIVE)


def test_the_order_is_the_participants_own_and_checks_are_neither_first_nor_last():
    study = make_study(n_cases=12, slots=3)
    participants = [make_participant(study) for _ in range(3)]

    orders = [ordered_case_ids(one) for one in participants]

    checks = set(study.cases.filter(role__in=("check_easy", "check_instructed")).values_list("pk", flat=True))
    assert orders == [ordered_case_ids(one) for one in participants]
    assert len(set(orders)) == 3
    assert all(not {order[0], order[-1]} & checks for order in orders)
    assert {len(order) for order in orders} == {14}


@pytest.mark.parametrize("text", ["", " ", "x" * 4_001])
def test_a_problem_needs_words(text):
    with pytest.raises(VlmLabError, match="Write what is wrong"):
        report_problem(make_participant(make_study()), text)


def test_a_page_that_does_not_know_of_a_withdrawal_stores_nothing_more():
    participant = make_participant(make_study())
    case = participant.subset.cases.first()
    withdraw_participation(participant)  # the object here still says that they are working

    with pytest.raises(ParticipationOverError):
        record_assessment(participant, case, given(case))
    with pytest.raises(ParticipationOverError):
        save_draft(participant, case, revision=0, content={"boxes": []}, ms_on_case=0)

    assert [model.objects.count() for model in (Assessment, Draft)] == [0, 0]


def test_who_is_excluded_at_work_goes_on_without_a_slot_and_fills_none():
    study, person = make_study(slots=1), make_user()
    participant = make_participant(study)
    exclude_participant(participant, reason="a bot", by=person)
    answer_all(participant)  # the object here does not know of it

    done = submit_participation(participant).participant

    assert (done.state, done.is_surplus, done.excluded_reason) == (ParticipantState.SUBMITTED, False, "a bot")
    assert (filled(study), open_slots(study), valid_participants().count()) == (0, 1, 0)


def test_who_is_included_again_at_work_gets_a_slot_with_the_next_save():
    study, person = make_study(slots=1), make_user()
    participant = make_participant(study)
    exclude_participant(participant, reason="a bot", by=person)
    include_participant(participant, by=person)
    open_before = open_slots(study)

    saved = save_draft(participant, participant.subset.cases.first(), revision=0, content={}, ms_on_case=0)

    participant.refresh_from_db()
    assert (open_before, saved.has_slot, open_slots(study)) == (1, True, 0)
    assert participant.state == ParticipantState.ACTIVE


def test_who_withdrew_is_given_no_slot_by_an_inclusion_from_an_older_page():
    study, person = make_study(slots=1), make_user()
    done = finished(study)
    exclude_participant(done, reason="fast", by=person)
    withdraw_participation(done)  # the object here still says "submitted" and knows of no exclusion

    include_participant(done, by=person)

    assert (filled(study), open_slots(study)) == (0, 1)
    assert AuditEntry.objects.get(verb="included again").before == {"reason": "fast"}


def test_a_preview_that_is_excluded_and_included_fills_no_slot():
    study, person = make_study(slots=1), make_user()
    preview = claim_place(study, arrival(study, is_preview=True))
    submit_participation(answer_all(preview))
    exclude_participant(preview, reason="ours", by=person)

    include_participant(preview, by=person)

    assert (filled(study), open_slots(study)) == (0, 1)


@pytest.mark.parametrize("end", ["excluded", "withdrawn"])
def test_a_slot_that_opens_again_is_filled_by_who_is_surplus_before_anybody_new(end):
    study, person = make_study(slots=1), make_user()
    late = answer_all(make_participant(study))
    run_out(late)
    first = finished(study)
    surplus = submit_participation(late).participant

    if end == "excluded":
        exclude_participant(first, reason="fast", by=person)
    else:
        withdraw_participation(first)

    surplus.refresh_from_db()
    assert (surplus.is_surplus, Slot.objects.get().holder, filled(study)) == (False, surplus, 1)
    assert open_slots(study) == 0


def test_a_claim_that_runs_out_goes_to_who_is_surplus_and_nobody_new_is_asked():
    study = make_study(slots=1)
    late = answer_all(make_participant(study))
    run_out(late)
    taker = make_participant(study)
    submit_participation(late)
    run_out(taker)
    open_before = open_slots(study)

    with pytest.raises(StudyFullError):
        make_participant(study)

    late.refresh_from_db()
    assert (open_before, late.is_surplus, Slot.objects.get().holder) == (0, False, late)


@pytest.mark.parametrize("told", ["", None])
def test_an_instructed_check_that_tells_nothing_is_not_passed_by_any_answer(told):
    study = make_study()
    study.cases.filter(role=CaseRole.CHECK_INSTRUCTED).update(facts={"expected": told})
    empty = {"status": "empty", "boxes": [], "reason": ""}

    participant = answer_all(make_participant(study), **{CaseRole.CHECK_INSTRUCTED: empty})

    assert sorted(check_verdicts(participant)) == [False, True]


@pytest.mark.parametrize("text", ["a\x00b", "\ud800"])
def test_words_that_no_database_takes_are_refused_at_their_field(text):
    participant, person = answer_all(make_participant(make_study())), make_user()
    for field, act in (
        ("comment", lambda: submit_participation(participant, comment=text)),
        ("text", lambda: report_problem(participant, text)),
        ("reason", lambda: exclude_participant(participant, reason=text, by=person)),
    ):
        with pytest.raises(VlmLabError, match="cannot be stored") as raised:
            act()
        assert raised.value.field == field


def test_a_page_that_does_not_know_of_a_withdrawal_reports_nothing():
    participant = make_participant(make_study())
    withdraw_participation(participant)

    with pytest.raises(ParticipationOverError):
        report_problem(participant, "It is dark.")

    assert not ProblemReport.objects.exists()


def test_a_problem_names_a_case_of_its_study_only():
    participant, other = make_participant(make_study()), make_participant(make_study())
    own, foreign = participant.subset.cases.first(), other.subset.cases.first()

    reports = [report_problem(participant, "Dark.", case_id=one) for one in (own.pk, foreign.pk, 10**6, None)]

    assert [one.case for one in reports] == [own, None, None, None]


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("n_late", range(3))
def test_whatever_happens_at_once_no_slot_is_lost_or_doubled(n_late):
    study, person = make_study(slots=3, n_cases=1, checks=False), make_user()
    people = [answer_all(make_participant(study)) for _ in range(3)]
    for one in people[:n_late]:
        run_out(one)
    case = people[0].subset.cases.get()
    acts = (
        submit_participation,
        lambda one: exclude_participant(one, reason="fast", by=person),
        lambda one: save_draft(one, case, revision=1, content={}, ms_on_case=0),
        lambda one: withdraw_participation(one) if one == people[0] else extend_claim(one),
        lambda one: claim_place(study, arrival(study)),
    )

    results = together(15, lambda index: acts[index % 5](people[index // 5]))

    errors = {type(one) for one in results if isinstance(one, Exception)}
    assert errors <= {VlmLabError, ParticipationOverError, DraftConflictError, StudyFullError}
    filling = {slot.holder for slot in Slot.objects.filter(is_filled=True)}
    assert filling == set(valid_participants().filter(is_surplus=False))
    withdrawn = Participant.objects.get(pk=people[0].pk)
    assert (withdrawn.state, Assessment.objects.filter(participant=withdrawn).count()) == ("withdrawn", 0)
    for slot in Slot.objects.exclude(holder=None):
        assert (slot.holder.excluded_at, slot.holder.state in ("active", "submitted")) == (None, True)
