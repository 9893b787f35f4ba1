"""Starts modality searches: one campaign on a dataset, with a run for each place of its grid."""

from collections.abc import Iterator, Sequence
from typing import Any

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from searches.enums import MODALITY_METHOD
from searches.models import (
    CachedReply,
    Campaign,
    Dataset,
    ModalityRun,
    SearchRun,
    SutRecord,
    User,
    WordTableRecord,
)
from searches.services.audit import record
from searches.services.modality_costs import first_batch_size, most_a_question_costs
from searches.services.modality_inputs import regime_space
from searches.services.runs import MAX_NAME, SENT_TWICE_WITHIN
from searches.services.seed_plans import ChosenSeed, SeedPlan, check_ready, chosen_seeds, plan_strata
from searches.services.spending import check_first_calls
from searches.services.word_tables import operators_of
from vlmlab.core.errors import ConfigError, VlmLabError
from vlmlab.core.most.config import MostConfig
from vlmlab.core.seeding import derive_seed
from vlmlab.web.asked import asked_slug

MOST_RUNS = 20_000
WRITTEN_AT_ONCE = 1_000
NOT_OF_THE_GRID = ("regimes", "confirm_outcome")
"""What the plan of a campaign holds beside a ``SeedPlan``."""


@transaction.atomic
def create_modality_campaign(
    config: MostConfig,
    plan: SeedPlan,
    *,
    suts: Sequence[SutRecord],
    dataset: Dataset,
    name: str,
    by: User | None,
) -> Campaign:
    """Store a wish: one queued run for each system, seed image, regime and replicate.

    Raises:
        VlmLabError: no system is chosen, one is off or may not spend the first batch, the dataset is not
            ready or has nothing to ask for, a stratum, operator or word table is unknown, there would be too
            many runs, or the name is too long; ``field`` says where it belongs.
    """
    dataset = _held(dataset, config)
    seeds = checked_grid(config, plan, suts=suts, dataset=dataset)
    if len(name) > MAX_NAME or "\x00" in name:
        raise VlmLabError(f"The name must have at most {MAX_NAME} printable characters.", field="name")
    for sut in suts:
        cost = most_a_question_costs(sut, seeds)
        n_calls = first_batch_size(config)
        check_first_calls(
            sut, None if cost is None else cost * n_calls, n_calls=n_calls, spend_cap_usd=config.spend_cap_usd
        )
    campaign = Campaign.objects.create(
        name=name,
        method=MODALITY_METHOD,
        dataset=dataset,
        plan=stored_plan(config, plan, dataset=dataset),
        config=config.model_dump(mode="json"),
        created_by=by,
    )
    _write_grid(campaign, config, plan, suts=suts, seeds=seeds)
    after = {"suts": [sut.slug for sut in suts], "dataset": dataset.slug, "plan": campaign.plan}
    record(by, "started", campaign, after=after | {"config": campaign.config})
    return campaign


def checked_grid(
    config: MostConfig, plan: SeedPlan, *, suts: Sequence[SutRecord], dataset: Dataset
) -> tuple[ChosenSeed, ...]:
    """Return the seed images of a grid that may be searched.

    Raises:
        VlmLabError: see ``create_modality_campaign``.
    """
    if not suts:
        raise VlmLabError("No system is chosen.", hint="Choose at least one.", field="suts")
    for sut in suts:
        if not sut.is_enabled:
            raise VlmLabError(
                f"{sut.name} is switched off.", hint="Switch it on again on its page first.", field="suts"
            )
    check_operators(config)
    check_ready(dataset)
    seeds = chosen_seeds(dataset, plan)
    a_seed = len(suts) * len(config.regimes) * plan.replicates
    if a_seed * len(seeds) > MOST_RUNS:
        most = MOST_RUNS // a_seed
        raise VlmLabError(
            f"This makes {a_seed * len(seeds):,} runs; one campaign may have {MOST_RUNS:,}.",
            hint=f"Take at most {most:,} seed images, or split the systems over several campaigns."
            if most
            else "Choose fewer replicates or systems.",
            field="n_seed_images" if most else "replicates",
        )
    return seeds


def check_operators(config: MostConfig) -> None:
    """Make sure that every regime has operators left, and that word tables may be used.

    Raises:
        VlmLabError: not so; ``field`` says where it belongs.
    """
    operators_of(config)
    for regime in config.regimes:
        regime_space(config, regime)


