"""Strategies in which one operator acts alone, with sums over the answers to each; a database adds up."""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from django.db.models import Case, Count, F, OuterRef, Q, QuerySet, Subquery, Sum, TextField, When
from django.db.models.functions import Cast

from searches.enums import AnswerKind
from searches.models import Campaign, Evaluation, ModalityRun
from searches.services.modality_inputs import regime_space
from searches.services.modality_results import campaign_mark, most_config
from searches.services.strategy_bars import Modality, modality_of
from vlmlab.core.most.types import Regime

MOST_STRATEGIES = 20_000
MOST_CHOSEN = 2_000
KEPT_SYSTEMS = 16


@dataclass(frozen=True)
class LoneStrategy:
    """One strategy in which one operator acts, with the answers to it.

    Attributes:
        text: the strategy as it is stored; finds its evaluations.
        level: step of a sweep, from 1; None where no sweep asked.
        total, squares: sums over the answers, of the IoU and of its square.
        f2, f3: sums of the distances.
    """

    regime: Regime
    text: str
    operator: str
    severity: float
    level: int | None
    n: int
    total: float
    squares: float
    below: int
    empty: int
    malformed: int
    f2: float
    f3: float


@dataclass(frozen=True)
class Scope:
    """Which answers are read: of one system in one campaign.

    Attributes:
        stratum: of the seed images; None for all.
        replicate: which of the runs of a place; they are never put together.
    """

    campaign_id: int
    sut_id: int
    stratum: str | None = None
    replicate: int = 0

    @property
    def runs(self) -> QuerySet[ModalityRun]:
        """The runs with these answers."""
        found = ModalityRun.objects.filter(
            campaign_id=self.campaign_id, sut_id=self.sut_id, replicate=self.replicate
        )
        return found if self.stratum is None else found.filter(stratum=self.stratum)


@dataclass(frozen=True)
class LoneStrategies:
    """All of a scope; ``is_cut`` says that more strategies were asked than were read."""

    found: tuple[LoneStrategy, ...]
    is_cut: bool


def lone_strategies(campaign: Campaign, scope: Scope) -> LoneStrategies:
    """Return the strategies with one acting operator; kept in memory until a run of the campaign moves on.

    Each modality is read in one regime, because "joint" asks the same again: image operators in "image" if
    it was run, text operators in "text".

    Args:
        campaign: of the method "most".
        scope: of this campaign.
    """
    return _kept_strategies(campaign, scope, campaign_mark(campaign))


def lone_evaluations(
    campaign: Campaign, scope: Scope, *, operator: str, low: float, high: float, level: int | None = None
) -> QuerySet[Evaluation]:
    """Return the evaluations behind a point, the least IoU first.

    Args:
        campaign: of the method "most".
        scope: of this campaign.
        operator: that acts alone.
        low: least severity.
        high: largest severity.
        level: step of a sweep; None for all.
    """
    strategies = lone_strategies(campaign, scope).found
    chosen = [one for one in strategies if one.operator == operator and low <= one.severity <= high]
    if level is not None:
        chosen = [one for one in chosen if one.level == level]
    found = Evaluation.objects.none()
    if chosen:
        found = (
            _answers(scope, regime=chosen[0].regime)
            .annotate(text=Cast("strategy", TextField()))
            .filter(text__in=[one.text for one in chosen[:MOST_CHOSEN]])
        )
        if level is not None:
            found = found.annotate(asked_in=_first_stage()).filter(asked_in__startswith=f"level {level} of ")
    return found.select_related("run__modality__picture").order_by("iou", "pk")


@lru_cache(maxsize=KEPT_SYSTEMS)
def _kept_strategies(campaign: Campaign, scope: Scope, mark: str) -> LoneStrategies:
    regimes = set(scope.runs.order_by().values_list("regime", flat=True).distinct())
    config = most_config(campaign)
    found: list[LoneStrategy] = []
    is_cut = False
    for regime, modalities in _regimes_to_read(regimes).items():
        names = regime_space(config, regime).operators
        rows = list(_grouped(scope, regime=regime, threshold=config.iou_threshold)[: MOST_STRATEGIES + 1])
        is_cut = is_cut or len(rows) > MOST_STRATEGIES
        for row in rows[:MOST_STRATEGIES]:
            one = _lone(row, regime=regime, names=names)
            if one is not None and modality_of(one.operator) in modalities:
                found.append(one)
    return LoneStrategies(tuple(found), is_cut)


def _regimes_to_read(regimes: Iterable[str]) -> dict[Regime, set[Modality]]:
    """Return which modality is read in which regime."""
    having = set(regimes)
    found: dict[Regime, set[Modality]] = defaultdict(set)
    pairs: tuple[tuple[Modality, Regime], ...] = (("image", "image"), ("text", "text"))
    for modality, own in pairs:
        if own in having:
            found[own].add(modality)
        elif "joint" in having:
            found["joint"].add(modality)
    return dict(found)


def _answers(scope: Scope, *, regime: Regime) -> QuerySet[Evaluation]:
    return Evaluation.objects.filter(run__modality__in=scope.runs.filter(regime=regime)).exclude(
        status=AnswerKind.CALL_ERROR
    )


def _first_stage() -> Case:
    """Return the stage in which a strategy was asked first: a question put again is in a later batch."""
    first = (
        Evaluation.objects.filter(run=OuterRef("run"), attempt=0)
        .annotate(text=Cast("strategy", TextField()))
        .filter(text=OuterRef("text"))
    )
    return Case(When(attempt=0, then=F("stage")), default=Subquery(first.values("stage")[:1]))


def _grouped(scope: Scope, *, regime: Regime, threshold: float) -> QuerySet[Any, Any]:
    """Return sums over the answers to each strategy and stage: a sweep asks all seed images a few hundred."""
    below = Q(status=AnswerKind.BOXES, iou__lt=threshold)
    return (
        _answers(scope, regime=regime)
        .order_by()
        .annotate(text=Cast("strategy", TextField()))
        .annotate(asked_in=_first_stage())
        .values("text", "asked_in")
        .annotate(
            n=Count("pk"),
            total=Sum("iou"),
            squares=Sum(F("iou") * F("iou")),
            below=Count("pk", filter=below),
            empty=Count("pk", filter=Q(status=AnswerKind.EMPTY)),
            malformed=Count("pk", filter=Q(status=AnswerKind.MALFORMED)),
            f2=Sum("image_distance"),
            f3=Sum("prompt_distance"),
        )
    )


def _lone(row: Mapping[str, Any], *, regime: Regime, names: Sequence[str]) -> LoneStrategy | None:
    strategy = json.loads(row["text"])
    acting = [place for place, severity in enumerate(strategy) if severity > 0.0]
    if len(acting) != 1 or len(strategy) != len(names):
        return None
    sums = dict(row)
    return LoneStrategy(
        regime=regime,
        operator=names[acting[0]],
        severity=float(strategy[acting[0]]),
        level=_level(sums.pop("asked_in")),
        **sums,
    )


def _level(stage: str | None) -> int | None:
    """Return the step of a sweep that a stage names."""
    found = re.fullmatch(r"level ([0-9]+) of [0-9]+", stage or "")
    return int(found[1]) if found else None
