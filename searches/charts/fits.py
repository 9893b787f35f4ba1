"""How well every box convention explains the replies of a calibration, as a chart."""

from collections.abc import Sequence

from searches.services.calibration_pages import FitLine
from vlmlab.web.figures import Chart, Column

ACCEPTED_IOU = 0.5


def fits_chart(fits: Sequence[FitLine]) -> Chart:
    """Return the median IoU under every convention as bars, best first; the declared one is in the accent."""
    best = max(fits, key=_height, default=None)
    return Chart(
        slug="fits",
        title="Fit of every convention",
        note="median IoU over the pictures, a missing box counts as 0; the line is 0.5",
        spec={"data": [_bars(fits)], "layout": _layout(len(fits))},
        sentence=f"{best.name} fits best, median IoU {_height(best):.2f}."
        if best
        else "Nothing was measured.",
        columns=(Column("Convention", is_number=False), Column("Median IoU"), Column("Boxes read")),
        rows=tuple((fit.name, f"{_height(fit):.2f}", fit.n_read) for fit in fits),
    )


def _height(fit: FitLine) -> float:
    return fit.median_iou or 0.0


def _bars(fits: Sequence[FitLine]) -> dict[str, object]:
    shown = list(reversed(fits))  # Plotly draws the first bar lowest
    return {
        "type": "bar",
        "orientation": "h",
        "x": [round(_height(fit), 4) for fit in shown],
        "y": [f"{fit.name} (declared)" if fit.is_declared else fit.name for fit in shown],
        "texttemplate": "%{x:.2f}",
        "textposition": "outside",
        "cliponaxis": False,
        "marker": {"color": ["$c1" if fit.is_declared else "$line-strong" for fit in shown]},
        "hoverinfo": "skip",
    }


def _layout(n_rows: int) -> dict[str, object]:
    return {
        "showlegend": False,
        "height": 60 + 26 * max(n_rows, 3),
        "margin": {"l": 8, "r": 36, "t": 8, "b": 36},
        "xaxis": {"range": [0, 1.15], "tickvals": [0, 0.25, 0.5, 0.75, 1], "title": {"text": "median IoU"}},
        "yaxis": {"automargin": True},
        "shapes": [
            {
                "type": "line", "x0": ACCEPTED_IOU, "x1": ACCEPTED_IOU, "y0": 0, "y1": 1, "yref": "paper",
                "line": {"color": "$text", "width": 1.2, "dash": "4px,3px"},
            }
        ],
    }  # fmt: skip
