"""How a system answers to one operator alone, more and more of it: what severity-response curves show."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import sqrt

from searches.enums import AnswerKind, ModalityStatus
from searches.models import Campaign, CleanAnswer, SutRecord
from searches.services.lone_strategies import LoneStrategy, Scope, lone_strategies
from searches.services.modality_outcomes import thresholds_of
from searches.services.modality_results import campaign_mark
from searches.services.strategy_bars import Modality, modality_of, operator_names, operator_title
from vlmlab.core.most.outcomes import FailureCriterion
from vlmlab.core.stats import Interval, mean_interval, wilson

MOST_LEVELS = 10
"""More severities of an operator than these are put together in tenths."""
KEPT_RESPONSES = 16
HIGHLIGHTED = 6


@dataclass(frozen=True)
class ResponsePoint:
    """All answers to one operator at one level of a sweep, at one severity, or at severities of one tenth.

    Attributes:
        low, high: least and largest severity.
        severity: their mean.
        n: answers.
        mean_iou: 0 for an answer without boxes.
        sd: standard deviation of the sample; 0 below two answers.
        below, empty, malformed: answers that fail, by kind.
        is_far: whether the input is on average outside the distances that a failure may have.
        level: step of a sweep, from 1; None where severities were put together otherwise.
    """

    low: float
    high: float
    severity: float
    n: int
    mean_iou: float
    sd: float
    below: int
    empty: int
    malformed: int
    is_far: bool
    level: int | None = None

    @property
    def iou_interval(self) -> Interval:
        """Student's 95 % interval of the mean."""
        return mean_interval(self.mean_iou, self.sd, self.n)

    def failures(self, criterion: FailureCriterion) -> int:
        """Return how many answers fail by a criterion."""
        failing = {AnswerKind.EMPTY.value: self.empty, AnswerKind.MALFORMED.value: self.malformed}
        return self.below + sum(failing[status.value] for status in criterion.failing_statuses)

    def failure_interval(self, criterion: FailureCriterion) -> Interval:
        """Return Wilson's 95 % interval of the share that fails."""
        return wilson(self.failures(criterion), self.n)


@dataclass(frozen=True)
class ResponseCurve:
    """One operator with its points, severities ascending; the clean answer is not among them."""

    operator: str
    modality: Modality
    points: tuple[ResponsePoint, ...]

    @property
    def title(self) -> str:
        """The operator as words."""
        return operator_title(self.operator)

    @property
    def is_by_level(self) -> bool:
        """Whether its points are levels of a sweep, which rest on the same pictures and may be joined."""
        return all(point.level is not None for point in self.points)

    @property
    def n(self) -> int:
        """Answers of all points."""
        return sum(point.n for point in self.points)

    @property
    def mean_iou(self) -> float:
        """Mean over its points, each counted once; the lower, the more the operator breaks."""
        return sum(point.mean_iou for point in self.points) / len(self.points)


@dataclass(frozen=True)
class SeverityResponses:
    """The curves of one system in one campaign.

    Attributes:
        sut: the system.
        scope: which answers were read.
        curves: the operators that act alone somewhere, those that break most first.
        clean: mean IoU of the clean answers; None where no run has finished.
        n_seeds: seed images of these.
        iou_threshold: boxes below it fail.
        is_sweep: whether the campaign asked every operator alone.
        is_cut: whether there are more evaluations than were read.
    """

    sut: SutRecord
    scope: Scope
    curves: tuple[ResponseCurve, ...]
    clean: ResponsePoint | None
    n_seeds: int
    iou_threshold: float
    is_sweep: bool
    is_cut: bool

    def curve(self, operator: str) -> ResponseCurve | None:
        """Return the curve of an operator."""
        return next((one for one in self.curves if one.operator == operator), None)

    def highlighted(self, chosen: Iterable[str] = ()) -> tuple[ResponseCurve, ...]:
        """Return the curves that are drawn in colour: the chosen ones, at most six, else the first six."""
        wanted = set(chosen)
        found = tuple(one for one in self.curves if one.operator in wanted)
        return (found or self.curves)[:HIGHLIGHTED]


def asked_suts(campaign: Campaign) -> list[SutRecord]:
    """Return the systems of a campaign, by name."""
    return list(SutRecord.objects.filter(modality_runs__campaign=campaign).distinct().order_by("name"))


