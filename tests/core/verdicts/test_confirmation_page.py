"""The figures on the manual's page about confirmation are those of the code."""

import re
from math import exp, log
from pathlib import Path

import pytest

from vlmlab.core.stats import (
    clopper_pearson,
    confidence_sequence,
    e_bh,
    log_bar,
    log_e_above,
    log_e_below,
    place_share,
)
from vlmlab.core.verdicts.config import ConfirmConfig
from vlmlab.core.verdicts.planner import POWERS, affordable_suspects, plan_settling

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "confirmation.md").read_text(encoding="utf-8")


def table(heading: str) -> list[list[str]]:
    """Return the cells of the rows of the first table behind a heading."""
    rows = re.search(r"\n\n((?:\|.*\n)+)", PAGE.partition(heading)[2])
    assert rows is not None
    return [[cell.strip() for cell in line.strip("|\n").split("|")] for line in rows[1].splitlines()[2:]]


def e_value(counts: str) -> float:
    fails, samples = map(int, counts.split(" of "))
    return exp(float(log_e_above(fails, samples, threshold=0.6)))


def test_e_values_of_the_example():
    for _, counts, value, _ in table("## How one set is settled"):
        shown = len(value.partition(".")[2])
        assert f"{e_value(counts):.{shown}f}" == value
    assert "One wrong answer of 12 gives 425" in PAGE
    assert round(exp(float(log_e_below(1, 12, threshold=0.6)))) == 425


def test_bars_and_sets_of_the_family_of_twenty():
    rows = table("## The whole list")[:4]
    values = [e_value(counts) for _, counts, _, _ in rows]

    assert "250 for one set, 125 for two, 83.3 for three, 62.5 for four" in PAGE
    assert [20 / (0.08 * count) for count in (1, 2, 3, 4)] == pytest.approx([250, 125, 83.3, 62.5], abs=0.05)
    assert [value for _, _, value, _ in rows] == ["1,887", "1,037", "38.5", "6.9"]
    assert values == pytest.approx([1887, 1037, 38.5, 6.9], abs=0.5)
    assert e_bh([log(value) for value in values], 0.08, family_size=20) == [0, 1]


def test_bars_of_later_suspects():
    assert "First in line needs 100, the fifth 1,500, the twentieth 21,000" in PAGE
    bars = [exp(log_bar(place_share(place), level=0.02, rejected=1)) for place in (1, 5, 20)]
    assert bars == pytest.approx([100, 1500, 21000])


def test_intervals_of_the_example():
    wide, fixed = confidence_sequence(18, 20), clopper_pearson(18, 20)
    chosen = confidence_sequence(28, 30, 0.995)

    assert f"18 of 20 gives {100 * wide.low:.1f} to {100 * wide.high:.1f} %" in PAGE
    assert f"and {100 * fixed.low:.1f} to {100 * fixed.high:.1f} % if 20 had been fixed" in PAGE
    assert f"A above has {100 * chosen.low:.1f} to {100 * chosen.high:.1f} %" in PAGE


def test_table_of_samples():
    config = ConfirmConfig(family_size=20)
    for rate, needed, right, mean in table("## How many samples settle a set"):
        share = float(rate.removesuffix(" %")) / 100
        plan = plan_settling(share, config)
        prospect = plan.prospect
        assert str(round(prospect.expected_samples)) == mean
        if needed == "never":
            assert set(plan.samples_for.values()) == {None}
            continue
        assert ", ".join(str(plan.samples_for[power]) for power in POWERS) == needed
        settled = 100 * (prospect.confirmed if share > 0.6 else prospect.refuted)
        assert settled == pytest.approx(float(right.removesuffix(" %")), abs=0.5)


def test_affordable_suspects():
    assert "1,000 scenes settle about 18 suspects, 2,000 about 36, 5,000 about 87" in PAGE
    assert [affordable_suspects(budget, ConfirmConfig()) for budget in (1000, 2000, 5000)] == [18, 36, 87]
