"""Which pictures teach decisions, and how often."""

import pytest

from tests.tools.pocket_parts import record
from tools.pocket.rarity import (
    GRAVE_RARITY,
    LABELLED_WEIGHTS,
    RARITY,
    deciding_shares,
    deciding_weight,
    showing_shares,
)
from tools.pocket.shards import PictureRecord
from vlmlab.core.scenes.catalogue import load_domain

PROBE = PictureRecord("probe", (), 0, ())


@pytest.mark.parametrize(
    ("found", "weight"),
    [
        (record("driving", "cone"), 1.0),
        (record("driving", "cone", "far"), 1.0),
        (record("driving", "child_pedestrian", "cone"), 0.6),
        (record("driving", "child_pedestrian", "cone", "weather_foggy"), 0.1 * 0.6 * 0.3),
        (record("driving", "town_town01", "light_red", "pedestrian", "cone"), 0.0),
        (record("driving", "wheelchair_pedestrian"), 0.03),
        (record("driving", "wheelchair_pedestrian", "far"), 1.0),
        (record("driving", "wheelchair_pedestrian", "on_sidewalk"), 1.0),
        (record("driving", "wheelchair_pedestrian", "light_red"), 0.03),
        (record("driving", "light_green", "cone"), 1.0),
        (record("driving", "light_green", "cone", "far"), 0.1),
        (record("driving", "light_green"), 1.0),
        (record("driving", "police_pedestrian"), 0.1),
        (record("driving", "police_pedestrian", "far"), 1.0),
        (record("indoor", "pill_bottle"), 0.05),
        (record("indoor", "stove_on", "smoke"), 0.5),
        (record("indoor", "knife_block"), 1.0),
    ],
)
def test_small_sets_weigh_most_and_what_is_seldom_in_danger_least(found, weight):
    assert deciding_weight(found) == pytest.approx(weight)


@pytest.mark.parametrize(
    ("found", "weight"),
    [
        (record("driving", "cone"), 1.0),
        (record("driving", "light_green", "cone"), 6.0),
        (record("driving", "light_green", "cone", "far"), 0.1),
        (record("driving", "light_green"), 1.0),
        (record("driving", "police_pedestrian"), 0.1 * 30.0),
        (record("driving", "police_pedestrian", "far"), 1.0),
        (record("driving", "light_green", "police_pedestrian"), 6.0 * 0.1 * 30.0),
        (record("driving", "wheelchair_pedestrian"), 0.03),
        (record("indoor", "pill_bottle"), 0.05),
    ],
)
def test_among_labelled_pictures_green_lights_and_officers_are_frequent_in_danger(found, weight):
    assert deciding_weight(found, by_people=True) == pytest.approx(weight)


def test_shares_of_labelled_pictures_are_those_of_their_weights():
    records = [
        record("driving", "cone"),  # emergency stop, 1
        record("driving", "light_green", "cone"),  # emergency stop, 6 by people
        record("driving", "light_green"),  # continue
    ]

    assert deciding_shares(records).tolist() == pytest.approx([1 / 4, 1 / 4, 1 / 2])
    assert deciding_shares(records, by_people=True).tolist() == pytest.approx([1 / 14, 6 / 14, 1 / 2])


def test_shares_make_domains_alike_and_in_each_its_answers():
    records = [
        record("driving", "cone"),  # emergency stop, 1
        record("driving", "wheelchair_pedestrian"),  # emergency stop, 0.03
        record("driving", "cone", "far"),  # slow down
        record("driving", "town_town01"),  # continue
        PROBE,
        record("indoor", "knife_edge"),  # hazard, 1
        record("indoor", "pill_bottle"),  # hazard, 0.05
        record("indoor", "knife_block"),  # safe
    ]

    shares = deciding_shares(records)

    expected = [1 / 1.03 / 6, 0.03 / 1.03 / 6, 1 / 6, 1 / 6, 0.0, 1 / 1.05 / 4, 0.05 / 1.05 / 4, 1 / 4]
    assert shares.tolist() == pytest.approx(expected)
    assert shares.sum() == pytest.approx(1.0)


def test_shares_of_one_domain_alone_add_up_to_one():
    shares = deciding_shares([record("indoor", "knife_edge"), record("indoor", "knife_block"), PROBE])

    assert shares.tolist() == pytest.approx([0.5, 0.5, 0.0])


def test_showing_shares_make_domains_alike_and_give_the_calibration_its_own():
    records = [
        record("driving", "cone"),
        record("driving", "wheelchair_pedestrian"),
        PROBE,
        record("indoor", "knife_edge"),
        PROBE,
    ]

    shares = showing_shares(records, probe_share=0.1)

    assert shares.tolist() == pytest.approx([0.225, 0.225, 0.05, 0.45, 0.05])


def test_showing_shares_without_a_calibration_or_a_domain_still_add_up_to_one():
    street = [record("driving", "cone")] * 2

    assert showing_shares(street, probe_share=0.1).tolist() == pytest.approx([0.5, 0.5])
    assert showing_shares([*street, PROBE], probe_share=0.2).tolist() == pytest.approx([0.4, 0.4, 0.2])


def test_rare_concepts_exist_and_are_made_rarer_never_absent_and_labelled_ones_more_frequent():
    known = {one.id for slug in ("driving", "indoor") for one in load_domain(slug).concepts}

    assert {*RARITY, *GRAVE_RARITY, *LABELLED_WEIGHTS} <= known
    assert all(0.0 < share < 1.0 for share in (*RARITY.values(), *GRAVE_RARITY.values()))
    assert all(weight > 1.0 for weight in LABELLED_WEIGHTS.values())
