"""What the page of one modality run shows: facts, the clean answer, its evaluations, one of them opened."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Prefetch
from django.urls import reverse

from searches.enums import CaseKind, ModalityStatus
from searches.models import Blob, Evaluation, ModalityCase, ModalityRun
from searches.services.modality_evaluations import RunPoints, run_points, stage_words
from searches.services.modality_inputs import Boxes, as_boxes, seen_input, space_of
from searches.services.modality_outcomes import HasOutcome, outcome_of, thresholds_of
from searches.services.prompt_diffs import PromptDiff, prompt_diff
from searches.services.run_pages import LogPart, log_part
from searches.services.seed_inputs import things_of
from searches.services.stored_shapes import reading_stored
from searches.services.strategy_bars import StrategyBar, named_severities, strategy_bars
from vlmlab.core.errors import VlmLabError
from vlmlab.core.most.types import Thresholds
from vlmlab.core.replies.boxes import BoxReading
from vlmlab.web.asked import LARGEST
from vlmlab.web.boxed_pictures import BoxedPicture, BoxKind, DrawnBox, read_box
from vlmlab.web.numbers import write_many

END_WORDS: dict[str, str] = {
    "failure_found": "It found a failure and stopped there.",
    "budget_spent": "Its inference budget is spent.",
    "gave_up": "It gave up: so many evaluations without a failure were allowed, and no more.",
    "nothing_left": "There was nothing left to ask.",
    "unanswered": "Too many calls failed.",
    "time_limit": "Its time limit was reached.",
}
"""Reason that a run ended -> a sentence; what is not here is told as it is stored."""

STATUS_SENTENCES: dict[str, str] = {
    ModalityStatus.BASELINE_FAILURE: "The clean answer is wrong already, so nothing was perturbed. Baseline "
    "failures are outside every rate.",
    ModalityStatus.CALL_ERROR: "The system could not be asked. Call errors are outside every rate.",
}


@dataclass(frozen=True)
class OpenedEvaluation:
    """One evaluation with what the system saw and said.

    Attributes:
        number: counts answered evaluations from 1; 0 for a failed call.
        boxed: the perturbed picture with truth, and the boxes of the answer; None where it cannot be made.
        problem: why picture, prompt or boxes are missing; "" where they are not.
    """

    row: Evaluation
    number: int
    bars: list[StrategyBar]
    boxed: BoxedPicture | None
    prompt: str
    diff: PromptDiff | None
    reading: BoxReading | None
    previous: str
    following: str
    problem: str = ""

    @property
    def stage(self) -> str:
        """The part of the search that asked."""
        return stage_words(self.row.stage, n_operators=len(self.bars))


@dataclass(frozen=True)
class ModalityRunPage(HasOutcome):
    """One run.

    Attributes:
        clean: the seed image with the truth and the clean answer; None where its file is not kept.
        returned, minimal: its cases.
        outcome: a key of ``OUTCOMES``.
        returned_key: the evaluation that is the returned case, "" for none.
        n_things: how many things the label means in the picture.
    """

    run: ModalityRun
    thresholds: Thresholds
    points: RunPoints
    operators: tuple[str, ...]
    clean: BoxedPicture | None
    returned: ModalityCase | None
    minimal: ModalityCase | None
    outcome: str
    returned_key: str
    n_things: int
    log: LogPart

    @property
    def sentence(self) -> str:
        """How it came out."""
        return STATUS_SENTENCES.get(self.run.status) or self._found

    @property
    def end_words(self) -> str:
        """Why it ended, as the engine told it, else in the words of the core; "" while it goes on."""
        if self.run.run.ending:
            return self.run.run.ending[0].upper() + self.run.run.ending[1:]
        reason = self.run.end_reason
        return END_WORDS.get(reason, reason.replace("_", " ").capitalize()) if reason else ""

    @property
    def _found(self) -> str:
        evaluations = write_many(self.run.evaluations, "evaluation")
        if self.run.first_hit:
            return f"The first failure came at evaluation {self.run.first_hit:,} of {self.run.evaluations:,}."
        return f"{evaluations} so far, no failure yet." if not self.run.end_reason else (
            f"No failure in {evaluations}."
        )  # fmt: skip


def find_run(pk: int) -> ModalityRun | None:
    """Return a modality run by the number of its ``SearchRun``, with what its pages need."""
    if pk > LARGEST:
        return None
    returned = Prefetch("cases", queryset=ModalityCase.objects.select_related("evaluation"))
    return (
        ModalityRun.objects.select_related(
            "run__created_by", "campaign__dataset", "sut", "picture", "clean_answer"
        )
        .prefetch_related(returned)
        .filter(run_id=pk)
        .first()
    )


def run_page(run: ModalityRun) -> ModalityRunPage:
    """Return what the page of a run shows, but for the evaluations that the address chooses.

    Raises:
        VlmLabError: what is stored cannot be read.
    """
    thresholds = thresholds_of(run.campaign)
    cases = {case.kind: case for case in run.cases.all()}
    returned = cases.get(CaseKind.RETURNED)
    evaluation = returned.evaluation if returned else None
    with reading_stored("run", hint="Start the campaign again."):
        return ModalityRunPage(
            run=run,
            thresholds=thresholds,
            points=run_points(run, thresholds=thresholds),
            operators=space_of(run).operators,
            clean=clean_picture(run),
            returned=returned,
            minimal=cases.get(CaseKind.MINIMAL),
            outcome=outcome_of(run, returned, iou_threshold=thresholds.iou),
            returned_key=f"{evaluation.step}.{evaluation.position}" if evaluation else "",
            n_things=len(things_of(run.picture, run.label)),
            log=log_part(run.run, before=None),
        )


def opened_evaluation(page: ModalityRunPage, row: Evaluation) -> OpenedEvaluation:
    """Return one evaluation with what the system saw, made again from the strategy."""
    run = page.run
    keys = [point.key for point in page.points.points]
    key = f"{row.step}.{row.position}"
    at = keys.index(key) if key in keys else -1
    point = page.points.find(key)
    bars: list[StrategyBar] = []
    boxed, prompt, diff, reading, problem = None, "", None, None, ""
    try:
        with reading_stored("evaluation", hint="Start the campaign again."):
            bars = strategy_bars(named_severities(row.strategy, page.operators))
        seen = seen_input(run, row)
        prompt, reading = seen.prompt, seen.reading
        diff = prompt_diff(seen.clean_prompt, seen.prompt)
        boxes = as_boxes([item.box for item in reading.items]) if reading else ()
        boxed = BoxedPicture(
            url=reverse("modality_picture", args=[run.run_id, row.step, row.position]),
            alt=f"Perturbed picture of evaluation {point.number if point else key}, "
            f"{write_many(len(seen.truth), 'true box,true boxes')} and "
            f"{write_many(len(boxes), 'box,boxes')} of the answer",
            width=run.picture.width,
            height=run.picture.height,
            boxes=(*drawn(seen.truth, run.label, kind="truth"), *drawn(boxes, "answer", kind="perturbed")),
        )
    except VlmLabError as error:
        problem = str(error)
    return OpenedEvaluation(
        row=row,
        number=point.number if point else 0,
        bars=bars,
        boxed=boxed,
        prompt=prompt,
        diff=diff,
        reading=reading,
        previous=keys[at - 1] if at > 0 else "",
        following=keys[at + 1] if 0 <= at < len(keys) - 1 else "",
        problem=problem,
    )


def clean_picture(run: ModalityRun) -> BoxedPicture | None:
    """Return the seed image with the truth and the boxes of the clean answer; None where it is not kept."""
    if not Blob.objects.filter(pk=run.picture.image_sha256).exists():
        return None
    truth = as_boxes([one["box"] for one in things_of(run.picture, run.label)])
    given = as_boxes(run.clean_answer.boxes) if run.clean_answer else ()
    return BoxedPicture(
        url=reverse("blob", args=[run.picture.image_sha256]),
        alt=f"Seed image {run.picture.file_name or run.picture.order + 1}, "
        f"{write_many(len(truth), 'true box,true boxes')} and "
        f"{write_many(len(given), 'box,boxes')} of the clean answer",
        width=run.picture.width,
        height=run.picture.height,
        boxes=(*drawn(truth, run.label, kind="truth"), *drawn(given, "clean answer", kind="read")),
    )


def drawn(boxes: Boxes | Sequence[Sequence[float]], label: str, *, kind: BoxKind) -> tuple[DrawnBox, ...]:
    """Return boxes as a picture draws them, without numbers: the key says whose they are."""
    return tuple(read_box(0, label, box, kind=kind) for box in boxes)
