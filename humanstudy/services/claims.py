"""Who holds which slot: a claim is one conditional UPDATE, so two people never hold the same one.

Whoever locks both a participant and a slot locks the participant first, and nobody waits for a second
participant: so no two transactions wait for each other.
"""

from dataclasses import dataclass
from datetime import timedelta

from django.db import IntegrityError, transaction
from django.db.models import (
    Count,
    DateTimeField,
    Exists,
    ExpressionWrapper,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Value,
)
from django.db.models.expressions import CombinedExpression
from django.db.models.functions import Coalesce, Now
from django.utils import timezone

from humanstudy.enums import ParticipantState, RecruiterKind, StudyState
from humanstudy.models import ConsentVersion, Participant, Slot, Study, Subset
from humanstudy.services.participants import locked, move_participant, surplus_participants
from humanstudy.services.pseudonyms import new_code
from vlmlab.core.errors import VlmLabError
from vlmlab.core.seeding import derive_seed

RENEWED_AFTER = timedelta(minutes=1)
"""A lease is written again once so much of it, or a quarter, is gone: not with every autosave."""
WORKING = (ParticipantState.ACTIVE, ParticipantState.EXPIRED)


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
    to their own cases, whatever became of them, and gets a slot again where one is left. A preview takes the
    first subset and no slot.

    Raises:
        StudyNotOpenError: the study is no longer, or not yet, open, and the person is new to it.
        StudyFullError: no slot is free or over; nothing is stored of the person.
    """
    known = _known(study, arrival)
    if known is not None:
        extend_claim(known)
        known.refresh_from_db()
        return known
    give_slots_to_surplus(study.subsets.all())
    try:
        with transaction.atomic():
            return _new_participant(study, arrival)
    except IntegrityError:
        known = _known(study, arrival)
        if known is None:
            raise
        return known  # the same person pressed twice


def extend_claim(participant: Participant) -> bool:
    """Keep a participant's slot for another while; call it when they work.

    One whose time ran out gets the slot back where nobody took it, or another free one of the same subset.

    Returns:
        Whether they hold a slot; without one their answers are still taken, as surplus.
    """
    with transaction.atomic():
        participant = locked(participant)
        if participant.is_preview or participant.excluded_at or participant.state not in WORKING:
            return False
        length = _length(participant.study)
        renewed = _from_now(length - min(RENEWED_AFTER, length / 4))
        own = Slot.objects.filter(holder=participant)
        own.filter(lease_expires__lt=renewed).update(lease_expires=_from_now(length))
        has_slot = own.exists() or _take_in_subset(participant)
        if has_slot and participant.state == ParticipantState.EXPIRED:
            move_participant(participant.pk, frm=ParticipantState.EXPIRED, to=ParticipantState.ACTIVE)
    return has_slot


def fill_slot(participant: Participant) -> bool:
    """Fill the slot of a submission that counts; of one whose slot was taken, a free one of the subset.

    Args:
        participant: who submitted; locked by the transaction.

    Returns:
        Whether it fills a slot; False means that the submission is surplus.
    """
    return _fill_own(participant) or (_take_in_subset(participant) and _fill_own(participant))


def free_slot(participant: Participant) -> None:
    """Give a participant's slot back: to somebody of the subset who is surplus, else to whoever comes next.

    Args:
        participant: whose; locked by the transaction.
    """
    own = Slot.objects.filter(holder=participant)
    if own.update(holder=None, lease_expires=None, is_filled=False):
        give_slots_to_surplus(Subset.objects.filter(participants=participant))


@transaction.atomic
def give_slots_to_surplus(subsets: QuerySet[Subset]) -> None:
    """Let valid submissions without a slot fill those that can be taken: nobody new is needed for these."""
    can_be_taken = Exists(takeable_slots().filter(subset=OuterRef("subset")))
    waiting = surplus_participants().filter(can_be_taken, subset__in=subsets)
    # Whoever is locked is being excluded or withdrawn, or given a slot.
    waiting = waiting.order_by("subset", "submitted_at", "pk")
    for one in waiting.select_for_update(of=("self",), skip_locked=True):
        if fill_slot(one):
            surplus_participants().filter(pk=one.pk).update(is_surplus=False)


def takeable_slots() -> QuerySet[Slot]:
    """Return slots that anybody may take: without a holder, or over by the database's clock."""
    is_over = Q(lease_expires__lt=Now()) | Q(lease_expires=None)
    return Slot.objects.filter(Q(holder=None) | Q(is_over, is_filled=False))


