"""Concepts across systems: what a cell holds, what stays blank, and where a click leads."""

import csv

import pytest

from tests.factories import make_sut
from tests.searches.explained import CHILD, CONE, FOG, ask_fresh, follow_up, say, searched
from vlmlab.web.roles import Role

from .people import browser_of, statuses

pytestmark = pytest.mark.django_db


def grid(query=""):
    return browser_of(Role.REVIEWER).get(f"/explain/{query}").context["grid"]


def cells(found):
    return {concept: [cell.shown for cell in own] for concept, _, own in found.rows}


def three_systems():
    return [searched(sut=make_sut(f"system-{number}")) for number in range(3)]


def test_the_page_is_open_to_readers_only():
    assert statuses("/explain/") == {
        "": 302,
        "admin": 200,
        "researcher": 200,
        "reviewer": 200,
        "annotator": 403,
    }


def test_an_empty_lab_offers_the_first_search():
    assert "Nothing to explain yet" in browser_of(Role.RESEARCHER).get("/explain/").content.decode()


def test_a_cell_holds_the_mean_rate_of_enough_sets():
    three_systems()

    found = cells(grid("?least_sets=2&least_systems=3"))

    assert found == {CONE: ["60"] * 3, FOG: ["50"] * 3}


def test_a_concept_is_left_out_where_too_few_systems_have_enough():
    first, *_ = three_systems()
    ask_fresh(follow_up(first), (CHILD,), verdicts="FFFFF")

    found = grid("?least_sets=2&least_systems=3")

    assert CHILD not in cells(found)
    assert found.left_out == 1
    assert cells(grid("?least_sets=2&least_systems=1"))[CHILD] == ["50", "", ""]


def test_a_blank_cell_says_how_much_is_there():
    first, *_ = three_systems()
    ask_fresh(follow_up(first), (CHILD,), verdicts="FFFFF")

    row = next(own for concept, _, own in grid("?least_sets=2&least_systems=1").rows if concept == CHILD)

    assert [cell.reason for cell in row] == ["", "1 of 2 sets", "1 of 2 sets"]


def test_ranks_are_places_by_failure_rate():
    three_systems()

    found = cells(grid("?least_sets=1&measure=rank"))

    assert found == {CONE: ["1"] * 3, FOG: ["2"] * 3, CHILD: ["3"] * 3}


def test_recognition_needs_replies_with_statements():
    runs = three_systems()
    for run, is_right in zip(runs, (True, False, True), strict=True):
        say(ask_fresh(follow_up(run, "probe"), (CONE,), verdicts="FPFPF"), right={CONE: is_right})

    assert cells(grid("?measure=recognition&least_sets=5")) == {CONE: ["100", "0", "100"]}
    assert cells(grid("?measure=recognition&least_sets=6")) == {}


def test_a_click_leads_to_the_sets_behind_a_cell():
    runs = three_systems()
    client = browser_of(Role.REVIEWER)

    chart = client.get("/explain/?least_sets=2").context["chart"]
    address = chart.spec["data"][0]["customdata"][0][1]

    shown = client.get(address)
    assert shown.context["scope"].sut == runs[1].sut
    assert sorted(line.trial.key for line in shown.context["lines"]) == [CONE, f"{CONE}+{FOG}"]


@pytest.mark.parametrize("systems", [1, 3])
def test_the_page_takes_the_same_queries_for_any_number_of_systems(systems, django_assert_max_num_queries):
    for _ in range(systems):
        run = searched()
        say(ask_fresh(follow_up(run, "probe"), (CONE,), verdicts="FP"), right={CONE: True})
    client = browser_of(Role.REVIEWER)
    client.get("/explain/")

    with django_assert_max_num_queries(7):
        client.get("/explain/")


def test_the_file_has_a_row_a_cell():
    three_systems()

    answer = browser_of(Role.REVIEWER).get("/explain/systems.csv?least_sets=2")

    rows = list(csv.DictReader(b"".join(answer.streaming_content).decode().splitlines()))
    assert len(rows) == 6
    assert {(row["concept"], row["value"]) for row in rows} == {(CONE, "0.6"), (FOG, "0.5")}