def severity_responses(
    campaign: Campaign, sut: SutRecord, *, stratum: str | None = None, replicate: int = 0
) -> SeverityResponses:
    """Return the curves of a system: all evaluations in which exactly one operator acts.

    A sweep asks nothing else; of a search it is what it happened to ask, mostly the first steps. Kept in
    memory until a run of the campaign moves on.

    Args:
        campaign: of the method "most".
        sut: one of its systems.
        stratum: of the seed images; None for all.
        replicate: which of the runs of a place.
    """
    scope = Scope(campaign.pk, sut.pk, stratum=stratum, replicate=replicate)
    return _kept_responses(campaign, sut, scope, campaign_mark(campaign))


@lru_cache(maxsize=KEPT_RESPONSES)
def _kept_responses(campaign: Campaign, sut: SutRecord, scope: Scope, mark: str) -> SeverityResponses:
    thresholds = thresholds_of(campaign)
    strategies = lone_strategies(campaign, scope)
    limits = thresholds.image_distance, thresholds.prompt_distance
    by_operator: defaultdict[str, list[LoneStrategy]] = defaultdict(list)
    for one in strategies.found:
        by_operator[one.operator].append(one)
    curves = [
        ResponseCurve(name, modality_of(name), _points(by_operator[name], limits=limits))
        for name in operator_names()
        if name in by_operator
    ]
    clean = _clean_point(scope)
    return SeverityResponses(
        sut=sut,
        scope=scope,
        curves=tuple(sorted(curves, key=lambda curve: curve.mean_iou)),
        clean=clean,
        n_seeds=clean.n if clean else 0,
        iou_threshold=thresholds.iou,
        is_sweep=campaign.config.get("algorithm") == "sweep",
        is_cut=strategies.is_cut,
    )


def _points(strategies: Sequence[LoneStrategy], *, limits: tuple[float, float]) -> tuple[ResponsePoint, ...]:
    """Put strategies of one level of a sweep together.

    An operator with a largest severity for each seed image stands at other severities on each of them; put
    together by severity, its points would rest on different pictures. Where there are no levels: strategies
    of one severity, and of more than ten severities those of one tenth.
    """
    levels = {one.level for one in strategies}
    if None not in levels:
        return tuple(
            _point([one for one in strategies if one.level == level], limits=limits, level=level)
            for level in sorted(level for level in levels if level is not None)
        )
    exact = {one.severity for one in strategies}
    groups: defaultdict[float, list[LoneStrategy]] = defaultdict(list)
    for one in strategies:
        place = one.severity if len(exact) <= MOST_LEVELS else min(int(one.severity * 10.0), 9) / 10.0
        groups[place].append(one)
    return tuple(_point(groups[place], limits=limits) for place in sorted(groups))


def _point(
    group: Sequence[LoneStrategy], *, limits: tuple[float, float], level: int | None = None
) -> ResponsePoint:
    n = sum(one.n for one in group)
    mean = sum(one.total for one in group) / n
    return ResponsePoint(
        low=min(one.severity for one in group),
        high=max(one.severity for one in group),
        severity=sum(one.severity * one.n for one in group) / n,
        n=n,
        mean_iou=min(max(mean, 0.0), 1.0),
        sd=_deviation(n, mean, sum(one.squares for one in group)),
        below=sum(one.below for one in group),
        empty=sum(one.empty for one in group),
        malformed=sum(one.malformed for one in group),
        is_far=sum(one.f2 for one in group) / n > limits[0] or sum(one.f3 for one in group) / n > limits[1],
        level=level,
    )


def _deviation(n: int, mean: float, squares: float) -> float:
    return sqrt(max(squares - n * mean * mean, 0.0) / (n - 1)) if n > 1 else 0.0


def _clean_point(scope: Scope) -> ResponsePoint | None:
    """Return the clean answers of the seed images that were perturbed."""
    values = list(
        CleanAnswer.objects.filter(runs__in=scope.runs.filter(status=ModalityStatus.FINISHED))
        .distinct()
        .values_list("pk", "iou")
    )
    if not values:
        return None
    ious = [iou for _, iou in values]
    mean = sum(ious) / len(ious)
    sd = _deviation(len(ious), mean, sum(iou * iou for iou in ious))
    return ResponsePoint(0.0, 0.0, 0.0, len(ious), mean, sd, below=0, empty=0, malformed=0, is_far=False)
