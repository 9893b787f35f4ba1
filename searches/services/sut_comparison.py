"""Several systems asked the same: each one's answer, and whether they agree."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from uuid import UUID

from searches.enums import JobKind, JobState
from searches.models import Job, SutRecord
from searches.services.domain_store import find_domain
from searches.services.job_pages import JobWait, job_wait
from searches.services.picture_questions import DEFAULT_QUESTION
from searches.services.tried_answers import TriedAnswer, read_answer
from vlmlab.core.boxes import iou
from vlmlab.web.numbers import write_many

SAME_BOX_IOU = 0.5
MOST_SHOWN_WORDS = 500


@dataclass(frozen=True)
class Column:
    """One system's answer.

    Attributes:
        name: of the system, or its slug once it is gone.
        wait: why there is no answer yet, or None.
    """

    job: Job
    slug: str
    name: str
    sut: SutRecord | None
    answer: TriedAnswer | None
    wait: JobWait | None

    @property
    def is_final(self) -> bool:
        """Whether the job has ended."""
        return self.wait is None


@dataclass(frozen=True)
class Comparison:
    """The jobs of one group, in the order in which the systems were chosen."""

    group: UUID
    columns: tuple[Column, ...]
    summary: str

    @property
    def image_sha256(self) -> str:
        """The picture they were all asked about."""
        return str(self.columns[0].job.params["image_sha256"])

    @property
    def question(self) -> str:
        """What they were all asked, in a few words; each system's whole prompt stands in its column."""
        params = self.columns[0].job.params
        if params["mode"] == "boxes":
            return f"Find {params['targets']}."
        if params["mode"] == "choice":
            domain = find_domain(params.get("domain", DEFAULT_QUESTION))
            return str(params.get("question_words") or f"The {domain.title.lower()} question.")
        return str(params["prompt"])[:MOST_SHOWN_WORDS]

    @property
    def is_final(self) -> bool:
        """Whether every system has answered or failed."""
        return all(column.is_final for column in self.columns)

    @property
    def n_final(self) -> int:
        """How many systems have answered or failed."""
        return sum(column.is_final for column in self.columns)


def comparison_of(group: UUID) -> Comparison | None:
    """Return the comparison of a group of jobs, or None when there are none (any more)."""
    jobs = list(Job.objects.filter(group=group, kind=JobKind.TRY_SUT).order_by("created_at", "pk"))
    if not jobs:
        return None
    suts = {sut.slug: sut for sut in SutRecord.objects.filter(slug__in=[job.params["sut"] for job in jobs])}
    columns = tuple(_column(job, suts.get(job.params["sut"])) for job in jobs)
    return Comparison(group, columns, summary_of(columns))


def summary_of(columns: Sequence[Column]) -> str:
    """Return one or two sentences: who answered, and whether the answers agree."""
    answered = [column for column in columns if column.answer is not None]
    failed = [column for column in columns if column.job.state == JobState.FAILED]
    waiting = [column for column in columns if not column.is_final]
    parts = []
    if waiting:
        parts.append(f"{len(columns) - len(waiting)} of {len(columns)} have ended.")
    if len(answered) >= 2:
        parts.append(_agreement(answered))
    elif not waiting:
        parts.append("Fewer than two systems answered, so there is nothing to compare.")
    if failed:
        parts.append(f"{_names(failed)} gave no answer.")
    return " ".join(parts)


def _column(job: Job, sut: SutRecord | None) -> Column:
    is_ended = job.state in {JobState.DONE, JobState.FAILED}
    slug = job.params["sut"]
    return Column(
        job=job,
        slug=slug,
        name=sut.name if sut else slug,
        sut=sut,
        answer=read_answer(job),
        wait=None if is_ended else job_wait(job),
    )


def _agreement(answered: Sequence[Column]) -> str:
    mode = answered[0].job.params["mode"]
    if mode == "choice":
        return _letters_agree(answered)
    if mode == "boxes":
        return _boxes_agree(answered)
    texts = {" ".join(column.job.result["text"].split()).casefold() for column in answered}
    if len(texts) == 1:
        return f"{_all_of(answered)} answered with the same words."
    return "The answers differ in their words; own words are not read any further."


def _letters_agree(answered: Sequence[Column]) -> str:
    said: Counter[str] = Counter()
    for column in answered:
        letter = column.answer.letter if column.answer else None
        said[letter.action_label or letter.letter if letter and letter.is_read else ""] += 1
    if len(said) == 1:
        [(label, _)] = said.items()
        if not label:
            return "No system named a single option."
        return f"{_all_of(answered)} agree: {label.lower()}."
    words = [f"{count} answered {label.lower()}" for label, count in said.most_common() if label]
    if said[""]:
        words.append(f"{said['']} named no single option")
    return f"They disagree: {', '.join(words)}."


def _boxes_agree(answered: Sequence[Column]) -> str:
    boxes = [column.answer.boxes for column in answered if column.answer and column.answer.boxes]
    counts = ", ".join(f"{column.name} {_found(column.answer)}" for column in answered)
    if all(found.status == "malformed" for found in boxes):
        return "No reply could be read as boxes."
    corners = [
        [(box.x, box.y, box.x + box.width, box.y + box.height) for box in found.picture.boxes]
        for found in boxes
    ]
    if all(_is_same(first, second) for first, second in combinations(corners, 2)) and not any(
        found.status == "malformed" for found in boxes
    ):
        return f"They agree (each box overlaps its counterpart by at least half): {counts}."
    return f"They disagree: {counts}."


def _found(answer: TriedAnswer | None) -> str:
    boxes = answer.boxes if answer else None
    if boxes is None or boxes.status != "boxes":
        return boxes.label.lower() if boxes else "unread"
    return write_many(boxes.n_items, "box,boxes")


def _is_same(
    first: Sequence[tuple[float, float, float, float]], second: Sequence[tuple[float, float, float, float]]
) -> bool:
    """Whether both found as many boxes, each overlapping one of the other's by ``SAME_BOX_IOU``."""
    if len(first) != len(second):
        return False
    if not first:
        return True
    import numpy as np

    overlaps = iou(np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64))
    return bool((overlaps.max(axis=0) >= SAME_BOX_IOU).all() and (overlaps.max(axis=1) >= SAME_BOX_IOU).all())


def _all_of(answered: Sequence[Column]) -> str:
    return "Both" if len(answered) == 2 else f"All {len(answered)}"


def _names(columns: Sequence[Column]) -> str:
    names = [column.name for column in columns]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
