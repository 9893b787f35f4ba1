"""What a system cost on each of the last days, as a chart."""

from collections.abc import Sequence
from datetime import date, timedelta

from searches.models import SpendDay
from searches.services.spend_totals import LOOK_BACK_DAYS
from vlmlab.web.figures import Chart, Column
from vlmlab.web.numbers import write_many, write_money

DAY_MS = 86_400_000
COLUMNS = (
    Column("Day", is_number=False),
    Column("Calls"),
    Column("Call errors"),
    Column("Input tokens"),
    Column("Output tokens"),
    Column("Cost, $"),
)


def spending_chart(days: Sequence[SpendDay], *, until: date, slug: str = "spending") -> Chart:
    """Return the chart of the cost of days, oldest first; of calls where nothing has cost money.

    Args:
        days: those of the last ``LOOK_BACK_DAYS`` that had calls.
        until: the last of them.
        slug: unique on the page.
    """
    has_cost = any(day.cost_usd for day in days)
    calls, cost = sum(day.n_calls for day in days), sum(day.cost_usd for day in days)
    return Chart(
        slug=slug,
        title="Cost a day" if has_cost else "Calls a day",
        note=f"the last {LOOK_BACK_DAYS} days, UTC",
        spec={
            "data": [
                {
                    "type": "bar",
                    "x": [day.day.isoformat() for day in days],
                    "y": [day.cost_usd if has_cost else day.n_calls for day in days],
                    "width": 0.7 * DAY_MS,
                    "marker": {"color": "$c1"},
                }
            ],
            "layout": _layout(until, unit="US dollars" if has_cost else "calls"),
        },
        sentence=f"{write_many(calls, 'call')} for {write_money(cost)} in the last {LOOK_BACK_DAYS} days.",
        columns=COLUMNS,
        rows=tuple(_row(day) for day in days),
        heading_level=2,
    )


def _layout(until: date, *, unit: str) -> dict[str, object]:
    first, last = until - timedelta(days=LOOK_BACK_DAYS), until + timedelta(days=1)
    return {
        "showlegend": False,
        "margin": {"l": 52, "r": 28, "t": 10, "b": 32},
        "xaxis": {
            "type": "date",
            "tickformat": "%-d %b",
            "nticks": 5,
            "range": [first.isoformat(), last.isoformat()],
        },
        "yaxis": {"title": {"text": unit}, "rangemode": "tozero", "nticks": 4},
    }


def _row(day: SpendDay) -> tuple[str | int | float, ...]:
    return (
        day.day.isoformat(),
        day.n_calls,
        day.n_call_errors,
        day.input_tokens,
        day.output_tokens,
        round(day.cost_usd, 6),
    )
