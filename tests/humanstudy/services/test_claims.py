"""Slots: who gets one, who loses one, and that two people never hold the same."""

import threading
from collections import Counter
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from humanstudy.enums import ParticipantState, StudyState
from humanstudy.models import Participant, Slot, Study
from humanstudy.services.claims import (
    StudyFullError,
    StudyNotOpenError,
    claim_place,
    expire_claims,
    extend_claim,
    fill_slot,
    free_slot,
    open_slots,
)
from tests.humanstudy.study_factory import arrival, make_participant, make_study, run_out

pytestmark = pytest.mark.django_db


def held(participant):
    return Slot.objects.filter(holder=participant).count()


def state_of(participant):
    return Participant.objects.get(pk=participant.pk).state


def test_somebody_new_gets_a_slot_with_a_lease_and_an_order_of_their_own():
    study = make_study()

    first, second = make_participant(study), make_participant(study)

    assert (held(first), held(second), open_slots(study)) == (1, 1, 0)
    assert first.subset == study.subsets.get()
    assert first.slot.lease_expires > first.started_at
    assert first.order_seed != second.order_seed
    assert len({first.code, second.code}) == 2


def test_the_same_person_comes_back_to_their_participation_whatever_became_of_it():
    study = make_study()
    first = claim_place(study, arrival(study, "ann"))
    Participant.objects.filter(pk=first.pk).update(state=ParticipantState.SUBMITTED)
    study.state = StudyState.CLOSED
    study.save()

    again = claim_place(study, arrival(study, "ann"))

    assert (again.pk, Participant.objects.count()) == (first.pk, 1)


def test_a_full_study_stores_nothing_of_the_person():
    study = make_study(slots=1)
    make_participant(study)

    with pytest.raises(StudyFullError):
        make_participant(study)

    assert Participant.objects.count() == 1


@pytest.mark.parametrize("state", [StudyState.DRAFT, StudyState.PAUSED, StudyState.CLOSED])
def test_a_study_that_is_not_open_takes_nobody_new(state):
    with pytest.raises(StudyNotOpenError):
        make_participant(make_study(state=state))

    assert not Participant.objects.exists()


def test_the_subset_with_the_fewest_answers_and_live_claims_comes_first():
    study = make_study(n_subsets=3, slots=2)
    one, two, three = study.subsets.all()

    got = [make_participant(study).subset for _ in range(3)]
    fill_slot(Participant.objects.get(subset=one))
    free_slot(Participant.objects.get(subset=two))
    after = make_participant(study).subset

    assert got == [one, two, three]
    assert after == two


def test_a_claim_that_ran_out_is_given_to_the_next_and_its_holder_is_told():
    study = make_study(slots=1)
    late = make_participant(study)
    run_out(late)

    new = make_participant(study)

    assert (held(late), held(new)) == (0, 1)
    assert (state_of(late), state_of(new)) == (ParticipantState.EXPIRED, ParticipantState.ACTIVE)


def test_somebody_late_gets_the_slot_back_while_nobody_took_it():
    study = make_study(slots=1)
    late = make_participant(study)
    run_out(late)
    expire_claims(study)
    late.refresh_from_db()

    has_slot = extend_claim(late)

    assert (has_slot, held(late), open_slots(study)) == (True, 1, 0)
    assert state_of(late) == ParticipantState.ACTIVE


def test_somebody_late_gets_another_slot_of_the_subset_and_none_where_all_are_taken():
    study = make_study(slots=2)
    late = make_participant(study)
    run_out(late)
    taker, other = make_participant(study), make_participant(study)
    late.refresh_from_db()

    without = extend_claim(late)
    free_slot(other)
    with_one = extend_claim(late)

    assert (held(taker), without, with_one, held(late)) == (1, False, True, 1)


def test_work_extends_the_lease_but_is_not_written_with_every_save(django_assert_num_queries):
    study = make_study()
    participant = make_participant(study)
    run_out(participant)

    extend_claim(participant)
    first = Slot.objects.get(holder=participant).lease_expires
    extend_claim(participant)

    assert Slot.objects.get(holder=participant).lease_expires == first
    assert not expire_claims(study)


def test_a_filled_slot_is_never_taken():
    study = make_study(slots=1)
    participant = make_participant(study)
    fill_slot(participant)

    with pytest.raises(StudyFullError):
        make_participant(study)


def test_a_preview_takes_no_slot_and_may_look_at_a_draft():
    study = make_study(state=StudyState.DRAFT, slots=1)

    one = claim_place(study, arrival(study, "ann", is_preview=True))
    two = claim_place(study, arrival(study, "ann", is_preview=True))

    assert one.pk != two.pk
    assert (one.subset.number, held(one), open_slots(study), extend_claim(one)) == (1, 0, 1, False)


