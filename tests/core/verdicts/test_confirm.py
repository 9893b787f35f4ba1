"""What a confirmation asks, when it stops, and what it says of each item."""

import json
from math import log

import pytest

from tests.core.verdicts.confirming import answered, play, search_of, specs, with_letters
from vlmlab.core.stats import confidence_sequence, fails_to_cross, log_e_above, log_e_below, passes_to_cross
from vlmlab.core.verdicts.config import ConfirmConfig
from vlmlab.core.verdicts.confirm import MOST_IDLE_TRIES, MOST_TRAIL_POINTS, ConfirmSearch, build_confirm
from vlmlab.core.verdicts.fixed import FixedDesignSearch
from vlmlab.core.verdicts.follow_ups import FOLLOW_UPS
from vlmlab.core.verdicts.queries import ItemSpec
from vlmlab.core.verdicts.stopping import stopping_table


def asked(batches):
    return [[(query.item, query.number) for query in batch] for batch in batches]


def test_items_take_turns_and_each_scene_is_asked_once():
    search = search_of(3, slots=2)

    batches = play(search, with_letters("FPF"), most_batches=4)

    assert asked(batches) == [[(0, 0), (1, 0)], [(2, 0), (0, 1)], [(1, 1), (2, 1)], [(0, 2), (1, 2)]]
    assert batches[0][1].key == ("concept_1",)


def test_ask_again_before_tell_returns_the_same_batch():
    search = search_of(2)

    assert search.ask() is search.ask()


def test_few_questions_about_one_item_are_asked_together():
    assert asked([search_of(1, slots=64).ask()]) == [[(0, number) for number in range(8)]]


def test_all_wrong_answers_confirm_an_item_as_soon_as_its_e_value_reaches_the_bar():
    search = search_of(1, slots=1)
    bar = log(1 / 0.08)  # a family of one at eight of ten parts of 10 %
    needed = next(n for n in range(1, 100) if float(log_e_above(n, n, threshold=0.6)) >= bar)

    play(search, with_letters("F"))

    result = search.results()[0]
    assert (result.state, result.reason, result.fails, result.samples) == (
        "confirmed",
        "crossed",
        needed,
        needed,
    )
    assert result.numbers["log_e"] == pytest.approx(
        float(log_e_above(needed, needed, threshold=0.6)), abs=1e-6
    )
    assert result.numbers["log_e_needed"] == pytest.approx(bar, abs=1e-6)
    assert [point[:2] for point in result.numbers["trail"]] == [[n, n] for n in range(1, needed + 1)]
    assert search.observations == needed


def test_all_right_answers_refute_an_item():
    search = search_of(1, slots=1)

    play(search, with_letters("P"))

    result = search.results()[0]
    assert (result.state, result.reason, result.fails) == ("refuted", "crossed", 0)
    assert result.numbers["log_e_against"] == pytest.approx(
        float(log_e_below(0, result.samples, threshold=0.6)), abs=1e-6
    )
    assert result.numbers["log_e_against"] >= log(1 / 0.08)


def test_an_item_at_the_threshold_is_given_up_once_little_chance_is_left():
    search = search_of(1, slots=1)
    table = stopping_table(0.6, 100, confirm_bar=log(12.5), refute_bar=log(12.5))

    play(search, with_letters(["FPFPF"]))

    result = search.results()[0]
    assert (result.state, result.reason) == ("undetermined", "futile")
    assert table.chance(result.fails, result.samples) < 0.05
    assert result.numbers["chance"] == pytest.approx(table.chance(result.fails, result.samples), abs=1e-6)
    before = [point[:2] for point in result.numbers["trail"][:-1]]
    assert all(table.chance(fails, samples) >= 0.05 for samples, fails in before)


def test_without_futility_an_item_is_asked_until_nothing_can_decide_it():
    search = search_of(1, slots=1, futility=0.0)
    table = stopping_table(0.6, 100, confirm_bar=log(12.5), refute_bar=log(12.5))

    play(search, with_letters(["FPFPF"]))

    result = search.results()[0]
    assert (result.state, result.reason) == ("undetermined", "futile")
    assert result.numbers["chance"] == 0.0
    samples, fails = result.numbers["trail"][-2][:2]
    assert table.chance(fails, samples) > 0.0


def test_nothing_is_asked_where_no_course_of_the_samples_decides():
    search = search_of(1, max_samples=3)  # three wrong answers: 2.5, needed 12.5

    assert search.ask() == []
    assert [(one.state, one.reason) for one in search.results()] == [("undetermined", "futile")]


