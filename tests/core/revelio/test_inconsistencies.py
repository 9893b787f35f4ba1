"""The published tables as data, and what in them does not fit."""

from itertools import combinations_with_replacement
from statistics import mean, pstdev, stdev

import pytest

from vlmlab.core.revelio.feasible import bounds_of_mean, retest_is_possible
from vlmlab.core.revelio.inconsistencies import find_inconsistencies, plain_set, regime_by_rule
from vlmlab.core.revelio.published import PAPER_ALGORITHMS, Retest, published
from vlmlab.core.scenes.catalogue import load_domain


@pytest.fixture(scope="module")
def found():
    return find_inconsistencies(published())


def at(found, *tables, kind=None):
    return [one for one in found if one.tables == tables and kind in (None, one.kind)]


def test_the_tables_have_the_rows_of_the_paper():
    tables = published()

    assert (len(tables.table_1), len(tables.table_2), len(tables.table_3)) == (16, 16, 5)
    assert [len(rows) for rows in (tables.table_13, tables.table_14, tables.table_15, tables.table_16)] == [
        10, 10, 11, 10,
    ]  # fmt: skip
    assert tables.table_2[0].bs.pfm == 15.5
    assert tables.table_6.pfm["k=5"] == 24.7


@pytest.mark.parametrize(("name", "domain"), [("table_11", "driving"), ("table_12", "indoor")])
def test_every_published_set_is_a_valid_set_of_the_domain(name, domain):
    loaded = load_domain(domain)
    valid = set(loaded.universe().tolist())
    sets = [one for block in getattr(published(), name) for algorithm in PAPER_ALGORITHMS
            for one in block.of(algorithm)]  # fmt: skip

    assert len(sets) == 120
    assert [one for one in sets if loaded.mask(loaded.canonical(one)) not in valid] == []


def test_cells_of_one_setting_that_differ_are_found(found):
    (beam,) = at(found, 2, 6, 8)
    (gpts,) = at(found, 2, 8, 10)
    (mfr,) = at(found, 2, 9, 10)

    assert beam.sentence == "The same setting: 13.22 % in Table 2, 24.7 % in Table 6, 24.7 % in Table 8."
    assert gpts.sentence == "The same setting: 4.5 % in Table 2, 10 % in Table 8, 4.5 % in Table 10."
    assert mfr.sentence == "The same setting: 22.8 % in Table 2, 23 % in Table 9, 23 % in Table 10."


def test_an_indoor_transfer_to_itself_is_the_mean_of_the_search_not_of_the_retest(found):
    first, second = at(found, 1, 3)

    assert (first.place, second.place) == (
        "indoor, Gemini (medium) on itself, bs", "indoor, Gemini (medium) on itself, gpts",
    )  # fmt: skip
    assert "19 % in Table 3, 51.5 % in Table 1" in first.sentence
    assert "7.8 % is its MFR in Table 2" in second.sentence


def test_random_rates_that_two_tables_tell_differently_are_found(found):
    places = [one.place for one in at(found, 2, 3)]

    assert places == [
        "driving, Claude Sonnet 4.6, random", "driving, Qwen3-VL-235B, random",
        "driving, GLM-4.6V-Flash, random", "indoor, GLM-4.6V-Flash, random",
    ]  # fmt: skip


def test_shares_that_no_two_hundred_sets_can_have_are_those_of_the_indoor_beam(found):
    impossible = at(found, 2, kind="impossible")

    assert len(impossible) == 8
    assert {(one.place.split(", ")[0], one.place.split(", ")[-1]) for one in impossible} == {("indoor", "bs")}


def test_labels_against_the_rule_of_table_13_are_four_of_which_two_fit_no_reading(found):
    wrong = at(found, 13)

    assert [one.place for one in wrong] == ["emergency_vehicle", "cone", "obstruction_far", "cyclist"]
    assert ["Even without" in one.sentence for one in wrong] == [False, False, True, True]
    assert at(found, 14) == []


@pytest.mark.parametrize("row", published().table_14, ids=lambda row: row.concept)
def test_the_rule_gives_the_labels_of_table_14(row):
    assert regime_by_rule(row) == row.regime


