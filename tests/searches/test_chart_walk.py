"""Every chart of the site is drawn as SVG."""

import ast
import importlib
import pkgutil
from pathlib import Path

import pytest

import searches.charts
from vlmlab.web.figures import SVG_TRACES, Chart

NOT_SVG = {
    "scattergl", "heatmapgl", "scatterpolargl", "splom", "pointcloud", "parcoords", "scatter3d", "surface",
    "mesh3d", "cone", "streamtube", "volume", "isosurface", "scattermapbox", "densitymapbox",
    "choroplethmapbox", "scattermap", "densitymap", "choroplethmap", "scattergeo", "choropleth",
}  # fmt: skip
"""Traces of Plotly that need WebGL, or a map from elsewhere."""


def chart_modules():
    names = [one.name for one in pkgutil.iter_modules(searches.charts.__path__)]
    return [importlib.import_module(f"searches.charts.{name}") for name in names]


def traces_named_in(module):
    """Types of traces in the source: what stands behind a key "type" and is no shape, axis or error bar."""
    beside = {"line", "rect", "path", "circle", "data", "log", "linear", "date", "category"}
    tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
    dicts = [node for node in ast.walk(tree) if isinstance(node, ast.Dict)]
    pairs = [pair for node in dicts for pair in zip(node.keys, node.values, strict=True)]
    types = {
        value.value
        for key, value in pairs
        if isinstance(key, ast.Constant) and key.value == "type" and isinstance(value, ast.Constant)
    }
    return types - beside


@pytest.mark.parametrize("module", chart_modules(), ids=lambda module: module.__name__.rpartition(".")[2])
def test_a_chart_module_names_only_traces_that_are_drawn_as_svg(module):
    assert traces_named_in(module) <= SVG_TRACES


def test_no_trace_that_needs_webgl_counts_as_drawn_in_svg():
    assert set() == SVG_TRACES & NOT_SVG


def test_the_walk_sees_the_traces_of_a_module():
    modules = {module.__name__.rpartition(".")[2]: module for module in chart_modules()}

    assert traces_named_in(modules["explain_grids"]) == {"heatmap"}


@pytest.mark.parametrize("trace", ["scattergl", "scatter3d", "scattermap"])
def test_a_chart_that_needs_webgl_cannot_be_made(trace):
    with pytest.raises(ValueError, match="only SVG traces"):
        Chart("one", "One", {"data": [{"type": trace}]}, "Nothing.", (), ())
