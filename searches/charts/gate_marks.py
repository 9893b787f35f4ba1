"""What the charts of gates share: a mark a line with its bounds, and names beside the lines."""

from collections.abc import Sequence

SHORTEST = 2  # lines that a chart has room for at least


def marks_trace(
    name: str,
    x: Sequence[float],
    y: Sequence[int],
    *,
    words: Sequence[str],
    unit: str,
    above: Sequence[float],
    below: Sequence[float],
    colour: str,
    symbol: str,
) -> dict[str, object]:
    """Return the marks of one verdict, called ``name``, with bars ``above`` and ``below`` them."""
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "x": x,
        "y": y,
        "text": words,
        "hovertemplate": "%{text}: %{x} " + unit + "<extra>" + name + "</extra>",
        "marker": {"color": colour, "symbol": symbol, "size": 9},
        "error_x": {
            "type": "data",
            "symmetric": False,
            "array": above,
            "arrayminus": below,
            "color": colour,
            "thickness": 1.5,
            "width": 4,
        },
    }


def marks_layout(
    names: Sequence[str], *, row_height: int, most_characters: int, xaxis: dict[str, object]
) -> dict[str, object]:
    """Return the layout of lines with names, the first on top; long names are cut."""
    return {
        "height": 110 + row_height * max(SHORTEST, len(names)),
        "margin": {"l": 200, "r": 20, "t": 34, "b": 44},
        "legend": {"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 0},
        "showlegend": True,
        "xaxis": xaxis,
        "yaxis": {
            "tickmode": "array",
            "tickvals": list(range(len(names), 0, -1)),
            "ticktext": [_cut(name, most_characters) for name in names],
            "range": [0.4, len(names) + 0.6],
            "showgrid": False,
        },
    }


def _cut(words: str, most: int) -> str:
    return words if len(words) <= most else words[: most - 1] + "…"
