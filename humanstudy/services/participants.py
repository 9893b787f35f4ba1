"""Finding participants by their link, and the one way in which they change their state."""

from collections.abc import Collection
from typing import Any

from django.db.models import QuerySet
from django.db.models.functions import Now

from humanstudy.enums import PARTICIPANT_MOVES, ParticipantState
from humanstudy.models import Participant
from humanstudy.services.pseudonyms import BadLinkError, check_token, code_of, link_token

PURPOSE = "participant"


def participant_token(participant: Participant) -> str:
    """Return what the participant's own link holds."""
    return link_token(participant.study, participant.code, purpose=PURPOSE)


def find_participant(token: str) -> Participant:
    """Return whom a link belongs to, with study, subset and consent (one query).

    Raises:
        BadLinkError: the link was not made here, or its participant is gone.
    """
    found = (
        Participant.objects.select_related("study", "subset", "consent").filter(code=code_of(token)).first()
    )
    if found is None:
        raise BadLinkError("This link is not one of ours.", hint="Open it again from where you got it.")
    check_token(found.study, token, purpose=PURPOSE)
    return found


def move_participant(
    participant_id: int,
    *,
    frm: ParticipantState | Collection[ParticipantState],
    to: ParticipantState,
    **values: Any,
) -> bool:
    """Move a participant by compare-and-set.

    Args:
        participant_id: whom.
        frm: the state or states they must be in.
        to: the state they get.
        values: further columns to set in the same statement.

    Returns:
        Whether they moved; False means that somebody else moved them first.

    Raises:
        ValueError: the move is not in the table of allowed moves.
    """
    states = {frm} if isinstance(frm, ParticipantState) else set(frm)
    for state in states:
        if to not in PARTICIPANT_MOVES[state]:
            raise ValueError(f"a participant may not move from {state} to {to}")
    rows = Participant.objects.filter(pk=participant_id, state__in=states)
    return rows.update(state=to, **values) == 1


def locked(participant: Participant) -> Participant:
    """Return a participant as they are now; nobody else changes them or their answers until the commit.

    Call it inside a transaction, before anything is decided by their state.
    """
    return (
        Participant.objects.select_for_update(of=("self",))
        .select_related("study", "subset")
        .get(pk=participant.pk)
    )


def counting_participants() -> QuerySet[Participant]:
    """Return those who count in a study: no previews."""
    return Participant.objects.filter(is_preview=False)


def valid_participants() -> QuerySet[Participant]:
    """Return those whose answers enter the statistics: submitted, not excluded, not failed by every check."""
    return (
        counting_participants()
        .filter(state=ParticipantState.SUBMITTED, excluded_at=None)
        .exclude(checks_passed=False)
    )


def surplus_participants() -> QuerySet[Participant]:
    """Return those whose valid submission fills no slot."""
    return valid_participants().filter(is_surplus=True)


def note_seen(participant: Participant) -> None:
    """Note that somebody is at work."""
    Participant.objects.filter(pk=participant.pk).update(seen_at=Now())
