"""Rows of MoST runs that are not stored yet: a place of the grid, what came of it, and its rows."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from django.utils import timezone

from searches.enums import (
    AnswerKind,
    CaseKind,
    ModalityStatus,
    RegimeName,
    RunState,
)
from searches.models import (
    Campaign,
    DatasetPicture,
    Evaluation,
    ModalityCase,
    ModalityRun,
    SearchRun,
    SutRecord,
)
from vlmlab.core.most.metrics import swtd, swtd_mean
from vlmlab.core.perturb import IMAGE_OPERATORS, TEXT_OPERATORS
from vlmlab.core.seeding import derive_seed

BOX = [8.0, 6.0, 24.0, 18.0]
PROMPT = "Find the {label} in the picture. Answer with JSON."


@dataclass(frozen=True)
class Place:
    """One place of the grid; ``number`` counts seed images from 0."""

    sut: SutRecord
    picture: DatasetPicture
    number: int
    regime: str
    replicate: int = 0

    @property
    def label(self) -> str:
        return str(self.picture.annotations[0]["label"])


@dataclass(frozen=True)
class Ending:
    """What came of a run. ``answer`` and ``iou`` are those of the returned case of a finished run."""

    status: str = ModalityStatus.FINISHED
    answer: str = AnswerKind.BOXES
    iou: float = 0.8
    clean_answer: str = AnswerKind.BOXES
    clean_iou: float = 0.9
    severities: Mapping[str, float] = field(default_factory=dict)
    ms_ssim: float = 1.0
    ned: float = 0.0
    f2: float = 0.0
    f3: float = 0.0
    is_faithful: bool = True
    evaluations: int = 10
    first_hit: int | None = None
    wall_s: float = 10.0
    perturbation_s: float = 2.0
    inference_s: float = 7.0
    lenient_answer: str = ""  # "" as the strict reading
    lenient_iou: float | None = None
    lenient_clean_answer: str = ""
    lenient_clean_iou: float | None = None
    state: str = ""  # "" as it follows from the status
    error: str = ""

    @property
    def is_hit(self) -> bool:
        return self.answer == AnswerKind.BOXES and self.iou < 0.5 and self.is_faithful


def search_run_row(campaign: Campaign, place: Place, end: Ending) -> SearchRun:
    states = {ModalityStatus.UNFINISHED: RunState.QUEUED, ModalityStatus.CALL_ERROR: RunState.FAILED}
    state = end.state or states.get(ModalityStatus(end.status), RunState.SUCCEEDED)
    seed = int(campaign.plan.get("seed", 7))
    now = timezone.now()
    return SearchRun(
        campaign=campaign,
        sut=place.sut,
        queue=place.sut.queue,
        run_seed=derive_seed(seed, "replicate", place.replicate) if place.replicate else seed,
        state=state,
        step=(end.evaluations + 7) // 8,
        n_inferences=end.evaluations,
        n_observations=end.evaluations,
        n_calls=end.evaluations,
        active_seconds=end.wall_s,
        render_seconds=end.perturbation_s,
        sut_seconds=end.inference_s,
        error=end.error,
        started_at=None if state == RunState.QUEUED else now,
        finished_at=None if state in (RunState.QUEUED, RunState.RUNNING) else now,
    )


def evaluation_row(run: ModalityRun, place: Place, end: Ending, *, number: int, count: int) -> Evaluation:
    """Return an evaluation: the last is the case, those before move from the clean answer towards it."""
    share = (number + 1) / count
    is_last = number == count - 1
    answer = end.answer if is_last else AnswerKind.BOXES
    iou = end.iou if is_last else end.clean_iou + (max(end.iou, 0.5) - end.clean_iou) * share
    return Evaluation(
        run_id=run.run_id,
        step=number // 8,
        position=number % 8,
        strategy=[round(end.severities.get(name, 0.0) * share, 6) for name in operators_of(place.regime)],
        stage="",
        status=answer,
        iou=iou if answer == AnswerKind.BOXES else 0.0,
        lenient_status=answer,
        lenient_iou=iou if answer == AnswerKind.BOXES else 0.0,
        image_distance=end.f2 * share,
        prompt_distance=end.f3 * share,
        is_hit=is_last and end.is_hit,
        raw_text=raw_text_of(answer),
        finish_reason="stop",
        latency_ms=200.0,
    )


def operators_of(regime: str) -> tuple[str, ...]:
    image = tuple(IMAGE_OPERATORS) if regime != RegimeName.TEXT else ()
    return image + (tuple(TEXT_OPERATORS) if regime != RegimeName.IMAGE else ())


def case_row(run: ModalityRun, place: Place, end: Ending, *, evaluation: Evaluation | None) -> ModalityCase:
    iou = end.iou if end.answer == AnswerKind.BOXES else 0.0
    is_failure = end.is_hit
    return ModalityCase(
        modality_run=run,
        kind=CaseKind.RETURNED,
        evaluation=evaluation,
        severities=dict(end.severities),
        generator={"run_seed": 7, "seed_image": place.picture.image_sha256, "seeds": {}},
        prompt=PROMPT.format(label=place.label),
        image_sha256=place.picture.image_sha256,
        truth=[BOX],
        boxes=[[4.0, 3.0, 12.0, 9.0]] if end.answer == AnswerKind.BOXES else [],
        status=end.answer,
        iou=iou,
        lenient_status=end.lenient_answer or end.answer,
        lenient_iou=iou if end.lenient_iou is None else end.lenient_iou,
        raw_text=raw_text_of(end.answer),
        reason="failure" if is_failure else ("closest" if end.is_faithful else "unfaithful"),
        is_failure=is_failure,
        is_faithful=end.is_faithful,
        f1=iou / end.clean_iou,
        f2=end.f2,
        f3=end.f3,
        ms_ssim=end.ms_ssim,
        ned=end.ned,
        swtd=swtd(end.clean_iou, iou, end.ms_ssim, end.ned),
        swtd_mean=swtd_mean(end.clean_iou, iou, end.ms_ssim, end.ned),
        image_budget=sum(value for name, value in end.severities.items() if name in IMAGE_OPERATORS),
        text_budget=sum(value for name, value in end.severities.items() if name in TEXT_OPERATORS),
        evaluations=end.evaluations,
    )


def raw_text_of(answer: str) -> str:
    texts = {
        AnswerKind.BOXES: '[{"bbox_2d": [4, 3, 12, 9], "label": "cup"}]',
        AnswerKind.EMPTY: "[]",
        AnswerKind.MALFORMED: '[{"bbox_2d": [4, 3,',
        AnswerKind.CALL_ERROR: "",
    }
    return texts[AnswerKind(answer)]
