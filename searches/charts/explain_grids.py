"""Heatmaps: concepts across systems, and pairs of concepts by what is known of them. Five steps each."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from searches.charts.modality_profile import NAMED_AXIS
from searches.charts.stepped_cells import step_of, stepped_cells, stepped_scale
from searches.services.explain_coverage import PartLine, SizeCoverage, part_lines
from searches.services.explain_systems import MEASURES, SystemCell, SystemGrid
from vlmlab.core.revelio.coverage import PartState
from vlmlab.core.scenes.concepts import Domain
from vlmlab.web.figures import Chart, Column, distinct_names
from vlmlab.web.numbers import write_interval, write_percent

Value = TypeVar("Value")

CellAddress = Callable[[str, str], str]
"""Concept and slug of a system -> the sets behind a cell."""
PairAddress = Callable[[Sequence[str]], str]
TABLED = 60
STATE_COLOURS = {
    PartState.UNKNOWN: "$sunken",
    PartState.SAFE: "$ok-soft",
    PartState.MIXED: "$h2",
    PartState.SUSPECTED: "$warn-soft",
    PartState.CONFIRMED: "$bad-soft",
}
STATE_SIGNS = {
    PartState.UNKNOWN: "?",
    PartState.SAFE: "",
    PartState.MIXED: "",
    PartState.SUSPECTED: "S",
    PartState.CONFIRMED: "C",
}


def system_chart(grid: SystemGrid, *, address: CellAddress) -> Chart:
    """Return concepts in rows and systems in columns; the number stands in each cell, blank where too few."""
    told = distinct_names({sut.slug: sut.name for sut in grid.suts})
    names = [told[sut.slug] for sut in grid.suts]
    top = max((cell.value or 0.0 for _, _, own in grid.rows for cell in own), default=1.0)
    return Chart(
        slug=f"systems-{grid.measure}",
        title=f"{MEASURES[grid.measure]} of each concept on each system",
        note=_grid_note(grid),
        spec={
            "data": [_grid_cells(grid, names, top=top, address=address)],
            "layout": {
                "height": 90 + 26 * max(2, len(grid.rows)),
                "margin": {"l": 160, "r": 24, "t": 60, "b": 8},
                "xaxis": {"side": "top", "showline": False, "tickfont": {"color": "$text"},
                          "type": "category"},
                "yaxis": NAMED_AXIS | {"automargin": True, "autorange": "reversed", "type": "category"},
            },
        },
        sentence=f"{len(grid.rows)} concepts on {len(names)} systems.",
        columns=(Column("Concept", is_number=False),
                 *(column for name in names for column in (Column(name), Column(f"{name}, detail")))),
        rows=tuple(
            (label, *(value for cell in own for value in (cell.shown or "–", _detail(cell, grid))))
            for _, label, own in grid.rows
        ),
        row_urls=tuple(address(concept, "") for concept, _, _ in grid.rows),
    )  # fmt: skip


def pair_chart(
    size: SizeCoverage, domain: Domain, *, address: PairAddress, csv_url: str = "", json_url: str = ""
) -> Chart:
    """Return pairs of concepts as a triangle: the state as colour, answers as number, ? for unknown."""
    found, lines = size.found, part_lines(size, domain)[:TABLED]
    labels = [concept.label for concept in domain.concepts]
    count = len(labels)
    places = {int(mask): place for place, mask in enumerate(found.parts)}
    states: list[list[int | None]] = [[None] * count for _ in range(count)]
    texts, links = [[""] * count for _ in range(count)], [[""] * count for _ in range(count)]
    for low in range(count):
        for high in range(low):
            place = places.get((1 << low) | (1 << high))
            if place is None:
                continue
            state = PartState(int(found.states[place]))
            states[low][high] = int(state)
            samples = int(found.samples[place])
            texts[low][high] = (STATE_SIGNS[state] + (str(samples) if samples else "")) or str(samples)
            links[low][high] = address((domain.concepts[high].id, domain.concepts[low].id)) if samples else ""
    rows = [low for low in range(count) if any(state is not None for state in states[low])]
    columns = [high for high in range(count) if any(states[low][high] is not None for low in rows)]
    return Chart(
        slug="pair-coverage",
        title="Pairs of concepts",
        note="number of answers on scenes that show both; C confirmed failing, S suspected, ? unknown; "
        f"blank: the two cannot be a set. The table has the first {TABLED}, the files have all",
        spec={
            "data": [
                {
                    "type": "heatmap", "x": [labels[high] for high in columns],
                    "y": [labels[low] for low in rows],
                    "z": _picked(states, rows, columns), "text": _picked(texts, rows, columns),
                    "customdata": _picked(links, rows, columns), "texttemplate": "%{text}",
                    "zmin": 0, "zmax": len(PartState) - 1,
                    "colorscale": stepped_scale([STATE_COLOURS[state] for state in PartState]),
                    "showscale": False, "xgap": 1, "ygap": 1, "hoverongaps": False,
                    "textfont": {"size": 9, "color": "$text"},
                    "hovertemplate": "%{y} with %{x}: %{text}<extra></extra>",
                }
            ],
            "layout": _triangle_layout(len(rows)),
        },
        sentence=f"{size.shown} of {size.total} pairs were shown: "
        + ", ".join(f"{one.count} {one.title.lower()}" for one in size.states if one.count) + ".",
        columns=(Column("Pair", is_number=False), Column("State", is_number=False), Column("Sets"),
                 Column("Wrong answers"), Column("Answers"), Column("Upper bound where all were right")),
        rows=tuple(
            (_names(line, domain), line.title, line.sets, line.fails, line.samples,
             "–" if line.bound is None else write_percent(line.bound))
            for line in lines
        ),
        row_urls=tuple(address(line.key) if line.samples else "" for line in lines),
        csv_url=csv_url,
        json_url=json_url,
    )  # fmt: skip


def _triangle_layout(n_rows: int) -> dict[str, Any]:
    return {
        "height": 140 + 22 * max(n_rows, 1),
        "margin": {"l": 150, "r": 48, "t": 120, "b": 8},
        "xaxis": {"side": "top", "tickangle": -60, "showline": False, "showgrid": False,
                  "type": "category", "tickfont": {"size": 10, "color": "$text"}},
        "yaxis": {"automargin": True, "autorange": "reversed", "showgrid": False, "ticks": "",
                  "type": "category", "tickfont": {"size": 10, "color": "$text"}},
    }  # fmt: skip


def _picked(
    grid: Sequence[Sequence[Value]], rows: Sequence[int], columns: Sequence[int]
) -> list[list[Value]]:
    """Return the part of a square that has cells: a triangle's first rows and last columns are empty."""
    return [[grid[low][high] for high in columns] for low in rows]


