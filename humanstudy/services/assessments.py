"""Final answers: each is stored once, however often it is sent, and never changed afterwards."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from humanstudy.enums import AnswerStatus, CaseRole
from humanstudy.models import Assessment, Participant, StudyCase
from humanstudy.services.claims import extend_claim
from humanstudy.services.drafts import check_own_case, check_working, checked_ms, write_draft
from humanstudy.services.participants import locked
from vlmlab.core.boxes import set_iou
from vlmlab.core.studies.answer_checks import AnswerError, check_choice, checked_boxes
from vlmlab.core.studies.judgements import box_rows

POINTERS = frozenset({"mouse", "touch", "pen", "keyboard", ""})


@dataclass(frozen=True)
class GivenAssessment:
    """An answer as a page sent it; only ``client_key`` is trusted to be what its type says.

    Attributes:
        client_key: the page's name of this answer; the same key again is the same answer.
        status: "drawn", "empty" or "rejected".
        boxes: rows of x_min, y_min, x_max, y_max in pixels.
        reason, reason_text: of a rejection.
        image_sha256: digest of the picture that was shown.
        natural_width, natural_height: of the picture as the browser decoded it.
        facts: a mapping of ``css_width``, ``device_pixel_ratio``, ``zoom``, ``pointer_type``,
            ``ms_on_case``, ``undo_count``; what is no sensible number is left out.
    """

    client_key: UUID
    status: object
    boxes: object
    reason: object
    reason_text: object
    image_sha256: object
    natural_width: object
    natural_height: object
    facts: object


@dataclass(frozen=True)
class Receipt:
    """What the page is told: the stored answer, and whether it was stored before."""

    assessment: Assessment
    is_repeat: bool


def record_assessment(participant: Participant, case: StudyCase, given: GivenAssessment) -> Receipt:
    """Store an answer, or find the one that was stored under its key.

    Another answer to the same case is a correction: a new row takes the place of the current one.

    Args:
        participant: who answers; must be working.
        case: one of theirs.
        given: the answer.

    Raises:
        AnswerError: it cannot be stored; field, message and hint say why.
        ParticipationOverError: they have submitted or withdrawn, and this is no repetition.
        ValueError: the case is not one of theirs.
    """
    check_own_case(participant, case)
    stored = _find(participant, case, given.client_key)
    if stored is not None:
        return Receipt(stored, is_repeat=True)
    check_working(participant)
    values = _checked(case, given)
    with transaction.atomic():
        now = locked(participant)
        stored = _find(now, case, given.client_key)
        if stored is not None:  # the same answer came twice at the same moment
            return Receipt(stored, is_repeat=True)
        check_working(now)
        assessment = _write(now, case, given.client_key, values)
        _bring_draft_up(now, case, values)
        extend_claim(now)
    return Receipt(assessment, is_repeat=False)


def _find(participant: Participant, case: StudyCase, key: UUID) -> Assessment | None:
    stored = Assessment.objects.filter(participant=participant, client_key=key).first()
    if stored is not None and stored.case_id != case.pk:
        raise AnswerError(
            "This answer was given to another case.", hint="Load the page again.", field="client_key"
        )
    return stored


def _write(participant: Participant, case: StudyCase, key: UUID, values: dict[str, Any]) -> Assessment:
    earlier = Assessment.objects.filter(participant=participant, case=case)
    version = earlier.count() + 1
    if version > 1:
        earlier.filter(is_current=True).update(is_current=False)
    return Assessment.objects.create(
        participant=participant, case=case, client_key=key, version=version, **values
    )


def _bring_draft_up(participant: Participant, case: StudyCase, values: dict[str, Any]) -> None:
    """Let the draft say what was answered, one revision on, so that an older tab cannot save over it."""
    choice = {AnswerStatus.DRAWN: "", AnswerStatus.EMPTY: "none"}.get(values["status"], values["reason"])
    content = {"boxes": values["boxes"], "choice": choice, "text": values["reason_text"]}
    saved = {"content": content, "saved_at": timezone.now(), "ms_on_case": values["ms_on_case"]}
    write_draft(participant, case, saved)


def _checked(case: StudyCase, given: GivenAssessment) -> dict[str, Any]:
    if given.image_sha256 != case.image_sha256:
        raise AnswerError(
            "The picture on the page is not the one of this case.", hint="Load the page again.", field="image"
        )
    if (given.natural_width, given.natural_height) != (case.width, case.height):
        raise AnswerError(
            f"The picture is not shown with its {case.width} x {case.height} pixels.",
            hint="Load the page again, or use another browser.",
            field="image",
        )
    boxes = checked_boxes(given.boxes, width=case.width, height=case.height)
    words = check_choice(given.status, boxes=boxes, reason=given.reason, reason_text=given.reason_text)
    is_accepted = given.status != AnswerStatus.REJECTED
    return {
        "status": given.status,
        "reason": given.reason,
        "reason_text": words,
        "boxes": [list(box) for box in boxes],
        "set_iou": set_iou(box_rows(boxes), box_rows(case.truth)) if _is_judged(case, is_accepted) else None,
        "image_sha256": case.image_sha256,
        "natural_width": case.width,
        "natural_height": case.height,
        **_facts(given.facts),
    }


def _is_judged(case: StudyCase, is_accepted: bool) -> bool:  # noqa: FBT001 - a claim, not a switch
    return is_accepted and case.role != CaseRole.CHECK_INSTRUCTED


def _facts(given: object) -> dict[str, Any]:
    facts = given if isinstance(given, dict) else {}
    pointer = facts.get("pointer_type")
    return {
        "css_width": _sensible(facts.get("css_width"), most=100_000.0),
        "device_pixel_ratio": _sensible(facts.get("device_pixel_ratio"), most=100.0),
        "zoom": _sensible(facts.get("zoom"), most=100.0),
        "pointer_type": pointer if isinstance(pointer, str) and pointer in POINTERS else "",
        "ms_on_case": checked_ms(facts.get("ms_on_case")),
        "undo_count": min(checked_ms(facts.get("undo_count")), 100_000),
    }


def _sensible(value: object, *, most: float) -> float | None:
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 < value <= most:
        return None
    return float(value)
