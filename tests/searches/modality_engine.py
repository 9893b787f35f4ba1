"""What engine tests of modality searches share: small pictures, systems that break, a digest of a run."""

import hashlib
import json
from typing import Any

import numpy as np

from searches.enums import DatasetOrigin
from searches.models import Campaign, Dataset, DatasetPicture, SearchRun, SutRecord
from searches.services.blobs import store_blob
from searches.services.modality_campaigns import create_modality_campaign
from searches.services.seed_plans import SeedPlan
from tests.factories import make_sut
from tests.searches.engine import advance
from vlmlab.core.images import encode_png, sha256_of
from vlmlab.core.most.config import MostConfig
from vlmlab.core.perturb import IMAGE_OPERATORS, TEXT_OPERATORS
from vlmlab.core.seeding import rng_for

WIDTH, HEIGHT = 96, 72
BOX = (24.0, 18.0, 72.0, 54.0)
RIGHT = '[{"bbox_2d": [250, 250, 750, 750], "label": "bus"}]'
WRONG = '[{"bbox_2d": [0, 0, 300, 300], "label": "bus"}]'
FAR_OFF = '[{"bbox_2d": [0, 0, 50, 50], "label": "bus"}]'
AS_WRITTEN = "the bus in the picture"  # stands in a prompt while no text operator has touched these words
CHEAP = ("brightness", "contrast", "gaussian_noise", "pixelate")
CHEAP_TEXT = ("politeness", "casing", "keyboard_typo")

EVALUATION_COLUMNS = (
    "step", "position", "strategy", "attempt", "stage", "status", "iou", "lenient_status", "lenient_iou",
    "image_distance", "prompt_distance", "is_admissible", "is_hit", "raw_text", "finish_reason",
    "reading_reason", "is_cached", "seen_width", "seen_height", "error",
)  # fmt: skip
CLEAN_COLUMNS = (
    "prompt", "status", "iou", "lenient_status", "lenient_iou", "boxes", "raw_text", "finish_reason",
    "reading_reason", "is_cached",
)  # fmt: skip
PLACE_COLUMNS = ("regime", "status", "end_reason", "first_hit", "evaluations", "fidelities")
CASE_COLUMNS = (
    "kind", "severities", "generator", "prompt", "image_sha256", "truth", "boxes", "status", "iou",
    "raw_text", "reason", "is_failure", "is_faithful", "f1", "f2", "f3", "ms_ssim", "ned", "swtd",
    "swtd_mean", "image_budget", "text_budget", "evaluations", "evaluation__step", "evaluation__position",
)  # fmt: skip
RUN_COLUMNS = (
    "state", "step", "stage", "n_inferences", "n_observations", "n_failed", "n_invalid", "n_call_errors",
    "n_cached", "ending", "n_calls", "n_failed_calls", "n_attempts", "spend_usd", "reserved_usd",
)  # fmt: skip


