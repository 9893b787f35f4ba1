"""Rows of MoST campaigns for tests: a grid of runs whose outcomes the caller says, written in bulk.

``make_grid`` writes one run for each system, seed image, regime and replicate; what came of it says a
function ``ended(place) -> Ending``. ``drawn_ending`` is such a function for large campaigns: the same
numbers each time.
"""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from searches.enums import (
    MODALITY_METHOD,
    AnswerKind,
    CaseKind,
    DatasetOrigin,
    DatasetState,
    ModalityStatus,
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
from tests.searches.modality_rows import (
    BOX,
    PROMPT,
    Ending,
    Place,
    case_row,
    evaluation_row,
    raw_text_of,
    search_run_row,
)
from vlmlab.core.most.types import REGIMES
from vlmlab.core.perturb import IMAGE_OPERATORS, TEXT_OPERATORS
from vlmlab.core.seeding import rng_for

__all__ = [
    "Ending",
    "Place",
    "drawn_ending",
    "make_drawn_campaign",
    "make_grid",
    "make_minimal_case",
    "make_modality_campaign",
    "make_seed_dataset",
    "write_runs",
]


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
    searches = SearchRun.objects.bulk_create(search_run_row(campaign, place, end) for place, end in planned)
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
        case_row(run, place, end, evaluation=last.get(run.pk)) for run, place, end in finished
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
            raw_text=raw_text_of(end.clean_answer),
        )
    CleanAnswer.objects.bulk_create(rows.values())
    return rows


def _write_evaluations(
    finished: Sequence[tuple[ModalityRun, Place, Ending]], most: int
) -> dict[int, Evaluation]:
    rows: list[Evaluation] = []
    last: dict[int, Evaluation] = {}
    for run, place, end in finished:
        count = min(most, end.evaluations)
        for number in range(count):
            is_last = number == count - 1
            rows.append(evaluation_row(run, place, end, number=number, count=count))
            if is_last:
                last[run.pk] = rows[-1]
    Evaluation.objects.bulk_create(rows, batch_size=2000)
    return last


def _picture_digest(slug: str, order: int, *, has_blobs: bool) -> str:
    if has_blobs:
        shade = (40 + 37 * order) % 200
        return make_blob(paint_png((shade, 90 + order % 60, 160 - shade // 2), width=64, height=48)).sha256
    return hashlib.sha256(f"{slug} {order}".encode()).hexdigest()
