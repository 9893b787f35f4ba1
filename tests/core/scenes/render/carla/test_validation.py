"""The check of the rules in CARLA: what is written down, and what the server's car does."""

import csv
import dataclasses

import pytest
from django.core.management import CommandError, call_command

from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.core.scenes.render.carla import sampling
from vlmlab.core.scenes.render.carla.crossing import crossing_file
from vlmlab.core.scenes.render.carla.describing import Roads
from vlmlab.core.scenes.render.carla.driving_trial import Drive
from vlmlab.core.scenes.render.carla.params import CarlaParams
from vlmlab.core.scenes.render.carla.session import CarlaSession
from vlmlab.core.scenes.render.carla.validation import ValidationRow, summary, validation_scene
from vlmlab.core.suts.network import policy_of

DRIVING = load_domain("driving")
CROSSING = Roads(crossing_file(), None)


def scene_of(*ids, seed=3):
    return validation_scene(
        1,
        DRIVING.canonical(ids),
        domain=DRIVING,
        seed=seed,
        roads_of=lambda _: CROSSING,
    )


def drive(scene, brake):
    session = CarlaSession(
        CarlaParams(map="crossing", settle_ticks=5, timeout_s=60), policy_of(["127.0.0.1:2000"])
    )
    session.roads("Town01")
    return session.drive(scene.sampled, scene.plan, Drive(6.7, brake))


def test_row_holds_rule_action_speed_brake_and_the_verdict_of_the_arithmetic():
    row = scene_of("pedestrian", "cone", "far").row

    # The pedestrian stands 4 to 6 m ahead: emergency stop, 6.7² / 14 = 3.2 m.
    assert (row.rule, row.action, row.ego_mps, row.brake) == ("R1_obstacle_near", "emergency_stop", 6.7, 1.0)
    assert 4.0 <= row.nearest_m <= 6.0
    assert (row.collides, row.impact_mps, row.junction_m) == (False, 0.0, None)
    assert row.sentence.startswith("Full braking stops the car after 3.2 m")


def test_junction_and_half_braking_stand_in_the_row():
    row = scene_of("intersection_ego", "garbage_bin", "on_sidewalk").row

    assert (row.action, row.brake, row.nearest_m, row.collides) == ("slow_down", 0.5, None, None)
    assert 11.0 <= row.junction_m <= 25.0


def test_scene_that_finds_no_room_says_so_and_keeps_its_expectation(monkeypatch):
    monkeypatch.setattr(sampling, "MAX_ITERATIONS", 0)

    scene = scene_of("pedestrian", "cone", "far")

    assert scene.sampled is None
    assert scene.row.action == "emergency_stop"
    assert scene.row.problem == "The objects of this concept set do not fit side by side on the map."


def test_car_that_brakes_fully_stops_and_one_that_drives_on_hits_the_nearest_thing(server):
    scene = scene_of("pedestrian", "cone", "far")

    stopped, hit = drive(scene, 1.0), drive(scene, 0.0)

    assert (stopped.has_collided, stopped.hit) == (False, "")
    assert stopped.travelled_m == pytest.approx(6.7**2 / 14, abs=0.2)
    assert (hit.has_collided, hit.hit, hit.impact_mps) == (True, "pedestrian", pytest.approx(6.7, abs=0.1))
    assert server.world.actors == []


def test_summary_counts_where_server_and_arithmetic_agree():
    row = ValidationRow(1, "cone", 1, "R1", "emergency_stop", 6.7, 1.0, collides=False, drove_into="nothing")
    other = dataclasses.replace(row, collides=True)

    assert summary([row, other, dataclasses.replace(row, problem="no room")]) == (
        "2 of 3 scenes laid out.\n"
        "The arithmetic says that the expected action hits something in 1 of them.\n"
        "2 driven: the car touched something in 0; in 1 the server and the arithmetic agree."
    )


def test_command_writes_programs_map_and_table_without_a_server(tmp_path, capsys):
    call_command("carla_validation", out=str(tmp_path), scenes=2, max_size=1)

    with (tmp_path / "plan.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["number"] for row in rows] == ["1", "2"]
    assert {row["map"] for row in rows} == {"crossing"}
    assert not any("town" in row["concepts"] for row in rows)
    program = (tmp_path / rows[0]["program"]).read_text()
    assert "param map = localPath('crossing.xodr')" in program
    assert (tmp_path / "programs" / "crossing.xodr").read_text() == crossing_file()
    assert "2 of 2 scenes laid out." in capsys.readouterr().out


def test_command_drives_where_a_server_is_given(server, tmp_path, settings):
    settings.ENDPOINT_ALLOW = ["127.0.0.1:2000"]

    call_command("carla_validation", out=str(tmp_path), scenes=2, max_size=1, host="127.0.0.1")

    with (tmp_path / "plan.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert all(row["drove_into"] for row in rows)
    assert [row["drove_into"] != "nothing" for row in rows] == [row["collides"] == "True" for row in rows]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scenes": 0}, "--scenes: 1 to 10000."),
        ({"map": "towns"}, "--map towns needs the server that has them: add --host."),
        ({"domain": "indoor"}, "CARLA draws streets"),
        ({"host": "carla.example"}, "The server's address or map is not valid"),
    ],
)
def test_command_says_what_is_wrong(tmp_path, options, message):
    with pytest.raises(CommandError, match=message):
        call_command("carla_validation", out=str(tmp_path), **options)