def open_slots(study: Study) -> int:
    """Return how many people could begin now: slots that can be taken, less submissions that wait for one."""
    rows = study.subsets.annotate(
        free=_number_of(takeable_slots(), by="subset"),
        surplus=_number_of(surplus_participants(), by="subset"),
    )
    return sum(max(0, free - surplus) for free, surplus in rows.values_list("free", "surplus"))


def expire_claims(study: Study | None = None) -> int:
    """Mark those whose time ran out, for lists and counts; their slots are takeable with or without it.

    Returns:
        How many were marked.
    """
    over = Slot.objects.filter(holder=OuterRef("pk"), is_filled=False, lease_expires__lt=Now())
    rows = Participant.objects.filter(Exists(over), state=ParticipantState.ACTIVE, is_preview=False)
    if study is not None:
        rows = rows.filter(study=study)
    with transaction.atomic():  # who is locked is at work; the second look sees what they did until then
        ids = list(rows.select_for_update(of=("self",), skip_locked=True).values_list("pk", flat=True))
        return rows.filter(pk__in=ids).update(state=ParticipantState.EXPIRED)


def _known(study: Study, arrival: Arrival) -> Participant | None:
    if arrival.is_preview:
        return None
    return Participant.objects.filter(study=study, pseudonym=arrival.pseudonym, is_preview=False).first()


def _new_participant(study: Study, arrival: Arrival) -> Participant:
    is_open = Study.objects.filter(pk=study.pk, state=StudyState.OPEN).exists()  # ``study`` may be older
    if not is_open and not arrival.is_preview:
        raise StudyNotOpenError("This study is not open now.", hint="Nothing was stored of you.")
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
    used = Slot.objects.exclude(pk__in=takeable_slots().values("pk"))
    subsets = (
        participant.study.subsets.filter(Exists(takeable_slots().filter(subset=OuterRef("pk"))))
        .annotate(used=_number_of(used, by="subset") + _number_of(surplus_participants(), by="subset"))
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
    """Take any slot of a subset that can be taken; False where there is none left.

    A slot whose late holder is locked is passed over: they are at work and keep it, or another took it.
    """
    rows = takeable_slots().filter(subset=subset_id).order_by("number").values_list("pk", "holder_id")
    lease_end = _from_now(_length(participant.study))
    for slot_id, holder_id in list(rows):
        if holder_id is not None and not _is_locked_now(holder_id):
            continue
        won = takeable_slots().filter(pk=slot_id, holder=holder_id)
        if won.update(holder=participant, lease_expires=lease_end, is_filled=False) == 1:
            if holder_id is not None:
                move_participant(holder_id, frm=ParticipantState.ACTIVE, to=ParticipantState.EXPIRED)
            return True
    return False


def _is_locked_now(participant_id: int) -> bool:
    """Lock a participant unless somebody else has; whether it is locked by this transaction now."""
    rows = Participant.objects.filter(pk=participant_id).select_for_update(of=("self",), skip_locked=True)
    return bool(rows.values_list("pk"))


def _fill_own(participant: Participant) -> bool:
    return Slot.objects.filter(holder=participant).update(is_filled=True, lease_expires=None) == 1


def _number_of(rows: "QuerySet[Slot] | QuerySet[Participant]", *, by: str) -> Coalesce:
    """Return the expression "how many of the rows belong to this one"."""
    counted = rows.order_by().filter(**{by: OuterRef("pk")}).values(by).annotate(number=Count("pk"))
    return Coalesce(Subquery(counted.values("number")), 0)


def _length(study: Study) -> timedelta:
    return timedelta(minutes=study.claim_minutes)


def _from_now(length: timedelta) -> "ExpressionWrapper[CombinedExpression]":
    """Return a time of the database's clock; that of this machine may differ."""
    return ExpressionWrapper(Now() + Value(length), output_field=DateTimeField())
