"""The map of our own is what its builder says, and both Scenic and CARLA read it as a crossing."""

import carla
import pytest
from scenic.domains.driving.roads import Network

from vlmlab.core.scenes.render.carla.crossing import LANE_M, crossing_file, crossing_xodr


@pytest.fixture(scope="module")
def seen_by_carla():
    return carla.Map("crossing", crossing_file())


@pytest.fixture(scope="module")
def seen_by_scenic(tmp_path_factory):
    path = tmp_path_factory.mktemp("map") / "crossing.xodr"
    path.write_text(crossing_file())
    return Network.fromFile(path, useCache=False, writeCache=False)


def test_file_of_the_package_is_what_the_builder_makes():
    assert crossing_file() == crossing_xodr()


def test_scenic_sees_one_four_way_junction_with_sidewalks_on_every_arm(seen_by_scenic):
    (junction,) = seen_by_scenic.intersections

    assert len(junction.incomingLanes) == 4
    assert junction.is4Way
    assert all(lane.centerline.length == pytest.approx(120) for lane in junction.incomingLanes)
    arms = [road for road in seen_by_scenic.roads if not road.is1Way]
    assert [len(arm.sidewalks) for arm in arms] == [2, 2, 2, 2]


def test_scenic_lets_every_arm_turn_left_right_and_go_straight_on(seen_by_scenic):
    (junction,) = seen_by_scenic.intersections

    turns = sorted(maneuver.type.name for maneuver in junction.maneuvers)

    assert turns == ["LEFT_TURN"] * 4 + ["RIGHT_TURN"] * 4 + ["STRAIGHT"] * 4


def test_traffic_keeps_to_the_right_in_the_world_of_carla(seen_by_carla):
    # On the arm along +x, x ahead: right is +y, because CARLA's world is left-handed.
    outbound = seen_by_carla.get_waypoint(carla.Location(40, LANE_M / 2, 0))
    inbound = seen_by_carla.get_waypoint(carla.Location(40, -LANE_M / 2, 0))

    assert outbound.transform.rotation.yaw % 360 == pytest.approx(0, abs=0.1)
    assert inbound.transform.rotation.yaw % 360 == pytest.approx(180, abs=0.1)
    assert len({lane.road_id for lane in inbound.next(30)}) == 3


def test_each_lane_into_the_junction_has_a_light_at_its_right_curb(seen_by_carla):
    inbound = seen_by_carla.get_waypoint(carla.Location(40, -LANE_M / 2, 0))

    (light,) = inbound.get_landmarks_of_type(60, "1000001")

    # Inbound traffic on this arm drives towards -x, so its right is -y.
    assert (light.id, light.transform.location.y) == ("200", pytest.approx(-4.9, abs=0.05))
    assert len(seen_by_carla.get_all_landmarks_of_type("1000001")) == 4
