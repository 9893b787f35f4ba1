"""The chance that a suspect is settled within so many fresh scenes."""

from searches.services.confirm_plans import PowerPage
from vlmlab.web.figures import Chart, Column, end_label, line_trace
from vlmlab.web.numbers import write_percent

TABLE_STEP = 10


def power_chart(page: PowerPage) -> Chart:
    """Return the chances of being confirmed and refuted against fresh scenes."""
    plan, most = page.plan, page.most
    x = list(range(most + 1))
    confirmed = [round(float(one), 4) for one in plan.confirmed_by]
    refuted = [round(float(one), 4) for one in plan.refuted_by]
    cap = page.config.max_samples
    return Chart(
        slug="power",
        title="Chance of being settled against fresh scenes",
        note=f"true failure rate {write_percent(plan.rate)}, nothing given up; dashed: the most scenes",
        spec={
            "data": [
                line_trace("confirmed", x, y=confirmed, place=0),
                line_trace("refuted", x, y=refuted, place=1),
            ],
            "layout": {
                "showlegend": False,
                "margin": {"l": 52, "r": 96, "t": 14, "b": 44},
                "xaxis": {"title": {"text": "fresh scenes"}, "range": [0, most], "nticks": 8},
                "yaxis": {"title": {"text": "chance"}, "range": [0, 1.02], "tickformat": ".0%", "nticks": 6},
                "annotations": [
                    end_label("confirmed", most, y=confirmed[-1]),
                    end_label("refuted", most, y=refuted[-1]),
                ],
                "shapes": [
                    {
                        "type": "line", "x0": cap, "x1": cap, "yref": "paper", "y0": 0, "y1": 1,
                        "line": {"color": "$text", "width": 1.2, "dash": "4px,3px"},
                    }
                ],
            },
        },
        sentence=_sentence(page),
        columns=(Column("Fresh scenes"), Column("Confirmed"), Column("Refuted")),
        rows=tuple((n, confirmed[n], refuted[n]) for n in x if n % TABLE_STEP == 0 or n == cap),
    )  # fmt: skip


def _sentence(page: PowerPage) -> str:
    cap = page.config.max_samples
    confirmed, refuted = page.plan.confirmed_by[cap], page.plan.refuted_by[cap]
    return (
        f"With a true failure rate of {write_percent(page.plan.rate)} a suspect is confirmed within {cap:,} "
        f"scenes with a chance of {write_percent(float(confirmed))} and refuted with "
        f"{write_percent(float(refuted))}."
    )
