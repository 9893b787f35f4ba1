"""Two systems, or one system in two campaigns, on the same seed images: who fails where the other holds."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from searches.enums import MODALITY_METHOD
from searches.models import Campaign, ModalityRun
from searches.services.modality_results import Reading, ResultRow, campaign_results, fails, picture_names
from vlmlab.core.most.comparisons import SIGNIFICANCE_LEVEL
from vlmlab.core.most.outcomes import FailureCriterion
from vlmlab.core.most.summaries import Rate
from vlmlab.core.most.types import REGIMES, Regime
from vlmlab.core.stats import holm, mcnemar_exact
from vlmlab.web.numbers import MINUS, write_decimals, write_many, write_percent

AT_ONCE, SHOWN_SEEDS = 12, 200
MOST_SIDES = 400


@dataclass(frozen=True)
class Side:
    """A system in a campaign; ``key`` names it in addresses, as ``12:pocket``."""

    campaign_id: int
    campaign_name: str
    dataset_id: int | None
    dataset_title: str
    sut: str
    sut_name: str

    @property
    def key(self) -> str:
        """The side in an address."""
        return f"{self.campaign_id}:{self.sut}"

    @property
    def title(self) -> str:
        """The side in a list."""
        return f"{self.sut_name}, {self.campaign_name} ({self.campaign_id})"


@dataclass(frozen=True)
class RegimeDifference:
    """How often both fail in one regime, on seed images that are eligible for both.

    Attributes:
        regime: what was perturbed.
        first, second: failures of all common finished runs.
        only_first, only_second: seed images on which only this one fails.
        p_value: exact McNemar, two-sided; None without a common run.
        p_adjusted: after Holm over the regimes.
        left_out: seed images that were run on either side in this regime and are not common.
    """

    regime: Regime
    first: Rate
    second: Rate
    only_first: int
    only_second: int
    p_value: float | None
    p_adjusted: float | None
    left_out: int

    @property
    def difference(self) -> float | None:
        """ASR of the first - that of the second; None without a common run."""
        if self.first.value is None or self.second.value is None:
            return None
        return self.first.value - self.second.value

    @property
    def difference_text(self) -> str:
        """The difference in percentage points."""
        if self.difference is None:
            return "–"
        points = write_decimals(100 * self.difference, 0)
        return f"{'' if points[0] in ('0', MINUS) else '+'}{points} points"

    @property
    def is_significant(self) -> bool:
        """Whether both differ, with all regimes taken into account."""
        return self.p_adjusted is not None and self.p_adjusted < SIGNIFICANCE_LEVEL


@dataclass(frozen=True)
class SplitSeed:
    """A seed image in one regime on which one side fails and the other holds."""

    regime: Regime
    stratum: str
    label: str
    file_name: str
    image_sha256: str
    failing_run: int
    holding_run: int


@dataclass(frozen=True)
class SplitGroup:
    """All seeds on which one side fails and the other holds; ``seeds`` are the first of them."""

    title: str
    total: int
    seeds: tuple[SplitSeed, ...]

    @property
    def first_seeds(self) -> tuple[SplitSeed, ...]:
        """What the page shows at once."""
        return self.seeds[:AT_ONCE]

    @property
    def more_seeds(self) -> tuple[SplitSeed, ...]:
        """What it shows when asked."""
        return self.seeds[AT_ONCE:]


@dataclass(frozen=True)
class SideComparison:
    """Everything the page shows of two sides."""

    first: Side
    second: Side
    thresholds: tuple[float, float]
    differences: tuple[RegimeDifference, ...]
    groups: tuple[SplitGroup, SplitGroup]
    warnings: tuple[str, ...]

    @property
    def names(self) -> tuple[str, str]:
        """Both sides as they are told apart."""
        return _short(self.first, self.second), _short(self.second, self.first)

    @property
    def sentence(self) -> str:
        """What was found, in a sentence or two."""
        tested = [one for one in self.differences if one.p_value is not None]
        if not tested:
            return "There is no seed image on which both have finished, so nothing can be compared."
        differing = [one for one in tested if one.is_significant]
        if not differing:
            n = sum(one.first.denominator for one in tested)
            return f"No difference that {write_many(n, 'common run')} can show."
        names = self.names
        return " ".join(
            f"{one.regime.capitalize()} perturbations break {names[one.only_first < one.only_second]} more "
            f"often ({write_percent(one.first.value)} and {write_percent(one.second.value)})."
            for one in differing
        )


def all_sides(dataset_id: int | None = None) -> list[Side]:
    """Return the systems of all modality campaigns, newest campaign first (one query)."""
    runs = ModalityRun.objects.filter(campaign__method=MODALITY_METHOD)
    if dataset_id is not None:
        runs = runs.filter(campaign__dataset_id=dataset_id)
    rows = runs.order_by("-campaign_id", "sut__name").values_list(
        "campaign_id",
        "campaign__name",
        "campaign__dataset_id",
        "campaign__dataset__title",
        "sut__slug",
        "sut__name",
    )
    return [
        Side(pk, name, dataset, title or "Without a dataset", sut, sut_name)
        for pk, name, dataset, title, sut, sut_name in rows.distinct()[:MOST_SIDES]
    ]


def compare_sides(
    first: Side, second: Side, *, criterion: FailureCriterion, reading: Reading = "strict"
) -> SideComparison:
    """Return where both sides differ, a regime each.

    Each run is judged at the IoU threshold of its own search. Only seed images count that are eligible on
    both sides and whose runs have finished there.
    """
    campaigns = Campaign.objects.in_bulk({first.campaign_id, second.campaign_id})
    results = {pk: campaign_results(campaign, reading=reading).rows for pk, campaign in campaigns.items()}
    ours, theirs = (
        _by_place(row for row in results[side.campaign_id] if row.result.sut == side.sut)
        for side in (first, second)
    )
    differences = _differences(ours, theirs, criterion)
    thresholds = _threshold(ours.values()), _threshold(theirs.values())
    return SideComparison(
        first,
        second,
        thresholds,
        differences,
        (
            _split(first, second, ours, theirs, criterion=criterion),
            _split(second, first, theirs, ours, criterion=criterion),
        ),
        tuple(_warnings(first, second, thresholds, campaigns)),
    )


Place = tuple[Regime, str]
Places = Mapping[Place, ResultRow]


def _by_place(rows: Iterable[ResultRow]) -> dict[Place, ResultRow]:
    return {(row.result.regime, row.result.seed_image): row for row in rows}


def _differences(ours: Places, theirs: Places, criterion: FailureCriterion) -> tuple[RegimeDifference, ...]:
    regimes = [one for one in REGIMES if any(regime == one for regime, _ in [*ours, *theirs])]
    counted = [_counted(regime, ours, theirs, criterion) for regime in regimes]
    tested = [one.p_value for one in counted if one.p_value is not None]
    adjusted = iter(holm(tested))
    return tuple(one if one.p_value is None else replace(one, p_adjusted=next(adjusted)) for one in counted)


def _counted(regime: Regime, ours: Places, theirs: Places, criterion: FailureCriterion) -> RegimeDifference:
    places = {place for place in {*ours, *theirs} if place[0] == regime}
    common = _common(ours, theirs, places)
    failing = [fails(ours[place], criterion) for place in common]
    other = [fails(theirs[place], criterion) for place in common]
    only_first = sum(one and not two for one, two in zip(failing, other, strict=True))
    only_second = sum(two and not one for one, two in zip(failing, other, strict=True))
    return RegimeDifference(
        regime,
        Rate(sum(failing), len(common)),
        Rate(sum(other), len(common)),
        only_first,
        only_second,
        mcnemar_exact(only_first, only_second) if common else None,
        None,
        len(places) - len(common),
    )


def _common(ours: Places, theirs: Places, places: Iterable[Place]) -> list[Place]:
    return sorted(
        place
        for place in places
        if place in ours and place in theirs and ours[place].result.case and theirs[place].result.case
    )


def _split(
    failing: Side, holding: Side, rows: Places, others: Places, *, criterion: FailureCriterion
) -> SplitGroup:
    places = [
        place
        for place in _common(rows, others, rows)
        if fails(rows[place], criterion) and not fails(others[place], criterion)
    ]
    shown = places[:SHOWN_SEEDS]
    names = picture_names(rows[place].picture_id for place in shown)
    seeds = tuple(
        SplitSeed(
            regime=place[0],
            stratum=rows[place].result.scene_type,
            label=rows[place].label,
            file_name=names[rows[place].picture_id][0],
            image_sha256=names[rows[place].picture_id][1],
            failing_run=rows[place].run_id,
            holding_run=others[place].run_id,
        )
        for place in shown
    )
    return SplitGroup(
        f"{_short(failing, holding)} fails where {_short(holding, failing)} holds", len(places), seeds
    )


def _short(side: Side, other: Side) -> str:
    return side.sut_name if side.sut != other.sut else side.campaign_name


def _threshold(rows: Iterable[ResultRow]) -> float:
    return next((row.result.iou_threshold for row in rows), 0.0)


def _warnings(
    first: Side, second: Side, thresholds: Sequence[float], campaigns: Mapping[int, Campaign]
) -> Iterable[str]:
    if first.key == second.key:
        yield "Both sides are the same, so nothing can differ. Choose another one."
    if first.dataset_id != second.dataset_id:
        yield "The campaigns have other datasets, so no seed image is common to both."
    if thresholds[0] != thresholds[1] and all(thresholds):
        yield (
            f"The searches stopped at other IoU thresholds ({thresholds[0]:g} and {thresholds[1]:g}): each "
            "side is judged at its own, and the rates are not of the same failure."
        )
    if campaigns[first.campaign_id].plan.get("seed") != campaigns[second.campaign_id].plan.get("seed"):
        yield (
            "The campaigns have other seeds: operators drew otherwise, and a picture that was asked for "
            "another label is not common."
        )
    one, two = campaigns[first.campaign_id].config, campaigns[second.campaign_id].config
    names = sorted(
        name for name in {*one, *two} if one.get(name) != two.get(name) and name != "iou_threshold"
    )
    if names:
        words = ", ".join(name.replace("_", " ") for name in names)
        yield f"The campaigns also differ in: {words}."
