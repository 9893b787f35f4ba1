"""Autosave: the newest state wins, an older tab is told, and nothing that is no draft is stored."""

import pytest

from humanstudy.enums import ParticipantState
from humanstudy.models import Draft, Slot
from humanstudy.services.drafts import DraftConflictError, ParticipationOverError, save_draft
from tests.humanstudy.study_factory import TRUTH, make_participant, make_study, run_out
from vlmlab.core.studies.answer_checks import AnswerError

pytestmark = pytest.mark.django_db
BOXES = {"boxes": TRUTH, "choice": "", "text": ""}


def at_work(**values):
    participant = make_participant(make_study(**values))
    return participant, participant.subset.cases.first()


def save(participant, case, revision, content=BOXES, ms=1_000):
    return save_draft(participant, case, revision=revision, content=content, ms_on_case=ms)


def test_each_save_is_one_revision_on():
    participant, case = at_work()

    revisions = [save(participant, case, number).revision for number in range(3)]

    draft = Draft.objects.get()
    assert revisions == [1, 2, 3]
    assert (draft.revision, draft.content, draft.ms_on_case) == (3, BOXES, 1_000)


@pytest.mark.parametrize("revision", [0, 1, 7])
def test_a_tab_that_began_from_another_revision_is_told_what_is_stored(revision):
    participant, case = at_work()
    save(participant, case, 0)
    save(participant, case, 1, {"boxes": [], "choice": "none", "text": ""})

    with pytest.raises(DraftConflictError) as raised:
        save(participant, case, revision)

    assert (raised.value.draft.revision, raised.value.draft.content["choice"]) == (2, "none")
    assert Draft.objects.get().content["choice"] == "none"


def test_a_save_keeps_the_slot_and_a_late_one_gets_it_back():
    participant, case = at_work(slots=1)
    run_out(participant)

    saved = save(participant, case, 0)

    assert saved.has_slot
    assert Slot.objects.get().lease_expires > saved.saved_at


def test_a_save_without_a_slot_is_kept_and_says_so():
    participant, case = at_work(slots=1)
    run_out(participant)
    make_participant(participant.study)
    participant.refresh_from_db()

    saved = save(participant, case, 0)

    assert (saved.has_slot, Draft.objects.count()) == (False, 1)


@pytest.mark.parametrize("state", [ParticipantState.SUBMITTED, ParticipantState.WITHDRAWN])
def test_after_the_end_nothing_is_saved(state):
    participant, case = at_work()
    participant.state = state

    with pytest.raises(ParticipationOverError):
        save(participant, case, 0)

    assert not Draft.objects.exists()


@pytest.mark.parametrize(
    ("content", "field"),
    [
        (None, "content"),
        ([], "content"),
        ({"boxes": [[0, 0, 1000, 10]]}, "boxes"),
        ({"boxes": "x"}, "boxes"),
        ({"choice": "maybe"}, "choice"),
        ({"text": 7}, "choice"),
        ({"text": "x" * 2_001}, "text"),
        ({"text": "a\x00"}, "text"),
    ],
)
def test_what_is_no_draft_is_refused_at_its_field(content, field):
    participant, case = at_work()

    with pytest.raises(AnswerError) as raised:
        save(participant, case, 0, content)

    assert raised.value.field == field
    assert not Draft.objects.exists()


@pytest.mark.parametrize(
    ("ms", "kept"), [(-5, 0), ("x", 0), (True, 0), (1e300, 0), (10**12, 86_400_000), (7.9, 7)]
)
def test_times_that_are_none_are_left_out(ms, kept):
    participant, case = at_work()

    save(participant, case, 0, ms=ms)

    assert Draft.objects.get().ms_on_case == kept


@pytest.mark.parametrize("revision", [1, 7, "x", None, [], 10**30])
def test_where_nothing_is_stored_no_revision_is_older(revision):
    participant, case = at_work()

    saved = save(participant, case, revision)

    assert (saved.revision, Draft.objects.get().content) == (1, BOXES)


@pytest.mark.parametrize("revision", ["1", None, [], {}, 10**30, -1])
def test_a_revision_that_is_none_of_ours_is_a_conflict(revision):
    participant, case = at_work()
    save(participant, case, 0)

    with pytest.raises(DraftConflictError):
        save(participant, case, revision)

    assert Draft.objects.get().revision == 1


@pytest.mark.parametrize("choice", [[], {}, ["none"], None, 0])
def test_a_choice_that_is_no_text_is_refused(choice):
    participant, case = at_work()

    with pytest.raises(AnswerError) as raised:
        save(participant, case, 0, {"choice": choice})

    assert raised.value.field == "choice"


def test_a_case_of_another_subset_or_of_the_training_is_not_saved():
    participant, _ = at_work(n_subsets=2)
    others = participant.study.cases.exclude(subset=participant.subset)

    for case in others:
        with pytest.raises(ValueError, match="case must be of subset"):
            save(participant, case, 0)

    assert [others.count(), Draft.objects.count()] == [6, 0]
