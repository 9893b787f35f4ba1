"""The beam, worked by hand on six letters."""

import numpy as np
import pytest

from tests.core.revelio.tiny import TinyDomain, coin, fails_with, play, tiny_search, words
from vlmlab.core.revelio.beam import BeamLevels, jaccard
from vlmlab.core.revelio.config import RevelioConfig
from vlmlab.core.revelio.space import build_space
from vlmlab.core.revelio.trials import Trial
from vlmlab.core.revelio.types import TrialStatus


def sizes(search):
    return np.bincount([len(key) for key in search.trials])[1:].tolist()


def test_beam_extends_only_the_best_sets_and_asks_duplicates_once():
    search = tiny_search(TinyDomain("abcd", max_size=2), algorithm="beam", samples_per_set=1, beam_width=2)

    play(search, fails_with("a", "b"))

    asked = words(search)
    assert sorted(asked[:4]) == ["a", "b", "c", "d"]
    assert sorted(asked[4:]) == ["ab", "ac", "ad", "bc", "bd"]
    assert search.stage == "level 3"


def test_beam_takes_extensions_in_turn_from_each_member():
    search = tiny_search(
        TinyDomain("abcdef", max_size=2, forbidden=("ab",)), algorithm="beam", samples_per_set=1, beam_width=2
    )

    play(search, fails_with("a", "b"))

    second_level = words(search)[6:]
    assert len(second_level) == 8
    turns = zip(second_level[::2], second_level[1::2], strict=True)
    assert all(("a" in one) != ("a" in other) for one, other in turns)


def test_beam_leaves_out_sets_that_exclude_each_other():
    search = tiny_search(
        TinyDomain("abc", max_size=3, forbidden=("ab",)), algorithm="beam", samples_per_set=1
    )

    play(search, fails_with("a"))

    assert sorted(words(search)) == ["a", "ac", "b", "bc", "c"]


def test_beam_gives_each_level_an_equal_share_of_what_is_left():
    search = tiny_search(algorithm="beam", inference_budget=14, samples_per_set=1)

    play(search, coin(0.5))

    # 14 / 3 = 4 singles, 10 / 2 = 5 pairs, the rest triples.
    assert sizes(search) == [4, 5, 5]


def test_beam_counts_the_quota_in_sets_of_all_samples():
    search = tiny_search(algorithm="beam", inference_budget=47, samples_per_set=5)

    play(search, coin(0.5))

    # 9 affordable sets: 3 singles, 6 left: 3 pairs, 3 triples.
    assert sizes(search) == [3, 3, 3]
    assert search.observations == 45


def test_beam_passes_on_what_a_small_level_leaves():
    search = tiny_search(
        TinyDomain("abc", max_size=2), algorithm="beam", inference_budget=8, samples_per_set=1
    )

    play(search, coin(0.5))

    assert sizes(search) == [3, 3]


def test_beam_literal_spends_everything_on_the_first_levels():
    search = tiny_search(algorithm="beam", inference_budget=14, samples_per_set=1, beam_literal=True)

    play(search, coin(0.5))

    assert sizes(search) == [6, 8]


def trial(domain, space, word, *, fails, passes):
    index = int(space.find(np.array([domain.mask(word)]))[0])
    return Trial(index, tuple(word), 0, "", fails, passes, status=TrialStatus.DECIDED_FAIL)


@pytest.mark.parametrize(("weight", "second"), [(0.0, "ac"), (0.25, "cd")])
def test_frontier_trades_rate_for_overlap_with_those_chosen(weight, second):
    domain = TinyDomain("abcd", max_size=2)
    config = RevelioConfig(beam_width=2, diversity_weight=weight)
    space = build_space(domain, config)
    beam = BeamLevels(config, space=space, run_seed=0, inference_budget=100)
    # ac shares one of three concepts with ab: 0.9 - 0.25 / 3 = 0.817 < 0.85.
    here = [
        trial(domain, space, "ab", fails=20, passes=0),
        trial(domain, space, "ac", fails=18, passes=2),
        trial(domain, space, "cd", fails=17, passes=3),
    ]

    chosen = beam.choose_frontier(here)

    assert ["".join(one.key) for one in chosen] == ["ab", second]


def test_frontier_breaks_ties_by_the_run_seed():
    domain = TinyDomain("abcdef", max_size=1)
    config = RevelioConfig(beam_width=1)
    space = build_space(domain, config)
    here = [trial(domain, space, letter, fails=1, passes=0) for letter in "abcdef"]

    firsts = {
        BeamLevels(config, space=space, run_seed=seed, inference_budget=9).choose_frontier(here)[0].key
        for seed in range(20)
    }

    assert len(firsts) > 2


def test_jaccard_counts_shared_over_all():
    assert jaccard(0b0111, 0b1110) == 2 / 4
    assert jaccard(0, 0) == 1.0


def test_beam_starts_from_the_smallest_sets_when_concepts_are_required():
    search = tiny_search(algorithm="beam", samples_per_set=1, required_concepts=("a", "b"))

    play(search, coin(0.5))

    assert words(search)[0] == "ab"
    assert sorted(words(search)[1:]) == ["abc", "abd", "abe", "abf"]