def _names(line: PartLine, domain: Domain) -> str:
    return " + ".join(domain.concept(one).label for one in line.key)


def _grid_cells(grid: SystemGrid, names: list[str], *, top: float, address: CellAddress) -> dict[str, Any]:
    rows = [own for _, _, own in grid.rows]
    trace = stepped_cells(
        names,
        [label for _, label, _ in grid.rows],
        z=[[_step(cell, top, grid) for cell in own] for own in rows],
        text=[[cell.shown for cell in own] for own in rows],
        hovertemplate="%{y}, %{x}: %{text} (%{hovertext})<extra></extra>",
    )
    links = [
        [address(concept, sut.slug) if cell.count else "" for sut, cell in zip(grid.suts, own, strict=True)]
        for concept, _, own in grid.rows
    ]
    return trace | {
        "customdata": links,
        "hovertext": [[_detail(cell, grid) for cell in own] for own in rows],
    }


def _step(cell: SystemCell, top: float, grid: SystemGrid) -> int:
    """Return the step of a cell: fifths of [0, 1] for rates; of the ranks, the first darkest."""
    if cell.value is None or grid.measure != "rank":
        return step_of(cell.value)
    return step_of(1.0 - (cell.value - 1.0) / max(top, 1.0))


def _detail(cell: SystemCell, grid: SystemGrid) -> str:
    if cell.value is None:
        return cell.reason
    counted = f"{cell.count} {'replies' if grid.measure == 'recognition' else 'sets'}"
    return f"{write_interval(cell.interval.low, cell.interval.high)}, {counted}" if cell.interval else counted


def _grid_note(grid: SystemGrid) -> str:
    unit = "replies" if grid.measure == "recognition" else "sets"
    what = "place by F, 1 the highest" if grid.measure == "rank" else "percent"
    left = f"; {grid.left_out} concepts with fewer are left out" if grid.left_out else ""
    return (
        f"{what}; a blank cell has fewer than {grid.least_sets} {unit}, a concept is shown from "
        f"{grid.least_systems} systems on{left}. A click opens the sets behind a cell"
    )
