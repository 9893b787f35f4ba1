"""Which operators break a system: where the budget goes, who acts in failures, and who needs no other."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import fmean

from searches.enums import CaseKind
from searches.models import Campaign, ModalityCase
from searches.services.modality_results import ResultRow, campaign_mark, fails
from searches.services.strategy_bars import Modality, modality_of, operator_names, operator_title
from vlmlab.core.most.outcomes import FailureCriterion
from vlmlab.core.most.summaries import Rate
from vlmlab.core.most.types import Regime

Severities = Mapping[str, float]
KEPT_CAMPAIGNS = 8
SHOWN_OPERATORS: dict[Modality, int] = {"image": 7, "text": 5}


@dataclass(frozen=True)
class OperatorCase:
    """A returned case with its acting operators."""

    row: ResultRow
    severities: Severities


@dataclass(frozen=True)
class BudgetLine:
    """One operator's mean share of the final perturbation budget, by regime.

    Attributes:
        name: of the operator; "" where several small ones are put together.
        title: for people.
        modality: what it perturbs.
        shares: by regime; None where the regime cannot touch the modality, or nothing was perturbed.
    """

    name: str
    title: str
    modality: Modality
    shares: Mapping[Regime, float | None]


@dataclass(frozen=True)
class OperatorLine:
    """What the returned cases say of one operator.

    Attributes:
        in_failures: failing cases in which it acts, of all failing cases of regimes that may use it.
        in_held: the same of the cases that hold.
        alone: failing cases in which no other operator acts, of those in which it does.
        mean_severity: over the failing cases in which it acts; None without one.
    """

    name: str
    title: str
    modality: Modality
    in_failures: Rate
    in_held: Rate
    alone: Rate
    mean_severity: float | None


def operator_cases(campaign: Campaign, rows: Iterable[ResultRow]) -> list[OperatorCase]:
    """Return the returned cases of finished runs with their operators (one query, kept in memory)."""
    severities = _kept_severities(campaign.pk, campaign_mark(campaign))
    return [
        OperatorCase(row, severities.get(row.modality_run_id, {}))
        for row in rows
        if row.result.case is not None
    ]


@lru_cache(maxsize=KEPT_CAMPAIGNS)
def _kept_severities(campaign_id: int, mark: str) -> Mapping[int, Severities]:
    cases = ModalityCase.objects.filter(modality_run__campaign_id=campaign_id, kind=CaseKind.RETURNED)
    return {
        run: {name: float(value) for name, value in stored.items() if float(value) > 0.0}
        for run, stored in cases.order_by().values_list("modality_run_id", "severities")
    }


def may_touch(regime: Regime, modality: Modality) -> bool:
    """Return whether a regime perturbs a modality."""
    return regime in (modality, "joint")


def budget_lines(
    cases: Sequence[OperatorCase], *, most: Mapping[Modality, int] | None = None
) -> list[BudgetLine]:
    """Return the mean share of the final budget by operator and regime, image operators first.

    A mean is over finished runs whose case perturbs anything; the shares of a regime sum to 1.

    Args:
        cases: returned cases, of one system.
        most: lines a modality; the rest is put together in one more. Left out: all operators.
    """
    by_regime: defaultdict[Regime, list[Severities]] = defaultdict(list)
    for case in cases:
        if case.severities:
            by_regime[case.row.result.regime].append(case.severities)
    shares = {regime: _mean_shares(strategies) for regime, strategies in by_regime.items()}
    regimes = {case.row.result.regime for case in cases}
    lines: list[BudgetLine] = []
    for modality in SHOWN_OPERATORS:
        ranked = sorted(
            (name for name in operator_names() if modality_of(name) == modality),
            key=lambda name: -max((of_regime.get(name, 0.0) for of_regime in shares.values()), default=0.0),
        )
        shown = ranked if most is None else ranked[: most[modality]]
        lines += [_budget_line((name,), operator_title(name), modality, shares, regimes) for name in shown]
        if rest := ranked[len(shown) :]:
            title = f"other {modality}, {len(rest)}"
            lines.append(_budget_line(tuple(rest), title, modality, shares, regimes))
    return lines


def operator_lines(
    cases: Sequence[OperatorCase], criterion: FailureCriterion, *, is_acting_only: bool = True
) -> list[OperatorLine]:
    """Return the operators by how often they act in failures, most first.

    Args:
        cases: returned cases, of any regimes.
        criterion: what counts as a failure.
        is_acting_only: whether operators that act in no case are left out.
    """
    failing = [case for case in cases if fails(case.row, criterion)]
    held = [case for case in cases if not fails(case.row, criterion)]
    lines = [_operator_line(name, failing, held) for name in operator_names()]
    acting = [one for one in lines if one.in_failures.numerator or one.in_held.numerator]
    return sorted(
        acting if is_acting_only else lines,
        key=lambda one: (-(one.in_failures.value or 0.0), -one.alone.numerator, one.title),
    )


def _mean_shares(strategies: Sequence[Severities]) -> dict[str, float]:
    totals: defaultdict[str, float] = defaultdict(float)
    for severities in strategies:
        spent = sum(severities.values())
        for name, severity in severities.items():
            totals[name] += severity / spent
    return {name: total / len(strategies) for name, total in totals.items()}


def _budget_line(
    names: tuple[str, ...],
    title: str,
    modality: Modality,
    shares: Mapping[Regime, Mapping[str, float]],
    regimes: Iterable[Regime],
) -> BudgetLine:
    def share(regime: Regime) -> float | None:
        if not may_touch(regime, modality) or regime not in shares:
            return None
        return sum(shares[regime].get(name, 0.0) for name in names)

    name = names[0] if len(names) == 1 else ""
    return BudgetLine(name, title, modality, {regime: share(regime) for regime in regimes})


def _operator_line(name: str, failing: Sequence[OperatorCase], held: Sequence[OperatorCase]) -> OperatorLine:
    modality = modality_of(name)
    able = [case for case in failing if may_touch(case.row.result.regime, modality)]
    able_held = [case for case in held if may_touch(case.row.result.regime, modality)]
    acting = [case.severities for case in able if name in case.severities]
    return OperatorLine(
        name=name,
        title=operator_title(name),
        modality=modality,
        in_failures=Rate(len(acting), len(able)),
        in_held=Rate(sum(name in case.severities for case in able_held), len(able_held)),
        alone=Rate(sum(len(severities) == 1 for severities in acting), len(acting)),
        mean_severity=fmean(severities[name] for severities in acting) if acting else None,
    )
