"""Rows of MoST campaigns for tests: a grid of runs whose outcomes the caller says, written in bulk.

``make_grid`` writes one run for each system, seed image, regime and replicate; what came of it says a
function ``ended(place) -> Ending``. ``drawn_ending`` is such a function for large campaigns: the same
numbers each time.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils import timezone

from searches.enums import (
    MODALITY_METHOD,
    AnswerKind,
    CaseKind,
    DatasetOrigin,
    DatasetState,
    ModalityStatus,
    RegimeName,
    RunState,
)
from searches.models import (
    Campaign,
    CleanAnswer,
    Dataset,
    DatasetPicture,
    Evaluation,
    ModalityCase,
    ModalityRun,
    SearchRun,
    SutRecord,
)
from tests.doubles import paint_png
from tests.factories import make_blob, make_sut
from vlmlab.core.most.metrics import swtd, swtd_mean
from vlmlab.core.most.types import REGIMES
from vlmlab.core.perturb import IMAGE_OPERATORS, TEXT_OPERATORS
from vlmlab.core.seeding import derive_seed, rng_for

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


def make_seed_dataset(
    n_pictures: int = 4,
    *,
    strata: Sequence[str] = ("street", "kitchen"),
    label: str = "cup",
    has_blobs: bool = False,
    **values: Any,
) -> Dataset:
    """Make a dataset; pictures take turns through the strata, and can be seen with ``has_blobs``."""
    number = Dataset.objects.count() + 1
    defaults: dict[str, Any] = {
        "slug": f"seeds-{number}",
        "title": f"Seeds {number}",
        "origin": DatasetOrigin.UPLOAD,
        "state": DatasetState.READY,
        "n_pictures": n_pictures,
    }
    dataset = Dataset.objects.create(**defaults | values)
    DatasetPicture.objects.bulk_create(
        DatasetPicture(
            dataset=dataset,
            order=order,
            file_name=f"{strata[order % len(strata)]}/{order:04d}.png",
            image_sha256=_picture_digest(dataset.slug, order, has_blobs=has_blobs),
            width=64,
            height=48,
            stratum=strata[order % len(strata)],
            annotations=[
                {
                    "label": label,
                    "concept": "",
                    "box": BOX,
                    "amodal_box": BOX,
                    "visible_fraction": 1.0,
                    "mask": "",
                }
            ],
        )
        for order in range(n_pictures)
    )
    return dataset


def make_modality_campaign(dataset: Dataset | None = None, **values: Any) -> Campaign:
    """Make a campaign without runs; ``plan`` and ``config`` say something only where it is given."""
    dataset = dataset or make_seed_dataset()
    defaults: dict[str, Any] = {
        "name": "A modality search",
        "method": MODALITY_METHOD,
        "config": {"algorithm": "screen", "inference_budget": 500},
        "plan": {
            "regimes": list(REGIMES),
            "strata": [],
            "n_seed_images": None,
            "seed": 7,
            "replicates": 1,
        },
    }
    return Campaign.objects.create(dataset=dataset, **defaults | values)


def make_grid(
    campaign: Campaign,
    *,
    suts: Sequence[SutRecord],
    ended: Callable[[Place], Ending | None],
    regimes: Sequence[str] = REGIMES,
    replicates: int = 1,
    n_evaluations: int = 0,
) -> list[ModalityRun]:
    """Make the runs of a campaign on all pictures of its dataset, in a constant number of queries.

    Args:
        campaign: made by ``make_modality_campaign``.
        suts: systems.
        ended: what came of a place; None leaves the place out.
        regimes: those of the runs.
        replicates: runs of a place.
        n_evaluations: at most so many ``Evaluation`` rows a run; the last is the returned case.
    """
    assert campaign.dataset is not None
    places = [
        Place(sut, picture, number, regime, replicate)
        for sut in suts
        for number, picture in enumerate(campaign.dataset.pictures.order_by("order"))
        for regime in regimes
        for replicate in range(replicates)
    ]
    planned = [(place, ending) for place in places if (ending := ended(place)) is not None]
    return write_runs(campaign, planned, n_evaluations=n_evaluations)


def write_runs(
    campaign: Campaign, planned: Sequence[tuple[Place, Ending]], *, n_evaluations: int = 0
) -> list[ModalityRun]:
    """Write clean answers, runs, evaluations and returned cases of places with their endings."""
    clean = _write_clean_answers(campaign, planned)
    searches = SearchRun.objects.bulk_create(_search_run(campaign, place, end) for place, end in planned)
    runs = ModalityRun.objects.bulk_create(
        ModalityRun(
            run=search,
            campaign=campaign,
            sut=place.sut,
            picture=place.picture,
            stratum=place.picture.stratum,
            label=place.label,
            regime=place.regime,
            replicate=place.replicate,
            status=end.status,
            clean_answer=clean.get((place.sut.pk, place.picture.pk)),
            end_reason="hit" if end.status == ModalityStatus.FINISHED and end.is_hit else "",
            first_hit=end.first_hit,
            evaluations=end.evaluations,
            fidelities=2 * end.evaluations,
        )
        for search, (place, end) in zip(searches, planned, strict=True)
    )
    finished = [
        (run, place, end)
        for run, (place, end) in zip(runs, planned, strict=True)
        if end.status == ModalityStatus.FINISHED
    ]
    last = _write_evaluations(finished, n_evaluations)
    ModalityCase.objects.bulk_create(
        _case(run, place, end, evaluation=last.get(run.pk)) for run, place, end in finished
    )
    return runs


def make_minimal_case(run: ModalityRun, **values: Any) -> ModalityCase:
    """Make the minimal case of a finished run: its returned case, with half of each severity."""
    case = run.cases.get(kind=CaseKind.RETURNED)
    case.pk = None
    case._state.adding = True
    case.kind, case.reason = CaseKind.MINIMAL, "minimal"
    case.severities = {name: severity / 2 for name, severity in case.severities.items()}
    case.image_budget, case.text_budget = case.image_budget / 2, case.text_budget / 2
    for name, value in values.items():
        setattr(case, name, value)
    case.save()
    return case


def drawn_ending(place: Place) -> Ending:
    """Return a plausible ending; the same for the same system, seed image, regime and replicate.

    Of ten runs about one has a baseline failure; image and joint break more often than text.
    """
    shared = rng_for(3, "clean", place.sut.slug, place.number)
    if shared.random() < 0.1:
        return Ending(ModalityStatus.BASELINE_FAILURE, clean_iou=0.2, evaluations=0, wall_s=1.0)
    clean_iou = 0.6 + 0.35 * float(shared.random())
    rng = rng_for(3, "ending", place.sut.slug, place.number, place.regime, place.replicate)
    if rng.random() < 0.02:
        return Ending(ModalityStatus.CALL_ERROR, clean_iou=clean_iou, error="The server did not answer.")
    ease = {"image": 0.6, "text": 0.25, "joint": 0.7}[place.regime]
    severities = _drawn_severities(place.regime, rng)
    image = sum(value for name, value in severities.items() if name in IMAGE_OPERATORS)
    text = sum(value for name, value in severities.items() if name in TEXT_OPERATORS)
    is_broken = rng.random() < ease
    answer = AnswerKind.BOXES
    if is_broken and rng.random() < 0.2:
        answer = AnswerKind.EMPTY if rng.random() < 0.7 else AnswerKind.MALFORMED
    evaluations = int(rng.integers(3, 40)) if is_broken else 500
    inference_s, perturbation_s = 0.2 * evaluations, (0.04 if place.regime != "text" else 0.002) * evaluations
    return Ending(
        answer=answer,
        iou=0.0
        if answer != AnswerKind.BOXES
        else float(rng.uniform(*((0, 0.5) if is_broken else (0.5, 0.9)))),
        clean_iou=clean_iou,
        severities=severities,
        ms_ssim=round(1.0 - 0.3 * image * float(rng.random()), 6),
        ned=round(0.3 * text * float(rng.random()), 6),
        f2=0.15 * image,
        f3=0.1 * text,
        evaluations=evaluations,
        first_hit=evaluations if is_broken and answer == AnswerKind.BOXES else None,
        wall_s=1.1 * (inference_s + perturbation_s),
        perturbation_s=perturbation_s,
        inference_s=inference_s,
    )


def make_drawn_campaign(
    n_pictures: int = 24, *, n_suts: int = 2, n_evaluations: int = 0, **values: Any
) -> Campaign:
    """Make a whole campaign of drawn endings: two strata, three regimes."""
    campaign = make_modality_campaign(make_seed_dataset(n_pictures), **values)
    suts = [make_sut() for _ in range(n_suts)]
    make_grid(campaign, suts=suts, ended=drawn_ending, n_evaluations=n_evaluations)
    return campaign


def _drawn_severities(regime: str, rng: Any) -> dict[str, float]:
    names = {
        "image": list(IMAGE_OPERATORS),
        "text": list(TEXT_OPERATORS),
        "joint": [*IMAGE_OPERATORS, *TEXT_OPERATORS],
    }[regime]
    weights = [1.0 / (1 + place) for place in range(len(names))]
    total = sum(weights)
    chosen = rng.choice(
        len(names), size=int(rng.integers(1, 4)), replace=False, p=[w / total for w in weights]
    )
    return {names[place]: round(float(rng.uniform(0.05, 0.33)), 6) for place in sorted(chosen)}


def _write_clean_answers(
    campaign: Campaign, planned: Iterable[tuple[Place, Ending]]
) -> dict[tuple[int, int], CleanAnswer]:
    rows: dict[tuple[int, int], CleanAnswer] = {}
    for place, end in planned:
        key = (place.sut.pk, place.picture.pk)
        if key in rows or end.status == ModalityStatus.UNFINISHED:
            continue
        rows[key] = CleanAnswer(
            campaign=campaign,
            sut=place.sut,
            picture=place.picture,
            label=place.label,
            prompt=PROMPT.format(label=place.label),
            status=end.clean_answer,
            iou=end.clean_iou if end.clean_answer == AnswerKind.BOXES else 0.0,
            lenient_status=end.lenient_clean_answer or end.clean_answer,
            lenient_iou=end.clean_iou if end.lenient_clean_iou is None else end.lenient_clean_iou,
            boxes=[BOX] if end.clean_answer == AnswerKind.BOXES else [],
            raw_text=_raw_text(end.clean_answer),
        )
    CleanAnswer.objects.bulk_create(rows.values())
    return rows


def _search_run(campaign: Campaign, place: Place, end: Ending) -> SearchRun:
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


def _write_evaluations(
    finished: Sequence[tuple[ModalityRun, Place, Ending]], most: int
) -> dict[int, Evaluation]:
    rows: list[Evaluation] = []
    last: dict[int, Evaluation] = {}
    for run, place, end in finished:
        count = min(most, end.evaluations)
        for number in range(count):
            is_last = number == count - 1
            rows.append(_evaluation(run, place, end, number=number, count=count))
            if is_last:
                last[run.pk] = rows[-1]
    Evaluation.objects.bulk_create(rows, batch_size=2000)
    return last


def _evaluation(run: ModalityRun, place: Place, end: Ending, *, number: int, count: int) -> Evaluation:
    """Return an evaluation: the last is the case, those before move from the clean answer towards it."""
    share = (number + 1) / count
    is_last = number == count - 1
    answer = end.answer if is_last else AnswerKind.BOXES
    iou = end.iou if is_last else end.clean_iou + (max(end.iou, 0.5) - end.clean_iou) * share
    return Evaluation(
        run_id=run.run_id,
        step=number // 8,
        position=number % 8,
        strategy=[round(end.severities.get(name, 0.0) * share, 6) for name in _operators(place.regime)],
        stage="",
        status=answer,
        iou=iou if answer == AnswerKind.BOXES else 0.0,
        lenient_status=answer,
        lenient_iou=iou if answer == AnswerKind.BOXES else 0.0,
        image_distance=end.f2 * share,
        prompt_distance=end.f3 * share,
        is_hit=is_last and end.is_hit,
        raw_text=_raw_text(answer),
        finish_reason="stop",
        latency_ms=200.0,
    )


def _operators(regime: str) -> tuple[str, ...]:
    image = tuple(IMAGE_OPERATORS) if regime != RegimeName.TEXT else ()
    return image + (tuple(TEXT_OPERATORS) if regime != RegimeName.IMAGE else ())


def _case(run: ModalityRun, place: Place, end: Ending, *, evaluation: Evaluation | None) -> ModalityCase:
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
        raw_text=_raw_text(end.answer),
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


def _raw_text(answer: str) -> str:
    texts = {
        AnswerKind.BOXES: '[{"bbox_2d": [4, 3, 12, 9], "label": "cup"}]',
        AnswerKind.EMPTY: "[]",
        AnswerKind.MALFORMED: '[{"bbox_2d": [4, 3,',
        AnswerKind.CALL_ERROR: "",
    }
    return texts[AnswerKind(answer)]


def _picture_digest(slug: str, order: int, *, has_blobs: bool) -> str:
    if has_blobs:
        shade = (40 + 37 * order) % 200
        return make_blob(paint_png((shade, 90 + order % 60, 160 - shade // 2), width=64, height=48)).sha256
    return hashlib.sha256(f"{slug} {order}".encode()).hexdigest()
