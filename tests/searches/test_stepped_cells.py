"""The steps of heatmaps: which step a share is, and colours that do not run into each other."""

import pytest

from searches.charts.stepped_cells import step_of, stepped_cells, stepped_scale


@pytest.mark.parametrize(
    ("share", "step"), [(None, -1), (0.0, 0), (0.19, 0), (0.2, 1), (0.5, 2), (0.99, 4), (1.0, 4)]
)
def test_step_of_is_the_fifth_that_a_share_lies_in(share, step):
    assert step_of(share) == step


def test_stepped_scale_gives_each_colour_an_equal_part():
    assert stepped_scale(["$a", "$b"]) == [[0.0, "$a"], [0.5, "$a"], [0.5, "$b"], [1.0, "$b"]]


def test_stepped_scale_ends_at_one_however_many_colours_it_has():
    assert [stepped_scale(["$a"] * count)[-1][0] for count in range(1, 12)] == [1.0] * 11


def test_stepped_cells_has_a_colour_for_every_step_and_one_for_none():
    cells = stepped_cells(["one"], ["two"], z=[[-1]], text=[["·"]], hovertemplate="")

    steps = range(cells["zmin"], cells["zmax"] + 1)

    assert [colour for _, colour in cells["colorscale"][::2]] == [
        "$sunken",
        "$h1",
        "$h2",
        "$h3",
        "$h4",
        "$h5",
    ]
    assert len(steps) == len(cells["colorscale"]) / 2
