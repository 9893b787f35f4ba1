"""What the list of modality campaigns and the page that starts one show."""

import threading
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, FilteredRelation, Q, QuerySet

from searches.enums import LIVE_STATES, MODALITY_METHOD, CaseKind, ModalityStatus, RunState
from searches.models import Blob, Campaign, Dataset, ModalityRun, SutRecord
from searches.services.modality_outcomes import having_outcome, thresholds_of
from searches.services.modality_progress import progress_of_many, state_of
from searches.services.seed_inputs import things_of, words_for
from searches.services.seed_plans import SeedPlan, chosen_seeds
from vlmlab.core.most.types import REGIMES

FIRST_SEEDS = 6
KEPT_RATES = 500


@dataclass(frozen=True)
class RegimeRate:
    """In how many finished runs of a regime the boxes went below the IoU threshold (criterion C1)."""

    regime: str
    n_failed: int
    n_finished: int


@dataclass(frozen=True)
class CampaignLine:
    """One campaign of the list.

    Attributes:
        suts: names of its systems.
        n_runs, n_ended: places of its grid, and those that have come to an end.
        state: of the campaign as a whole.
        rates: failures by regime, where one system was searched and some run has finished.
    """

    campaign: Campaign
    suts: tuple[str, ...]
    n_runs: int
    n_ended: int
    state: RunState
    rates: tuple[RegimeRate, ...] = ()

    @property
    def algorithm(self) -> str:
        """How it searches."""
        return str(self.campaign.config.get("algorithm", ""))

    @property
    def is_at_work(self) -> bool:
        """Whether anything of it waits or works."""
        return self.state in LIVE_STATES

    @property
    def regimes(self) -> list[str]:
        """What may be perturbed."""
        return [str(one) for one in self.campaign.plan.get("regimes", [])]


@dataclass(frozen=True)
class PlannedSeed:
    """One of the first seed images of a plan; ``image_sha256`` is "" where the picture is not kept.

    ``dataset`` and ``order`` name its page.
    """

    dataset: str
    order: int
    image_sha256: str
    words: str
    stratum: str


_rates_lock = threading.Lock()
_known_rates: dict[tuple[int, datetime, str], tuple[RegimeRate, ...]] = {}
"""What finished campaigns came to, by campaign and the states of its runs; numbers do not change at rest."""


def modality_campaigns() -> QuerySet[Campaign]:
    """Return the modality campaigns with what a row of a list needs, newest first."""
    rows = Campaign.objects.filter(method=MODALITY_METHOD)
    return rows.select_related("dataset", "created_by").order_by("-id")


def modality_campaign(pk: int) -> Campaign | None:
    """Return a modality campaign with its dataset."""
    return modality_campaigns().filter(pk=pk).first() if pk < 2**63 else None


def campaigns_with(sut: SutRecord) -> QuerySet[Campaign]:
    """Return the modality campaigns that search a system, newest first."""
    runs = ModalityRun.objects.filter(sut=sut)
    return modality_campaigns().filter(pk__in=runs.order_by().values("campaign_id"))


def campaign_lines(campaigns: Sequence[Campaign]) -> list[CampaignLine]:
    """Return the lines of campaigns; three queries however many they are."""
    states = progress_of_many(campaigns)
    rates = _rates(campaigns, states)
    suts: dict[int, list[str]] = defaultdict(list)
    named = ModalityRun.objects.filter(campaign__in=campaigns).order_by("sut__name")
    for campaign_id, name in named.values_list("campaign_id", "sut__name").distinct():
        suts[campaign_id].append(name)
    return [
        _line(one, states[one.pk], suts[one.pk], rates[one.pk] if len(suts[one.pk]) == 1 else ())
        for one in campaigns
    ]


def first_seeds(dataset: Dataset, plan: SeedPlan) -> tuple[PlannedSeed, ...]:
    """Return the first seed images of a plan with the words that ask for them.

    Raises:
        VlmLabError: a stratum is unknown.
    """
    chosen = chosen_seeds(dataset, plan)[:FIRST_SEEDS]
    pictures = dataset.pictures.defer("description").in_bulk([one.row.picture_id for one in chosen])
    digests = [one.row.image_sha256 for one in chosen]
    kept = set(Blob.objects.filter(pk__in=digests).values_list("pk", flat=True))
    return tuple(
        PlannedSeed(
            dataset=dataset.slug,
            order=pictures[one.row.picture_id].order,
            image_sha256=one.row.image_sha256 if one.row.image_sha256 in kept else "",
            words=words_for(one.label, len(things_of(pictures[one.row.picture_id], one.label))),
            stratum=one.row.stratum,
        )
        for one in chosen
    )


def _line(
    campaign: Campaign, by_state: dict[str, int], suts: list[str], rates: tuple[RegimeRate, ...]
) -> CampaignLine:
    return CampaignLine(
        campaign=campaign,
        suts=tuple(suts),
        n_runs=sum(by_state.values()),
        n_ended=by_state.get(RunState.SUCCEEDED, 0),
        state=state_of(by_state),
        rates=rates,
    )


def _rates(
    campaigns: Sequence[Campaign], states: dict[int, dict[str, int]]
) -> dict[int, tuple[RegimeRate, ...]]:
    """Return failures by regime of each campaign; those that have not moved since are remembered."""
    keys = {one.pk: (one.pk, one.created_at, repr(sorted(states[one.pk].items()))) for one in campaigns}
    with _rates_lock:
        known = {pk: _known_rates[key] for pk, key in keys.items() if key in _known_rates}
    missing = [one for one in campaigns if one.pk not in known]
    if missing:
        counted = _counted_rates(missing)
        known |= {one.pk: counted.get(one.pk, ()) for one in missing}
        with _rates_lock:
            if len(_known_rates) > KEPT_RATES:
                _known_rates.clear()
            _known_rates.update({keys[pk]: rates for pk, rates in known.items()})
    return known


def _counted_rates(campaigns: Sequence[Campaign]) -> dict[int, tuple[RegimeRate, ...]]:
    failed = Q(pk__in=[])
    for one in campaigns:
        threshold = thresholds_of(one).iou
        failed |= Q(campaign=one) & having_outcome("below", iou_threshold=threshold)
    runs = ModalityRun.objects.filter(campaign__in=campaigns, status=ModalityStatus.FINISHED).order_by()
    runs = runs.annotate(returned=FilteredRelation("cases", condition=Q(cases__kind=CaseKind.RETURNED)))
    rows = runs.values_list("campaign_id", "regime").annotate(
        n=Count("pk"), failed=Count("pk", filter=failed)
    )
    found: dict[int, dict[str, RegimeRate]] = defaultdict(dict)
    for campaign_id, regime, n, n_failed in rows:
        found[campaign_id][regime] = RegimeRate(regime, n_failed, n)
    return {pk: tuple(rates[one] for one in REGIMES if one in rates) for pk, rates in found.items()}
