"""A family is settled together: states, bars, and intervals widened for the choice."""

from math import exp, log

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vlmlab.core.stats import confidence_sequence
from vlmlab.core.verdicts.config import ConfirmConfig
from vlmlab.core.verdicts.settling import FreshCounts, family_level, settle_family, suspect_share

COUNTS = st.lists(
    st.integers(0, 60).flatmap(lambda n: st.builds(FreshCounts, st.integers(0, n), st.just(n))), max_size=12
)


def test_the_family_and_later_suspects_split_the_level():
    family = ConfirmConfig(fdr_level=0.1, later_share=0.2, family_size=20)
    later = ConfirmConfig(fdr_level=0.1, later_share=0.2, later_index=2)

    assert family_level(family) == pytest.approx(0.08)
    assert family_level(later) == pytest.approx(0.02)
    assert suspect_share(family, None) == 1 / 20
    assert suspect_share(later, 2) == 1 / 6


def test_states_and_intervals_of_a_family_of_four():
    config = ConfirmConfig(family_size=4, fdr_level=0.1, later_share=0.0)
    counts = [FreshCounts(30, 30), FreshCounts(28, 30), FreshCounts(1, 30), FreshCounts(18, 30)]

    settled = settle_family(counts, config)

    assert [one.state for one in settled] == ["confirmed", "confirmed", "refuted", "undetermined"]
    assert [one.interval.level for one in settled] == pytest.approx([0.975, 0.975, 0.9875, 0.9875])
    assert settled[1].interval == confidence_sequence(28, 30, settled[1].interval.level)
    assert [one.log_e_needed for one in settled] == pytest.approx(
        [log(4 / 0.2), log(4 / 0.2), log(4 / 0.3), log(4 / 0.3)]
    )
    assert settled[3].log_e_against_needed == pytest.approx(log(4 / 0.2))


def test_suspects_that_are_open_or_were_never_asked_stay_suspected():
    config = ConfirmConfig(family_size=3)

    settled = settle_family([FreshCounts(3, 5, is_open=True), FreshCounts(0, 0), FreshCounts(3, 5)], config)

    assert [one.state for one in settled] == ["suspected", "suspected", "undetermined"]
    assert (settled[1].log_e, settled[1].interval.low, settled[1].interval.high) == (0.0, 0.0, 1.0)


@settings(max_examples=25)
@given(COUNTS, COUNTS)
def test_what_a_run_decides_stays_decided_when_the_other_runs_end(first, second):
    config = ConfirmConfig(family_size=max(1, len(first) + len(second)))

    alone, together = settle_family(first, config), settle_family([*first, *second], config)

    for before, after in zip(alone, together, strict=False):
        if before.state in ("confirmed", "refuted"):
            assert after.state == before.state


@settings(max_examples=25)
@given(COUNTS)
def test_the_confirmed_reach_their_bar_and_the_others_do_not(counts):
    for one in settle_family(counts, ConfirmConfig(family_size=12)):
        assert (one.log_e >= one.log_e_needed - 1e-9) == (one.state == "confirmed")
        assert (one.log_e_against >= one.log_e_against_needed - 1e-9) == (one.state == "refuted")


def test_later_suspects_have_the_share_of_their_place():
    config = ConfirmConfig(later_index=1, fdr_level=0.1, later_share=0.2, later_discoveries=2)

    settled = settle_family([FreshCounts(30, 30, place=4), FreshCounts(12, 20, place=5)], config)

    assert [one.state for one in settled] == ["confirmed", "undetermined"]
    assert settled[0].log_e_needed == pytest.approx(log(20 / (0.02 * 3)))
    assert settled[1].log_e_needed == pytest.approx(log(30 / (0.02 * 4)))
    assert settled[0].interval.level == pytest.approx(1 - 0.05 * 3 / 20)
    assert settled[1].interval.level == pytest.approx(1 - 0.05 / 30)


def test_earlier_discoveries_of_the_line_lower_the_bar():
    # The first place needs 1 / (0.02 / 2) = 100, and 50 after one discovery.
    counts = [FreshCounts(12, 12, place=1)]
    first, second = (ConfirmConfig(later_index=1, later_discoveries=before) for before in (0, 1))

    assert 50 <= exp(settle_family(counts, first)[0].log_e) < 100
    assert settle_family(counts, first)[0].state == "undetermined"
    assert settle_family(counts, second)[0].state == "confirmed"


def test_places_that_do_not_fit_are_refused():
    family, later = ConfirmConfig(family_size=2), ConfirmConfig(later_index=1)

    with pytest.raises(ValueError, match="no place in line"):
        settle_family([FreshCounts(1, 2, place=1)], family)
    with pytest.raises(ValueError, match="a place of their own"):
        settle_family([FreshCounts(1, 2)], later)
    with pytest.raises(ValueError, match="a place of their own"):
        settle_family([FreshCounts(1, 2, place=1), FreshCounts(1, 2, place=1)], later)
    with pytest.raises(ValueError, match="at most the family's 2, got 3"):
        settle_family([FreshCounts(1, 2)] * 3, family)


def test_later_suspects_need_a_part_of_the_level():
    with pytest.raises(ValueError, match="Keep more than 0"):
        ConfirmConfig(later_index=1, later_share=0.0)
