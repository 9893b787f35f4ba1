"""The bounds of every cell of a decision card against its limit."""

from searches.services.card_words import fine_percent
from searches.services.cards import CardPage
from vlmlab.core.verdicts.envelope_cards import CARD_WORDS
from vlmlab.web.figures import Chart, Column
from vlmlab.web.numbers import write_many

COLOURS = {"pass": "$ok", "fail": "$bad", "not_enough": "$warn"}
SYMBOLS = {"pass": "circle", "fail": "square", "not_enough": "circle-open"}
ROW, MOST_LABEL = 28, 32


def bounds_chart(page: CardPage) -> Chart:
    """Return error rate and bounds of each cell, in percent, with its limit as an upright mark."""
    read = [(cell, cell.reading) for cell in page.cells if cell.reading is not None]
    places = list(range(len(read), 0, -1))
    traces: list[dict[str, object]] = []
    for verdict, label in CARD_WORDS.items():
        chosen = [
            (cell, reading, place)
            for (cell, reading), place in zip(read, places, strict=True)
            if reading.verdict == verdict
        ]
        if not chosen:
            continue
        x = [_percent(one.rate if one.rate is not None else one.low) for _, one, _ in chosen]
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": label,
                "x": x,
                "y": [place for _, _, place in chosen],
                "text": [cell.cell.title for cell, _, _ in chosen],
                "hovertemplate": "%{text}: %{x} %<extra>" + label + "</extra>",
                "marker": {"color": COLOURS[verdict], "symbol": SYMBOLS[verdict], "size": 9},
                "error_x": {
                    "type": "data",
                    "symmetric": False,
                    "array": [
                        round(_percent(one.high) - at, 2) for (_, one, _), at in zip(chosen, x, strict=True)
                    ],
                    "arrayminus": [
                        round(at - _percent(one.low), 2) for (_, one, _), at in zip(chosen, x, strict=True)
                    ],
                    "color": COLOURS[verdict],
                    "thickness": 1.5,
                    "width": 4,
                },
            }
        )
    traces.append(
        {
            "type": "scatter",
            "mode": "markers",
            "name": "Limit",
            "x": [_percent(cell.cell.limit) for cell, _ in read],
            "y": places,
            "hovertemplate": "limit %{x} %<extra></extra>",
            "marker": {"color": "$text", "symbol": "line-ns-open", "size": 16},
        }
    )
    return Chart(
        slug=f"card-{page.run.pk}-bounds",
        title="Counted errors against the limits",
        note=f"percent of scenes; bars: bounds that hold together at {page.level_words} (exact, one-sided, "
        "Bonferroni over the cells); upright: the limit",
        spec={
            "data": traces,
            "layout": {
                "height": 110 + ROW * max(2, len(read)),
                "margin": {"l": 200, "r": 20, "t": 34, "b": 44},
                "legend": {"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 0},
                "showlegend": True,
                "xaxis": {"title": {"text": "percent of scenes"}, "rangemode": "tozero"},
                "yaxis": {
                    "tickmode": "array",
                    "tickvals": places,
                    "ticktext": [_short(cell.cell.title) for cell, _ in read],
                    "range": [0.4, len(read) + 0.6],
                    "showgrid": False,
                },
            },
        },
        sentence=f"{write_many(len(read), 'cell')}: "
        + "; ".join(f"{cell.cell.title} at most {fine_percent(one.high)}" for cell, one in read[:6])
        + (" and more." if len(read) > 6 else "."),
        columns=(
            Column("Cell", is_number=False), Column("Verdict", is_number=False), Column("Errors"),
            Column("Scenes"), Column("At least, %"), Column("At most, %"), Column("Limit, %"),
        ),
        rows=tuple(
            (
                cell.cell.title, CARD_WORDS[one.verdict], one.errors, one.n, _percent(one.low),
                _percent(one.high), _percent(cell.cell.limit),
            )
            for cell, one in read
        ),
    )  # fmt: skip


def _short(words: str) -> str:
    return words if len(words) <= MOST_LABEL else words[: MOST_LABEL - 1] + "…"


def _percent(share: float) -> float:
    return round(100 * share, 2)
