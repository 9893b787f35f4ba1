"""F3: a database that is locked, or goes away, delays a run and never loses it."""

import os
import signal
import sqlite3
import threading
import time

import pytest
from django.db import DatabaseError, connection

from searches.enums import RunState
from searches.models import SearchRun
from tests.patience import PATIENCE_SECONDS
from tests.searches.engine import run_digest
from tests.searches.faults.lab import wait_for


def hold_write_lock(path: str, seconds: float) -> threading.Thread:
    """Hold the write lock of a SQLite file from an outside connection for a while."""
    is_held = threading.Event()

    def hold() -> None:
        outside = sqlite3.connect(path, isolation_level=None, timeout=PATIENCE_SECONDS)
        outside.execute("BEGIN IMMEDIATE")
        is_held.set()
        time.sleep(seconds)
        outside.execute("ROLLBACK")
        outside.close()

    thread = threading.Thread(target=hold)
    thread.start()
    assert is_held.wait(PATIENCE_SECONDS)
    return thread


def run_under_a_lock(lab, *, seconds: float) -> SearchRun:
    run, wanted = lab.pair(inference_budget=60, sut={"latency_ms": 40})
    lab.start_worker()
    wait_for(lambda: run.samples.count() >= 16)

    # Longer than the lease: heartbeat, checkpoint and reaper are all due while nobody can write.
    hold_write_lock(lab.database["NAME"], seconds).join()
    lab.finish(run)

    assert run_digest(run) == wanted
    return run


@pytest.mark.parametrize("lab", ["sqlite"], indirect=True)
def test_an_outside_write_lock_only_delays_the_run(lab):
    run_under_a_lock(lab, seconds=2.5)


@pytest.mark.slow
@pytest.mark.parametrize("lab", ["sqlite"], indirect=True)
def test_an_outside_write_lock_of_eight_seconds_only_delays_the_run(lab):
    run_under_a_lock(lab, seconds=8.0)


@pytest.mark.slow
def test_six_processes_that_write_while_a_run_writes_get_no_lock_errors(lab):
    run, wanted = lab.pair(inference_budget=80, sut={"latency_ms": 20})
    others = [lab.pair(inference_budget=20, run_seed=100 + number)[0] for number in range(5)]

    for _ in range(6):
        lab.start_worker()

    lab.finish(run)
    for other in others:
        lab.finish(other)
    assert run_digest(run) == wanted
    assert all(other.state == RunState.SUCCEEDED for other in others)
    assert all(worker.is_alive for worker in lab.workers)


@pytest.mark.parametrize("lab", [pytest.param("postgres", marks=pytest.mark.postgres)], indirect=True)
def test_connections_cut_by_the_server_only_delay_the_run(lab):
    run, wanted = lab.pair(inference_budget=60, sut={"latency_ms": 40})
    lab.start_worker()

    for answered in (8, 24, 40):
        wait_for(lambda answered=answered: run.samples.count() >= answered)
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
    lab.finish(run)

    assert run.state == RunState.SUCCEEDED
    assert run_digest(run) == wanted


@pytest.mark.slow
@pytest.mark.skipif(
    os.environ.get("VLMLAB_TEST_POSTGRES_MAY_CRASH") != "1", reason="the server may not be crashed"
)
@pytest.mark.parametrize("lab", [pytest.param("postgres", marks=pytest.mark.postgres)], indirect=True)
def test_a_server_that_crashes_and_recovers_only_delays_the_run(lab):
    run, wanted = lab.pair(inference_budget=60, sut={"latency_ms": 60})
    worker = lab.start_worker()
    wait_for(lambda: run.samples.count() >= 16)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        backend = cursor.fetchone()[0]

    os.kill(backend, signal.SIGKILL)  # the server ends every session and recovers from its log
    wait_for(_is_back)
    lab.finish(run)

    assert worker.is_alive
    assert run_digest(run) == wanted


def _is_back() -> bool:
    try:
        connection.close()
        return SearchRun.objects.exists()
    except DatabaseError:
        return False
