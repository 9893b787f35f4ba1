"""Counts with exact intervals."""

import pytest

from tools.pocket.scores import Judged, Share, confusion, malformed, share_of, summarised, weakest


def judged(task, group, key, right, **named):
    return Judged(task, group, key, right, **named)


ROWS = [
    judged("driving answer", "slow_down", ("cone", "far"), True, expected="slow_down", answered="slow_down"),
    judged("driving answer", "slow_down", ("cone",), False, expected="slow_down", answered="continue"),
    judged("driving answer", "continue", ("light_green",), True, expected="continue", answered="continue"),
    judged(
        "driving answer",
        "continue",
        ("cone",),
        False,
        is_malformed=True,
        expected="continue",
        answered="invalid",
    ),
    judged("locating", "", ("cone",), True, iou=0.8, pooled="locating: one object"),
    judged("driving statement", "true", ("cone",), True, is_malformed=True, is_reply=False),
]


def test_a_share_has_its_exact_interval():
    half = share_of([True, False])

    assert (half.right, half.asked, half.rate) == (1, 2, 0.5)
    assert half.low == pytest.approx(1 - 0.975**0.5)
    assert half.high == pytest.approx(0.975**0.5)
    assert str(half) == "1/2 = 50.0 % [1.3, 98.7]"
    none = share_of([False])
    assert (none.low, none.high) == (0.0, pytest.approx(0.975))
    assert Share(0, 0, 0.0, 1.0).rate == 0.0


def test_the_summary_counts_each_task_and_group():
    counts = {name: (share.right, share.asked) for name, share in summarised(ROWS).items()}

    assert counts == {
        "driving answer": (2, 4),
        "driving answer: continue": (1, 2),
        "driving answer: slow_down": (1, 2),
        "driving statement": (1, 1),
        "driving statement: true": (1, 1),
        "locating": (1, 1),
        "locating: one object": (1, 1),
    }


def test_malformed_replies_are_a_share_of_replies_and_not_of_their_parts():
    shares = {name: (share.right, share.asked) for name, share in malformed(ROWS).items()}

    assert shares == {"": (1, 5), "driving answer": (1, 4), "locating": (0, 1)}


def test_the_confusion_counts_what_expects_an_answer():
    assert confusion(ROWS) == {
        "slow_down": {"slow_down": 1, "continue": 1},
        "continue": {"continue": 1, "invalid": 1},
    }


def test_the_weakest_concept_stands_first_and_seldom_ones_are_left_out():
    found = weakest(ROWS, at_least=1)

    assert [(name, share.right, share.asked) for name, share in found] == [
        ("cone", 3, 5),
        ("far", 1, 1),
        ("light_green", 1, 1),
    ]
    assert [name for name, _ in weakest(ROWS, at_least=2)] == ["cone"]
