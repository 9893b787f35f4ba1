"""A finished modality campaign as sample data, so that no profile is missing on the first day."""

import gzip
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from django.db import models, transaction
from django.db.models.functions import Now

from searches.enums import FINAL_STATES, MODALITY_METHOD
from searches.models import (
    Campaign,
    CleanAnswer,
    Dataset,
    Evaluation,
    ModalityCase,
    ModalityRun,
    SearchRun,
    SutRecord,
)
from searches.services.blobs import blob_path, digest_of, store_blob
from searches.services.sample_data import FOLDER
from searches.services.sample_rows import columns_of, dated
from vlmlab.core.errors import VlmLabError
from vlmlab.web.numbers import write_many

PROFILE_FOLDER = FOLDER / "profiles"
FIXTURE = "campaign.json.gz"
PICTURES = "pictures"
FORMAT = 1
WRITTEN_AT_ONCE = 500
RowT = TypeVar("RowT", bound=models.Model)
LEFT_OUT = frozenset(
    {
        "id", "campaign", "sut", "picture", "dataset", "run", "modality_run", "clean_answer", "evaluation",
        "created_by", "cloned_from", "owner", "created_at", "request_key", "lease_expires", "dispatched_at",
    }
)  # fmt: skip


def dump_campaign(campaign: Campaign, *, folder: Path, pictures: int) -> Path:
    """Write a finished modality campaign as a sample: one packed file, and pictures of its first failures.

    Args:
        campaign: all of its runs have ended.
        folder: where ``campaign.json.gz`` and ``pictures/`` go; one folder a campaign.
        pictures: how many perturbed pictures to ship at most; the others are made again when they are shown.

    Raises:
        VlmLabError: it is no modality campaign, or has not ended.
    """
    if campaign.method != MODALITY_METHOD or campaign.dataset is None:
        raise VlmLabError("Only a modality campaign can become this sample.", hint="Give another number.")
    if campaign.runs.exclude(state__in=FINAL_STATES).exists():
        raise VlmLabError("Only a finished campaign can become sample data.", hint="Wait until it has ended.")
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(_content(campaign), default=str, ensure_ascii=False, separators=(",", ":"))
    path = folder / FIXTURE
    path.write_bytes(gzip.compress(text.encode(), mtime=0))
    _dump_pictures(campaign, folder / PICTURES, pictures)
    return path


def load_profiles(folder: Path = PROFILE_FOLDER) -> list[str]:
    """Make the rows of the sample campaigns; what is there already stays as it is.

    Returns:
        One sentence for each on what was done or left out.
    """
    return [_load_profile(path) for path in sorted(folder.glob(f"*/{FIXTURE}"))]


def _load_profile(path: Path) -> str:
    content = json.loads(gzip.decompress(path.read_bytes()))
    if content.get("format") != FORMAT:
        return f"The sample profile in {path.parent.name} was written by another version and is left out."
    name = content["campaign"]["name"]
    if Campaign.objects.filter(is_sample=True, method=MODALITY_METHOD, name=name).exists():
        return f"The sample profile “{name}” is there already."
    dataset = Dataset.objects.filter(slug=content["dataset"], is_sample=True).first()
    suts = {row.slug: row for row in SutRecord.objects.filter(slug__in=content["suts"], is_sample=True)}
    if dataset is None or len(suts) < len(content["suts"]):
        return f"The sample profile “{name}” is left out: its seed images or systems are others."
    _load(content, dataset=dataset, suts=suts)
    for picture in sorted((path.parent / PICTURES).glob("*.png")):
        png = picture.read_bytes()
        if digest_of(png) == picture.stem:
            store_blob(png)
    return f"Sample profile “{name}” loaded: {write_many(len(content['runs']), 'run')}."


def _content(campaign: Campaign) -> dict[str, Any]:
    runs = list(campaign.runs.select_related("modality", "sut").order_by("id"))
    cleans = list(campaign.clean_answers.select_related("picture", "sut").order_by("id"))
    places = {clean.pk: place for place, clean in enumerate(cleans)}
    dataset = campaign.dataset
    return {
        "format": FORMAT,
        "dataset": dataset.slug if dataset else "",
        "suts": sorted({run.sut.slug for run in runs}),
        "campaign": columns_of(campaign, left_out=LEFT_OUT) | {"is_sample": True},
        "cleans": [
            columns_of(clean, left_out=LEFT_OUT) | {"sut": clean.sut.slug, "picture": clean.picture.order}
            for clean in cleans
        ],
        "runs": [_run_content(run, places) for run in runs],
    }


