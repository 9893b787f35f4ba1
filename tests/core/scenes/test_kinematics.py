"""Stopping distances and impact speeds against hand-worked values."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.core.scenes.concepts import Kinematics
from vlmlab.core.scenes.driving import sample_driving
from vlmlab.core.scenes.kinematics import (
    collision_verdict,
    kinematic_table,
    nearest_lane_distance,
)

DRIVING = load_domain("driving")
assert DRIVING.kinematics is not None
CAR = DRIVING.kinematics


def car(speed, braking):
    return Kinematics(speed, braking, CAR.brake_share)


def simulated_impact(speed, deceleration, distance, step=1e-4):
    """Drive in small steps: the slow, obvious version."""
    travelled = 0.0
    while speed > 0 and travelled < distance:
        travelled += speed * step
        speed -= deceleration * step
    return max(speed, 0.0) if travelled >= distance else 0.0


def test_every_rule_and_bucket_is_checked_at_its_near_end():
    table = [(row.rule_id, row.bucket, row.distance_m, row.finding) for row in kinematic_table(DRIVING)]

    assert table == [
        ("R1_obstacle_near", "near", 2.0, "mitigates"),
        ("R1_obstacle_near", "default", 4.0, "needed"),
        ("R2_red_light", "junction", 11.0, "stricter"),
        ("R3_obstacle_far", "far", 15.0, "needed"),
        ("R4_green_light", "", None, "nothing to hit"),
        ("R5_junction", "junction", 11.0, "needed"),
        ("R6_adverse_weather", "", None, "nothing to hit"),
        ("R7_default", "", None, "nothing to hit"),
    ]


@pytest.mark.parametrize("distance", [2.0, 4.0, 6.0])
def test_half_braking_never_stops_within_the_near_and_default_distances(distance):
    assert collision_verdict("slow_down", distance_m=distance, kinematics=CAR).will_collide is True


@pytest.mark.parametrize("distance", [4.0, 6.0, 15.0])
def test_full_braking_stops_from_the_default_distance_on(distance):
    assert collision_verdict("emergency_stop", distance_m=distance, kinematics=CAR).will_collide is False


def test_verdict_has_the_hand_worked_numbers():
    verdict = collision_verdict("slow_down", distance_m=4.0, kinematics=car(6.0, 5.0))

    assert verdict.stopping_distance_m == pytest.approx(7.2)
    assert verdict.impact_speed_mps == pytest.approx(4.0)
    assert verdict.sentence == "Half braking hits the object 4.0 m ahead at 4.0 m/s."


def test_verdict_of_a_stop_says_how_short():
    verdict = collision_verdict("emergency_stop", distance_m=5.0, kinematics=car(6.0, 6.0))

    assert verdict.sentence == "Full braking stops the car after 3.0 m, 2.0 m short."


def test_driving_on_never_stops():
    verdict = collision_verdict("continue", distance_m=20.0, kinematics=CAR)

    assert (verdict.will_collide, verdict.stopping_distance_m) == (True, None)
    assert verdict.impact_speed_mps == pytest.approx(6.7)


def test_free_lane_gives_no_verdict():
    assert collision_verdict("continue", distance_m=None, kinematics=CAR).will_collide is None


@given(st.sampled_from(sorted(CAR.brake_share)), st.floats(0.5, 25.0))
def test_impact_speed_agrees_with_a_step_by_step_drive(action, distance):
    verdict = collision_verdict(action, distance_m=distance, kinematics=CAR)

    slow = simulated_impact(6.7, CAR.brake_share[action] * 7.0, distance)

    assert verdict.impact_speed_mps == pytest.approx(slow, abs=0.12)


@pytest.mark.parametrize(
    ("action", "distance", "word"), [("honk", 1.0, "action must be"), ("continue", -1.0, "not be negative")]
)
def test_verdict_refuses_what_it_cannot_read(action, distance, word):
    with pytest.raises(ValueError, match=word):
        collision_verdict(action, distance_m=distance, kinematics=CAR)


@pytest.mark.parametrize("setting", [{"ego_speed_mps": 0.0}, {"full_braking_mps2": -1.0}])
def test_verdict_refuses_a_speed_or_a_brake_that_is_not_positive(setting):
    with pytest.raises(ValueError, match=f"{next(iter(setting))} must be above 0"):
        collision_verdict("continue", distance_m=5.0, kinematics=replace(CAR, **setting))


def test_nearest_lane_distance_is_that_of_the_nearest_object_in_the_lane():
    key = DRIVING.canonical(["obstruction_far", "cone", "near"])

    scene = sample_driving(key, seed=4)

    cone = next(item for item in scene.objects if item.concept == "cone")
    assert nearest_lane_distance(scene) == cone.parameters["distance_m"]
    assert 2.0 <= nearest_lane_distance(scene) <= 4.0


def test_nearest_lane_distance_is_none_when_all_stands_on_the_sidewalk():
    key = DRIVING.canonical(["light_green", "pedestrian", "on_sidewalk"])

    assert nearest_lane_distance(sample_driving(key, seed=4)) is None


@pytest.mark.parametrize("distance", [0.0, 3.0])
def test_the_slowest_car_that_does_not_brake_hits_as_well(distance):
    verdict = collision_verdict("continue", distance_m=distance, kinematics=car(1e-5, 1e-300))

    assert (verdict.will_collide, verdict.impact_speed_mps) == (True, pytest.approx(1e-5))
    assert verdict.sentence == f"Driving on hits the object {distance:.1f} m ahead at 0.0 m/s."
