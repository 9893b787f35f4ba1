"""Rates of sets that become a picture, counted with layouts and faults made for the test."""

import math

import pytest

from vlmlab.core.errors import GenerationError
from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.core.scenes.driving import sample_driving
from vlmlab.core.scenes.render.presence_report import (
    SetResult,
    SetToCheck,
    check_set,
    draw_sets,
    presence_report,
)

DRIVING = load_domain("driving")


def result(*ids, is_drawn=True, attempts=1, reasons=()):
    return SetResult(DRIVING.canonical(ids), 1, attempts, is_drawn=is_drawn, reasons=reasons)


def test_draw_sets_takes_about_as_many_of_each_size_and_only_valid_ones():
    chosen = draw_sets(DRIVING, count=52, seed=3)

    assert [sum(len(one.key) == size for one in chosen) for size in range(1, 6)] == [10, 10, 10, 11, 11]
    assert all(DRIVING.is_compatible(one.key) for one in chosen)
    assert len({one.seed for one in chosen}) == 52


def test_draw_sets_repeats_a_small_size_with_other_scene_seeds_and_no_other():
    chosen = draw_sets(DRIVING, count=60, seed=3, max_size=2)

    singles = [one for one in chosen if len(one.key) == 1]
    pairs = [one.key for one in chosen if len(one.key) == 2]
    assert (len(singles), len({one.key for one in singles})) == (30, 20)
    assert (len(pairs), len(set(pairs))) == (30, 30)


def test_draw_sets_depends_on_the_seed_alone():
    assert draw_sets(DRIVING, count=20, seed=3) == draw_sets(DRIVING, count=20, seed=3)
    assert draw_sets(DRIVING, count=20, seed=3) != draw_sets(DRIVING, count=20, seed=4)


def test_check_set_counts_layouts_up_to_the_first_good_one():
    def sample(key, *, seed, attempt=0, domain=None):
        if attempt == 0:
            raise GenerationError("No room.")
        return sample_driving(key, seed=seed, attempt=attempt)

    faults = {1: "cone shows only 3 pixels", 2: None}

    checked = check_set(
        SetToCheck(("cone",), 9), domain=DRIVING, sample=sample, fault=lambda one: faults[one.attempt]
    )

    assert checked == SetResult(
        ("cone",), 9, 3, is_drawn=True, reasons=("No room", "“Cone” shows only 3 pixels")
    )


def test_check_set_gives_up_after_the_last_layout():
    asked = []

    def fault(description):
        asked.append((description.seed, description.attempt))
        return "cone is hidden to 90%"

    checked = check_set(
        SetToCheck(("cone",), 9),
        domain=DRIVING,
        sample=sample_driving,
        fault=fault,
    )

    assert (checked.is_drawn, checked.attempts, len(checked.reasons)) == (False, 8, 8)
    assert asked == [(9, attempt) for attempt in range(8)]


def test_report_counts_rates_goals_blame_and_reasons():
    results = [
        *[result("cone") for _ in range(98)],
        result("cone", attempts=3, reasons=("“Cone” shows only 3 pixels", "“Cone” shows only 7 pixels")),
        result("cone", "cyclist", is_drawn=False, attempts=8, reasons=("“Cone” is hidden to 61%",) * 8),
        result("cone", "cyclist"),
    ]

    report = presence_report(DRIVING, results)

    one, two = report.rows
    assert (one.size, one.checked, one.drawn, one.rate, one.meets_goal) == (1, 99, 99, 1.0, True)
    assert one.mean_attempts == pytest.approx(101 / 99)
    assert (two.rate, two.goal, two.meets_goal, two.mean_attempts) == (0.5, 0.99, False, 1.0)
    # Wilson: (0.5 +- ...) for 1 of 2; exact: 1 - sqrt(0.975) and its mirror
    assert (two.exact.low, two.exact.high) == pytest.approx((1 - math.sqrt(0.975), math.sqrt(0.975)))
    assert two.likely.low == pytest.approx(0.0945, abs=1e-4)
    assert not report.meets_goals
    assert report.reasons == (("“Cone” is hidden too much", 8), ("“Cone” shows too few pixels", 2))
    assert [(blame.concepts, blame.failed, blame.checked) for blame in report.concepts] == [
        (("cyclist",), 1, 2),
        (("cone",), 1, 101),
    ]
    assert [(blame.concepts, blame.failed, blame.checked) for blame in report.pairs] == [
        (("cyclist", "cone"), 1, 2)
    ]
    assert [one.key for one in report.failed] == [("cyclist", "cone")]


def test_large_sets_have_the_lower_goal():
    ids = ["cone", "cyclist", "town01", "weather_wet"]
    results = [*[result(*ids) for _ in range(19)], result(*ids, is_drawn=False, reasons=("no",))]

    assert presence_report(DRIVING, results).meets_goals
