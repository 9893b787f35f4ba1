"""Sample data: the shipped models and a finished run of one, so that no page is empty on the first day."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from django.conf import settings
from django.db import transaction
from django.db.models.functions import Now

from searches.enums import RunState
from searches.models import Campaign, Finding, RunEvent, Sample, SearchRun, SutRecord, Trial
from searches.services.blobs import blob_path, digest_of, store_blob
from searches.services.sample_calibration import load_calibration
from searches.services.sample_rows import columns_of, dated
from searches.services.suts import asking_of, register_sut
from vlmlab.core.errors import VlmLabError
from vlmlab.core.suts.asking import AskingParams
from vlmlab.web.numbers import write_many

FOLDER = Path(__file__).resolve().parents[1] / "sample_data"
FIXTURE = "run.json"
FORMAT = 1
KIND = "transformers_local"
PROMPT_STYLE = "json_0_1000"


@dataclass(frozen=True)
class ShippedModel:
    """A checkpoint that comes with the lab; its folder below the shipped models has the name of its slug."""

    slug: str
    name: str
    note: str


SHIPPED_MODELS = (
    ShippedModel(
        "pocket",
        "Pocket VLM",
        "A very small vision-language model trained for this lab on its own rendered driving and kitchen "
        "scenes: it answers their questions, judges statements and finds things. It shows how all this works "
        "and has real weaknesses of its own; it says nothing about other models.",
    ),
    ShippedModel(
        "pocket-early",
        "Pocket VLM, early",
        "An earlier state of the training of the pocket VLM, before people's labels came in: it finds things "
        "less surely and errs elsewhere. It is there to compare with, to transfer findings to, and to see "
        "what a regression looks like.",
    ),
)
RowT = TypeVar("RowT", Sample, Finding)
LEFT_OUT = frozenset(
    {"id", "run", "trial", "sut", "campaign", "created_by", "cloned_from", "owner", "created_at"}
)


def load_sample_data() -> list[str]:
    """Register the shipped models and load the sample run; what is there already stays as it is.

    Returns:
        One sentence for each thing done or left out.
    """
    notes = [*(_register(model) for model in SHIPPED_MODELS), *filter(None, [load_calibration(FOLDER)])]
    path = FOLDER / FIXTURE
    if not path.exists():
        return [*notes, "No sample run is shipped with this version."]
    content = json.loads(path.read_text(encoding="utf-8"))
    if Campaign.objects.filter(is_sample=True, name=content["campaign"]["name"]).exists():
        return [*notes, "The sample run is there already."]
    slug = content["sut"]["slug"]
    if not SutRecord.objects.filter(slug=slug, is_sample=True).exists():
        return [*notes, f"The sample run is left out: the shipped model “{slug}” is not registered."]
    run = load_run(content, pictures=FOLDER / "pictures")
    counts = write_many(run.n_inferences, "inference"), write_many(run.n_modes, "failure mode")
    return [*notes, f"Sample run loaded: {', '.join(counts)}."]


def _register(model: ShippedModel) -> str:
    registered = SutRecord.objects.filter(slug=model.slug).first()
    if registered is not None:
        return _kept(registered, model)
    folder = Path(settings.SHIPPED_MODEL_DIR) / model.slug
    if not (folder / "config.json").exists():
        return (
            f"The shipped model “{model.slug}” is not in this copy: register a checkpoint of your own on the "
            "systems page."
        )
    try:
        register_sut(
            slug=model.slug,
            name=model.name,
            kind=KIND,
            params=_params(model),
            by=None,
            description=model.note,
            is_sample=True,
        )
    except VlmLabError as error:
        return f"The shipped model “{model.slug}” cannot be registered: {error}"
    return f"The shipped model is registered as “{model.slug}”."


def _params(model: ShippedModel) -> dict[str, Any]:
    return {"checkpoint": f"shipped:{model.slug}", "asking": {"prompt_style": PROMPT_STYLE}}


def _kept(registered: SutRecord, model: ShippedModel) -> str:
    """Say what stands in the model's place; one that is asked as by an earlier version is asked as now."""
    if not registered.is_sample:
        return (
            f"The shipped model “{model.slug}” is left out: a system of your own has that short name. For "
            "both, register yours by another name and load the sample data again."
        )
    if registered.kind != KIND or asking_of(registered) != AskingParams():
        return f"The shipped model “{model.slug}” is registered already."
    registered.params = registered.params | _params(model)
    registered.description = model.note
    registered.save(update_fields=["params", "description"])
    return f"The shipped model “{model.slug}” writes boxes now and is asked for them in its own way."


