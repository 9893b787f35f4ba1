"""Autosaved states of cases: the newest wins, and an older one is told so."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from humanstudy.enums import ParticipantState
from humanstudy.models import Draft, Participant, StudyCase
from humanstudy.services.claims import WORKING, extend_claim
from humanstudy.services.participants import locked
from vlmlab.core.errors import VlmLabError
from vlmlab.core.storable_values import is_storable
from vlmlab.core.studies.answer_checks import MOST_REASON, AnswerError, checked_boxes

CHOICES = frozenset({"", "none", "image", "prompt", "other"})
MOST_MS = 24 * 3_600_000


class ParticipationOverError(VlmLabError):
    """The participant has submitted or withdrawn: nothing more is taken."""


class DraftConflictError(VlmLabError):
    """Another tab saved the case later; ``draft`` is what it saved."""

    def __init__(self, draft: Draft) -> None:
        super().__init__("This case was changed in another tab.", hint="The newer state is shown now.")
        self.draft = draft


@dataclass(frozen=True)
class SavedDraft:
    """What the page is told of a save.

    Attributes:
        revision: send it with the next save.
        saved_at: when.
        has_slot: whether the participant still holds a place.
    """

    revision: int
    saved_at: datetime
    has_slot: bool


def save_draft(
    participant: Participant, case: StudyCase, *, revision: int, content: object, ms_on_case: object
) -> SavedDraft:
    """Save the state of a case and keep the participant's slot.

    Args:
        participant: whose.
        case: one of theirs.
        revision: of the state that the page began from, 0 for none. Where nothing is stored, none is older.
        content: boxes, choice and text as the page has them; boxes are checked like those of an answer.
        ms_on_case: milliseconds on the case so far.

    Raises:
        DraftConflictError: another revision is stored.
        ParticipationOverError: they have submitted or withdrawn.
        AnswerError: the content cannot be stored.
        ValueError: the case is not one of theirs.
    """
    check_own_case(participant, case)
    check_working(participant)
    now = timezone.now()
    values = {
        "content": checked_content(content, case),
        "ms_on_case": checked_ms(ms_on_case),
        "saved_at": now,
    }
    with transaction.atomic():
        participant = locked(participant)
        check_working(participant)
        has_slot = extend_claim(participant)
        stored = Draft.objects.filter(participant=participant, case=case).first()
        if stored is None or stored.revision == revision:
            return SavedDraft(write_draft(participant, case, values), now, has_slot)
    raise DraftConflictError(stored)  # after the transaction, which keeps the slot


def checked_content(content: object, case: StudyCase) -> dict[str, Any]:
    """Return the content of a draft as it is stored.

    Raises:
        AnswerError: it is none.
    """
    if not isinstance(content, dict):
        raise AnswerError("This is no draft.", hint="Load the page again.", field="content")
    choice, text = content.get("choice", ""), content.get("text", "")
    if not isinstance(choice, str) or choice not in CHOICES or not isinstance(text, str):
        raise AnswerError("There is no such choice.", hint="Load the page again.", field="choice")
    if len(text) > MOST_REASON or not is_storable(text):
        raise AnswerError(f"Write at most {MOST_REASON:,} ordinary characters.", field="text")
    boxes = checked_boxes(content.get("boxes", []), width=case.width, height=case.height)
    return {"boxes": [list(box) for box in boxes], "choice": choice, "text": text}


def checked_ms(value: object) -> int:
    """Return a time of a page in milliseconds, cut at a day; 0 for what is no time."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value < 1e15:
        return 0
    return min(int(value), MOST_MS)


def check_working(participant: Participant) -> None:
    """Check that answers of a participant are still taken.

    Raises:
        ParticipationOverError: they have submitted or withdrawn.
    """
    if participant.state == ParticipantState.WITHDRAWN:
        raise ParticipationOverError("You have withdrawn; your answers are deleted.")
    if participant.state not in WORKING:
        raise ParticipationOverError(
            "Your answers are submitted already.", hint="There is nothing left to do."
        )


def check_own_case(participant: Participant, case: StudyCase) -> None:
    """Check that a participant judges a case.

    Raises:
        ValueError: it is of another subset, or none that is judged.
    """
    if case.subset_id is None or case.subset_id != participant.subset_id:
        raise ValueError(f"case must be of subset {participant.subset_id}, got one of {case.subset_id}")


def write_draft(participant: Participant, case: StudyCase, values: dict[str, Any]) -> int:
    """Write the draft of a locked participant, one revision on; return its revision."""
    rows = Draft.objects.filter(participant=participant, case=case)
    if rows.update(revision=F("revision") + 1, **values) == 0:
        Draft.objects.create(participant=participant, case=case, revision=1, **values)
    return rows.values_list("revision", flat=True).get()
