"""The trade-off of a modality run: what is left of the IoU against how far picture and prompt moved."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from searches.services.modality_evaluations import Point
from vlmlab.core.most.types import Thresholds
from vlmlab.web.figures import Cell, Chart, Column
from vlmlab.web.numbers import write_many

MOST_MARKS = 1500
MOST_ROWS = 200
COLUMNS = (
    Column("Evaluation"), Column("f1, IoU left"), Column("f2, picture"), Column("f3, prompt"),
    Column("IoU"), Column("Answer", is_number=False), Column("Hit", is_number=False),
)  # fmt: skip


@dataclass(frozen=True)
class _Kind:
    """How one group of evaluations is drawn; shape before colour."""

    name: str
    symbol: str
    color: str
    size: int = 7


_RETURNED = _Kind("returned case", "circle-open", "$text", size=17)
_KINDS = {
    "other": _Kind("boxes", "circle-open", "$line-strong", size=6),
    "silent": _Kind("no boxes, f1 = 0", "x-thin-open", "$line-strong"),
    "hit": _Kind("hit", "square-open", "$bad"),
    "front": _Kind("on the front", "diamond", "$c1", size=9),
    "front_hit": _Kind("on the front, a hit", "diamond", "$bad", size=10),
}


@dataclass(frozen=True)
class _Panel:
    """One axis of distance."""

    attribute: str
    title: str
    limit: float


def front_chart(
    points: Sequence[Point],
    *,
    regime: str,
    thresholds: Thresholds,
    clean_iou: float,
    page_url: str,
    returned: str = "",
) -> Chart:
    """Return the chart of all evaluations of a run with the front that no other answer beats.

    Args:
        points: the evaluations.
        regime: what was perturbed; says which distances are drawn.
        thresholds: drawn as dashed lines.
        clean_iou: IoU of the clean answer, in (0, 1].
        page_url: page of the run; a mark opens its evaluation there.
        returned: key of the evaluation that is the returned case, "" for none.
    """
    panels = _panels(regime, thresholds)
    answered = [point for point in points if point.number]
    marks = _thinned(answered)
    front = [point for point in answered if point.is_front]
    hits = sum(point.is_hit for point in answered)
    data = [
        trace
        for place, panel in enumerate(panels)
        for trace in _traces(marks, panel, place=place, returned=returned)
    ]
    note = "diamonds: no other answer with boxes is as low in f1, f2 and f3"
    if len(marks) < len(answered):
        note += f"; {len(answered) - len(marks):,} of the other marks are left out"
    rows = sorted({*front, *(one for one in answered if one.is_hit)}, key=lambda one: one.number)[:MOST_ROWS]
    return Chart(
        slug="front",
        title="Front of trade-offs",
        note=note,
        spec={
            "data": data,
            "layout": _layout(panels, marks, clean_iou=clean_iou, tau=thresholds.iou, page_url=page_url),
        },
        sentence=f"{write_many(len(answered), 'evaluation')}, {len(front):,} on the front, "
        f"{write_many(hits, 'hit')}.",
        columns=COLUMNS,
        rows=tuple(_row(point) for point in rows),
        row_urls=tuple(f"{page_url}?e={point.key}#evaluation" for point in rows),
    )


def _panels(regime: str, thresholds: Thresholds) -> list[_Panel]:
    image = _Panel("f2", "f2, picture", thresholds.image_distance)
    text = _Panel("f3", "f3, prompt", thresholds.prompt_distance)
    return {"image": [image], "text": [text]}.get(regime, [image, text])


def _group(point: Point) -> str:
    if not point.has_boxes:
        return "silent"
    if point.is_front:
        return "front_hit" if point.is_hit else "front"
    return "hit" if point.is_hit else "other"


def _thinned(points: Sequence[Point]) -> list[Point]:
    """Keep every mark that says something of its own, and of the others evenly what fits."""
    others = sum(_group(point) in ("other", "silent") for point in points)
    step = max(1, -(-others // MOST_MARKS))
    kept, number = [], 0
    for point in points:
        if _group(point) in ("other", "silent"):
            number += 1
            if (number - 1) % step:
                continue
        kept.append(point)
    return kept


def _traces(marks: Sequence[Point], panel: _Panel, *, place: int, returned: str) -> list[dict[str, Any]]:
    found = [
        _trace(kind, [point for point in marks if _group(point) == name], panel, place=place)
        for name, kind in _KINDS.items()
    ]
    chosen = [point for point in marks if point.key == returned]
    return [trace for trace in [*found, _trace(_RETURNED, chosen, panel, place=place)] if trace["x"]]


def _trace(kind: _Kind, points: Sequence[Point], panel: _Panel, *, place: int) -> dict[str, Any]:
    axis = str(place + 1) if place else ""
    return {
        "type": "scatter",
        "mode": "markers",
        "name": kind.name,
        "legendgroup": kind.name,
        "showlegend": place == 0,
        "x": [round(getattr(point, panel.attribute), 5) for point in points],
        "y": [round(point.f1 or 0.0, 4) for point in points],
        "xaxis": f"x{axis}",
        "yaxis": f"y{axis}",
        "text": [f"{point.number:,}" for point in points],
        "customdata": [f"{point.key}#evaluation" for point in points],
        "cliponaxis": False,
        "hovertemplate": "evaluation %{text}<br>f1 %{y:.2f}, "
        f"{panel.attribute} %{{x:.3f}}<extra></extra>",
        "marker": {
            "symbol": kind.symbol,
            "size": kind.size,
            "color": kind.color,
            "line": {"color": kind.color, "width": 1.4},
        },
    }


def _layout(
    panels: Sequence[_Panel], marks: Sequence[Point], *, clean_iou: float, tau: float, page_url: str
) -> dict[str, Any]:
    layout: dict[str, Any] = {
        "showlegend": True,
        "height": 330,
        "legend": {"orientation": "h", "x": 0, "y": 1.03, "yanchor": "bottom"},
        "margin": {"l": 48, "r": 16, "t": 34, "b": 44},
        "meta": {"href": f"{page_url}?e="},
        "shapes": [],
    }
    top = round(1.06 * max([1.0, *(point.f1 or 0.0 for point in marks)]), 4)
    for place, panel in enumerate(panels):
        axis = str(place + 1) if place else ""
        domain = [0, 1] if len(panels) == 1 else [[0, 0.47], [0.53, 1]][place]
        layout[f"xaxis{axis}"] = {
            "title": {"text": panel.title}, "range": _range(marks, panel), "domain": domain,
            "anchor": f"y{axis}", "nticks": 5,
        }  # fmt: skip
        layout[f"yaxis{axis}"] = {"range": [-0.04, top], "anchor": f"x{axis}", "nticks": 6}
        layout["shapes"] += [
            {
                "type": "line", "xref": f"x{axis}", "yref": f"y{axis} domain", "y0": 0, "y1": 1,
                "x0": panel.limit, "x1": panel.limit, "line": _DASHED,
            },
            {
                "type": "line", "xref": f"x{axis} domain", "yref": f"y{axis}", "x0": 0, "x1": 1,
                "y0": round(tau / clean_iou, 4), "y1": round(tau / clean_iou, 4), "line": _DASHED,
            },
        ]  # fmt: skip
    layout["yaxis"]["title"] = {"text": "f1, share of the clean IoU"}
    return layout


def _range(marks: Sequence[Point], panel: _Panel) -> list[float]:
    """Return the ends of an axis of distance: its limit is in sight, and marks at 0 stand free."""
    end = 1.06 * max([panel.limit, *(getattr(point, panel.attribute) for point in marks)])
    return [round(-0.03 * end, 4), round(end, 4)]


_DASHED = {"color": "$text", "width": 1.2, "dash": "4px,3px"}


def _row(point: Point) -> tuple[Cell, ...]:
    f1 = None if point.f1 is None else round(point.f1, 4)
    answer = "boxes" if point.has_boxes else point.status
    f2, f3, iou = round(point.f2, 5), round(point.f3, 5), round(point.iou, 4)
    return (point.number, f1, f2, f3, iou, answer, "yes" if point.is_hit else "no")
