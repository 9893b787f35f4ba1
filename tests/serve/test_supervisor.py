"""Supervision, with small programs in the place of the lab's parts."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import asdict

import pytest

from tests.patience import PATIENCE_SECONDS
from tests.serve.labs import ROOT, children_of, clean_environment, is_alive, wait_until
from vlmlab.serve.plan import PLAN_VARIABLE, Part, Plan
from vlmlab.serve.supervisor import Running, Supervisor

SLEEPER = (sys.executable, "-c", "import time; time.sleep(300)")
STUBBORN = (
    sys.executable,
    "-c",
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('deaf', flush=True);"
    "time.sleep(300)",
)


@pytest.fixture
def supervise(tmp_path):
    started = []

    def start(*parts):
        plan = Plan("http://127.0.0.1:9", "http://127.0.0.1:9/healthz", parts)
        log = (tmp_path / "log").open("w+b")
        child = subprocess.Popen(
            [sys.executable, "-m", "vlmlab.serve.supervisor"],
            cwd=ROOT,
            env=clean_environment(**{PLAN_VARIABLE: json.dumps(asdict(plan))}),
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        started.append(child)
        return child

    yield start
    for child in started:
        child.kill()
        child.wait()


def test_a_part_that_dies_is_started_again_and_said_so(supervise, tmp_path):
    supervisor = supervise(Part("worker", SLEEPER))
    wait_until(lambda: children_of(supervisor.pid), "the part runs")
    first = next(iter(children_of(supervisor.pid)))

    os.kill(first, signal.SIGKILL)
    wait_until(lambda: set(children_of(supervisor.pid)) - {first}, "it runs again")

    assert "“worker” was ended by signal SIGKILL" in (tmp_path / "log").read_text("utf-8")


def test_a_killed_supervisor_leaves_no_orphans(supervise):
    supervisor = supervise(Part("web", SLEEPER), Part("worker", SLEEPER))
    wait_until(lambda: len(children_of(supervisor.pid)) == 2, "both parts run")
    children = list(children_of(supervisor.pid))

    supervisor.kill()
    supervisor.wait()

    wait_until(lambda: not any(map(is_alive, children)), "the parts end")


def test_ctrl_c_stops_everything_and_ends_with_status_0(supervise):
    supervisor = supervise(Part("web", SLEEPER), Part("worker", SLEEPER))
    wait_until(lambda: len(children_of(supervisor.pid)) == 2, "both parts run")
    children = list(children_of(supervisor.pid))

    supervisor.send_signal(signal.SIGINT)

    assert supervisor.wait(PATIENCE_SECONDS) == 0
    assert not any(map(is_alive, children))


def test_a_part_that_does_not_listen_is_killed_when_its_time_is_over(supervise, tmp_path):
    supervisor = supervise(Part("worker", STUBBORN, grace_seconds=0.5))
    wait_until(lambda: "deaf" in (tmp_path / "log").read_text("utf-8"), "the part ignores the signal")
    began = time.monotonic()

    supervisor.send_signal(signal.SIGTERM)

    assert supervisor.wait(PATIENCE_SECONDS) == 0
    assert 0.4 < time.monotonic() - began < 5


def test_a_second_ctrl_c_ends_the_patience(supervise, tmp_path):
    supervisor = supervise(Part("worker", STUBBORN, grace_seconds=600.0))
    wait_until(lambda: "deaf" in (tmp_path / "log").read_text("utf-8"), "the part ignores the signal")

    supervisor.send_signal(signal.SIGINT)
    wait_until(lambda: "Stopping" in (tmp_path / "log").read_text("utf-8"), "it stops")
    supervisor.send_signal(signal.SIGINT)

    assert supervisor.wait(PATIENCE_SECONDS) == 0


def test_a_part_that_runs_once_marks_that_it_ended_well(supervise, tmp_path):
    supervise(Part("sample data", (sys.executable, "-c", ""), is_once=True, done_file=str(tmp_path / "done")))

    wait_until((tmp_path / "done").exists, "it is marked")


def test_a_part_that_runs_once_and_fails_is_not_marked_and_said_so(supervise, tmp_path):
    command = (sys.executable, "-c", "raise SystemExit(3)")
    supervise(Part("sample data", command, is_once=True, done_file=str(tmp_path / "done")))

    wait_until(lambda: "ended with status 3" in (tmp_path / "log").read_text("utf-8"), "it is said")
    assert not (tmp_path / "done").exists()


def test_pauses_double_while_a_part_keeps_dying_and_shrink_after_a_healthy_minute():
    supervisor = Supervisor(Plan("", "", ()))
    entry = Running(Part("worker", SLEEPER))
    pauses = []
    for lived in (1, 1, 1, 1, 1, 1, 1, 1, 61):
        entry.child = subprocess.Popen([sys.executable, "-c", ""])
        entry.child.wait()
        entry.started_at = 1000.0
        supervisor._bury(entry, 1000.0 + lived)
        pauses.append(entry.pause_seconds)

    assert pauses == [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0, 0.5]


def test_the_supervisor_is_started_without_django():
    script = (
        "import sys, vlmlab.serve.supervisor; "
        "loaded = {name.partition('.')[0] for name in sys.modules}; "
        "print(sorted(loaded & {'django', 'celery', 'numpy', 'torch'}))"
    )

    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )

    assert done.stdout == "[]\n"