def together(number, act):
    """Let threads act at the same moment; return what each gave or the error it met."""
    start, results = threading.Barrier(number), [None] * number

    def work(index):
        try:
            start.wait()
            results[index] = act(index)
        except Exception as error:
            results[index] = error
        finally:
            connection.close()

    threads = [threading.Thread(target=work, args=(index,)) for index in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_of_80_claims_at_once_for_20_slots_20_win_and_60_are_told_that_it_is_full():
    study = make_study(slots=20, n_cases=1, checks=False)

    results = together(80, lambda index: claim_place(study, arrival(study, f"p{index}")))

    kinds = Counter(type(one).__name__ for one in results)
    assert kinds == {"Participant": 20, "StudyFullError": 60}
    assert Participant.objects.count() == 20
    assert Slot.objects.exclude(holder=None).values("holder").distinct().count() == 20


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_one_person_who_presses_ten_times_at_once_has_one_participation():
    study = make_study(slots=20, n_cases=1, checks=False)

    results = together(10, lambda index: claim_place(study, arrival(study, "ann")))

    assert {type(one).__name__ for one in results} == {"Participant"}
    assert len({one.pk for one in results}) == 1
    assert Slot.objects.exclude(holder=None).count() == 1


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_claims_that_ran_out_are_taken_once_each():
    study = make_study(slots=5, n_cases=1, checks=False)
    late = [make_participant(study) for _ in range(5)]
    for participant in late:
        run_out(participant)

    results = together(15, lambda index: claim_place(study, arrival(study, f"n{index}")))

    assert Counter(type(one).__name__ for one in results) == {"Participant": 5, "StudyFullError": 10}
    assert {state_of(one) for one in late} == {ParticipantState.EXPIRED}
    assert Slot.objects.exclude(holder=None).values("holder").distinct().count() == 5


def test_a_study_that_was_paused_since_it_was_read_takes_nobody_new():
    study = make_study()
    Study.objects.filter(pk=study.pk).update(state=StudyState.PAUSED)

    with pytest.raises(StudyNotOpenError):
        make_participant(study)

    assert not Participant.objects.exists()


def test_somebody_late_who_comes_back_gets_a_slot_again():
    study = make_study(slots=1)
    late = make_participant(study, "ann")
    run_out(late)
    expire_claims(study)

    again = claim_place(study, arrival(study, "ann"))

    assert (again, again.state, held(again), open_slots(study)) == (late, ParticipantState.ACTIVE, 1, 0)


@pytest.mark.parametrize(
    "values",
    [
        {"state": ParticipantState.SUBMITTED},
        {"state": ParticipantState.WITHDRAWN},
        {"excluded_at": timezone.now(), "state": ParticipantState.EXPIRED},
    ],
)
def test_a_page_that_does_not_know_of_the_end_gets_no_slot(values):
    study = make_study(slots=1)
    participant = make_participant(study, "ann")
    free_slot(participant)
    Participant.objects.filter(pk=participant.pk).update(**values)  # the object here says "working"

    has_slot = extend_claim(participant)
    again = claim_place(study, arrival(study, "ann"))

    assert (has_slot, again.pk, held(participant), open_slots(study)) == (False, participant.pk, 0, 1)


@pytest.mark.parametrize("minutes", [1, 2, 60])
def test_a_lease_is_renewed_long_before_it_is_over(minutes):
    study = make_study(claim_minutes=minutes)
    participant = make_participant(study)
    half = timezone.now() + timedelta(minutes=minutes / 2)
    Slot.objects.filter(holder=participant).update(lease_expires=half)

    extend_claim(participant)

    assert Slot.objects.get(holder=participant).lease_expires > half + timedelta(minutes=minutes / 3)


def test_a_slot_whose_submission_is_deleted_can_be_taken():
    study = make_study(slots=1)
    gone = make_participant(study)
    fill_slot(gone)
    gone.delete()

    new = make_participant(study)

    slot = Slot.objects.get()
    assert (slot.holder, slot.is_filled, open_slots(study)) == (new, False, 0)


def test_the_claim_of_somebody_at_work_is_not_marked_as_over():
    study = make_study(slots=2)
    late, working = make_participant(study), make_participant(study)
    run_out(late)

    assert (expire_claims(study), state_of(late), state_of(working)) == (
        1,
        ParticipantState.EXPIRED,
        ParticipantState.ACTIVE,
    )


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_late_people_who_save_while_others_take_their_slots_wait_for_nobody_and_double_none():
    study = make_study(slots=6, n_cases=1, checks=False)
    late = [make_participant(study) for _ in range(6)]
    for participant in late:
        run_out(participant)

    def act(index):
        if index % 2:
            return claim_place(study, arrival(study, f"n{index}"))
        return extend_claim(late[index // 2])

    results = together(12, act)

    assert {type(one).__name__ for one in results} <= {"Participant", "StudyFullError", "bool"}
    new = [one for one in results if isinstance(one, Participant)]
    assert sum(held(one) for one in late) == sum(one is True for one in results if one is not None)
    assert [held(one) for one in new] == [1] * len(new)
    assert Slot.objects.exclude(holder=None).values("holder").distinct().count() == 6