def test_the_published_bases_of_pairs_follow_from_the_rates_of_the_concepts(found):
    """1 - (1 - .244)(1 - .186) = .3846 for debris_far with emergency_vehicle, printed as 38.5."""
    assert at(found, 13, 15) == []
    assert at(found, 14, 16) == []


def test_a_mean_failure_rate_below_what_the_failure_modes_alone_give_is_impossible(found):
    """5.7 % of the sets with at least 3 of 5 fails make 3.42 %; 3.0 is printed."""
    low, high = bounds_of_mean(5.7, 0.6, 5)

    assert (low, high) == (pytest.approx(3.42), pytest.approx(5.7 + 94.3 * 0.4))
    assert [one.place for one in found if one.kind == "impossible" and one.tables in ((6,), (8,))] == [
        "k=1", "gpts, m10",
    ]  # fmt: skip


@pytest.mark.parametrize("sd_of", [pstdev, stdev])
def test_retests_that_can_be_had_are_let_pass(sd_of):
    rates = [1.0, 0.95, 0.9, 0.4, 0.0]
    shown = Retest(mean=round(100 * mean(rates), 1), sd=round(100 * sd_of(rates), 1), reached=3, sets=5)

    assert retest_is_possible(shown, scenes=20)


@pytest.mark.parametrize("scenes", [4, 5])
def test_feasible_retests_are_those_that_some_counts_give(scenes):
    """Three sets, all counts tried one by one."""
    all_of_them = {
        (sum(5 * one >= 4 * scenes for one in counts), sum(counts), round(100 * pstdev(counts) / scenes, 1))
        for counts in combinations_with_replacement(range(scenes + 1), 3)
    }
    samples = {
        (sum(5 * one >= 4 * scenes for one in counts), sum(counts), round(100 * stdev(counts) / scenes, 1))
        for counts in combinations_with_replacement(range(scenes + 1), 3)
    }
    for reached in range(4):
        for total in range(3 * scenes + 1):
            for sd in (0.0, 10.0, 9.4, 11.5, 20.4, 25.0, 43.3):
                shown = Retest(mean=round(100 * total / 3 / scenes, 1), sd=sd, reached=reached, sets=3)
                expected = any((reached, total, sd) in known for known in (all_of_them, samples))
                assert retest_is_possible(shown, scenes=scenes) == expected, shown


def test_nine_of_ten_sets_at_eighty_percent_cannot_average_99_5():
    """Nine at 100 % and one at 75 % average 97.5 %."""
    shown = Retest(mean=99.5, sd=2.5, reached=9, sets=10)

    assert not retest_is_possible(shown, scenes=20, has_spread=False)
    assert retest_is_possible(Retest(mean=97.5, sd=2.5, reached=9, sets=10), scenes=20, has_spread=False)


def test_guided_indoor_top_sets_fall_below_the_threshold_in_14_of_16_cells(found):
    (weak,) = at(found, 1, kind="weak")

    assert "14 of 16 cells" in weak.sentence


def test_some_published_spreads_are_divided_by_n_and_some_by_one_less(found):
    """Mean 82 %, five of ten at 80 %: 16.6 only over n. Mean 74 %, six of ten: 13.1 only over n - 1."""
    (mixed,) = at(found, 1, kind="rule")
    by_n = Retest(mean=82.0, sd=16.6, reached=5, sets=10)
    by_less = Retest(mean=74.0, sd=13.1, reached=6, sets=10)

    assert mixed.sentence == "9 of the rows can only be divided by n, 2 only by n - 1: not all are the same."
    assert [retest_is_possible(by_n, scenes=20, less=(less,)) for less in (0, 1)] == [True, False]
    assert [retest_is_possible(by_less, scenes=20, less=(less,)) for less in (0, 1)] == [False, True]


def test_numbers_behind_concept_ids_are_taken_off():
    assert plain_set(("far_0", "weather_clear_noon_0", "town_town02")) == {
        "far", "weather_clear_noon", "town_town02",
    }  # fmt: skip


def test_nothing_is_found_twice_and_every_sentence_ends(found):
    assert len({(one.tables, one.place, one.sentence) for one in found}) == len(found) == 47
    assert [one for one in found if not one.sentence.endswith((".", ")."))] == []
