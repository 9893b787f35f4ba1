"""Draws the degradation curves of a model card as one SVG file that needs nothing else."""

from collections.abc import Mapping
from typing import Any
from xml.sax.saxutils import escape

PANEL_WIDTH, PANEL_HEIGHT, MARGIN = 210, 130, 46
COLUMNS = 4
COLOURS = {"driving answer": "#0b6e99", "indoor answer": "#b3541e", "locating": "#4b7f3a"}


def curves_svg(report: Mapping[str, Any]) -> str:
    """Return one panel for each change: share of right replies against the level, from clean to worst."""
    panels = list(report["curves"].items())
    rows = -(-(len(panels) + 1) // COLUMNS)
    width, height = COLUMNS * (PANEL_WIDTH + MARGIN) + MARGIN, rows * (PANEL_HEIGHT + 2 * MARGIN) + MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        'font-family="system-ui, sans-serif" font-size="11">',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
    ]
    for number, (name, curve) in enumerate(panels):
        parts += _panel(name, curve, report["clean"], corner=_corner(number))
    parts += _legend(_corner(len(panels)))
    return "\n".join([*parts, "</svg>", ""])


def _corner(number: int) -> tuple[int, int]:
    column, row = number % COLUMNS, number // COLUMNS
    return MARGIN + column * (PANEL_WIDTH + MARGIN), MARGIN + row * (PANEL_HEIGHT + 2 * MARGIN)


def _panel(
    name: str, curve: Mapping[str, Any], clean: Mapping[str, Any], *, corner: tuple[int, int]
) -> list[str]:
    x, y = corner
    levels = ["clean", *(f"{point['level']:g}" for point in curve["points"])]
    step = PANEL_WIDTH / (len(levels) - 1)
    parts = [f'<text x="{x}" y="{y - 8}" font-weight="600">{escape(name)}</text>']
    for share in (0.0, 0.5, 1.0):
        level_y = y + PANEL_HEIGHT * (1 - share)
        parts.append(
            f'<line x1="{x}" x2="{x + PANEL_WIDTH}" y1="{level_y}" y2="{level_y}" stroke="#d8dde2"/>'
            f'<text x="{x - 5}" y="{level_y + 4}" text-anchor="end" fill="#56616b">{share:.0%}</text>'
        )
    for place, text in enumerate(levels):
        parts.append(
            f'<text x="{x + place * step:.1f}" y="{y + PANEL_HEIGHT + 14}" text-anchor="middle" '
            f'fill="#56616b">{text}</text>'
        )
    parts.append(
        f'<text x="{x + PANEL_WIDTH / 2}" y="{y + PANEL_HEIGHT + 28}" text-anchor="middle" '
        f'fill="#56616b">{escape(curve["unit"])}</text>'
    )
    for task, colour in COLOURS.items():
        shares = [clean[task], *(point[task] for point in curve["points"])]
        points = " ".join(
            f"{x + place * step:.1f},{y + PANEL_HEIGHT * (1 - one['right'] / max(1, one['asked'])):.1f}"
            for place, one in enumerate(shares)
        )
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
    return parts


def _legend(corner: tuple[int, int]) -> list[str]:
    x, y = corner
    parts = []
    for row, (task, colour) in enumerate(COLOURS.items()):
        line_y = y + 20 + row * 22
        parts.append(
            f'<line x1="{x}" x2="{x + 26}" y1="{line_y}" y2="{line_y}" stroke="{colour}" stroke-width="2"/>'
            f'<text x="{x + 34}" y="{line_y + 4}">{escape(task)}</text>'
        )
    return parts
