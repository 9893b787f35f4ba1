"""Charts of operators: where the perturbation budget goes, and who acts in failures."""

from collections.abc import Callable, Sequence
from typing import Any

from django.utils.text import capfirst

from searches.charts.modality_profile import NAMED_AXIS
from searches.charts.stepped_cells import step_of, stepped_cells
from searches.services.modality_tables import REGIME_TITLES
from searches.services.modality_tables_operators import BudgetLine, OperatorLine
from vlmlab.core.most.types import Regime
from vlmlab.web.figures import Chart, Column
from vlmlab.web.numbers import write_interval, write_percent

Address = Callable[[str, str], str]
"""Regime and operator ("" for any) -> the runs behind a mark."""
RANKED = 15


def budget_chart(lines: Sequence[BudgetLine], regimes: Sequence[Regime], *, address: Address) -> Chart:
    """Return the mean share of the final budget by operator and regime as a heatmap of five steps."""
    top = max((share for line in lines for share in line.shares.values() if share is not None), default=0.0)
    strongest = max(
        ((line, regime, share) for line in lines for regime, share in line.shares.items() if share),
        key=lambda one: one[2],
        default=None,
    )
    return Chart(
        slug="budget-allocation",
        title="Where the budget goes",
        note="mean share of the final perturbation budget; a dot marks a modality the regime cannot touch",
        spec={
            "data": [_cells(lines, regimes, top=top, address=address)],
            "layout": {
                "height": 70 + 24 * len(lines),
                "margin": {"l": 144, "r": 32, "t": 30, "b": 8},
                "xaxis": {"side": "top", "showline": False, "tickfont": {"color": "$text"}},
                "yaxis": NAMED_AXIS | {"autorange": "reversed"},
            },
        },
        sentence=f"{capfirst(strongest[0].title)} takes most: {strongest[2]:.2f} of the budget in the "
        f"regime {strongest[1]}."
        if strongest
        else "No test case perturbs anything yet.",
        columns=(
            Column("Operator", is_number=False), *(Column(REGIME_TITLES[regime]) for regime in regimes)
        ),
        rows=tuple(
            (line.title, *(_share(line.shares.get(regime)) for regime in regimes)) for line in lines
        ),
        row_urls=tuple(address("", line.name) if line.name else "" for line in lines),
    )  # fmt: skip


def ranking_chart(
    lines: Sequence[OperatorLine], *, regime: Regime | None, address: Address, most: int = RANKED
) -> Chart:
    """Return the share of failing cases in which each operator acts, most first, with Wilson intervals."""
    shown = list(lines[:most])
    return Chart(
        slug="operator-ranking",
        title="Operators in failures",
        note="share of failing test cases in which an operator acts, with 95 % Wilson intervals; "
        f"{'the first ' + str(most) if len(lines) > most else 'all'} that act",
        spec={
            "data": [_ranking_bars(shown, regime, address)],
            "layout": {
                "showlegend": False,
                "height": 70 + 24 * max(len(shown), 3),
                "bargap": 0.35,
                "margin": {"l": 150, "r": 48, "t": 8, "b": 36},
                "xaxis": {
                    "range": [0, 1.02], "tickvals": [0, 0.25, 0.5, 0.75, 1], "tickformat": ".0%",
                    "showgrid": True, "showline": False,
                },
                "yaxis": NAMED_AXIS | {"autorange": "reversed"},
            },
        },
        sentence=f"{capfirst(shown[0].title)} acts most often, in {shown[0].in_failures.numerator} of "
        f"{shown[0].in_failures.denominator} failing cases."
        if shown
        else "No operator acts in a failure yet.",
        columns=(
            Column("Operator", is_number=False), Column("Acts in"), Column("Share"), Column("95 % interval"),
        ),
        rows=tuple(
            (
                one.title,
                f"{one.in_failures.numerator} / {one.in_failures.denominator}",
                write_percent(one.in_failures.value),
                write_interval(*one.in_failures.interval()),
            )
            for one in shown
        ),
        row_urls=tuple(_operator_address(one, regime, address) for one in shown),
    )  # fmt: skip


def _cells(
    lines: Sequence[BudgetLine], regimes: Sequence[Regime], *, top: float, address: Address
) -> dict[str, Any]:
    shares = [[line.shares.get(regime) for regime in regimes] for line in lines]
    trace = stepped_cells(
        [REGIME_TITLES[regime] for regime in regimes],
        [line.title for line in lines],
        z=[[step_of(None if one is None else one / top if top else 0.0) for one in row] for row in shares],
        text=[["·" if one is None else f"{one:.2f}" for one in row] for row in shares],
        hovertemplate="%{y}, %{x}: %{text}<extra></extra>",
    )
    links = [
        ["" if line.shares.get(regime) is None else address(regime, line.name) for regime in regimes]
        for line in lines
    ]
    return trace | {"customdata": links}


def _ranking_bars(lines: Sequence[OperatorLine], regime: Regime | None, address: Address) -> dict[str, Any]:
    values = [one.in_failures.value or 0.0 for one in lines]
    bounds = [one.in_failures.interval() for one in lines]
    return {
        "type": "bar",
        "orientation": "h",
        "x": values,
        "y": [one.title for one in lines],
        "customdata": [_operator_address(one, regime, address) for one in lines],
        "marker": {"color": ["$c1" if one.modality == "image" else "$c2" for one in lines]},
        "hovertemplate": "%{y}: %{x:.0%}<extra></extra>",
        "error_x": {
            "type": "data",
            "symmetric": False,
            "array": [high - value for (_, high), value in zip(bounds, values, strict=True)],
            "arrayminus": [value - low for (low, _), value in zip(bounds, values, strict=True)],
            "color": "$text",
            "thickness": 1.2,
            "width": 3,
        },
    }


def _operator_address(line: OperatorLine, regime: Regime | None, address: Address) -> str:
    return address(regime or "", line.name)


def _share(share: float | None) -> str:
    return "·" if share is None else f"{share:.3f}"
