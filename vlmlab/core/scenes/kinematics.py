"""One-dimensional check: does the car hit what stands in its lane when it takes an action?"""

import math
from dataclasses import dataclass

from vlmlab.core.scenes.concepts import Domain, Kinematics
from vlmlab.core.scenes.rules import Rule
from vlmlab.core.scenes.scene import SceneDescription

WORDS = {"continue": "driving on", "slow_down": "half braking", "emergency_stop": "full braking"}


@dataclass(frozen=True)
class CollisionVerdict:
    """What the check says.

    Attributes:
        will_collide: None where nothing stands in the lane.
        stopping_distance_m: None where the action does not stop the car.
        impact_speed_mps: speed at the object; 0 without a collision.
        sentence: the verdict in words.
    """

    will_collide: bool | None
    stopping_distance_m: float | None
    impact_speed_mps: float
    sentence: str


def collision_verdict(
    action: str,
    *,
    distance_m: float | None,
    kinematics: Kinematics,
) -> CollisionVerdict:
    """Return whether the car reaches an object that does not move.

    The car brakes at once and evenly: stopping distance = v² / 2a, impact speed = sqrt(v² - 2ad).

    Args:
        action: an id of ``kinematics.brake_share``.
        distance_m: from the bumper to the nearest object in the lane; None when there is none.
        kinematics: speed of the car and how hard each action brakes.

    Raises:
        ValueError: an unknown action, a negative distance, or a speed or deceleration that is not positive.
    """
    shares, ego_speed = kinematics.brake_share, kinematics.ego_speed_mps
    if action not in shares:
        raise ValueError(f"action must be one of {', '.join(shares)}, got {action!r}")
    if distance_m is not None and distance_m < 0:
        raise ValueError(f"distance_m must not be negative, got {distance_m}")
    for name, value in (("ego_speed_mps", ego_speed), ("full_braking_mps2", kinematics.full_braking_mps2)):
        if value <= 0:
            raise ValueError(f"{name} must be above 0, got {value}")
    deceleration = shares[action] * kinematics.full_braking_mps2
    stopping = ego_speed**2 / (2 * deceleration) if deceleration else None
    if distance_m is None:
        return CollisionVerdict(
            None, stopping, 0.0, "Nothing stands in the lane, so there is nothing to hit."
        )
    will_collide = stopping is None or stopping > distance_m + 1e-9
    impact = math.sqrt(max(0.0, ego_speed**2 - 2 * deceleration * distance_m)) if will_collide else 0.0
    start = WORDS.get(action, f"Braking by {shares[action]:.0%}").capitalize()
    if will_collide:
        sentence = f"{start} hits the object {distance_m:.1f} m ahead at {impact:.1f} m/s."
    else:
        sentence = (
            f"{start} stops the car after {stopping:.1f} m, {distance_m - (stopping or 0):.1f} m short."
        )
    return CollisionVerdict(will_collide, stopping, impact, sentence)


def nearest_lane_distance(description: SceneDescription) -> float | None:
    """Return the distance in metres from the bumper to the nearest required object in the lane, or None."""
    distances = [
        float(item.parameters["distance_m"] or 0.0)
        for item in description.objects
        if item.is_required and item.parameters.get("placement") == "lane"
    ]
    return min(distances, default=None)


@dataclass(frozen=True)
class KinematicRow:
    """One rule in one distance bucket, checked at the near end of the bucket.

    Attributes:
        rule_id, action: the rule.
        bucket: distance bucket, "" where nothing is to be hit.
        distance_m: its near end, the worst case.
        verdicts: action -> verdict at that distance.
        finding: ``needed`` (the mildest action that avoids a collision), ``mitigates`` (none avoids it, this
            one hits slowest), ``stricter`` (a milder one would do: traffic law, not physics), ``too mild``,
            or ``nothing to hit``.
    """

    rule_id: str
    action: str
    bucket: str
    distance_m: float | None
    verdicts: dict[str, CollisionVerdict]
    finding: str


def kinematic_table(domain: Domain) -> tuple[KinematicRow, ...]:
    """Return the check of every rule in every bucket that it speaks about; empty where nothing drives."""
    kinematics, rows = domain.kinematics, []
    if kinematics is None:
        return ()
    for rule in domain.rules:
        for bucket in _buckets(domain, rule):
            distance = domain.distances_m[bucket][0] if bucket else None
            verdicts = {
                action: collision_verdict(action, distance_m=distance, kinematics=kinematics)
                for action in domain.actions
            }
            finding = _finding(rule.action, verdicts, kinematics) if bucket else "nothing to hit"
            rows.append(KinematicRow(rule.id, rule.action, bucket, distance, verdicts, finding))
    return tuple(rows)


def _buckets(domain: Domain, rule: Rule) -> tuple[str, ...]:
    """Return the buckets of a rule; a signal that does not say "go" asks to stop before the junction."""
    if rule.condition.any_entity is not None:
        return rule.condition.any_entity.distances
    has_signal = any(domain.concept(one).kind == "signal" for one in rule.condition.has)
    return ("junction",) if has_signal and rule.action != "continue" else ("",)


def _finding(action: str, verdicts: dict[str, CollisionVerdict], kinematics: Kinematics) -> str:
    mildest_first = sorted(verdicts, key=kinematics.brake_share.__getitem__)
    safe = [one for one in mildest_first if not verdicts[one].will_collide]
    if not safe:
        slowest = min(mildest_first, key=lambda one: verdicts[one].impact_speed_mps)
        return "mitigates" if action == slowest else "too mild"
    if action == safe[0]:
        return "needed"
    return "stricter" if action in safe else "too mild"
