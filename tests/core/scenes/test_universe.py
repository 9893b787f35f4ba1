"""The universe of valid sets equals a slow, obvious enumeration."""

import time
from itertools import combinations

import numpy as np
import pytest

from vlmlab.core.scenes import catalogue
from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.core.scenes.universe import MaskConstraint, enumerate_masks

DRIVING = load_domain("driving")
EXCLUSIVE = (
    {"town_town01", "town_town02"},
    {"light_red", "light_green"},
    {"near", "far"},
    {"on_sidewalk", "on_lane"},
)
MOVABLE = {
    *("pedestrian", "child_pedestrian", "wheelchair_pedestrian", "police_pedestrian"),
    *("cyclist", "emergency_vehicle", "cone", "bus_stop", "garbage_bin"),
}
MODIFIERS = {"near", "far", "on_sidewalk", "on_lane"}


def is_valid_by_hand(ids):
    """The published constraints, written out once more without the catalogue."""
    chosen = set(ids)
    weathers = {one for one in chosen if one.startswith("weather_")}
    if len(weathers) > 1 or any(group <= chosen for group in EXCLUSIVE):
        return False
    if chosen & MODIFIERS and not chosen & MOVABLE:
        return False
    return bool(chosen - MODIFIERS - weathers)


def sizes_of(masks):
    return [int(mask).bit_count() for mask in masks]


def test_universe_has_the_known_number_of_sets_of_each_size():
    sizes = sizes_of(DRIVING.universe())

    assert [sizes.count(size) for size in range(1, 6)] == [20, 344, 3_024, 18_988, 88_288]
    assert len(sizes) == 110_664


def test_universe_equals_a_plain_enumeration_up_to_size_three():
    ids = [concept.id for concept in DRIVING.concepts]

    expected = {key for size in (1, 2, 3) for key in combinations(ids, size) if is_valid_by_hand(key)}

    assert {DRIVING.key_of(mask) for mask in DRIVING.universe(3)} == expected


def test_universe_agrees_with_why_invalid_on_every_set_up_to_size_three():
    ids = [concept.id for concept in DRIVING.concepts]

    compatible = [key for size in (1, 2, 3) for key in combinations(ids, size) if DRIVING.is_compatible(key)]

    assert sorted(DRIVING.mask(key) for key in compatible) == sorted(DRIVING.universe(3).tolist())


def test_universe_is_sorted_by_size_then_mask_and_cannot_be_written():
    masks = DRIVING.universe(4)

    assert masks.tolist() == sorted(masks.tolist(), key=lambda mask: (mask.bit_count(), mask))
    assert masks.dtype == np.int64
    with pytest.raises(ValueError, match="read-only"):
        masks[0] = 1


def test_universe_leaves_out_excluded_and_keeps_required_concepts():
    masks = DRIVING.universe(3, excluded=["town_town01", "weather_foggy"], required=["cone"])

    expected = {
        DRIVING.mask(key)
        for key in map(DRIVING.key_of, DRIVING.universe(3))
        if "cone" in key and not {"town_town01", "weather_foggy"} & set(key)
    }

    assert set(masks.tolist()) == expected


def test_universe_knows_the_other_names_of_concepts():
    masks = DRIVING.universe(2, excluded=["foggy"], required=["dumpster_near"])

    expected = DRIVING.universe(2, excluded=["weather_foggy"], required=["obstruction_near"])
    assert masks.tolist() == expected.tolist()
    assert len(masks) > 10


def test_universe_is_built_once():
    assert DRIVING.universe(5) is DRIVING.universe()


def test_universe_is_built_in_under_a_second():
    fresh = catalogue.load_domain.__wrapped__("driving")
    start = time.process_time()

    count = len(fresh.universe())

    assert count == 110_664
    assert time.process_time() - start < 1.0


def test_enumerate_masks_without_constraints_gives_all_combinations():
    masks = enumerate_masks(4, [], max_size=2)

    assert masks.tolist() == [1, 2, 4, 8, 3, 5, 6, 9, 10, 12]


def test_enumerate_masks_checks_needs_only_at_the_end():
    needs_bit_two = MaskConstraint(condition=0b001, needed=0b100)

    masks = enumerate_masks(3, [needs_bit_two], max_size=3)

    assert masks.tolist() == [0b010, 0b100, 0b101, 0b110, 0b111]


def test_enumerate_masks_refuses_more_concepts_than_bits():
    with pytest.raises(ValueError, match="got 63"):
        enumerate_masks(63, [], max_size=1)