def dump_run(run: SearchRun, *, folder: Path, pictures: int) -> Path:
    """Write a finished run as a sample: one JSON file and the pictures of its findings.

    Args:
        run: a finished run.
        folder: where ``run.json`` and ``pictures/`` go.
        pictures: how many pictures to ship at most; those of findings first.

    Raises:
        VlmLabError: the run has not finished.
    """
    if run.state != RunState.SUCCEEDED:
        raise VlmLabError("Only a finished run can become sample data.", hint="Wait until it has finished.")
    trials = list(run.trials.order_by("order"))
    places = {trial.pk: place for place, trial in enumerate(trials)}
    content = {
        "format": FORMAT,
        "sut": {"slug": run.sut.slug},
        "campaign": columns_of(run.campaign, left_out=LEFT_OUT) | {"is_sample": True},
        "run": columns_of(run, left_out=LEFT_OUT),
        "trials": [columns_of(trial, left_out=LEFT_OUT) for trial in trials],
        "samples": [
            columns_of(sample, left_out=LEFT_OUT) | {"trial": places[sample.trial_id]}
            for sample in run.samples.order_by("step", "position")
        ],
        "findings": [
            columns_of(finding, left_out=LEFT_OUT) | {"trial": places[finding.trial_id]}
            for finding in run.findings.order_by("id")
        ],
        "events": [columns_of(event, left_out=LEFT_OUT) for event in run.events.order_by("id")],
    }
    (folder / "pictures").mkdir(parents=True, exist_ok=True)
    for old in (folder / "pictures").glob("*.png"):
        old.unlink()
    for sha256 in _chosen_pictures(run, pictures):
        (folder / "pictures" / f"{sha256}.png").write_bytes(blob_path(sha256).read_bytes())
    path = folder / FIXTURE
    path.write_text(json.dumps(content, indent=1, default=str, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


@transaction.atomic
def load_run(content: dict[str, Any], *, pictures: Path) -> SearchRun:
    """Make the rows of a sample run and store its pictures.

    Raises:
        VlmLabError: another version of the lab wrote it.
    """
    if content.get("format") != FORMAT:
        raise VlmLabError("The sample run was written by another version.", hint="Write it again.")
    sut = SutRecord.objects.get(slug=content["sut"]["slug"])
    campaign = Campaign.objects.create(**content["campaign"])
    run = SearchRun.objects.create(campaign=campaign, sut=sut, **dated(SearchRun, content["run"]))
    trials = Trial.objects.bulk_create(Trial(run=run, **row) for row in content["trials"])
    Sample.objects.bulk_create(_rows_of_trials(Sample, run, trials, content["samples"]), batch_size=500)
    findings = _rows_of_trials(Finding, run, trials, content["findings"])
    for finding in findings:
        finding.sut = sut
    Finding.objects.bulk_create(findings)
    RunEvent.objects.bulk_create(RunEvent(run=run, **dated(RunEvent, row)) for row in content["events"])
    for path in sorted(pictures.glob("*.png")):
        png = path.read_bytes()
        if digest_of(png) == path.stem:
            store_blob(png)
    SearchRun.objects.filter(pk=run.pk).update(finished_at=Now())
    return run


def _rows_of_trials(
    model: type[RowT], run: SearchRun, trials: Sequence[Trial], rows: list[dict[str, Any]]
) -> list[RowT]:
    return [model(run=run, **row | {"trial": trials[row["trial"]]}) for row in rows]


def _chosen_pictures(run: SearchRun, limit: int) -> list[str]:
    of_findings = [
        sha for shas in run.findings.order_by("id").values_list("thumbnails", flat=True) for sha in shas
    ]
    others = run.samples.order_by("step", "position").values_list("image_sha256", flat=True)
    wanted = dict.fromkeys([*of_findings, *others])
    return [sha256 for sha256 in wanted if sha256 and blob_path(sha256).exists()][:limit]
