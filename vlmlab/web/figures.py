"""A chart as a page shows it: a Plotly figure, its alternative text and the same numbers as a table.

Figures are plain ``{"data": [...], "layout": {...}}`` dicts: importing ``plotly.graph_objects`` would cost
the web process a second and 60 MB. ``validate_with_plotly`` checks them in tests. Colours are written as
``"$c1"``, ``"$bad"`` and so on: ``static/js/plot.js`` reads the token of that name from the style sheet, so
that a chart follows light and dark.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

Cell = str | float | int | None

# Traces that Plotly draws as SVG. WebGL traces would need eval, which the content security policy forbids.
SVG_TRACES = frozenset({"scatter", "bar", "heatmap", "box", "histogram", "pie", "scatterpolar"})
SEQUENCE = ("$c1", "$c2", "$c3", "$c4", "$c5", "$c6")
DASHES = ("solid", "7px,3px", "2px,3px", "8px,3px,2px,3px", "solid", "5px,2px")


@dataclass(frozen=True)
class Column:
    """A column of the numbers under a chart."""

    title: str
    is_number: bool = True


@dataclass(frozen=True)
class Chart:
    """Everything the chart component needs.

    Attributes:
        slug: unique on its page.
        title: what the chart shows.
        spec: Plotly figure as a dict, SVG traces only.
        sentence: what a person who cannot see it should know.
        columns, rows: the same numbers; at most a few hundred rows.
        note: how to read it (intervals, what is left out).
        csv_url, json_url: where the complete numbers can be fetched, if the page has such addresses.
        row_urls: where the first cell of each row leads, "" for nowhere; what a click on a mark opens (its
            ``customdata`` behind ``layout.meta.href``) must be reachable by these too.
        saved_as: name, without ending, of the files a visitor saves; the slug where it is empty.
    """

    slug: str
    title: str
    spec: Mapping[str, Any]
    sentence: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    csv_url: str = ""
    json_url: str = ""
    heading_level: int = field(default=2)
    row_urls: tuple[str, ...] = ()
    saved_as: str = ""

    def __post_init__(self) -> None:
        unknown = {trace.get("type", "scatter") for trace in self.spec.get("data", [])} - SVG_TRACES
        if unknown:
            raise ValueError(f"only SVG traces are allowed, got {sorted(unknown)}")
        widths = {len(row) for row in self.rows} - {len(self.columns)}
        if widths:
            raise ValueError(f"every row needs {len(self.columns)} cells, got {sorted(widths)}")
        if self.row_urls and len(self.row_urls) != len(self.rows):
            raise ValueError(f"row_urls must be one a row, got {len(self.row_urls)} for {len(self.rows)}")

    def saved_for(self, *parts: str | int) -> "Chart":
        """Return the chart with files that say what it is of: the parts, then its slug."""
        return replace(self, saved_as="-".join([*(str(part) for part in parts), self.slug]))

    @property
    def linked_cells(self) -> list[tuple[str, list[tuple[Cell, Column]]]]:
        """Address of each row with its cells, for the template."""
        return list(zip(self.row_urls or [""] * len(self.rows), self.cells, strict=True))

    @property
    def cells(self) -> list[list[tuple[Cell, Column]]]:
        """Rows of (value, column) for the template."""
        return [list(zip(row, self.columns, strict=True)) for row in self.rows]

    @property
    def payload(self) -> dict[str, Any]:
        """What goes to the browser: the figure, and the table for the visitor's own CSV or JSON."""
        return {
            "figure": dict(self.spec),
            "columns": [column.title for column in self.columns],
            "rows": [list(row) for row in self.rows],
        }


def line_trace(
    name: str, x: Sequence[float], *, y: Sequence[float], place: int, is_step: bool = False
) -> dict[str, Any]:
    """Return a line in the ``place``-th colour, dash and marker of the sequence."""
    place %= len(SEQUENCE)
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "x": list(x),
        "y": list(y),
        "line": {
            "color": SEQUENCE[place],
            "dash": DASHES[place],
            "width": 2.5 if place == 0 else 2,
            "shape": "hv" if is_step else "linear",
        },
    }


def end_label(text: str, x: float, *, y: float | str) -> dict[str, Any]:
    """Return an annotation that labels the end of a line or bar directly."""
    return {
        "text": text,
        "x": x,
        "y": y,
        "xanchor": "left",
        "yanchor": "middle",
        "xshift": 6,
        "showarrow": False,
        "font": {"color": "$text"},
    }


def validate_with_plotly(spec: Mapping[str, Any]) -> None:
    """Raise ``ValueError`` where Plotly does not know a property or value of the figure; for tests."""
    import plotly.graph_objects as go

    go.Figure(_with_real_colours(spec))


def _with_real_colours(value: Any) -> Any:
    if isinstance(value, str):
        return "#000000" if value.startswith("$") else value
    if isinstance(value, Mapping):
        return {key: _with_real_colours(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_with_real_colours(inner) for inner in value]
    return value


def distinct_names(names: Mapping[str, str]) -> dict[str, str]:
    """Return names by short name, each told apart: an axis would draw two of the same name as one place.

    Args:
        names: short name, of which no two are equal -> name, of which several may be.
    """
    found = dict(names)
    for told in ("{name} ({slug})", "{slug}"):
        counts = Counter(found.values())
        found = {
            slug: told.format(name=names[slug], slug=slug) if counts[name] > 1 else name
            for slug, name in found.items()
        }
    return found
