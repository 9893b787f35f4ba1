"""The end of a participation: submitted, excluded by a person, or withdrawn."""

from dataclasses import dataclass

from django.db import transaction
from django.db.models.functions import Now
from django.utils import timezone

from humanstudy.enums import CHECK_ROLES, AnswerStatus, CaseRole, ParticipantState, PaymentState
from humanstudy.models import Assessment, Draft, Participant, PaymentRecord, ProblemReport, StudyCase
from humanstudy.services.case_orders import progress_of
from humanstudy.services.claims import WORKING, fill_slot, free_slot
from humanstudy.services.drafts import check_working
from humanstudy.services.participants import locked, move_participant, valid_participants
from searches.models import User
from searches.services.audit import record
from vlmlab.core.errors import VlmLabError
from vlmlab.core.storable_values import is_storable
from vlmlab.core.studies.quality import checks_passed, easy_check_passed

MOST_COMMENT = 4_000


class NotFinishedError(VlmLabError):
    """Cases are still without an answer."""


@dataclass(frozen=True)
class Submission:
    """How a submission was taken.

    Attributes:
        participant: as they stand now.
        is_repeat: it had been submitted before; nothing changed.
    """

    participant: Participant
    is_repeat: bool


@transaction.atomic
def submit_participation(participant: Participant, *, comment: str = "") -> Submission:
    """Take all answers of a participant as final; a second time changes nothing.

    Attention checks are judged, and the slot is filled unless every one failed or a person excluded them
    meanwhile. Somebody whose time ran out and whose place was taken meanwhile is surplus: kept, payable, and
    counted where answers are.

    Raises:
        NotFinishedError: cases are without an answer; the first is named.
        ParticipationOverError: they have withdrawn.
        VlmLabError: the comment cannot be stored.
    """
    participant = locked(participant)
    if participant.state == ParticipantState.SUBMITTED:
        return Submission(participant, is_repeat=True)
    check_working(participant)
    words = _storable(comment, field="comment")[:MOST_COMMENT]
    progress = progress_of(participant)
    if progress.next_number is not None:
        raise NotFinishedError(
            f"Case {progress.next_number} has no answer yet.", hint="Answer it, then send everything."
        )
    passed = checks_passed(check_verdicts(participant))
    move_participant(
        participant.pk,
        frm=WORKING,
        to=ParticipantState.SUBMITTED,
        submitted_at=Now(),
        checks_passed=passed,
        comment=words,
    )
    if not participant.is_preview:
        _settle_slot(participant)
        PaymentRecord.objects.filter(participant=participant, state=PaymentState.OPEN).update(
            state=PaymentState.OWED
        )
    participant.refresh_from_db()
    return Submission(participant, is_repeat=False)


def check_verdicts(participant: Participant) -> list[bool]:
    """Return whether each attention check that was answered is passed.

    The instructed check is passed by the answer that its prompt tells: ``facts["expected"]`` of its case, a
    status or a reason to reject.
    """
    rows = Assessment.objects.filter(
        participant=participant,
        is_current=True,
        case__role__in=CHECK_ROLES,
    ).select_related("case")
    verdicts = []
    for one in rows:
        if one.case.role == CaseRole.CHECK_EASY:
            is_accepted = one.status != AnswerStatus.REJECTED
            verdicts.append(easy_check_passed(is_accepted=is_accepted, iou=one.set_iou or 0.0))
        else:
            told = one.case.facts.get("expected")
            verdicts.append(bool(told) and told in (one.status, one.reason))
    return verdicts


@transaction.atomic
def exclude_participant(participant: Participant, *, reason: str, by: User) -> None:
    """Take a participant out of the primary analysis; their answers stay, and their slot opens again.

    Somebody still at work may go on to the end and is paid, but gets no slot any more.

    Raises:
        VlmLabError: no reason is given, or they are excluded already.
    """
    words = _storable(reason, field="reason")
    if not words:
        raise VlmLabError("Say why this participant is excluded.", field="reason")
    rows = Participant.objects.filter(pk=participant.pk, excluded_at=None)
    if rows.update(excluded_at=Now(), excluded_by=by, excluded_reason=words, is_surplus=False) == 0:
        raise VlmLabError("This participant is excluded already.")
    move_participant(participant.pk, frm=ParticipantState.ACTIVE, to=ParticipantState.EXPIRED)
    free_slot(participant)
    record(by, "excluded", participant, after={"reason": words})


@transaction.atomic
def include_participant(participant: Participant, *, by: User) -> None:
    """Take an exclusion back; where the slot was filled by somebody else meanwhile, as surplus.

    Somebody still at work gets a slot with their next save, as everybody whose time ran out.

    Raises:
        VlmLabError: they are not excluded.
    """
    participant = locked(participant)
    before = participant.excluded_reason
    rows = Participant.objects.filter(pk=participant.pk, excluded_at__isnull=False)
    if rows.update(excluded_at=None, excluded_by=None, excluded_reason="") == 0:
        raise VlmLabError("This participant is not excluded.")
    if participant.state == ParticipantState.SUBMITTED:
        _settle_slot(participant)
    record(by, "included again", participant, before={"reason": before})


@transaction.atomic
def withdraw_participation(participant: Participant) -> None:
    """Delete everything that a participant answered or wrote, and open their slot; once is enough.

    What is left is that somebody withdrew, and the payment, which they keep.
    """
    if locked(participant).state == ParticipantState.WITHDRAWN:
        return
    frm = [state for state in ParticipantState if state != ParticipantState.WITHDRAWN]
    move_participant(
        participant.pk,
        frm=frm,
        to=ParticipantState.WITHDRAWN,
        withdrawn_at=Now(),
        comment="",
        is_surplus=False,
    )
    Assessment.objects.filter(participant=participant).delete()
    Draft.objects.filter(participant=participant).delete()
    ProblemReport.objects.filter(participant=participant).delete()
    free_slot(participant)


@transaction.atomic
def report_problem(participant: Participant, text: str, *, case_id: int | None = None) -> ProblemReport:
    """Keep what a participant says is broken.

    Args:
        participant: who says it.
        text: their words.
        case_id: the case that they looked at; left out where the study has no such case.

    Raises:
        ParticipationOverError: they have withdrawn, so nothing of theirs is kept.
        VlmLabError: it is empty or too long, or cannot be stored.
    """
    words = _storable(text, field="text")
    if not words or len(words) > MOST_COMMENT:
        raise VlmLabError(f"Write what is wrong, in at most {MOST_COMMENT:,} characters.", field="text")
    participant = locked(participant)
    if participant.state == ParticipantState.WITHDRAWN:
        check_working(participant)
    cases = StudyCase.objects.filter(study=participant.study_id)
    case = None if case_id is None else cases.filter(pk=case_id).first()
    return ProblemReport.objects.create(
        study=participant.study, participant=participant, case=case, text=words
    )


def close_problem(problem: ProblemReport, *, by: User) -> None:
    """Note that a problem is dealt with."""
    if ProblemReport.objects.filter(pk=problem.pk, closed_at=None).update(closed_at=timezone.now()):
        record(by, "closed the problem", problem)


def _settle_slot(participant: Participant) -> None:
    """Fill the slot of a locked participant whose submission is valid, and free that of any other."""
    is_valid = valid_participants().filter(pk=participant.pk).exists()
    Participant.objects.filter(pk=participant.pk).update(is_surplus=is_valid and not fill_slot(participant))
    if not is_valid:
        free_slot(participant)


def _storable(text: str, *, field: str) -> str:
    words = text.strip()
    if not is_storable(words):
        raise VlmLabError("The text has characters that cannot be stored.", field=field)
    return words