def seed_pixels(number: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Return a noisy picture with a bright rectangle where the bus is."""
    rng = rng_for(number, "seed picture")
    pixels = rng.integers(40, 120, size=(HEIGHT, WIDTH, 3), dtype=np.uint8)
    left, top, right, bottom = (int(one) for one in BOX)
    pixels[top:bottom, left:right] = (200, 60 + 10 * (number % 10), 40)
    return pixels


def make_seed_dataset(slug: str = "seeds", *, n: int = 1) -> Dataset:
    """Make a dataset of ``n`` pictures with one bus each, in two strata by turns."""
    dataset = Dataset.objects.create(slug=slug, title=slug.title(), origin=DatasetOrigin.UPLOAD, n_pictures=n)
    DatasetPicture.objects.bulk_create(
        DatasetPicture(
            dataset=dataset,
            order=number,
            file_name=f"{number}.png",
            image_sha256=store_blob(encode_png(seed_pixels(number))),
            width=WIDTH,
            height=HEIGHT,
            stratum=("street", "field")[number % 2],
            annotations=[{"label": "bus", "concept": "", "box": list(BOX), "mask": ""}],
        )
        for number in range(n)
    )
    return dataset


def clean_rules(n: int = 12) -> list[dict[str, Any]]:
    """Return rows that answer right to the pictures of ``make_seed_dataset`` as they are."""
    digests = [sha256_of(encode_png(seed_pixels(number))) for number in range(n)]
    return [{"image_sha256": digest, "answer": RIGHT} for digest in digests]


def breaks_when_misspelt(**params: Any) -> SutRecord:
    """Return a system that finds the bus only where its name and place are written as ever."""
    rules = [{"prompt_contains": [AS_WRITTEN], "answer": RIGHT}]
    return make_sut(params={"default": FAR_OFF, "rules": rules, "price_usd": 0.001} | params)


def never_right(answer: str = FAR_OFF) -> SutRecord:
    """Return a system that gives one wrong answer to everything."""
    return make_sut(params={"default": answer})


def breaks_now_and_then(share: float = 0.2, **params: Any) -> SutRecord:
    """Return a system that misses the bus in a share of the changed pictures."""
    rules = [*clean_rules(), {"answer": FAR_OFF, "share": share}]
    return make_sut(params={"default": RIGHT, "rules": rules, "price_usd": 0.001} | params)


def never_breaks(**params: Any) -> SutRecord:
    """Return a system that always finds the bus."""
    return make_sut(params={"default": RIGHT, "price_usd": 0.001} | params)


def small_config(**values: Any) -> MostConfig:
    """Return settings with few and cheap operators and a small budget."""
    kept = {*CHEAP, *CHEAP_TEXT}
    excluded = tuple(name for name in (*IMAGE_OPERATORS, *TEXT_OPERATORS) if name not in kept)
    defaults: dict[str, Any] = {"regimes": ("image",), "inference_budget": 24, "give_up_after": None}
    return MostConfig(**defaults | {"excluded_operators": excluded} | values)


def start_modality(
    *suts: SutRecord,
    dataset: Dataset | None = None,
    n: int = 1,
    seed: int = 5,
    replicates: int = 1,
    **config: Any,
) -> Campaign:
    """Start a campaign on ``n`` seed images."""
    dataset = dataset or Dataset.objects.filter(slug="seeds").first() or make_seed_dataset(n=n)
    return create_modality_campaign(
        small_config(**config),
        SeedPlan(seed=seed, n_seed_images=n, replicates=replicates),
        suts=suts,
        dataset=dataset,
        name="Test campaign",
        by=None,
    )


def start_modality_run(sut: SutRecord, **values: Any) -> SearchRun:
    """Start a campaign of one run."""
    return start_modality(sut, **values).runs.get()


def runs_of(campaign: Campaign) -> list[SearchRun]:
    """Return the runs of a campaign, oldest first."""
    return list(campaign.runs.order_by("pk"))


def advance_all(campaign: Campaign) -> None:
    """Advance every queued run of a campaign to its end."""
    for run in campaign.runs.filter(state="queued").order_by("pk"):
        advance(run)


def modality_digest(run: SearchRun) -> str:
    """Digest everything of a MoST run that must not depend on what happened to its workers."""
    place = run.modality
    content = {
        "run": SearchRun.objects.filter(pk=run.pk).values(*RUN_COLUMNS).get(),
        "place": type(place).objects.filter(pk=place.pk).values(*PLACE_COLUMNS).get(),
        "evaluations": list(run.evaluations.order_by("step", "position").values(*EVALUATION_COLUMNS)),
        "cases": list(place.cases.order_by("kind").values(*CASE_COLUMNS)),
        "clean": list(
            run.campaign.clean_answers.filter(sut_id=run.sut_id, picture_id=place.picture_id).values(
                *CLEAN_COLUMNS
            )
        ),
    }
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
