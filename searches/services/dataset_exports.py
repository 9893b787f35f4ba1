"""What the archives of datasets, runs, concept sets and single scenes are made of."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from django.db.models import QuerySet

from searches.enums import DatasetOrigin
from searches.models import Blob, Dataset, DatasetPicture, Job, Sample, SearchRun, Trial
from searches.services.datasets import credits_of_backend
from searches.services.domain_store import find_domain
from searches.services.sample_scenes import remade_description
from searches.services.scene_archives import SceneExport, ScenePicture
from searches.services.set_settings import set_settings
from vlmlab.core.scenes.asked_labels import label_of
from vlmlab.core.scenes.coco import CocoThing
from vlmlab.core.scenes.concepts import Domain
from vlmlab.core.scenes.render.backends import EMBEDDED

CHUNK = 200


def dataset_export(dataset: Dataset) -> SceneExport:
    """Return the archive of a dataset."""
    rows = dataset.pictures.order_by("order")
    recipe = dataset.recipe.get("drawn", dataset.recipe)  # of the shipped seed images
    is_rendered = dataset.origin == DatasetOrigin.SCENES or "drawn" in dataset.recipe

    def kept(is_kept: bool) -> Iterator[ScenePicture]:  # noqa: FBT001 - used two lines below only
        for row, is_there in _with_blobs(rows):
            if is_there is is_kept:
                yield _dataset_picture(row)

    return SceneExport(
        name=f"vlmlab-dataset-{dataset.slug}",
        title=dataset.title,
        pictures=lambda: kept(True),
        missing=lambda: kept(False),
        credits=dataset.credits,
        licence=dataset.licence,
        has_assets=is_rendered and recipe.get("backend", EMBEDDED) == EMBEDDED,
    )


def run_export(run: SearchRun, trial: Trial | None = None) -> SceneExport:
    """Return the archive of the scenes of a run, or of one of its concept sets."""
    config, domain = set_settings(run), find_domain(run.campaign.domain_ref)
    rows = (trial.samples if trial is not None else run.samples).select_related("trial")
    drawn = rows.exclude(image_sha256="").order_by("trial__order", "number")
    size = (config.image_width, config.image_height)

    def kept(is_kept: bool) -> Iterator[ScenePicture]:  # noqa: FBT001 - used a few lines below only
        for row, is_there in _with_blobs(drawn):
            if is_there is is_kept:
                yield _sample_picture(row, domain, size=size, backend=config.backend)

    what = f"set {trial.order + 1} of run {run.pk}" if trial is not None else f"run {run.pk}"
    credit, licence = credits_of_backend(config.backend)
    return SceneExport(
        name=f"vlmlab-{what.replace(' of ', '-').replace(' ', '-')}-scenes",
        title=f"Scenes of {what}, {domain.title}, {run.sut.name}",
        pictures=lambda: kept(True),
        missing=lambda: kept(False),
        credits=credit,
        licence=licence,
        has_assets=config.backend == EMBEDDED,
    )


def job_export(job: Job) -> SceneExport:
    """Return the archive of one drawn scene."""
    result, params = job.result, job.params
    domain = find_domain(params["domain"])
    backend = str(params.get("backend", EMBEDDED))
    picture = ScenePicture(
        file_name="scene.png",
        sha256=result["image_sha256"],
        width=int(params["width"]),
        height=int(params["height"]),
        concepts=tuple(result["concepts"]),
        things=_things(
            result["annotations"], domain, masks=result.get("masks", {}), description=result["description"]
        ),
        scene_seed=int(params["seed"]),
        attempt=int(result["attempt"]),
        digest=result["digest"],
        provenance=result.get("backend", {}),
        description=lambda: result["description"],
        values={
            "domain": domain.ref,
            "rule": result["decision"]["rule_id"],
            "expected": result["decision"]["action"],
        },
    )
    is_kept = Blob.objects.filter(pk=picture.sha256).exists()
    credit, licence = credits_of_backend(backend)
    return SceneExport(
        name=f"vlmlab-scene-{job.pk}",
        title=f"A scene of {domain.title}",
        pictures=lambda: [picture] if is_kept else [],
        missing=lambda: [] if is_kept else [picture],
        credits=credit,
        licence=licence,
        has_assets=backend == EMBEDDED,
    )


def _with_blobs(rows: "QuerySet[Any]") -> Iterator[tuple[Any, bool]]:
    """Yield rows with whether their picture is kept, a chunk at a time."""
    chunk: list[Any] = []
    for row in rows.iterator(chunk_size=CHUNK):
        chunk.append(row)
        if len(chunk) == CHUNK:
            yield from _looked_up(chunk)
            chunk = []
    yield from _looked_up(chunk)


def _looked_up(rows: list[Any]) -> Iterator[tuple[Any, bool]]:
    kept = set(Blob.objects.filter(pk__in={row.image_sha256 for row in rows}).values_list("pk", flat=True))
    for row in rows:
        yield row, row.image_sha256 in kept


def _dataset_picture(row: DatasetPicture) -> ScenePicture:
    return ScenePicture(
        file_name=row.file_name or f"{row.order:06d}.png",
        sha256=row.image_sha256,
        width=row.width,
        height=row.height,
        concepts=tuple(row.concepts),
        things=tuple(_stored_thing(one) for one in row.annotations),
        scene_seed=row.scene_seed,
        attempt=row.attempt,
        digest=row.description_digest,
        provenance=row.provenance,
        description=lambda: row.description,
        values={"stratum": row.stratum, "domain": row.description.get("domain", "")},
    )


def _stored_thing(one: Mapping[str, Any]) -> CocoThing:
    box = _box(one["box"])
    named = ("kind", "concept", "is_asked", "amodal_box", "visible_fraction")
    return CocoThing(
        label=str(one.get("label") or one.get("concept") or "thing"),
        box=box,
        area=float(one.get("visible_pixels") or (box[2] - box[0]) * (box[3] - box[1])),
        mask=str(one.get("mask") or ""),
        extra={name: one[name] for name in named if name in one},
    )


def _sample_picture(row: Sample, domain: Domain, *, size: tuple[int, int], backend: str) -> ScenePicture:
    return ScenePicture(
        file_name=f"set_{row.trial.order + 1:05d}_sample_{row.number + 1:03d}.png",
        sha256=row.image_sha256,
        width=size[0],
        height=size[1],
        concepts=tuple(row.trial.concepts),
        things=_things(row.annotations, domain, masks={}, description={}),
        scene_seed=row.scene_seed,
        attempt=row.attempt,
        digest=row.description_digest,
        provenance=row.provenance,
        description=lambda: remade_description(row, domain, backend=backend).description,
        values={
            "domain": domain.ref,
            "rule": row.rule_id,
            "expected": row.expected_action,
            "answered": row.answered_action,
            "verdict": row.verdict,
        },
    )


def _things(
    annotations: Iterable[Mapping[str, Any]],
    domain: Domain,
    *,
    masks: Mapping[str, str],
    description: Mapping[str, Any],
) -> tuple[CocoThing, ...]:
    """Return the required things of stored annotations that can be seen."""
    variants = {one["id"]: one.get("parameters", {}) for one in description.get("objects", [])}
    found = []
    for one in annotations:
        if not (one.get("visible_box") and one.get("is_required")):
            continue
        name = label_of(str(one["kind"]), variants.get(one.get("object_id"), {}))
        concept = str(one.get("concept", ""))
        words = domain.concept(concept).label.lower() if concept in domain.index else str(one["kind"])
        extra = {key: one[key] for key in ("kind", "concept", "amodal_box", "visible_fraction") if key in one}
        box = _box(one["visible_box"])
        found.append(
            CocoThing(
                label=name.text if name is not None else words.replace("_", " "),
                box=box,
                area=float(one.get("visible_pixels") or (box[2] - box[0]) * (box[3] - box[1])),
                mask=str(masks.get(str(one.get("object_id", "")), "")),
                extra=extra,
            )
        )
    return tuple(found)


def _box(values: Iterable[float]) -> tuple[float, float, float, float]:
    x_min, y_min, x_max, y_max = (float(value) for value in values)
    return x_min, y_min, x_max, y_max
