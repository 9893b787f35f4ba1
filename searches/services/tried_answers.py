"""What a page shows of a finished try: the letter or the boxes read from it, and the call itself."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.urls import reverse

from searches.enums import Direction, JobState
from searches.models import Job
from searches.services.domain_store import find_domain
from searches.services.picture_questions import DEFAULT_QUESTION
from vlmlab.web.boxed_pictures import BoxedPicture, BoxKind, read_box
from vlmlab.web.numbers import write_many
from vlmlab.web.reading_words import flag_words, reason_words

STATUS_WORDS = {"boxes": "Boxes", "empty": "Nothing there", "malformed": "Malformed"}
STATUS_BADGES = {"boxes": "done", "empty": "idle", "malformed": "failed"}


@dataclass(frozen=True)
class TriedLetter:
    """A lettered answer beside the expected one."""

    is_read: bool
    letter: str
    action_label: str
    expected_label: str
    direction: str


@dataclass(frozen=True)
class TriedBoxes:
    """What the box reader made of a reply.

    Attributes:
        status: ``boxes``, ``empty`` or ``malformed``.
        label, badge: the outcome class for people.
        reason: why, in words; "" when boxes came without trouble.
        flags: what was unusual, in words.
        picture: with the boxes of the strict view.
        lenient: with what a lenient reader could save from a malformed reply, or None.
    """

    status: str
    label: str
    badge: str
    reason: str
    flags: tuple[str, ...]
    n_items: int
    picture: BoxedPicture
    lenient: BoxedPicture | None

    @property
    def sentence(self) -> str:
        """The outcome in one sentence."""
        if self.status == "boxes":
            return f"{write_many(self.n_items, 'box,boxes')} read."
        return self.reason


@dataclass(frozen=True)
class TriedAnswer:
    """What a finished try shows; one of ``letter`` and ``boxes``, or none for own words."""

    letter: TriedLetter | None
    boxes: TriedBoxes | None

    @property
    def has_reading(self) -> bool:
        """Whether the reply was read as anything."""
        return self.letter is not None or self.boxes is not None


def read_answer(job: Job) -> TriedAnswer | None:
    """Return what a finished try says, or None while there is none."""
    if job.state != JobState.DONE:
        return None
    result = job.result
    return TriedAnswer(
        letter=_letter(job) if result.get("reading") else None,
        boxes=tried_boxes(result["boxes"], job) if result.get("boxes") else None,
    )


def tried_boxes(read: Mapping[str, Any], job: Job) -> TriedBoxes:
    """Return what the box reader made of a reply, with its boxes over the picture."""
    salvage = read["salvage"]
    return TriedBoxes(
        status=read["status"],
        label=STATUS_WORDS.get(read["status"], read["status"]),
        badge=STATUS_BADGES.get(read["status"], "idle"),
        reason=reason_words(read["reason"]),
        flags=tuple(flag_words(flag) for flag in _all_flags(read)),
        n_items=int(read.get("n_items", len(read["items"]))),
        picture=_picture(job, read["items"], "read"),
        lenient=_picture(job, salvage, "lenient") if salvage else None,
    )


def _all_flags(read: Mapping[str, Any]) -> list[str]:
    of_items = [flag for item in read["items"] for flag in item["flags"]]
    return list(dict.fromkeys([*read["flags"], *of_items]))


def _picture(job: Job, items: Sequence[Mapping[str, Any]], kind: BoxKind) -> BoxedPicture:
    width, height = job.result["size"]
    words = write_many(len(items), "box,boxes")
    return BoxedPicture(
        url=reverse("blob", args=[job.params["image_sha256"]]),
        alt=f"The picture that was sent, with {words} of the answer"
        if items
        else "The picture that was sent",
        width=width,
        height=height,
        boxes=tuple(
            read_box(number, item["label"], item["box"], kind=kind) for number, item in enumerate(items, 1)
        ),
    )


def _letter(job: Job) -> TriedLetter:
    reading, params = job.result["reading"], job.params
    domain = find_domain(params.get("domain", DEFAULT_QUESTION))
    actions = domain.actions
    answered = params.get("actions", {}).get(reading["letter"], "")
    expected = params.get("expected_action", "")
    direction = domain.error_direction(expected, answered) if expected and answered else None
    return TriedLetter(
        is_read=reading["status"] == "answered",
        letter=reading["letter"],
        action_label=actions.get(answered, ""),
        expected_label=actions.get(expected, ""),
        direction=Direction(direction).label.lower() if direction else "",
    )
