"""Evidence of fresh scenes: how it grew for one suspect, and for all of a confirmation together."""

from collections.abc import Sequence
from math import exp
from typing import Any

from django.urls import reverse

from searches.services.follow_up_traces import Race, Racer, Trace, in_tens
from vlmlab.web.figures import SEQUENCE, Cell, Chart, Column, end_label
from vlmlab.web.numbers import write_interval, write_level, write_many, write_percent

STATE_MARKS = {
    "confirmed": ("diamond", "$bad"),
    "refuted": ("circle-x-open", "$still"),
    "undetermined": ("circle", "$still"),
    "suspected": ("circle-open", "$warn"),
    "": ("circle-open", "$warn"),
}
FLOOR = -3.0  # of the axis of e-values, in powers of ten: below, nothing changes for a reader


def sequential_chart(trace: Trace, *, slug: str) -> Chart:
    """Return the failure rate with its interval, and the e-value with its bar, against fresh scenes."""
    x = [one.samples for one in trace.points]
    rates = [one.fails / one.samples for one in trace.points]
    e_values = [max(in_tens(one.log_e), FLOOR) for one in trace.points]
    low, high = [one for one, _ in trace.intervals], [one for _, one in trace.intervals]
    level = write_level(trace.level)
    data = [
        _line("upper end", x, high, width=0) | {"showlegend": False, "hoverinfo": "skip"},
        _line(f"{level} interval", x, low, width=0)
        | {"fill": "tonexty", "fillcolor": "$accent-soft", "hoverinfo": "skip"},
        _line("failure rate", x, rates, width=2.5),
        _line("e-value", x, e_values, width=2) | {"yaxis": "y2", "line": _stroke(1, width=2)},
    ]
    return Chart(
        slug=slug,
        title=f"Evidence against {trace.unit}s",
        note="top: failure rate with interval and threshold; bottom: e-value, with the bar that confirms",
        spec={"data": data if trace.intervals else data[2:], "layout": _sequential_layout(trace, x[-1])},
        sentence=_sequential_sentence(trace),
        columns=(
            Column(f"{trace.unit.capitalize()}s"), Column("Wrong answers"), Column("Failure rate"),
            Column("Low"), Column("High"), Column("e-value for"), Column("e-value against"),
        ),
        rows=tuple(_trace_rows(trace)),
    )  # fmt: skip


def race_chart(race: Race) -> Chart:
    """Return the e-values of all suspects of a confirmation against the scenes that each was asked."""
    page = reverse("follow_up_detail", args=[race.campaign_id])
    data: list[dict[str, Any]] = [_course(racer) for racer in race.racers]
    data.append(_ends(race))
    end, unit = max(racer.trace.points[-1].samples for racer in race.racers), _unit(race)
    left_out = race.n_asked - len(race.racers)
    note = f"each line a suspect, its end marked by its state; a mark opens its {unit.split()[1]}s"
    if left_out:
        note += f"; {left_out:,} with less evidence are left out"
    return Chart(
        slug=f"follow-up-{race.campaign_id}-race",
        title="Evidence for each suspect",
        note=note,
        spec={"data": data, "layout": _race_layout(race, end, href=f"{page}items/")},
        sentence=_race_sentence(race),
        columns=(
            Column("Suspect", is_number=False), Column("State", is_number=False),
            Column(f"{unit.capitalize()}s"), Column("Wrong answers"), Column("e-value for"),
            Column("e-value against"),
        ),
        rows=tuple(_race_row(racer) for racer in race.racers),
        row_urls=tuple(f"{page}items/{racer.item_id}/" for racer in race.racers),
    )  # fmt: skip


def _unit(race: Race) -> str:
    return race.racers[0].trace.unit


def _line(name: str, x: Sequence[float], y: Sequence[float], *, width: float) -> dict[str, Any]:
    return {
        "type": "scatter", "mode": "lines+markers" if len(x) == 1 and width else "lines", "name": name,
        "x": list(x), "y": [round(value, 4) for value in y], "line": _stroke(0, width=width),
    }  # fmt: skip


def _stroke(place: int, *, width: float) -> dict[str, Any]:
    return {"color": SEQUENCE[place], "width": width, "dash": "solid"}


def _sequential_layout(trace: Trace, end: int) -> dict[str, Any]:
    values = [in_tens(one.log_e) for one in trace.points]
    bar = in_tens(trace.log_needed) if trace.log_needed is not None else None
    top = max([1.0, *values, *([bar] if bar is not None else [])]) + 0.3
    shapes = [_level_line(trace.threshold, "y")]
    notes = [end_label("threshold", end, y=trace.threshold)]
    if bar is not None:
        shapes.append(_level_line(bar, "y2"))
        notes.append(end_label("confirms", end, y=bar) | {"yref": "y2"})
    return {
        "showlegend": False,
        "height": 380,
        "margin": {"l": 60, "r": 96, "t": 10, "b": 44},
        "xaxis": {
            "title": {"text": f"{trace.unit}s"}, "range": [0, max(end, 1)], "anchor": "y2", "nticks": 8,
        },
        "yaxis": {
            "title": {"text": "failure rate"}, "range": [0, 1.02], "domain": [0.46, 1], "tickformat": ".0%",
            "nticks": 5,
        },
        "yaxis2": {
            "title": {"text": "e-value"}, "range": [max(min([*values, -0.3]), FLOOR) - 0.1, top],
            "domain": [0, 0.38], **_powers_of_ten(top),
        },
        "shapes": shapes,
        "annotations": notes,
    }  # fmt: skip


