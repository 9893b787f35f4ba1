"""The bounds of every cell of a decision card against its limit."""

from collections.abc import Sequence
from dataclasses import dataclass

from searches.charts.gate_marks import marks_layout, marks_trace
from searches.services.card_words import fine_percent
from searches.services.cards import CardCell, CardPage
from vlmlab.core.verdicts.envelope_cards import CARD_WORDS, CellReading
from vlmlab.web.figures import Chart, Column
from vlmlab.web.numbers import write_many

COLOURS = {"pass": "$ok", "fail": "$bad", "not_enough": "$warn"}
SYMBOLS = {"pass": "circle", "fail": "square", "not_enough": "circle-open"}


def bounds_chart(page: CardPage) -> Chart:
    """Return error rate and bounds of each cell, in percent, with its limit as an upright mark."""
    read = [_ReadCell(cell, cell.reading) for cell in page.cells if cell.reading is not None]
    return Chart(
        slug=f"card-{page.run.pk}-bounds",
        title="Counted errors against the limits",
        note=f"percent of scenes; bars: bounds that hold together at {page.level_words} (exact, one-sided, "
        "Bonferroni over the cells); upright: the limit",
        spec={
            "data": _traces(read),
            "layout": marks_layout(
                [one.cell.cell.title for one in read],
                row_height=28,
                most_characters=32,
                xaxis={"title": {"text": "percent of scenes"}, "rangemode": "tozero"},
            ),
        },
        sentence=f"{write_many(len(read), 'cell')}: "
        + "; ".join(f"{one.cell.cell.title} at most {fine_percent(one.reading.high)}" for one in read[:6])
        + (" and more." if len(read) > 6 else "."),
        columns=(
            Column("Cell", is_number=False), Column("Verdict", is_number=False), Column("Errors"),
            Column("Scenes"), Column("At least, %"), Column("At most, %"), Column("Limit, %"),
        ),
        rows=tuple(
            (
                one.cell.cell.title, CARD_WORDS[one.reading.verdict], one.reading.errors, one.reading.n,
                _percent(one.reading.low), _percent(one.reading.high), _percent(one.cell.cell.limit),
            )
            for one in read
        ),
    )  # fmt: skip


@dataclass(frozen=True)
class _ReadCell:
    """A cell that has a reading."""

    cell: CardCell
    reading: CellReading

    @property
    def at(self) -> float:
        """Where its mark stands, in percent; at its lower bound where it was stopped and has no rate."""
        return _percent(self.reading.low if self.reading.rate is None else self.reading.rate)


def _traces(read: Sequence[_ReadCell]) -> list[dict[str, object]]:
    """Return a trace for each verdict that occurs, the first cell on top, and the limits."""
    places = list(range(len(read), 0, -1))
    traces = []
    for verdict, label in CARD_WORDS.items():
        chosen = [
            (one, place) for one, place in zip(read, places, strict=True) if one.reading.verdict == verdict
        ]
        if chosen:
            traces.append(
                marks_trace(
                    label,
                    [one.at for one, _ in chosen],
                    [place for _, place in chosen],
                    words=[one.cell.cell.title for one, _ in chosen],
                    unit="%",
                    above=[round(_percent(one.reading.high) - one.at, 2) for one, _ in chosen],
                    below=[round(one.at - _percent(one.reading.low), 2) for one, _ in chosen],
                    colour=COLOURS[verdict],
                    symbol=SYMBOLS[verdict],
                )
            )
    limits: dict[str, object] = {
        "type": "scatter",
        "mode": "markers",
        "name": "Limit",
        "x": [_percent(one.cell.cell.limit) for one in read],
        "y": places,
        "hovertemplate": "limit %{x} %<extra></extra>",
        "marker": {"color": "$text", "symbol": "line-ns-open", "size": 16},
    }
    return [*traces, limits]


def _percent(share: float) -> float:
    return round(100 * share, 2)
