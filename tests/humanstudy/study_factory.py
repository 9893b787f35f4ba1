"""Plain functions that make studies, cases and participants for tests; nothing is random."""

import itertools
from datetime import timedelta
from hashlib import sha256
from typing import Any
from uuid import UUID, uuid4

from django.utils import timezone

from humanstudy.enums import CaseOrigin, CaseRole, Instrument, RecruiterKind, StudyState
from humanstudy.models import ConsentVersion, Participant, Slot, Study, StudyCase, Subset
from humanstudy.services.assessments import GivenAssessment
from humanstudy.services.claims import Arrival, claim_place
from searches.services.blobs import store_blob
from tests.doubles import paint_png
from vlmlab.core.studies.design import StudyDesign

_number = itertools.count(1)
WIDTH, HEIGHT = 64, 48
TRUTH = [[10.0, 10.0, 40.0, 40.0]]


def make_study(
    *,
    n_subsets: int = 1,
    n_cases: int = 3,
    slots: int = 2,
    checks: bool = True,
    state: str = StudyState.OPEN,
    **values: Any,
) -> Study:
    """Return a localization study with its consent, subsets, slots and cases; pictures are stored."""
    number = next(_number)
    design = StudyDesign(
        n_subsets=n_subsets,
        valid_per_subset=slots,
        easy_checks=int(checks),
        instructed_checks=int(checks),
    )
    defaults: dict[str, Any] = {
        "name": f"Study {number}",
        "slug": f"study-{number}",
        "uuid": UUID(int=number),
        "instrument": Instrument.LOCALIZATION,
        "state": state,
        "design": design.model_dump(mode="json"),
        "texts": {"title": "Find the object", "instructions": "Draw boxes.", "contact": "lab@example.org"},
        "payment": {"reward": "2.50", "currency": "USD", "minutes": 12},
    }
    study = Study.objects.create(**defaults | values)
    text = "I agree to take part."
    ConsentVersion.objects.create(study=study, number=1, text=text, sha256=sha256(text.encode()).hexdigest())
    make_case(study, None, role=CaseRole.TRAINING)
    for place in range(1, n_subsets + 1):
        subset = Subset.objects.create(study=study, number=place, seed=place)
        Slot.objects.bulk_create(Slot(subset=subset, number=one) for one in range(1, slots + 1))
        for _ in range(n_cases):
            make_case(study, subset)
        if checks:
            make_case(study, subset, role=CaseRole.CHECK_EASY)
            make_case(study, subset, role=CaseRole.CHECK_INSTRUCTED, facts={"expected": "prompt"}, truth=[])
    return study


def make_case(study: Study, subset: Subset | None, **values: Any) -> StudyCase:
    """Return a case with a stored picture of 64 x 48 pixels and one true box."""
    order = study.cases.count() + 1
    defaults: dict[str, Any] = {
        "order": order,
        "role": CaseRole.CASE,
        "origin": CaseOrigin.TEST_CASE,
        "sut_name": "Pocket",
        "scene_type": "street",
        "regime": "image",
        "label": "cone",
        "image_sha256": store_blob(paint_png((order % 256, 90, 120), width=WIDTH, height=HEIGHT)),
        "width": WIDTH,
        "height": HEIGHT,
        "prompt": "Locate every cone in the image.",
        "truth": TRUTH,
        "sut_boxes": [],
        "sut_status": "empty",
        "sut_iou": 0.0,
        "is_failure": True,
    }
    return StudyCase.objects.create(study=study, subset=subset, **defaults | values)


def arrival(study: Study, person: str = "", *, is_preview: bool = False) -> Arrival:
    """Return somebody who agreed; the same words are the same person."""
    person = person or f"person {next(_number)}"
    return Arrival(
        pseudonym=sha256(f"{study.pk} {person}".encode()).hexdigest(),
        platform=RecruiterKind.LINK,
        consent=study.consents.last(),
        is_preview=is_preview,
    )


def make_participant(study: Study, person: str = "", **values: Any) -> Participant:
    """Return a participant who holds a slot."""
    participant = claim_place(study, arrival(study, person))
    if values:
        Participant.objects.filter(pk=participant.pk).update(**values)
        participant.refresh_from_db()
    return participant


def given(case: StudyCase, **values: Any) -> GivenAssessment:
    """Return a right answer to a case as its page would send it."""
    is_instructed = case.role == CaseRole.CHECK_INSTRUCTED
    defaults: dict[str, Any] = {
        "client_key": uuid4(),
        "status": "rejected" if is_instructed else "drawn",
        "boxes": [] if is_instructed else TRUTH,
        "reason": "prompt" if is_instructed else "",
        "reason_text": "",
        "image_sha256": case.image_sha256,
        "natural_width": case.width,
        "natural_height": case.height,
        "facts": {"ms_on_case": 9_000, "pointer_type": "mouse", "zoom": 1.0, "undo_count": 0},
    }
    return GivenAssessment(**defaults | values)


def run_out(participant: Participant) -> None:
    """Let the participant's time be over."""
    Slot.objects.filter(holder=participant).update(lease_expires=timezone.now() - timedelta(minutes=1))
