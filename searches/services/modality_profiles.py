"""What the page of a modality campaign says of one system: a sentence, facts, tables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from django.db.models import Count, Max

from searches.enums import LIVE_STATES, ModalityStatus, RunState
from searches.models import Campaign, SutRecord
from searches.services.modality_plans import effort_of
from searches.services.modality_results import (
    ResultRow,
    campaign_results,
    most_config,
    regimes_of,
    runs_address,
)
from searches.services.modality_tables import (
    Choice,
    Families,
    PairCell,
    TableRow,
    TableSource,
    effectiveness_rows,
    efficiency_rows,
    families_of,
    numbers_by_regime,
    shown_rows,
)
from searches.services.modality_tables_operators import (
    SHOWN_OPERATORS,
    BudgetLine,
    OperatorLine,
    budget_lines,
    operator_cases,
    operator_lines,
)
from searches.services.seed_plans import NO_STRATUM, scene_type_title
from vlmlab.core.most.comparisons import IMAGE_JOINT, RegimePair
from vlmlab.core.most.config import MostConfig
from vlmlab.core.most.outcomes import RunStatus
from vlmlab.core.most.run_results import RETAINED_SHARE
from vlmlab.core.most.summaries import Rate
from vlmlab.core.most.types import AnswerStatus, Regime
from vlmlab.web.numbers import write_many, write_p_value, write_percent

PICTURED_OPERATORS = 8
FEWEST_FOR_SHARES = 10
"""Below so many seed images a sentence counts them; percentages would promise more than they know."""

ENDED = (RunStatus.FINISHED, RunStatus.BASELINE_FAILURE)


@dataclass(frozen=True)
class CampaignOffer:
    """What can be chosen on the pages of a campaign.

    Attributes:
        suts: slug and name of its systems, retained ones first.
        strata: scene types, in order.
        replicates: runs of a place.
        n_runs: all runs of the campaign.
        n_ended: runs that will do nothing more for the tables.
        n_live: runs that are queued or running.
    """

    suts: tuple[tuple[str, str], ...]
    strata: tuple[str, ...]
    replicates: int
    n_runs: int
    n_ended: int
    n_live: int

    @property
    def is_partial(self) -> bool:
        """Whether some runs have not ended, so that every number may change."""
        return self.n_ended < self.n_runs


@dataclass(frozen=True)
class SeedFacts:
    """Seed images of one system and how its runs ended.

    Attributes:
        total: seed images that were run.
        eligible: of these, with a clean answer that is good enough.
        baseline_failures: with one that is not.
        call_errors: runs whose system could not be reached.
        with_boxes: runs that end with boxes, of all that ended.
        ended: the number of those.
    """

    total: int
    eligible: int
    baseline_failures: int
    call_errors: int
    with_boxes: int
    ended: int

    @property
    def boxes_share(self) -> float | None:
        """Share of ended runs that end with boxes; None without one."""
        return self.with_boxes / self.ended if self.ended else None


@dataclass(frozen=True)
class StratumLine:
    """Attack success in one scene type; a rate is None where the regime was not run."""

    title: str
    address: str
    rates: tuple[Rate | None, ...]
    pairs: tuple[PairCell, ...]
    family_size: int


@dataclass(frozen=True)
class ProfilePage:
    """The profile of one system in a campaign."""

    choice: Choice
    config: MostConfig
    sut_name: str
    is_retained: bool
    n_runs: int
    sentence: str
    facts: SeedFacts
    source: TableSource
    regimes: tuple[Regime, ...]
    rates: Sequence[TableRow]
    likeness: Sequence[TableRow]
    costs: Sequence[TableRow]
    budget: Sequence[BudgetLine]
    operators: Sequence[OperatorLine]
    strata: Sequence[StratumLine]

    @property
    def effort(self) -> str:
        """How many evaluations a run takes at most."""
        return effort_of(self.config, self.regimes or self.config.regimes)

    @property
    def has_finished(self) -> bool:
        """Whether any run has a number to show."""
        return any(one.effectiveness.outcomes.finished for one in self.source.numbers)

    @property
    def n_failing(self) -> int:
        """Test cases that fail by the criterion that was chosen."""
        rates = (
            one.effectiveness.outcomes.attack_success(self.choice.criterion) for one in self.source.numbers
        )
        return sum(rate.numerator for rate in rates)

    @property
    def runs_address(self) -> str:
        """Where all runs of the profile are listed."""
        return runs_address(self.source.campaign_id, **self.choice.run_filters)

    @property
    def clean_failures_address(self) -> str:
        """Where the runs are listed whose clean answer is not good enough."""
        return runs_address(self.source.campaign_id, **self.choice.run_filters, outcome="baseline_failure")

    @property
    def cases_address(self) -> str:
        """Where the failing cases are listed."""
        outcome = self.choice.criterion.value.lower() if self.choice.reading == "strict" else ""
        return runs_address(self.source.campaign_id, **self.choice.run_filters, outcome=outcome)


def campaign_offer(campaign: Campaign) -> CampaignOffer:
    """Return what can be chosen of a campaign, and how far it is."""
    runs = campaign.modality_runs.order_by()
    names = dict(runs.values_list("sut__slug", "sut__name").distinct().order_by("sut__name"))
    counts = runs.aggregate(n=Count("pk"), last=Max("replicate"))
    unfinished = runs.filter(status=ModalityStatus.UNFINISHED)
    open_runs = unfinished.exclude(run__state=RunState.SUCCEEDED).count()  # those ended without a case
    retained = campaign_results(campaign).retained if counts["n"] else {}
    kept = [slug for slug in names if retained.get(slug)]
    rest = [slug for slug in names if slug not in kept]
    return CampaignOffer(
        suts=tuple((slug, names[slug]) for slug in [*kept, *rest]),
        strata=tuple(sorted(set(runs.values_list("stratum", flat=True).distinct()))),
        replicates=(counts["last"] or 0) + 1,
        n_runs=counts["n"],
        n_ended=counts["n"] - open_runs,
        n_live=runs.filter(run__state__in=LIVE_STATES).count(),
    )


def profile_page(campaign: Campaign, choice: Choice) -> ProfilePage:
    """Return the profile of the system that was chosen."""
    config = most_config(campaign)
    results = campaign_results(campaign, reading=choice.reading, replicate=choice.replicate)
    rows = shown_rows(campaign, choice)
    families = families_of(campaign, choice, is_pooled=not choice.stratum)
    source = TableSource(campaign.pk, choice, numbers_by_regime(rows), families)
    rates, likeness = effectiveness_rows(source)
    cases = operator_cases(campaign, rows)
    return ProfilePage(
        choice=choice,
        config=config,
        sut_name=_sut_name(choice.sut),
        is_retained=results.retained.get(choice.sut, False),
        n_runs=len(rows),
        sentence=_sentence(source, families),
        facts=_facts(rows),
        source=source,
        regimes=regimes_of(rows),
        rates=rates,
        likeness=likeness,
        costs=efficiency_rows(source),
        budget=budget_lines(cases, most=SHOWN_OPERATORS),
        operators=operator_lines(cases, choice.criterion),
        strata=_stratum_lines(campaign, choice, rows, pairs=source.pairs),
    )


def _stratum_lines(
    campaign: Campaign, choice: Choice, rows: Sequence[ResultRow], *, pairs: Sequence[RegimePair]
) -> list[StratumLine]:
    """Return a line for each scene type, where a system was run on several and all of them are looked at."""
    strata = sorted({row.result.scene_type for row in rows})
    if choice.stratum or len(strata) < 2:
        return []
    families = families_of(campaign, choice, is_pooled=False)
    family = families[f"asr_{choice.criterion.value.lower()}"]
    lines = []
    for stratum in strata:
        narrowed = replace(choice, stratum=stratum or NO_STRATUM)
        own = TableSource(
            campaign.pk,
            narrowed,
            numbers_by_regime([row for row in rows if row.result.scene_type == stratum]),
            families,
        )
        rates = {
            one.regime: one.effectiveness.outcomes.attack_success(choice.criterion) for one in own.numbers
        }
        lines.append(
            StratumLine(
                title=scene_type_title(stratum),
                address=runs_address(campaign.pk, **narrowed.run_filters),
                rates=tuple(rates.get(regime) for regime in regimes_of(rows)),
                pairs=tuple(PairCell(pair, own.comparison(family, pair)) for pair in pairs),
                family_size=family.size,
            )
        )
    return lines


def operators_by_regime(campaign: Campaign, choice: Choice) -> Mapping[Regime | None, Sequence[OperatorLine]]:
    """Return the ranking of operators over all regimes (None) and in each of them."""
    rows = shown_rows(campaign, choice)
    cases = operator_cases(campaign, rows)
    ranked: dict[Regime | None, Sequence[OperatorLine]] = {None: operator_lines(cases, choice.criterion)}
    for regime in regimes_of(rows):
        of_regime = [case for case in cases if case.row.result.regime == regime]
        ranked[regime] = operator_lines(of_regime, choice.criterion)
    return ranked


def left_out_sentence(campaign: Campaign, offer: CampaignOffer, choice: Choice) -> str:
    """Return which systems are in no comparison, and why; "" when all are.

    A system without an ended run is not named: nothing is known of it yet.
    """
    results = campaign_results(campaign, reading=choice.reading, replicate=choice.replicate)
    ended = {row.result.sut for row in results.rows if row.result.status in ENDED}
    names = [name for slug, name in offer.suts if slug in ended and not results.retained[slug]]
    if not names:
        return ""
    share = write_percent(RETAINED_SHARE)
    return (
        f"{', '.join(names)}: fewer than {share} of the runs end with boxes, so what they say of a "
        "system's sensitivity is little. They are left out of every comparison."
    )


def _sut_name(slug: str) -> str:
    return SutRecord.objects.filter(slug=slug).values_list("name", flat=True).first() or slug


def _facts(rows: Sequence[ResultRow]) -> SeedFacts:
    results = [row.result for row in rows]
    ended = [one for one in results if one.status in ENDED]
    return SeedFacts(
        total=len({one.seed for one in results}),
        eligible=len({one.seed for one in results if one.is_eligible}),
        baseline_failures=len({one.seed for one in results if one.status is RunStatus.BASELINE_FAILURE}),
        call_errors=sum(one.status is RunStatus.CALL_ERROR for one in results),
        with_boxes=sum(one.last_status is AnswerStatus.BOXES for one in ended),
        ended=len(ended),
    )


def _sentence(source: TableSource, families: Families) -> str:
    """Return what was found, in one or two sentences."""
    rates = {
        one.regime: rate
        for one in source.numbers
        if (rate := one.effectiveness.outcomes.attack_success(source.choice.criterion)).denominator
    }
    if not rates:
        return "No seed image has been searched to the end, so nothing can be said."
    return f"{_rates_sentence(rates)} {_joint_sentence(source, families)}".strip()


def _rates_sentence(rates: Mapping[Regime, Rate]) -> str:
    """Return how often each regime breaks the system: counts where there are few, or not as many of each."""
    words = {"image": "Image perturbations", "text": "Text perturbations", "joint": "Both together"}
    counts = {rate.denominator for rate in rates.values()}
    are_shares = len(counts) == 1 and min(counts) >= FEWEST_FOR_SHARES
    parts: list[str] = []
    for regime, rate in rates.items():
        said = (
            f"in {write_percent(rate.value)}"
            if are_shares
            else f"on {rate.numerator:,} of {rate.denominator:,}"
        )
        parts.append(
            f"{words[regime].lower()} {said}" if parts else f"{words[regime]} break this system {said}"
        )
    if are_shares:
        parts[-1] += f" of {write_many(min(counts), 'seed image')}"
    else:
        parts[0] += " seed images" if next(iter(rates.values())).denominator != 1 else " seed image"
    return ", ".join(parts[:-1]) + (" and " if len(parts) > 1 else "") + parts[-1] + "."


def _joint_sentence(source: TableSource, families: Families) -> str:
    family = families.get(f"asr_{source.choice.criterion.value.lower()}")
    found = source.comparison(family, IMAGE_JOINT)
    if found is None or found.p_adjusted is None:
        return ""
    p = write_p_value(found.p_adjusted)
    if not found.is_significant():
        return f"Adding text to image makes no difference that this campaign can show ({p})."
    gains = found.second_larger > found.first_larger
    return f"Adding text to image {'breaks it more often' if gains else 'breaks it less often'} ({p})."
