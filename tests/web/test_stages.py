"""Stages of a search in words."""

import pytest

from vlmlab.web.stages import at_stage, stage_line


@pytest.mark.parametrize(
    ("stage", "place", "line"),
    [
        ("random", "at random", "Random sets are asked."),
        ("warm-up", "in the warm-up", "Warm-up: the smallest sets come first."),
        ("level 1", "at level 1", "Level 1: sets of 1 concept."),
        ("level 3", "at level 3", "Level 3: sets of 3 concepts."),
        ("round 14", "in round 14", "Round 14 begins."),
    ],
)
def test_a_stage_is_written_as_words(stage, place, line):
    assert (at_stage(stage), stage_line(stage)) == (place, line)


def test_no_stage_is_no_words():
    assert at_stage("") == ""
