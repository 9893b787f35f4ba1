"""Who holds which slot: a claim is one conditional UPDATE, so two people never hold the same one."""

from dataclasses import dataclass
from datetime import timedelta

from django.db import IntegrityError, transaction
from django.db.models import Count, DateTimeField, Exists, ExpressionWrapper, OuterRef, Q, QuerySet, Value
from django.db.models.expressions import CombinedExpression
from django.db.models.functions import Now
from django.utils import timezone

from humanstudy.enums import ParticipantState, RecruiterKind, StudyState
from humanstudy.models import ConsentVersion, Participant, Slot, Study
from humanstudy.services.participants import move_participant
from humanstudy.services.pseudonyms import new_code
from vlmlab.core.errors import VlmLabError
from vlmlab.core.seeding import derive_seed

RENEWED_AFTER = timedelta(minutes=1)
"""A lease is written again once so much of it is gone: not with every autosave."""


class StudyFullError(VlmLabError):
    """Every slot of the study is filled or held."""


class StudyNotOpenError(VlmLabError):
    """The study takes nobody in now."""


@dataclass(frozen=True)
class Arrival:
    """Somebody who agreed to take part.

    Attributes:
        pseudonym: of the person in this study.
        platform: where they come from.
        consent: the wording that they agreed to.
        is_preview: a researcher who looks at the study; takes no slot and counts nowhere.
    """

    pseudonym: str
    platform: RecruiterKind
    consent: ConsentVersion
    is_preview: bool = False


def claim_place(study: Study, arrival: Arrival) -> Participant:
    """Return the participation of somebody who agreed, made now or earlier, with a slot of a subset.

    The subset with the fewest valid submissions and live claims comes first. Somebody who is known comes back
    to their own cases, whatever became of them. A preview takes the first subset and no slot.

    Raises:
        StudyNotOpenError: the study is no longer, or not yet, open, and the person is new to it.
        StudyFullError: no slot is free or over; nothing is stored of the person.
    """
    if not arrival.is_preview:
        known = Participant.objects.filter(study=study, pseudonym=arrival.pseudonym, is_preview=False).first()
        if known is not None:
            return known
        if study.state != StudyState.OPEN:
            raise StudyNotOpenError("This study is not open now.", hint="Nothing was stored of you.")
    try:
        with transaction.atomic():
            return _new_participant(study, arrival)
    except IntegrityError:  # the same person pressed twice
        return Participant.objects.get(study=study, pseudonym=arrival.pseudonym, is_preview=False)


def extend_claim(participant: Participant) -> bool:
    """Keep a participant's slot for another while; call it when they work.

    One whose time ran out gets the slot back where nobody took it, or another free one of the same subset.

    Returns:
        Whether they hold a slot; without one their answers are still taken, as surplus.
    """
    if participant.is_preview or participant.state not in (ParticipantState.ACTIVE, ParticipantState.EXPIRED):
        return False
    renewed = timezone.now() + _length(participant.study) - RENEWED_AFTER
    own = Slot.objects.filter(holder=participant, is_filled=False)
    own.filter(lease_expires__lt=renewed).update(lease_expires=_lease_end(participant.study))
    has_slot = own.exists() or _take_in_subset(participant)
    if has_slot and participant.state == ParticipantState.EXPIRED:
        move_participant(participant.pk, frm=ParticipantState.EXPIRED, to=ParticipantState.ACTIVE)
    return has_slot


def fill_slot(participant: Participant) -> bool:
    """Fill the slot of a submission that counts; of one whose slot was taken, a free one of the subset.

    Returns:
        Whether it fills a slot; False means that the submission is surplus.
    """
    own = Slot.objects.filter(holder=participant)
    if not own.exists() and not _take_in_subset(participant):
        return False
    return own.update(is_filled=True, lease_expires=None) == 1


def free_slot(participant: Participant) -> None:
    """Give a participant's slot back, so that somebody else can take it."""
    Slot.objects.filter(holder=participant).update(holder=None, lease_expires=None, is_filled=False)


def takeable_slots() -> QuerySet[Slot]:
    """Return slots that anybody may take: free, or over by the database's clock."""
    is_over = Q(lease_expires__lt=Now()) | Q(lease_expires=None)
    return Slot.objects.filter(is_filled=False).filter(Q(holder=None) | is_over)


def open_slots(study: Study) -> int:
    """Return how many people could begin now."""
    return takeable_slots().filter(subset__study=study).count()


def expire_claims(study: Study | None = None) -> int:
    """Mark those whose time ran out, for lists and counts; their slots are takeable with or without it.

    Returns:
        How many were marked.
    """
    over = Slot.objects.filter(holder=OuterRef("pk"), is_filled=False, lease_expires__lt=Now())
    rows = Participant.objects.filter(Exists(over), state=ParticipantState.ACTIVE, is_preview=False)
    if study is not None:
        rows = rows.filter(study=study)
    return rows.update(state=ParticipantState.EXPIRED)


def _new_participant(study: Study, arrival: Arrival) -> Participant:
    code = new_code()
    participant = Participant.objects.create(
        study=study,
        code=code,
        pseudonym=arrival.pseudonym,
        platform=arrival.platform,
        is_preview=arrival.is_preview,
        order_seed=derive_seed(0, "participant", code),
        consent=arrival.consent,
        consented_at=timezone.now(),
    )
    if arrival.is_preview:
        participant.subset = study.subsets.first()
    else:
        participant.subset_id = _take_somewhere(participant)
    participant.save(update_fields=["subset"])
    return participant


def _take_somewhere(participant: Participant) -> int:
    """Take a slot of the subset that has the fewest answers and live claims; return the subset's id."""
    free = takeable_slots().filter(subset=OuterRef("pk"))
    is_used = Q(slots__is_filled=True) | Q(slots__holder__isnull=False, slots__lease_expires__gte=Now())
    subsets = (
        participant.study.subsets.filter(Exists(free))
        .annotate(used=Count("slots", filter=is_used))
        .order_by("used", "number")
    )
    for subset_id in subsets.values_list("pk", flat=True):
        if _take_slot(participant, subset_id):
            return int(subset_id)
    raise StudyFullError(
        "All places of this study are taken right now.",
        hint="Come back in a while: a place whose owner does not finish becomes free again.",
    )


def _take_in_subset(participant: Participant) -> bool:
    return participant.subset_id is not None and _take_slot(participant, participant.subset_id)


def _take_slot(participant: Participant, subset_id: int) -> bool:
    """Take any slot of a subset that can be taken; False where there is none left."""
    for slot_id, holder_id in list(
        takeable_slots().filter(subset=subset_id).order_by("number").values_list("pk", "holder_id")
    ):
        won = takeable_slots().filter(pk=slot_id, holder=holder_id)
        if won.update(holder=participant, lease_expires=_lease_end(participant.study)) == 1:
            if holder_id is not None:
                move_participant(holder_id, frm=ParticipantState.ACTIVE, to=ParticipantState.EXPIRED)
            return True
    return False


def _length(study: Study) -> timedelta:
    return timedelta(minutes=study.claim_minutes)


def _lease_end(study: Study) -> "ExpressionWrapper[CombinedExpression]":
    return ExpressionWrapper(Now() + Value(_length(study)), output_field=DateTimeField())
