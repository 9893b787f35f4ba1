"""Modality campaigns from a shell: their settings as options, found again by number, and how they ended."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from django.db import transaction

from searches.enums import MODALITY_METHOD
from searches.models import Campaign, Dataset
from searches.services.modality_campaigns import create_modality_campaign
from searches.services.modality_steering import resume_campaign, unasked_runs
from searches.services.runs import RESUMABLE
from searches.services.seed_plans import SeedPlan
from searches.services.shell_suts import find_sut
from searches.services.shell_work import check_all_ended, free_the_dead
from vlmlab.core.complaints import checked_settings
from vlmlab.core.errors import ConfigError, VlmLabError
from vlmlab.core.most.bench import ALGORITHM_NAMES
from vlmlab.core.most.config import PRESETS, MostConfig, config_from_values
from vlmlab.core.most.types import REGIMES
from vlmlab.web.numbers import write_many

DEFAULT_ALGORITHM = "screen"
SHELL_ALGORITHMS = {**ALGORITHM_NAMES, "sweep": PRESETS["sweep"].values}
"""What a shell calls the algorithms, with the values that each of them starts from."""
ALL_REGIMES = ",".join(REGIMES)


@dataclass(frozen=True)
class ShellCampaign:
    """What somebody at a shell wants to search.

    Attributes:
        sut_slug, dataset_slug: what is asked, and with which pictures.
        algorithm: a name of ``SHELL_ALGORITHMS``.
        regimes: names with commas.
        budget: inferences a run, None for the preset's.
        strata: names with commas, "" for all.
        n_seed_images: at most, None for all.
        params: further settings by name.
        name: of the campaign, "" for one that says what is searched.
    """

    sut_slug: str
    dataset_slug: str
    algorithm: str = DEFAULT_ALGORITHM
    regimes: str = ALL_REGIMES
    budget: int | None = None
    strata: str = ""
    n_seed_images: int | None = None
    replicates: int = 1
    seed: int = 0
    params: Mapping[str, str] = field(default_factory=dict)
    name: str = ""


def shell_config(
    algorithm: str, *, budget: int | None, regimes: str | Sequence[str], params: Mapping[str, str]
) -> MostConfig:
    """Return the settings of a named algorithm; a run gives up within the budget at the latest.

    Raises:
        ConfigError: the name is unknown or a value out of range; ``field`` names it.
    """
    name = algorithm.strip().lower().replace("_", "-")
    if name not in SHELL_ALGORITHMS:
        known = ", ".join(SHELL_ALGORITHMS)
        raise ConfigError(f"There is no algorithm {algorithm!r}.", hint=f"Known: {known}.", field="algorithm")
    values: dict[str, object] = {**SHELL_ALGORITHMS[name], "regimes": regimes}
    if budget is not None:
        given_up = values.get("give_up_after", MostConfig.model_fields["give_up_after"].default)
        values["inference_budget"] = budget
        if isinstance(given_up, int) and given_up > budget:
            values["give_up_after"] = budget
    return config_from_values(values | dict(params))


def start_from_shell(wish: ShellCampaign) -> Campaign:
    """Store a campaign; nobody is woken, because the shell works on it itself.

    Raises:
        VlmLabError: something of it is unknown or out of range.
    """
    sut = find_sut(wish.sut_slug)
    dataset = find_dataset(wish.dataset_slug)
    config = shell_config(wish.algorithm, budget=wish.budget, regimes=wish.regimes, params=wish.params)
    strata = tuple(part.strip() for part in wish.strata.split(",") if part.strip())
    plan = checked_settings(
        SeedPlan,
        {
            "strata": strata,
            "n_seed_images": wish.n_seed_images,
            "seed": wish.seed,
            "replicates": wish.replicates,
        },
    )
    name = wish.name or f"{dataset.title}, {wish.algorithm} from the shell"[:120]
    return create_modality_campaign(config, plan, suts=[sut], dataset=dataset, name=name, by=None)


def find_dataset(slug: str) -> Dataset:
    """Return a dataset by its short name.

    Raises:
        ConfigError: there is none.
    """
    dataset = Dataset.objects.filter(slug=slug).first()
    if dataset is not None:
        return dataset
    known = ", ".join(Dataset.objects.order_by("slug").values_list("slug", flat=True)[:20])
    hint = f"There are: {known}." if known else "Make one with `manage.py make_dataset` or import one."
    raise ConfigError(f"There is no dataset called “{slug}”.", hint=hint, field="dataset")


def find_campaign(number: int) -> Campaign:
    """Return a modality campaign whose halted runs are queued again, if there are any.

    Raises:
        ConfigError: there is no modality campaign of this number.
    """
    free_the_dead()
    campaign = Campaign.objects.filter(pk=number, method=MODALITY_METHOD).first()
    if campaign is None:
        raise ConfigError(
            f"There is no modality campaign {number}.",
            hint="Look at the sensitivity profiles, or resume a run of a concept search without --method.",
            field="resume",
        )
    with transaction.atomic():
        if campaign.runs.filter(state__in=RESUMABLE).exists() or unasked_runs(campaign).exists():
            resume_campaign(campaign, by=None)
    return campaign


def check_ended(campaign: Campaign) -> None:
    """Make sure that every run of a campaign has ended by itself, and got an answer at all.

    Raises:
        VlmLabError: some have not; the message says why.
    """
    check_all_ended(campaign.runs.all(), go_on=f"--method most --resume {campaign.pk}")
    n_unasked = unasked_runs(campaign).count()
    if n_unasked:
        raise VlmLabError(
            f"{write_many(n_unasked, 'run')} ended without an answer to the clean question.",
            hint="See on the system's page why its calls fail.",
        )
