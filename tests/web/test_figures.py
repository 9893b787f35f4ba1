"""Charts for Plotly: only traces that the content policy allows, numbers beside them."""

import pytest
from django.template.loader import render_to_string

from searches.charts.components import sample_chart
from vlmlab.web.figures import Chart, Column, distinct_names, line_trace, validate_with_plotly


def chart(**values) -> Chart:
    defaults = {
        "slug": "modes",
        "title": "Modes",
        "spec": {"data": [line_trace("a", [0, 1], y=[0, 2], place=0)], "layout": {}},
        "sentence": "It rises.",
        "columns": (Column("x"), Column("y")),
        "rows": ((0, 0), (1, 2)),
    }
    return Chart(**defaults | values)


def test_a_chart_refuses_traces_that_need_webgl():
    with pytest.raises(ValueError, match=r"only SVG traces are allowed, got \['scattergl'\]"):
        chart(spec={"data": [{"type": "scattergl"}]})


def test_a_chart_refuses_rows_that_do_not_fit_its_columns():
    with pytest.raises(ValueError, match="every row needs 2 cells"):
        chart(rows=((1, 2, 3),))


def test_a_chart_refuses_addresses_that_do_not_fit_its_rows():
    with pytest.raises(ValueError, match="row_urls must be one a row, got 1 for 2"):
        chart(row_urls=("/runs/",))


def test_rows_carry_the_addresses_that_marks_open():
    linked, plain = chart(row_urls=("/runs/1/", "")), chart()

    assert [url for url, _ in linked.linked_cells] == ["/runs/1/", ""]
    assert [url for url, _ in plain.linked_cells] == ["", ""]


def test_the_browser_gets_the_figure_and_the_same_numbers():
    payload = chart().payload

    assert payload["figure"]["data"][0]["y"] == [0, 2]
    assert (payload["columns"], payload["rows"]) == (["x", "y"], [[0, 0], [1, 2]])


def test_files_of_a_chart_have_its_slug_or_what_it_is_of():
    plain, named = (
        render_to_string("components/chart.html", {"chart": one})
        for one in (chart(), chart().saved_for("campaign", 3, "pocket"))
    )

    assert "data-saved-as" not in plain
    assert 'data-plot="modes" data-saved-as="campaign-3-pocket-modes"' in named


@pytest.mark.parametrize("place", range(6))
def test_each_series_has_a_colour_and_dash_that_plotly_knows(place):
    validate_with_plotly(
        {"data": [line_trace("a", [0, 1], y=[0, 1], place=place, is_step=True)], "layout": {}}
    )


def test_validation_finds_what_plotly_does_not_know():
    with pytest.raises(ValueError, match="colour"):
        validate_with_plotly({"data": [{"type": "scatter", "colour": "red"}], "layout": {}})


def test_the_sample_chart_is_a_valid_figure():
    validate_with_plotly(sample_chart().spec)


def test_systems_of_one_name_are_told_apart_on_an_axis():
    assert distinct_names({"a": "Model", "b": "Other", "c": "Model"}) == {
        "a": "Model (a)",
        "b": "Other",
        "c": "Model (c)",
    }
    awkward = distinct_names({"a": "Model", "b": "Model", "c": "Model (a)"})
    assert awkward == {"a": "a", "b": "Model (b)", "c": "c"}
