"""The universe of valid sets equals a slow, obvious enumeration."""

import time
from itertools import combinations

import numpy as np
import pytest

from vlmlab.core.scenes import catalogue
from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.core.scenes.universe import MaskConstraint, MaskPattern, UniverseTooLargeError, enumerate_masks

DRIVING = load_domain("driving")
INDOOR = load_domain("indoor")
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


def test_enumerate_masks_looks_at_as_many_sets_as_the_limit_and_not_at_one_more():
    assert len(enumerate_masks(4, [], max_size=2, limit=10)) == 10

    with pytest.raises(UniverseTooLargeError, match="more than 9 sets of up to 2 concepts"):
        enumerate_masks(4, [], max_size=2, limit=9)


def test_enumerate_masks_refuses_more_concepts_than_bits():
    with pytest.raises(ValueError, match="got 63"):
        enumerate_masks(63, [], max_size=1)


INDOOR_CLASHES = (
    {"glass_upright", "glass_tipped"},
    {"knife_edge", "knife_block"},
    {"cabinet_open", "cabinet_closed"},
    {"outlet_exposed", "outlet_covered"},
    {"pan_stove", "pan_counter"},
    {"towel_near", "towel_burning"},
    {"child_far_microwave", "child_near_microwave"},
    {"barefoot_child_safe", "glass_floor"},
    {"barefoot_child_safe", "barefoot_near_glass"},
)
INDOOR_NEEDS = {
    "coffee_spill": {"glass_tipped"},
    "child_reaching": {"cabinet_open"},
    "towel_near": {"stove_on"},
    "towel_burning": {"stove_on"},
    "smoke": {"towel_burning", "stove_on"},
    "adult_reacting": {"towel_burning", "smoke"},
    "child_far_microwave": {"microwave_open_hot"},
    "child_near_microwave": {"microwave_open_hot"},
    "child_near_pan": {"pan_stove", "pan_counter"},
    "barefoot_near_glass": {"glass_floor"},
}


def is_valid_kitchen_by_hand(ids):
    """What a kitchen must meet, written out once more; every other valid set has something a rule asks of."""
    chosen = set(ids)
    if any(clash <= chosen for clash in INDOOR_CLASHES):
        return False
    return chosen != {"kitchen"} and all(
        chosen & needed for one, needed in INDOOR_NEEDS.items() if one in chosen
    )


def test_kitchens_have_the_known_number_of_sets_of_each_size():
    sizes = sizes_of(INDOOR.universe())

    assert [sizes.count(size) for size in range(1, 6)] == [22, 257, 1_864, 9_890, 40_998]


def test_kitchens_equal_a_plain_enumeration_up_to_size_three():
    ids = [concept.id for concept in INDOOR.concepts]

    expected = {key for size in (1, 2, 3) for key in combinations(ids, size) if is_valid_kitchen_by_hand(key)}

    assert {INDOOR.key_of(mask) for mask in INDOOR.universe(3)} == expected


def test_kitchens_agree_with_why_invalid_on_every_set_up_to_size_three():
    ids = [concept.id for concept in INDOOR.concepts]

    compatible = [key for size in (1, 2, 3) for key in combinations(ids, size) if INDOOR.is_compatible(key)]

    assert sorted(INDOOR.mask(key) for key in compatible) == sorted(INDOOR.universe(3).tolist())


def test_enumerate_masks_equals_a_slow_enumeration_with_exclusions_and_patterns():
    excludes = MaskConstraint(left=0b00011, right=0b01100)
    matches = MaskConstraint(patterns=(MaskPattern((0b00001, 0b10010)), MaskPattern((0b01000,), 0b10000)))

    masks = enumerate_masks(5, [excludes, matches], max_size=4)

    expected = []
    for size in range(1, 5):
        for bits in combinations(range(5), size):
            chosen = set(bits)
            if chosen & {0, 1} and chosen & {2, 3}:
                continue
            first = 0 in chosen and bool(chosen & {1, 4})
            second = 3 in chosen and 4 not in chosen
            if first or second:
                expected.append(sum(1 << bit for bit in bits))
    assert sorted(masks.tolist()) == sorted(expected)
    assert sorted(masks.tolist())[0] == 0b00011


def test_a_pattern_is_no_clash_because_a_further_concept_may_complete_it():
    completes = MaskConstraint(patterns=(MaskPattern((0b001, 0b100)),))

    assert enumerate_masks(3, [completes], max_size=3).tolist() == [0b101, 0b111]
