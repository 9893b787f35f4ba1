"""Which seed images a modality search takes from a dataset: the plan, what there is, what is chosen."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from django.db.models import Count, Max
from pydantic import BaseModel, ConfigDict, Field

from searches.enums import DatasetState
from searches.models import Dataset
from searches.services.seed_inputs import askable_labels, label_among
from vlmlab.core.errors import VlmLabError
from vlmlab.core.scenes.strata import STRATA
from vlmlab.core.seeding import rng_for

MOST_SEED = 2**63 - 1
NO_STRATUM = "-"
"""How forms and addresses name the pictures that have no stratum."""
MOST_REPLICATES = 100
READ_AT_ONCE = 500


class SeedPlan(BaseModel):
    """How the grid of a campaign is drawn: seed images and replicates; frozen, stored with the campaign."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    strata: tuple[str, ...] = Field(
        default=(), title="Scene types",
        description="Kinds of scene that seed images are taken from; none chosen: all of them.",
    )  # fmt: skip
    n_seed_images: int | None = Field(
        default=None, ge=1, le=100_000, title="Seed images",
        description="How many pictures at most, dealt to the scene types in turn; empty: every picture that "
        "has something to ask for.",
    )  # fmt: skip
    seed: int = Field(
        default=0, ge=0, le=MOST_SEED, title="Seed",
        description="Decides which pictures are taken, what is asked for, and every draw of the search.",
    )  # fmt: skip
    replicates: int = Field(
        default=1, ge=1, le=MOST_REPLICATES, title="Replicates",
        description="Times that the whole grid is searched, each time with other draws.",
    )  # fmt: skip
    confirm_most: int | None = Field(
        default=None, ge=1, le=5_000, title="Confirm failing cases, at most",
        description="Once all runs have ended, so many failing cases are drawn anew until the evidence "
        "decides; empty: none, and it can be asked for later.",
    )  # fmt: skip


@dataclass(frozen=True)
class SeedRow:
    """One picture that has something to ask for.

    Attributes:
        picture_id: its row.
        image_sha256: its digest.
        stratum: kind of scene, "" without one.
        labels: what may be asked for, sorted; at least one.
        width, height: pixels.
    """

    picture_id: int
    image_sha256: str
    stratum: str
    labels: tuple[str, ...]
    width: int
    height: int


@dataclass(frozen=True)
class ChosenSeed:
    """One seed image of a grid: a picture with the one label that it is asked for."""

    row: SeedRow
    label: str


@dataclass(frozen=True)
class StratumCount:
    """How many pictures of a stratum can be seed images; ``name`` is "" for those without a stratum."""

    name: str
    n_pictures: int

    @property
    def title(self) -> str:
        """What people call it."""
        return stratum_title(self.name)


def stratum_title(name: str) -> str:
    """Return what people call a stratum: its title where scenes were drawn for it, else its name."""
    known = STRATA.get(name)
    return known.title if known is not None else name.replace("_", " ") or "Without a stratum"


def scene_type_title(name: str) -> str:
    """Return what results call the stratum of a seed image, "" being none."""
    return stratum_title(name) if name else "No scene type"


def check_ready(dataset: Dataset) -> None:
    """Make sure that seed images may be taken from a dataset.

    Raises:
        VlmLabError: it is not ready, or nothing in it can be asked for.
    """
    if dataset.state != DatasetState.READY:
        raise VlmLabError(
            f"The dataset {dataset.title} is not ready ({dataset.get_state_display().lower()}).",
            hint="Wait until it is ready, or choose another.",
            field="dataset",
        )
    if not seed_rows(dataset):
        raise VlmLabError(
            f"Nothing in {dataset.title} can be asked for: no picture has a box with a label.",
            hint="Choose a dataset with annotated pictures.",
            field="dataset",
        )


def seed_rows(dataset: Dataset) -> tuple[SeedRow, ...]:
    """Return the pictures of a dataset that have something to ask for, in its order; kept in memory."""
    found = dataset.pictures.aggregate(n=Count("pk"), last=Max("pk"))
    return _seed_rows(dataset, dataset.created_at, found["n"], found["last"])


def stratum_counts(dataset: Dataset) -> tuple[StratumCount, ...]:
    """Return what a dataset has to choose from, by stratum in alphabetical order."""
    counted = Counter(row.stratum for row in seed_rows(dataset))
    return tuple(StratumCount(name, counted[name]) for name in sorted(counted))


def chosen_seeds(dataset: Dataset, plan: SeedPlan) -> tuple[ChosenSeed, ...]:
    """Return the seed images of a plan, dealt to the strata in turn; the same arguments, the same images.

    Raises:
        VlmLabError: a stratum is unknown.
    """
    strata = plan_strata(dataset, plan)
    decks = [_shuffled(dataset, stratum, seed=plan.seed) for stratum in strata]
    dealt = [
        deck[place] for place in range(max(map(len, decks), default=0)) for deck in decks if place < len(deck)
    ]
    rows = dealt if plan.n_seed_images is None else dealt[: plan.n_seed_images]
    return tuple(ChosenSeed(row, label_among(row.labels, row.image_sha256, seed=plan.seed)) for row in rows)


def plan_strata(dataset: Dataset, plan: SeedPlan) -> tuple[str, ...]:
    """Return the strata that a plan takes its images from, sorted.

    Raises:
        VlmLabError: one is unknown.
    """
    known = [one.name for one in stratum_counts(dataset)]
    unknown = sorted(set(plan.strata) - set(known))
    if unknown:
        raise VlmLabError(
            f"{dataset.title} has no stratum called “{unknown[0]}” with something to ask for.",
            hint=f"It has {', '.join(name or 'pictures without a stratum' for name in known)}.",
            field="strata",
        )
    return tuple(sorted(set(plan.strata))) or tuple(known)


def _shuffled(dataset: Dataset, stratum: str, *, seed: int) -> Sequence[SeedRow]:
    rows = [row for row in seed_rows(dataset) if row.stratum == stratum]
    order = rng_for(seed, "seed_images", stratum).permutation(len(rows))
    return [rows[int(place)] for place in order]


@lru_cache(maxsize=16)
def _seed_rows(
    dataset: Dataset, created_at: datetime, n_pictures: int, last: int | None
) -> tuple[SeedRow, ...]:
    pictures = dataset.pictures.order_by("order")  # each knows its dataset without another query
    pictures = pictures.only(
        "dataset", "image_sha256", "stratum", "annotations", "unsure_labels", "width", "height"
    )
    rows = []
    for picture in pictures.iterator(chunk_size=READ_AT_ONCE):
        labels = askable_labels(picture)
        if labels:
            rows.append(
                SeedRow(
                    picture.pk,
                    picture.image_sha256,
                    picture.stratum,
                    labels,
                    picture.width,
                    picture.height,
                )
            )
    return tuple(rows)
