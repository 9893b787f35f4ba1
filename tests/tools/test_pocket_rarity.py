"""Which pictures teach decisions, and how often."""

import pytest

from tests.tools.pocket_parts import record
from tools.pocket.rarity import RARITY, deciding_shares, deciding_weight, showing_shares
from tools.pocket.shards import PictureRecord
from vlmlab.core.scenes.catalogue import load_domain

PROBE = PictureRecord("probe", (), 0, ())


@pytest.mark.parametrize(
    ("found", "weight"),
    [
        (record("driving", "cone"), 1.0),
        (record("driving", "cone", "far"), 1.0),
        (record("driving", "cone", "wheelchair_pedestrian"), 0.15),
        (record("driving", "wheelchair_pedestrian", "cone", "weather_foggy"), 0.25 * 0.15 * 0.3),
        (record("driving", "town_town01", "light_red", "pedestrian", "cone"), 0.05),
        (record("indoor", "pill_bottle"), 0.4),
    ],
)
def test_small_sets_of_common_concepts_weigh_most(found, weight):
    assert deciding_weight(found) == pytest.approx(weight)


def test_shares_make_domains_alike_and_in_each_its_answers():
    records = [
        record("driving", "cone"),  # emergency stop, 1
        record("driving", "wheelchair_pedestrian"),  # emergency stop, 0.15
        record("driving", "cone", "far"),  # slow down
        record("driving", "town_town01"),  # continue
        PROBE,
        record("indoor", "knife_edge"),  # hazard, 1
        record("indoor", "pill_bottle"),  # hazard, 0.4
        record("indoor", "knife_block"),  # safe
    ]

    shares = deciding_shares(records)

    expected = [1 / 1.15 / 6, 0.15 / 1.15 / 6, 1 / 6, 1 / 6, 0.0, 1 / 1.4 / 4, 0.4 / 1.4 / 4, 1 / 4]
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


def test_rare_concepts_exist_and_are_made_rarer_never_absent():
    known = {one.id for slug in ("driving", "indoor") for one in load_domain(slug).concepts}

    assert set(RARITY) <= known
    assert all(0.0 < share < 1.0 for share in RARITY.values())
