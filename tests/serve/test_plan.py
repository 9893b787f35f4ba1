"""What is started, and how the supervisor is told."""

import os
from pathlib import Path

from vlmlab.serve.broker import Broker
from vlmlab.serve.plan import PLAN_VARIABLE, Plan, lab_parts, read_plan, write_plan

REDIS = Broker("bundled", "redis+socket:///run/q", ("valkey-server", "--port", "0"))


def parts(broker, mark=None, *, renderers=0):
    listed = lab_parts(
        broker, descriptor=7, queues="cpu,api", concurrency=2, renderers=renderers, sample_data_mark=mark
    )
    return {part.name: part for part in listed}


def test_with_a_queue_of_our_own_everything_is_started_in_order():
    assert list(parts(REDIS)) == ["queue", "web", "worker"]


def test_somebody_elses_queue_is_not_started():
    assert list(parts(Broker("configured", "redis://host/0"))) == ["web", "worker"]


def test_without_a_queue_the_worker_polls():
    assert parts(Broker("none"))["worker"].command[-3:] == ("worker", "--queues", "cpu,api")


def test_workers_that_draw_ahead_poll_their_own_queue_and_repair_nothing():
    drawing = parts(REDIS, renderers=2)

    assert list(drawing) == ["queue", "web", "worker", "renderer 1", "renderer 2"]
    assert drawing["renderer 2"].command[-4:] == ("worker", "--queues", "render", "--no-reaper")
    assert drawing["renderer 1"].starts_after == "web"


def test_the_worker_keeps_the_timetable_itself():
    worker = parts(REDIS)["worker"]

    assert worker.environment["VLMLAB_TIMETABLE"] == "1"
    assert worker.command[worker.command.index("-P") + 1] == "threads"


def test_sample_data_is_loaded_until_it_once_ended_well(tmp_path):
    mark = tmp_path / "done"
    before = parts(REDIS, mark)
    mark.touch()
    after = parts(REDIS, mark)

    assert (before["sample data"].is_once, before["sample data"].done_file) == (True, str(mark))
    assert "sample data" not in after


def test_no_command_line_shows_the_broker_url():
    broker = Broker("configured", "redis://:hunter2@host/0")

    assert [part for part in parts(broker).values() if "hunter2" in " ".join(part.command)] == []


def test_a_plan_survives_the_way_through_the_environment_and_leaves_it(monkeypatch):
    monkeypatch.setenv(PLAN_VARIABLE, "")
    plan = Plan(
        "http://127.0.0.1:8000",
        "http://127.0.0.1:8000/healthz",
        tuple(parts(REDIS, Path("/x")).values()),
        queue_socket="/run/q",
        runtime_dir="/run",
        notes=("a",),
    )

    write_plan(plan)

    assert read_plan() == plan
    assert PLAN_VARIABLE not in os.environ