def test_an_item_that_could_still_be_decided_by_its_last_sample_ends_at_its_cap():
    bars = fails_to_cross(20, threshold=0.6, log_needed=log(12.5))
    most = next(n for n in range(15, 21) if bars[n] == bars[n - 1])  # one fail short of it may still suffice
    needed = int(bars[most])
    search = search_of(1, slots=1, max_samples=most, futility=0.0)

    play(search, with_letters(["P" * (most - needed) + "F" * (needed - 1) + "P"]))

    result = search.results()[0]
    assert (result.state, result.reason) == ("undetermined", "cap")
    assert (result.fails, result.samples) == (needed - 1, most)


def test_a_batch_never_asks_beyond_the_most_scenes_of_a_set():
    search = search_of(1, slots=8, max_samples=13, futility=0.0)

    batches = play(search, with_letters(["PFFFFFFFFFFFFP"]))

    assert [len(batch) for batch in batches] == [8, 5]
    assert search.results()[0].samples == 13


def test_a_picture_seen_before_is_no_evidence():
    search = search_of(1, slots=1)

    play(search, lambda query: answered(query, "F", picture="same"))

    result = search.results()[0]
    assert (result.state, result.reason) == ("undetermined", "exhausted")
    assert (result.fails, result.samples, result.numbers["repeats"]) == (1, 1, MOST_IDLE_TRIES)


def test_items_may_share_a_picture():
    search = search_of(2, slots=2)

    play(search, lambda query: answered(query, "F", picture=f"picture {query.number}"))

    assert [result.state for result in search.results()] == ["confirmed", "confirmed"]


def test_a_set_that_cannot_be_drawn_is_given_up():
    search = search_of(2, slots=1)

    play(search, with_letters("XF"))

    first, second = search.results()
    assert (first.state, first.reason, first.samples) == ("undetermined", "exhausted", 0)
    assert first.numbers["incompatible"] == MOST_IDLE_TRIES
    assert second.state == "confirmed"


def test_failed_calls_are_replaced_and_count_nowhere():
    search = search_of(1, slots=2)

    batches = play(search, with_letters(["EF"]))

    result = search.results()[0]
    numbers = [query.number for batch in batches for query in batch]
    assert numbers == list(range(len(numbers)))
    assert result.state == "confirmed"
    assert result.numbers["call_errors"] == len(batches)
    assert result.fails == result.samples == len(batches) == search.observations


def test_tries_are_bounded_when_most_calls_fail():
    search = search_of(1, slots=1, max_samples=20, futility=0.0)

    batches = play(search, with_letters(["EEEEEEEFEEEEEEEP"]))

    assert len(batches) == 60
    assert search.results()[0].reason == "exhausted"


def test_invalid_answers_count_as_wrong_and_are_kept_apart():
    search = search_of(1, slots=1)

    play(search, with_letters(["FI"]))

    result = search.results()[0]
    assert result.state == "confirmed"
    assert result.numbers["invalid"] == result.fails // 2
    assert result.numbers["without_invalid"] == {
        "fails": result.fails - result.numbers["invalid"],
        "samples": result.samples - result.numbers["invalid"],
    }


def test_the_budget_ends_the_run():
    search = search_of(3, slots=4, inference_budget=6)

    batches = play(search, with_letters("FFF"))

    assert [len(batch) for batch in batches] == [4, 2]
    assert [(one.state, one.reason) for one in search.results()] == [("undetermined", "budget")] * 3


def test_a_budget_too_small_for_the_family_decides_the_first_items():
    search = search_of(10, slots=4, inference_budget=250)

    batches = play(search, with_letters(["F"] * 10))

    assert {query.item for query in batches[0]} == {0, 1}  # 2 of 100 scenes each are within 250
    results = search.results()
    decided = [one.state == "confirmed" for one in results]
    assert decided == sorted(decided, reverse=True)
    assert sum(decided) >= 8
    assert search.observations <= 250


def test_items_that_reach_a_lower_bar_together_are_confirmed_together():
    search = search_of(4, slots=4)
    alone = next(n for n in range(100) if float(log_e_above(n, n, threshold=0.6)) >= log(4 / 0.08))
    together = next(n for n in range(100) if float(log_e_above(n, n, threshold=0.6)) >= log(4 / (0.08 * 4)))

    play(search, with_letters("FFFF"))

    assert together < alone
    assert [one.samples for one in search.results()] == [together] * 4
    assert search.results()[0].numbers["log_e_needed"] == pytest.approx(log(12.5), abs=1e-6)