def _run_content(run: SearchRun, cleans: Mapping[int, int]) -> dict[str, Any]:
    modality = ModalityRun.objects.select_related("picture").get(run=run)
    evaluations = list(run.evaluations.order_by("step", "position"))
    places = {row.pk: place for place, row in enumerate(evaluations)}
    return {
        "sut": run.sut.slug,
        "row": columns_of(run, left_out=LEFT_OUT),
        "modality": columns_of(modality, left_out=LEFT_OUT)
        | {"picture": modality.picture.order, "clean": cleans.get(modality.clean_answer_id or 0)},
        "evaluations": [_changed(row) for row in evaluations],
        "cases": [
            columns_of(case, left_out=LEFT_OUT) | {"evaluation": places.get(case.evaluation_id or 0)}
            for case in modality.cases.order_by("id")
        ],
    }


def _changed(row: Evaluation) -> dict[str, Any]:
    """Return the columns of an evaluation that are not as they are by default; zeros without a point."""
    values = {
        field.name: value
        for field in row._meta.concrete_fields
        if field.name not in LEFT_OUT and (value := field.value_from_object(row)) != field.get_default()
    }
    return values | {"strategy": [severity or 0 for severity in row.strategy]}


@transaction.atomic
def _load(content: dict[str, Any], *, dataset: Dataset, suts: Mapping[str, SutRecord]) -> None:
    campaign = Campaign.objects.create(dataset=dataset, **dated(Campaign, content["campaign"]))
    pictures = dict(dataset.pictures.values_list("order", "pk"))
    cleans = [CleanAnswer(campaign=campaign, **_placed(row, suts, pictures)) for row in content["cleans"]]
    CleanAnswer.objects.bulk_create(cleans, batch_size=WRITTEN_AT_ONCE)
    runs = [
        SearchRun(campaign=campaign, sut=suts[one["sut"]], **dated(SearchRun, one["row"]))
        for one in content["runs"]
    ]
    SearchRun.objects.bulk_create(runs, batch_size=WRITTEN_AT_ONCE)
    places = []
    for run, one in zip(runs, content["runs"], strict=True):
        values = one["modality"] | {"picture_id": pictures[one["modality"]["picture"]]}
        clean = values.pop("clean")
        values.pop("picture")
        values["clean_answer"] = None if clean is None else cleans[clean]
        places.append(ModalityRun(run=run, campaign=campaign, sut=run.sut, **values))
    ModalityRun.objects.bulk_create(places, batch_size=WRITTEN_AT_ONCE)
    _load_answers(runs, places, content["runs"])
    SearchRun.objects.filter(campaign=campaign).update(finished_at=Now())


def _load_answers(runs: list[SearchRun], places: list[ModalityRun], contents: list[dict[str, Any]]) -> None:
    evaluations: list[list[Evaluation]] = []
    for run, one in zip(runs, contents, strict=True):
        rows = [row | {"strategy": [float(z) for z in row["strategy"]]} for row in one["evaluations"]]
        evaluations.append([Evaluation(run=run, **row) for row in rows])
    Evaluation.objects.bulk_create(_flat(evaluations), batch_size=WRITTEN_AT_ONCE)
    cases = []
    for place, of_run, one in zip(places, evaluations, contents, strict=True):
        for row in one["cases"]:
            asked = row["evaluation"]
            values = row | {"evaluation": None if asked is None else of_run[asked]}
            cases.append(ModalityCase(modality_run=place, **values))
    ModalityCase.objects.bulk_create(cases, batch_size=WRITTEN_AT_ONCE)


def _placed(
    row: dict[str, Any], suts: Mapping[str, SutRecord], pictures: Mapping[int, int]
) -> dict[str, Any]:
    values = {name: value for name, value in row.items() if name not in ("sut", "picture")}
    return values | {"sut": suts[row["sut"]], "picture_id": pictures[row["picture"]]}


def _dump_pictures(campaign: Campaign, folder: Path, limit: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.png"):
        old.unlink()
    cases = ModalityCase.objects.filter(modality_run__campaign=campaign).order_by("-is_failure", "id")
    shown = [sha for sha in cases.values_list("image_sha256", flat=True) if blob_path(sha).exists()]
    for sha256 in list(dict.fromkeys(shown))[:limit]:
        (folder / f"{sha256}.png").write_bytes(blob_path(sha256).read_bytes())


def _flat(lists: Iterable[list[RowT]]) -> list[RowT]:
    return [row for rows in lists for row in rows]