def stored_plan(config: MostConfig, plan: SeedPlan, *, dataset: Dataset) -> dict[str, Any]:
    """Return what a campaign keeps of how its grid was drawn, with the strata by name."""
    values = plan.model_dump(mode="json")
    if plan.confirm_most is None:
        del values["confirm_most"]
    return values | {"regimes": list(config.regimes), "strata": list(plan_strata(dataset, plan))}


def plan_of(campaign: Campaign) -> SeedPlan:
    """Return how the grid of a campaign was drawn.

    Raises:
        ConfigError: this version does not understand what is stored.
    """
    try:
        return SeedPlan.model_validate({k: v for k, v in campaign.plan.items() if k not in NOT_OF_THE_GRID})
    except (AttributeError, ValueError) as error:
        raise ConfigError(
            "This version of the lab does not understand the plan of this campaign.",
            hint="Its results stay readable; start a new campaign.",
        ) from error


def just_started(
    config: MostConfig,
    plan: SeedPlan,
    *,
    suts: Sequence[SutRecord],
    dataset: Dataset,
    name: str,
    by: User | None,
) -> Campaign | None:
    """Return the very same campaign if this person started it a moment ago: a form that was sent twice.

    Two requests at once take turns at the row of the person.

    Raises:
        VlmLabError: a stratum is unknown.
    """
    if by is None:
        return None
    User.objects.select_for_update().get(pk=by.pk)
    recent = Campaign.objects.filter(
        created_by=by,
        method=MODALITY_METHOD,
        dataset=dataset,
        name=name,
        created_at__gt=timezone.now() - SENT_TWICE_WITHIN,
    )
    wanted = {sut.pk for sut in suts}
    for campaign in recent.order_by("-pk")[:5]:
        is_same = campaign.config == config.model_dump(mode="json")
        if not is_same or campaign.plan != stored_plan(config, plan, dataset=dataset):
            continue
        if set(campaign.modality_runs.order_by().values_list("sut_id", flat=True).distinct()) == wanted:
            return campaign
    return None


def run_seed_of(plan: SeedPlan, replicate: int) -> int:
    """Return the run seed of a replicate: the same for all systems and regimes, so that runs are paired."""
    return plan.seed if replicate == 0 else derive_seed(plan.seed, "replicate", replicate)


def _held(dataset: Dataset, config: MostConfig) -> Dataset:
    """Return the dataset as it stands; until the campaign names them, nobody deletes it or a word table.

    Raises:
        VlmLabError: the dataset is gone.
    """
    held = Dataset.objects.select_for_update().filter(pk=dataset.pk).first()
    if held is None:
        raise VlmLabError(
            f"The dataset {dataset.title} was deleted meanwhile.", hint="Choose another.", field="dataset"
        )
    tables = [asked_slug(slug) for slug in (config.homophone_table, config.synonym_table)]
    if any(tables):
        list(WordTableRecord.objects.select_for_update().filter(slug__in=tables).values_list("pk"))
    return held


def _write_grid(
    campaign: Campaign,
    config: MostConfig,
    plan: SeedPlan,
    *,
    suts: Sequence[SutRecord],
    seeds: Sequence[ChosenSeed],
) -> None:
    watermark = CachedReply.objects.aggregate(last=Max("id"))["last"] or 0
    runs: list[SearchRun] = []
    places: list[ModalityRun] = []
    for place in _grid(campaign, config, plan, suts=suts, seeds=seeds):
        sut = place.sut
        runs.append(
            SearchRun(
                campaign=campaign,
                sut=sut,
                queue=sut.queue,
                run_seed=run_seed_of(plan, place.replicate),
                cache_watermark=watermark,
                created_by=campaign.created_by,
            )
        )
        places.append(place)
    SearchRun.objects.bulk_create(runs, batch_size=WRITTEN_AT_ONCE)
    for place, run in zip(places, runs, strict=True):
        place.run = run
    ModalityRun.objects.bulk_create(places, batch_size=WRITTEN_AT_ONCE)


def _grid(
    campaign: Campaign,
    config: MostConfig,
    plan: SeedPlan,
    *,
    suts: Sequence[SutRecord],
    seeds: Sequence[ChosenSeed],
) -> Iterator[ModalityRun]:
    """Yield the places in the order of work: replicate by replicate, image by image."""
    for replicate in range(plan.replicates):
        for seed in seeds:
            for sut in suts:
                for regime in config.regimes:
                    yield ModalityRun(
                        campaign=campaign,
                        sut=sut,
                        picture_id=seed.row.picture_id,
                        stratum=seed.row.stratum,
                        label=seed.label,
                        regime=regime,
                        replicate=replicate,
                    )
