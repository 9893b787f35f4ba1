"""Tables of a modality search: what broke how often, at what likeness and cost, and which regimes differ."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from statistics import median

from searches.models import Campaign
from searches.services.modality_outcomes import CRITERION_WORDS
from searches.services.modality_results import (
    Reading,
    ResultRow,
    campaign_mark,
    campaign_results,
    regimes_of,
    runs_address,
)
from searches.services.seed_plans import NO_STRATUM
from vlmlab.core.most.comparisons import (
    IMAGE_JOINT,
    IMAGE_TEXT,
    PAIRED_METRICS,
    TEXT_JOINT,
    ComparisonFamily,
    RegimeComparison,
    RegimePair,
    compare_regimes,
)
from vlmlab.core.most.outcomes import FailureCriterion
from vlmlab.core.most.summaries import (
    Effectiveness,
    Efficiency,
    Rate,
    Spread,
    effectiveness,
    efficiency,
)
from vlmlab.core.most.types import Regime
from vlmlab.web.numbers import write_many, write_percent

SHOWN_PAIRS: tuple[RegimePair, ...] = (IMAGE_JOINT, TEXT_JOINT, IMAGE_TEXT)
ALL_STRATA = ""
SIGNIFICANCE_MARKS = ((0.001, "***"), (0.01, "**"), (0.05, "*"))
KEPT_FAMILIES = 16
REGIME_TITLES: dict[Regime, str] = {"image": "Image", "text": "Text", "joint": "Joint"}

Families = Mapping[str, ComparisonFamily]


@dataclass(frozen=True)
class Choice:
    """What of a campaign a page or a file shows.

    Attributes:
        sut: slug of the system; "" for all.
        stratum: scene type; "" for all of them together, ``NO_STRATUM`` for pictures without one.
        criterion: what counts as a failure.
        reading: strict, or lenient, which also takes what could be saved of a reply.
        common_seeds: only seed images that are eligible for every retained system.
        replicate: which of the runs of a place.
        has_replicates: whether a place has several runs, so that an address has to say which.
    """

    sut: str = ""
    stratum: str = ALL_STRATA
    criterion: FailureCriterion = FailureCriterion.C1
    reading: Reading = "strict"
    common_seeds: bool = False
    replicate: int = 0
    has_replicates: bool = False

    @property
    def run_filters(self) -> dict[str, str]:
        """What narrows a list of runs to those that are counted here, but for regime and outcome."""
        replicate = str(self.replicate) if self.has_replicates else ""
        return {"sut": self.sut, "stratum": self.stratum, "replicate": replicate}

    @property
    def scene_type(self) -> str:
        """The scene type as results and comparisons name it."""
        return "" if self.stratum == NO_STRATUM else self.stratum


@dataclass(frozen=True)
class RegimeNumbers:
    """What the runs of one regime say, of one system and one scene type or all of them.

    Attributes:
        first_hits: evaluations until the first failure, of the runs that have one.
    """

    regime: Regime
    effectiveness: Effectiveness
    efficiency: Efficiency
    first_hits: tuple[int, ...]

    @property
    def title(self) -> str:
        """The regime in words."""
        return REGIME_TITLES[self.regime]

    @property
    def median_first_hit(self) -> float | None:
        """Median of the evaluations until the first failure; None without one."""
        return median(self.first_hits) if self.first_hits else None


@dataclass(frozen=True)
class NumberCell:
    """A number of one regime: as people read it, what stands below, and the runs behind it."""

    text: str
    note: str = ""
    address: str = ""


@dataclass(frozen=True)
class PairCell:
    """Two regimes compared; ``marks`` are the stars after Holm, None where the number is not compared."""

    regimes: RegimePair
    comparison: RegimeComparison | None

    @property
    def title(self) -> str:
        """Both regimes in words."""
        return pair_title(self.regimes)

    @property
    def marks(self) -> str:
        """Stars of the adjusted p-value; "" where it is not significant."""
        return stars(self.comparison)


@dataclass(frozen=True)
class TableRow:
    """One measure: a number a regime, a comparison a pair, and the size of its family of tests."""

    name: str
    title: str
    numbers: tuple[NumberCell, ...]
    pairs: tuple[PairCell, ...]
    family_size: int


def families_of(campaign: Campaign, choice: Choice, *, is_pooled: bool) -> Families:
    """Return all comparisons of a campaign by metric, over its retained systems; kept in memory.

    Args:
        campaign: of the method "most".
        choice: reading, seed images and replicate count; system, scene type and criterion do not, so that a
            family is the same whatever is looked at.
        is_pooled: whether the scene types are taken together, or each for itself.
    """
    mark = campaign_mark(campaign)
    return _kept_families(campaign.pk, mark, choice.reading, choice.replicate, choice.common_seeds, is_pooled)


@lru_cache(maxsize=KEPT_FAMILIES)
def _kept_families(
    campaign_id: int,
    mark: str,
    reading: Reading,
    replicate: int,
    common_seeds: bool,  # noqa: FBT001 - part of a key
    is_pooled: bool,  # noqa: FBT001
) -> Families:
    campaign = Campaign.objects.get(pk=campaign_id)
    results = campaign_results(campaign, reading=reading, replicate=replicate)
    retained = [sut for sut, is_kept in results.retained.items() if is_kept]
    runs = [row.result for row in results.shown(common_seeds=common_seeds, suts=retained)] if retained else []
    if is_pooled:
        runs = [replace(run, scene_type=ALL_STRATA) for run in runs]
    return {name: compare_regimes(runs, metric) for name, metric in PAIRED_METRICS.items()}


def shown_rows(campaign: Campaign, choice: Choice) -> list[ResultRow]:
    """Return the runs that a choice names."""
    results = campaign_results(campaign, reading=choice.reading, replicate=choice.replicate)
    return results.shown(
        common_seeds=choice.common_seeds,
        suts=[choice.sut] if choice.sut else (),
        strata=[choice.scene_type] if choice.stratum else (),
    )


def numbers_by_regime(rows: Sequence[ResultRow]) -> list[RegimeNumbers]:
    """Return what runs of one system say, a regime each."""
    return [
        RegimeNumbers(
            regime,
            effectiveness([row.result for row in of_regime]),
            efficiency([row.result for row in of_regime]),
            tuple(row.first_hit for row in of_regime if row.first_hit is not None and row.result.case),
        )
        for regime in regimes_of(rows)
        if (of_regime := [row for row in rows if row.result.regime == regime])
    ]


@dataclass(frozen=True)
class TableSource:
    """What the rows of both tables are made of: numbers, comparisons and addresses of one system."""

    campaign_id: int
    choice: Choice
    numbers: Sequence[RegimeNumbers]
    families: Families

    @property
    def pairs(self) -> tuple[RegimePair, ...]:
        """The pairs of regimes that were both run."""
        having = {one.regime for one in self.numbers}
        return tuple(pair for pair in SHOWN_PAIRS if having.issuperset(pair))

    @property
    def n_columns(self) -> int:
        """Columns of a table: what is measured, regimes, pairs of them."""
        return 1 + len(self.numbers) + len(self.pairs)

    def row(
        self, name: str, title: str, cell: Callable[[RegimeNumbers], NumberCell], *, is_compared: bool = True
    ) -> TableRow:
        """Return a row; ``name`` is the metric of its comparisons."""
        family = self.families.get(name) if is_compared else None
        return TableRow(
            name,
            title,
            tuple(cell(one) for one in self.numbers),
            tuple(PairCell(pair, self.comparison(family, pair)) for pair in self.pairs),
            family.size if family else 0,
        )

    def address(self, regime: Regime, **filters: str) -> str:
        """Return the address of runs of this system and scene type in one regime.

        Lists know the strict reading only, so an outcome is left out in the lenient one.
        """
        if self.choice.reading == "lenient":
            filters.pop("outcome", None)
        return runs_address(self.campaign_id, **self.choice.run_filters, regime=regime, **filters)

    def comparison(self, family: ComparisonFamily | None, pair: RegimePair) -> RegimeComparison | None:
        """Return the comparison of this system and scene type; None where there is none."""
        wanted = (self.choice.sut, self.choice.scene_type, pair)
        among = family.comparisons if family else ()
        return next((one for one in among if (one.sut, one.scene_type, one.regimes) == wanted), None)


def effectiveness_rows(source: TableSource) -> tuple[list[TableRow], list[TableRow]]:
    """Return the rates under each criterion, and what is measured over runs that ended with boxes."""
    rates = [
        source.row(f"asr_{one.value.lower()}", _criterion_title(one), _rate_cell(source, one))
        for one in FailureCriterion
    ]
    spreads: tuple[tuple[str, str, Callable[[Effectiveness], Spread]], ...] = (
        ("ms_ssim", "MS-SSIM", lambda one: one.ms_ssim),
        ("ned", "NED", lambda one: one.ned),
        ("swtd", "SWTD", lambda one: one.swtd),
        ("swtd_mean", "SWTD (mean)", lambda one: one.swtd_mean),
    )
    return rates, [source.row(name, title, _likeness_cell(number)) for name, title, number in spreads]


def efficiency_rows(source: TableSource) -> list[TableRow]:
    """Return what runs cost: budgets, evaluations, time."""
    spreads: tuple[tuple[str, str, Callable[[Efficiency], Spread], int], ...] = (
        ("image_budget", "Image budget b_I", lambda one: one.image_budget, 2),
        ("text_budget", "Text budget b_T", lambda one: one.text_budget, 2),
        ("total_budget", "Both, b_I + b_T", lambda one: one.total_budget, 2),
        ("evaluations", "Evaluations", lambda one: one.evaluations, 1),
        ("wall_s", "Wall time, s", lambda one: one.wall_s, 1),
        ("perturbation_s", "of it perturbing, s", lambda one: one.perturbation_s, 1),
        ("inference_s", "of it inference, s", lambda one: one.inference_s, 1),
    )
    rows = [source.row(name, title, _cost_cell(number, places)) for name, title, number, places in spreads]
    title = "Evaluations to the first hit, median"
    first = source.row("first_hit", title, _first_hit_cell, is_compared=False)
    return [*rows[:4], first, *rows[4:]]


def family_sizes(rows: Iterable[TableRow]) -> str:
    """Return how many tests were adjusted together, in words; "" for none."""
    sizes = sorted({row.family_size for row in rows if row.family_size})
    if not sizes:
        return ""
    most = f"{write_many(sizes[-1], 'test')} a measure"
    return most if len(sizes) == 1 else f"{sizes[0]} to {most}"


def pair_title(pair: RegimePair) -> str:
    """Return ``Image, joint``."""
    return f"{REGIME_TITLES[pair[0]]}, {pair[1]}"


def stars(comparison: RegimeComparison | None) -> str:
    """Return the stars of an adjusted p-value; "" where it is not significant or there is none."""
    p = comparison.p_adjusted if comparison else None
    if p is None:
        return ""
    return next((marks for limit, marks in SIGNIFICANCE_MARKS if p < limit), "")


def write_rate(rate: Rate) -> str:
    """Return ``54 / 96``."""
    return f"{rate.numerator:,} / {rate.denominator:,}"


def write_spread(numbers: Spread, places: int) -> str:
    """Return ``0.81 ± 0.09``; without the second where there is only one number."""
    if numbers.mean is None:
        return "–"
    mean = f"{numbers.mean:,.{places}f}"
    return mean if numbers.sd is None else f"{mean} ± {numbers.sd:,.{places}f}"


def _criterion_title(criterion: FailureCriterion) -> str:
    return f"{criterion.value}, {CRITERION_WORDS[criterion]}"


def _rate_cell(source: TableSource, criterion: FailureCriterion) -> Callable[[RegimeNumbers], NumberCell]:
    def cell(one: RegimeNumbers) -> NumberCell:
        rate = one.effectiveness.outcomes.attack_success(criterion)
        if not rate.denominator:
            return NumberCell("–", "none finished", "")
        address = source.address(one.regime, outcome=criterion.value.lower())
        return NumberCell(write_rate(rate), write_percent(rate.value), address)

    return cell


def _likeness_cell(number: Callable[[Effectiveness], Spread]) -> Callable[[RegimeNumbers], NumberCell]:
    return lambda one: _spread_cell(number(one.effectiveness), 2)


def _cost_cell(number: Callable[[Efficiency], Spread], places: int) -> Callable[[RegimeNumbers], NumberCell]:
    return lambda one: _spread_cell(number(one.efficiency), places)


def _spread_cell(numbers: Spread, places: int) -> NumberCell:
    return NumberCell(write_spread(numbers, places), f"n {numbers.n:,}" if numbers.n else "")


def _first_hit_cell(one: RegimeNumbers) -> NumberCell:
    middle = one.median_first_hit
    if middle is None:
        return NumberCell("–", "no hit")
    return NumberCell(f"{middle:,.10g}", f"n {len(one.first_hits):,}")
