"""The manual's page on ablation, probes and interactions gives the numbers of the code."""

import re
from pathlib import Path

import numpy as np
import pytest

from vlmlab.core.stats import PairedCounts, mcnemar_power, most_discordance_for_margin, upper_bound
from vlmlab.core.verdicts.config import AblateConfig, InteractConfig
from vlmlab.core.verdicts.interact import judge_interaction
from vlmlab.core.verdicts.necessity import NECESSITY_WORDS, NecessityRules, judge_drops
from vlmlab.core.verdicts.regress_plan import fewest_pairs

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "necessity.md").read_text(encoding="utf-8")


def rows_below(heading):
    table = PAGE.partition(heading)[2].partition("\n\n")[0]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in table.splitlines()[2:]]


def test_worked_example_is_what_the_code_says():
    drops = [PairedCounts(4, 32, 0, 4), PairedCounts(30, 6, 0, 4), PairedCounts(36, 0, 0, 4)]
    readings = judge_drops(drops, NecessityRules())
    rows = rows_below("| Left out |")

    assert [row[1] for row in rows] == [f"{one.first}, {one.second}" for one in drops]
    assert [row[2] for row in rows] == [f"{one.first_only}, {one.second_only}" for one in drops]
    assert [row[6] for row in rows] == [reading.necessity for reading in readings]
    assert [float(row[4].replace("< ", "")) for row in rows[1:]] == [
        pytest.approx(reading.adjusted, abs=5e-4) for reading in readings[1:]
    ]
    ends = [re.findall(r"−?\d+", row[5]) for row in rows]
    assert [tuple(int(end.replace("−", "-")) for end in pair) for pair in ends] == [
        (round(100 * reading.difference.low), round(100 * reading.difference.high)) for reading in readings
    ]


def test_table_of_what_scenes_can_show_is_computed():
    for row in rows_below("| Paired scenes | Irrelevant"):
        n = int(row[0])
        most = most_discordance_for_margin(n, AblateConfig().margin)
        sure = max(k for k in range(n) if upper_bound(k, n, 1 - AblateConfig().level / 3) < 0.6)

        assert row[1] == ("never" if most < 0 else str(most))
        assert row[2] == f"{sure} of {n}"
    assert [fewest_pairs(modes=drops) for drops in (2, 3, 4, 5)] == [7, 7, 8, 8]


def test_table_of_chances_is_computed():
    for row in rows_below("| Paired scenes | without it"):
        chances = [
            mcnemar_power(int(row[0]), first_only=0.85 * (1 - rest), second_only=0.15 * rest, level=0.05 / 3)
            for rest in (0.2, 0.4, 0.5, 0.6, 0.7)
        ]

        assert row[1:] == [f"{100 * chance:.0f} %" for chance in chances]


@pytest.mark.parametrize(
    ("scenes", "points", "low", "high"),
    [(60, 20, 0.4, 0.6), (60, 30, 0.7, 0.9), (60, 40, 0.9, 1), (120, 20, 0.65, 0.85)],
)
def test_chances_of_the_four_cell_test_are_as_told(scenes, points, low, high):
    rng = np.random.default_rng(1)
    cells = {"both": 0.3 + points / 100, "neither": 0.1, "first": 0.2, "second": 0.2}

    found = [
        judge_interaction({name: rng.random(scenes) < rate for name, rate in cells.items()}).verdict
        for _ in range(150)
    ]

    assert low < found.count("synergy") / 150 <= high


def test_defaults_on_the_page_are_those_of_the_settings():
    config = AblateConfig()

    assert f"**Paired scenes** ({config.pairs})" in PAGE
    assert f"**Scenes a smaller set** ({config.reduce_scenes})" in PAGE
    assert f"the **Margin** ({100 * config.margin:.0f} points)" in PAGE
    assert f"the planned {InteractConfig().scenes} scenes" in PAGE


def test_every_word_of_necessity_is_explained():
    explained = [row[0] for row in rows_below("c those that fail only without it.\n\n")]

    assert explained == [word.lower() for word in NECESSITY_WORDS.values()]
