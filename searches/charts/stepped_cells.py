"""What heatmaps of five steps share: colours, the step of a share, and the trace itself."""

from collections.abc import Sequence
from typing import Any

STEPS = ("$h1", "$h2", "$h3", "$h4", "$h5")


def stepped_cells(
    x: Sequence[str],
    y: Sequence[str],
    *,
    z: Sequence[Sequence[int]],
    text: Sequence[Sequence[str]],
    hovertemplate: str,
) -> dict[str, Any]:
    """Return a heatmap whose cells are steps, as ``step_of`` gives them, with a text in each."""
    return {
        "type": "heatmap",
        "x": x,
        "y": y,
        "z": z,
        "text": text,
        "texttemplate": "%{text}",
        "hovertemplate": hovertemplate,
        "zmin": -1,
        "zmax": len(STEPS) - 1,
        "colorscale": stepped_scale(("$sunken", *STEPS)),
        "showscale": False,
        "xgap": 2,
        "ygap": 2,
    }


def step_of(share: float | None) -> int:
    """Return the fifth of [0, 1] that a share lies in; -1 for none."""
    return -1 if share is None else min(len(STEPS) - 1, int(share * len(STEPS)))


def stepped_scale(colours: Sequence[str]) -> list[list[Any]]:
    """Return a colour scale of equal steps that do not run into each other."""
    width = 1.0 / len(colours)
    scale: list[list[Any]] = []
    for number, colour in enumerate(colours):
        scale += [[number * width, colour], [(number + 1) * width, colour]]
    scale[-1][0] = 1.0
    return scale
