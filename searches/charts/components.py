"""A chart with made-up numbers; only the components page uses it."""

from vlmlab.web.figures import Chart, Column, end_label, line_trace


def sample_chart() -> Chart:
    """Return two curves with made-up numbers."""
    inferences = [0, 100, 200, 300, 400, 500, 600]
    first, second = [0, 1, 3, 4, 6, 8, 9], [0, 0, 1, 2, 2, 3, 4]
    return Chart(
        slug="sample-modes",
        title="Failure modes against inferences",
        note="sample numbers",
        spec={
            "data": [
                line_trace("sits", inferences, y=first, place=0, is_step=True),
                line_trace("random", inferences, y=second, place=1, is_step=True),
            ],
            "layout": {
                "showlegend": False,
                "margin": {"r": 70},
                "xaxis": {"title": {"text": "inferences"}},
                "yaxis": {"rangemode": "tozero"},
                "annotations": [end_label("sits", 600, y=9), end_label("random", 600, y=4)],
            },
        },
        sentence="After 600 inferences sits has found 9 failure modes and random 4.",
        columns=(Column("Inferences"), Column("sits"), Column("random")),
        rows=tuple(zip(inferences, first, second, strict=True)),
    )