def _powers_of_ten(top: float) -> dict[str, Any]:
    step = max(1, round((top - FLOOR) / 6))
    values = [power for power in range(int(FLOOR), int(top) + 1) if power % step == 0]
    labels = [f"{10**power:,}" if power >= 0 else f"{10.0**power:g}" for power in values]
    return {"tickmode": "array", "tickvals": values, "ticktext": labels}


def _level_line(value: float, axis: str) -> dict[str, Any]:
    return {
        "type": "line", "xref": "paper", "x0": 0, "x1": 1, "yref": axis, "y0": round(value, 4),
        "y1": round(value, 4), "line": {"color": "$text", "width": 1.2, "dash": "4px,3px"},
    }  # fmt: skip


def _sequential_sentence(trace: Trace) -> str:
    last = trace.points[-1]
    said = f"{last.fails:,} of {write_many(last.samples, trace.unit)} were answered wrongly"
    if trace.intervals:
        low, high = trace.intervals[-1]
        said += f", {write_level(trace.level)} interval {write_interval(low, high)}"
    against = f"a failure rate of at most {write_percent(trace.threshold)}"
    said += f". The e-value against {against} is {_e(last.log_e)}"
    if trace.log_needed is not None:
        said += f"; {_e(trace.log_needed)} confirms"
    return f"{said}."


def _trace_rows(trace: Trace) -> list[tuple[Cell, ...]]:
    rows: list[tuple[Cell, ...]] = []
    for place, one in enumerate(trace.points):
        low, high = trace.intervals[place] if trace.intervals else (None, None)
        rows.append(
            (
                one.samples, one.fails, round(one.fails / one.samples, 4),
                None if low is None else round(low, 4), None if high is None else round(high, 4),
                _rounded(one.log_e), _rounded(one.log_e_against),
            )
        )  # fmt: skip
    return rows


def _course(racer: Racer) -> dict[str, Any]:
    points = racer.trace.points
    return {
        "type": "scatter", "mode": "lines", "name": racer.trace.words, "hoverinfo": "skip",
        "showlegend": False,
        "x": [0, *(one.samples for one in points)],
        "y": [0.0, *(round(max(in_tens(one.log_e), FLOOR), 4) for one in points)],
        "line": {"color": STATE_MARKS.get(racer.state, STATE_MARKS[""])[1], "width": 1.2, "dash": "solid"},
        "opacity": 0.55,
    }  # fmt: skip


def _ends(race: Race) -> dict[str, Any]:
    marks = [STATE_MARKS.get(racer.state, STATE_MARKS[""]) for racer in race.racers]
    lasts = [racer.trace.points[-1] for racer in race.racers]
    return {
        "type": "scatter", "mode": "markers", "name": "now", "showlegend": False,
        "x": [one.samples for one in lasts],
        "y": [round(max(in_tens(one.log_e), FLOOR), 4) for one in lasts],
        "text": [racer.trace.words for racer in race.racers],
        "customdata": [f"{racer.item_id}/" for racer in race.racers],
        "hovertemplate": f"%{{text}}<br>%{{x}} {_unit(race)}s<extra></extra>",
        "marker": {
            "size": 9, "symbol": [symbol for symbol, _ in marks], "color": [colour for _, colour in marks],
        },
    }  # fmt: skip


def _race_layout(race: Race, end: int, *, href: str) -> dict[str, Any]:
    tops = [in_tens(one.log_e) for racer in race.racers for one in racer.trace.points]
    bars = [(race.log_alone, "alone"), (race.log_together, f"as one of {race.n_confirmed:,}")]
    drawn = [(in_tens(value), words) for value, words in bars if value is not None]
    top = max([1.0, *tops, *(value for value, _ in drawn)]) + 0.3
    bottom = max(min([*tops, -0.3]), FLOOR) - 0.1
    return {
        "showlegend": False,
        "meta": {"href": href},
        "margin": {"l": 68, "r": 116, "t": 14, "b": 44},
        "xaxis": {"title": {"text": f"{_unit(race)}s of the suspect"}, "range": [0, end * 1.03], "nticks": 8},
        "yaxis": {"title": {"text": "e-value"}, "range": [bottom, top], **_powers_of_ten(top)},
        "shapes": [_level_line(value, "y") for value, _ in drawn],
        "annotations": [end_label(words, end * 1.03, y=round(value, 4)) for value, words in drawn],
    }


def _race_sentence(race: Race) -> str:
    first = race.racers[0]
    said = f"{write_many(race.n_asked, 'suspect')} asked, {race.n_confirmed:,} confirmed. "
    last = first.trace.points[-1]
    return f"{said}The most evidence, an e-value of {_e(last.log_e)}, is for {first.trace.words}."


def _race_row(racer: Racer) -> tuple[Cell, ...]:
    last = racer.trace.points[-1]
    return (
        racer.trace.words, racer.state or "open", last.samples, last.fails, _rounded(last.log_e),
        _rounded(last.log_e_against),
    )  # fmt: skip


def _rounded(log_e: float) -> float:
    """Return an e-value with four digits; as large as a table can say at most."""
    return float(f"{exp(min(log_e, 600.0)):.4g}")


def _e(log_e: float) -> str:
    return f"{_rounded(log_e):,.10g}"