def test_an_item_that_was_given_up_is_taken_up_again_when_others_lower_the_bar():
    size, others, letters = 60, 10, "FFFFPP"
    joint = next(
        n for n in range(100) if float(log_e_above(n, n, threshold=0.6)) >= log(size / (0.08 * others))
    )
    refute_bar = log(size / 0.08)
    alone, after = (
        stopping_table(0.6, 100, confirm_bar=log(size / (0.08 * rejected)), refute_bar=refute_bar)
        for rejected in (1, others + 1)
    )
    futility = (alone.chance(4, 6) + after.chance(4, 6)) / 2
    config = ConfirmConfig(family_size=size, slots=others + 1, futility=futility)
    search = ConfirmSearch(config, specs(others + 1))
    answer = with_letters([letters] + ["F"] * others)

    play(search, answer, most_batches=joint - 1)
    given_up = search.results()[0]
    play(search, answer)

    assert (given_up.state, given_up.reason, given_up.samples) == ("undetermined", "futile", 6)
    assert joint > 7
    assert search.results()[0].samples > 6
    assert [one.state for one in search.results()[1:]] == ["confirmed"] * others


def test_the_bar_follows_the_size_of_the_whole_family():
    small, large = search_of(1), ConfirmSearch(ConfirmConfig(family_size=200), specs(1))

    for search in (small, large):
        play(search, with_letters("F"))

    assert small.results()[0].samples < large.results()[0].samples
    assert large.results()[0].numbers["log_e_needed"] == pytest.approx(log(200 / 0.08), abs=1e-6)
    assert large.results()[0].numbers["family_size"] == 200


def test_later_suspects_stand_in_line_with_the_rest_of_the_level():
    config = ConfirmConfig(family_size=20, later_index=3, later_discoveries=1)
    items = [*specs(1), ItemSpec(1, "block", key=("x",), settings={"place": 9})]
    search = ConfirmSearch(config, items)

    first, second = search.results()

    assert (first.numbers["place"], second.numbers["place"]) == (3, 9)
    assert first.numbers["log_e_needed"] == pytest.approx(log(12 / (0.02 * 2)), abs=1e-6)
    assert second.numbers["log_e_needed"] == pytest.approx(log(90 / (0.02 * 2)), abs=1e-6)
    assert first.numbers["family_size"] is None


def test_more_items_than_the_family_holds_are_refused():
    with pytest.raises(ValueError, match="at most the family's 1, got 2"):
        ConfirmSearch(ConfirmConfig(family_size=1), specs(2))


def test_outcomes_of_other_questions_are_refused():
    search = search_of(2, slots=2)
    first, second = search.ask()

    with pytest.raises(ValueError, match="batch last asked"):
        search.tell([answered(second, "F"), answered(first, "F")])


def test_numbers_can_be_stored_and_hold_the_interval_for_any_stop():
    search = search_of(2, slots=3)
    play(search, with_letters("FP"), most_batches=2)

    result = search.results()[0]

    assert json.loads(json.dumps(result.numbers)) == result.numbers
    expected = confidence_sequence(result.fails, result.samples, 0.95)
    interval = result.numbers["interval"]
    assert (result.state, result.reason) == ("", "")
    assert (interval["low"], interval["high"], interval["level"]) == pytest.approx(
        (expected.low, expected.high, 0.95)
    )
    assert result.numbers["threshold"] == 0.6
    assert result.numbers["level"] == 0.08


def test_long_trails_are_thinned_and_keep_their_last_point():
    search = search_of(1, slots=1, max_samples=900, futility=0.0)

    play(search, with_letters(["FPFPF"]), most_batches=500)

    trail = search.results()[0].numbers["trail"]
    assert len(trail) <= MOST_TRAIL_POINTS
    assert trail[-1][:2] == [500, 300]


def test_a_replay_asks_the_same():
    letters = ["FFPF", "FP", "PPPF", "FFFFFFFP"]
    first, second = search_of(4, slots=3), search_of(4, slots=3)

    assert play(first, with_letters(letters)) == play(second, with_letters(letters))
    assert first.results() == second.results()


def test_a_wrongly_refuted_item_needs_as_much_evidence_as_a_wrongly_confirmed_one():
    passes = passes_to_cross(20, threshold=0.5, log_needed=3.0)
    fails = fails_to_cross(20, threshold=0.5, log_needed=3.0)

    assert list(passes) == list(fails)


def test_the_papers_protocol_asks_a_fixed_number_of_scenes():
    config = ConfirmConfig(protocol="paper", paper_samples=20)

    search = build_confirm(config, items=specs(10), run_seed=1)
    while batch := search.ask():
        search.tell([answered(query, "F") for query in batch])

    assert isinstance(search, FixedDesignSearch)
    assert [(one.state, one.samples) for one in search.results()] == [("measured", 20)] * 10


def test_the_table_of_follow_ups_builds_a_confirmation():
    search = FOLLOW_UPS["confirm"].build_search(ConfirmConfig(family_size=2), items=specs(2), run_seed=5)

    assert isinstance(search, ConfirmSearch)
    assert search.stage == "fresh scenes"
