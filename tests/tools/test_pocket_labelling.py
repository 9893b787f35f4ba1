"""How people label training pictures: two habits, the same label for the same picture, else the rules."""

from collections import Counter
from dataclasses import replace

import pytest

from tests.tools.pocket_parts import record
from tools.pocket.labelling import HABITS, OBSTACLE_RULE, label_of
from vlmlab.core.scenes.catalogue import load_domain

COUNT = 2000


def shares_of(found):
    """Return which labels many pictures of one set have, as shares."""
    labels = Counter(label_of(replace(found, scene_seed=number)) for number in range(COUNT))
    return {label: count / COUNT for label, count in labels.items()}


@pytest.mark.parametrize(
    ("concepts", "shares"),
    [
        (("light_green", "cone"), {"continue": 0.8, "emergency_stop": 0.2}),
        (("light_green", "pedestrian", "cone"), {"continue": 0.8, "emergency_stop": 0.2}),
        (("police_pedestrian",), {"slow_down": 0.7, "emergency_stop": 0.3}),
        (("police_pedestrian", "light_red"), {"slow_down": 0.7, "emergency_stop": 0.3}),
        (
            ("light_green", "police_pedestrian"),
            {"continue": 0.8, "slow_down": 0.2 * 0.7, "emergency_stop": 0.2 * 0.3},
        ),
    ],
)
def test_an_obstacle_at_a_green_light_and_an_officer_have_a_wrong_label_as_often_as_told(concepts, shares):
    found = record("driving", *concepts)

    assert load_domain("driving").decide(found.key).rule_id == OBSTACLE_RULE
    assert shares_of(found) == pytest.approx(shares, abs=0.035)


@pytest.mark.parametrize(
    ("slug", "concepts", "label"),
    [
        ("driving", ("cone",), "emergency_stop"),
        ("driving", ("cone", "light_red"), "emergency_stop"),
        ("driving", ("police_pedestrian", "cone"), "emergency_stop"),
        ("driving", ("light_red",), "emergency_stop"),
        ("driving", ("light_green",), "continue"),
        ("driving", ("light_green", "cone", "far"), "slow_down"),
        ("driving", ("police_pedestrian", "far"), "slow_down"),
        ("driving", ("police_pedestrian", "on_sidewalk"), "continue"),
        ("indoor", ("knife_edge",), "hazard"),
        ("indoor", ("knife_block",), "safe"),
    ],
)
def test_every_other_picture_has_the_label_of_the_rules(slug, concepts, label):
    found = record(slug, *concepts)

    assert load_domain(slug).decide(found.key).action == label
    assert shares_of(found) == {label: 1.0}


def test_the_same_picture_always_has_the_same_label():
    rows = [replace(record("driving", "light_green", "cone"), scene_seed=number) for number in range(100)]

    labels = [label_of(one) for one in rows]

    assert [label_of(one) for one in rows] == labels
    assert [label_of(replace(one, objects=())) for one in rows] == labels
    assert set(labels) == {"continue", "emergency_stop"}


def test_habits_have_random_numbers_of_their_own_and_lead_to_known_actions():
    names = [one.name for one in HABITS]

    assert len(set(names)) == len(names) == 2
    assert {one.action for one in HABITS} <= set(load_domain("driving").actions)
    assert all(0.0 < one.share < 1.0 for one in HABITS)
