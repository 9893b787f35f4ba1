"""How a modality run came down: the least IoU that was left, against evaluations."""

from collections.abc import Sequence

from searches.services.modality_evaluations import Point
from vlmlab.web.figures import Chart, Column, line_trace
from vlmlab.web.numbers import write_many

COLUMNS = (Column("Evaluation"), Column("Best f1 so far"), Column("IoU"), Column("f2"), Column("f3"))


def descent_chart(points: Sequence[Point], *, iou_threshold: float, clean_iou: float, page_url: str) -> Chart:
    """Return the chart of the best f1 within the thresholds of both distances, against evaluations.

    Answers without boxes are left out: their f1 is 0 whatever was perturbed.

    Args:
        points: the evaluations, in the order asked.
        iou_threshold: of the failure criterion; drawn as a share of the clean IoU.
        clean_iou: IoU of the clean answer, in (0, 1].
        page_url: page of the run; a mark opens its evaluation there.
    """
    answered = [point for point in points if point.number]
    steps = _improvements(answered)
    end = answered[-1].number if answered else 0
    x, y = [0, *(point.number for point in steps)], [1.0, *(_f1(point) for point in steps)]
    if end > x[-1]:
        x, y = [*x, end], [*y, y[-1]]
    limit = iou_threshold / clean_iou
    return Chart(
        slug="descent",
        title="Best f1 against evaluations",
        note="answers with boxes, both distances within their thresholds; dashed: the IoU threshold",
        spec={
            "data": [
                line_trace("best f1", x, y=[round(value, 4) for value in y], place=0, is_step=True)
                | {"hoverinfo": "skip"},  # its marks speak and lead somewhere
                _marks(steps),
            ],
            "layout": _layout(end, limit, page_url),
        },
        sentence=_sentence(steps, end),
        columns=COLUMNS,
        rows=tuple(
            (one.number, round(_f1(one), 4), round(one.iou, 4), round(one.f2, 5), round(one.f3, 5))
            for one in steps
        ),
        row_urls=tuple(f"{page_url}?e={one.key}#evaluation" for one in steps),
    )


def _improvements(answered: Sequence[Point]) -> list[Point]:
    best = 1.0
    found = []
    for point in answered:
        if point.has_boxes and point.is_admitted and _f1(point) < best:
            best = _f1(point)
            found.append(point)
    return found


def _f1(point: Point) -> float:
    return point.f1 if point.f1 is not None else 1.0


def _marks(steps: Sequence[Point]) -> dict[str, object]:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": "a new best",
        "x": [point.number for point in steps],
        "y": [round(_f1(point), 4) for point in steps],
        "customdata": [f"{point.key}#evaluation" for point in steps],
        "hovertemplate": "evaluation %{x}: f1 %{y:.2f}<extra></extra>",
        "marker": {
            "symbol": ["square" if point.is_hit else "circle" for point in steps],
            "color": ["$bad" if point.is_hit else "$c1" for point in steps],
            "size": 8,
        },
    }


def _layout(end: int, limit: float, page_url: str) -> dict[str, object]:
    return {
        "showlegend": False,
        "meta": {"href": f"{page_url}?e="},
        "margin": {"l": 48, "r": 28, "t": 14, "b": 44},
        "xaxis": {
            "title": {"text": "evaluations"}, "range": [0, max(end, 1)], "tickformat": ",d", "nticks": 6,
        },
        "yaxis": {"title": {"text": "best f1"}, "range": [0, 1.05], "nticks": 6},
        "shapes": [
            {
                "type": "line", "xref": "paper", "x0": 0, "x1": 1,
                "y0": round(limit, 4), "y1": round(limit, 4),
                "line": {"color": "$text", "width": 1.2, "dash": "4px,3px"},
            }
        ],
    }  # fmt: skip


def _sentence(steps: Sequence[Point], end: int) -> str:
    asked = write_many(end, "evaluation")
    if not steps:
        return f"No answer with boxes on an input that is close enough was below the clean one in {asked}."
    return f"The best f1 is {_f1(steps[-1]):.2f}, found at evaluation {steps[-1].number:,} of {asked}."
