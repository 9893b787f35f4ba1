"""A lab of real processes for fault tests: its own database, workers that can be killed, frozen, woken."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import Any

import environ
from django.conf import settings
from django.db import connection, connections
from django.db.utils import load_backend

from searches.enums import RunState
from searches.models import SearchRun
from searches.services import reaper, work
from searches.services.presence import presence
from tests.patience import PATIENCE_SECONDS
from tests.searches.engine import FLAT, advance, as_new_process, run_digest, scripted, start_run

ROOT = Path(__file__).resolve().parents[3]
FAST = {
    "LEASE_SECONDS": 2,
    "REAPER_SECONDS": 0.2,
    "POLL_SECONDS": 0.02,
    "SLICE_SECONDS": 0.5,
    "HAS_HEARTBEATS": True,
    "HAS_TEST_HOOKS": True,
    "SCENE_SOURCE_FACTORY": FLAT,
}


@dataclass
class Worker:
    """A process that works for the lab."""

    pid: int
    started: float = field(default_factory=time.monotonic)

    def send(self, number: int) -> None:
        os.kill(self.pid, number)

    def kill(self) -> None:
        """Kill it as the system would, without a chance to tidy up."""
        self.send(signal.SIGKILL)
        self.wait()

    def freeze(self) -> None:
        """Stop it where it is, and wait until it stands."""
        self.send(signal.SIGSTOP)
        os.waitpid(self.pid, os.WUNTRACED)

    def wake(self) -> None:
        self.send(signal.SIGCONT)

    def wait(self, seconds: float = PATIENCE_SECONDS) -> int:
        """Wait for its end and return its exit status (negative: the signal that ended it)."""
        limit = time.monotonic() + seconds
        while time.monotonic() < limit:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                return os.waitstatus_to_exitcode(status)
            time.sleep(0.01)
        raise AssertionError(f"worker {self.pid} still runs after {seconds} s")

    @property
    def is_alive(self) -> bool:
        try:
            return os.waitpid(self.pid, os.WNOHANG) == (0, 0)
        except ChildProcessError:
            return False


class Lab:
    """One database with workers; made by the ``lab`` fixture."""

    def __init__(self, database: dict[str, Any], folder: Path) -> None:
        self.database = database
        self.folder = folder
        self.workers: list[Worker] = []

    @property
    def is_sqlite(self) -> bool:
        return self.database["ENGINE"].endswith("sqlite3")

    def start_worker(self, *, crash_point: str = "") -> Worker:
        """Start a polling worker as a fork: a process of its own within milliseconds."""
        return self.start(lambda: work.run_forever(["cpu"], stop=Event()), crash_point=crash_point)

    def start(self, task: Callable[[], object], *, crash_point: str = "") -> Worker:
        """Run a function in a process of its own."""
        connection.close()  # a connection must not be shared with the child
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                signal.signal(signal.SIGTERM, signal.SIG_DFL)
                settings.CRASH_POINT = crash_point
                as_new_process()
                task()
                code = 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(code)
        worker = Worker(pid)
        self.workers.append(worker)
        return worker

    def start_command(self, *arguments: str, **environment: str) -> "subprocess.Popen[bytes]":
        """Start ``manage.py`` with these arguments on the lab's database, as a person would."""
        return self.start_program(sys.executable, "manage.py", *arguments, **environment)

    def start_program(self, *command: str, **environment: str) -> "subprocess.Popen[bytes]":
        """Start a program with the settings of the lab."""
        return subprocess.Popen(
            command,
            cwd=ROOT,
            env={**os.environ, **self.environment(), **environment},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )

    def environment(self) -> dict[str, str]:
        """Return the settings of the lab as environment variables."""
        return {
            "VLMLAB_DATABASE_URL": self.url(),
            "VLMLAB_DATA_DIR": str(self.folder),
            "VLMLAB_BLOB_DIR": str(settings.BLOB_DIR),
            "VLMLAB_TEST_HOOKS": "1",
            "VLMLAB_SECRET_KEY": "fault-tests",
            "VLMLAB_SCENE_SOURCE_FACTORY": FLAT,
            "VLMLAB_LEASE_SECONDS": str(FAST["LEASE_SECONDS"]),
            "VLMLAB_REAPER_SECONDS": str(FAST["REAPER_SECONDS"]),
            "VLMLAB_POLL_SECONDS": str(FAST["POLL_SECONDS"]),
            "VLMLAB_SLICE_SECONDS": str(FAST["SLICE_SECONDS"]),
            "VLMLAB_LOG_LEVEL": "WARNING",
        }

    def url(self) -> str:
        if self.is_sqlite:
            return f"sqlite:///{self.database['NAME']}"
        row = self.database
        return f"postgres://{row['USER']}:{row['PASSWORD']}@{row['HOST']}:{row['PORT']}/{row['NAME']}"

    def pair(self, **config: Any) -> tuple[SearchRun, str]:
        """Return a queued run and the digest that it must have in the end, from an undisturbed twin."""
        params = config.pop("sut", {})
        twin = start_run(scripted(**params | {"latency_ms": 0}), **config)
        run = start_run(scripted(**params), **config)
        SearchRun.objects.filter(pk=run.pk).update(state=RunState.PAUSED)  # no worker may take it yet
        advance(twin)
        SearchRun.objects.filter(pk=run.pk).update(state=RunState.QUEUED)
        as_new_process()
        return run, run_digest(twin)

    def freeze(self, worker: Worker) -> None:
        """Freeze a worker between two of its writes: with a lock in its hands nobody else could go on."""
        worker.freeze()
        while self._is_written_to():
            worker.wake()
            time.sleep(0.01)
            worker.freeze()

    def _is_written_to(self) -> bool:
        """Whether another connection has a transaction open that may hold locks."""
        if not self.is_sqlite:
            with connection.cursor() as cursor:
                cursor.execute(
                    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
                    "AND pid <> pg_backend_pid() AND backend_type = 'client backend' "
                    "AND xact_start IS NOT NULL"
                )
                return bool(cursor.fetchone()[0])
        outside = sqlite3.connect(self.database["NAME"], isolation_level=None, timeout=0)
        try:
            outside.execute("BEGIN IMMEDIATE")
            outside.execute("ROLLBACK")
        except sqlite3.OperationalError:
            return True
        else:
            return False
        finally:
            outside.close()

    def queued(self, **config: Any) -> SearchRun:
        """Return a queued run that any worker may take."""
        return start_run(scripted(**config.pop("sut", {})), **config)

    def finish(self, run: SearchRun, *, seconds: float = PATIENCE_SECONDS) -> SearchRun:
        """Wait until a run has ended."""
        wait_for(lambda: SearchRun.objects.get(pk=run.pk).is_final, seconds=seconds)
        run.refresh_from_db()
        return run

    def close(self) -> None:
        for worker in self.workers:
            if worker.is_alive:
                worker.wake()
                worker.kill()
        presence.retire()
        connection.close()


def wait_for(condition: Callable[[], bool], *, seconds: float = PATIENCE_SECONDS) -> None:
    """Ask until it is so.

    Raises:
        AssertionError: it was not so in time.
    """
    limit = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > limit:
            raise AssertionError(f"not so within {seconds} s: {condition}")
        time.sleep(0.01)


def tidy_up() -> None:
    """Do what a scheduler does every few seconds."""
    reaper.release_dead_local_owners()
    reaper.reap()


@contextmanager
def database_of(values: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Make another database the default one of this process."""
    before, before_settings = connections["default"], connections.settings["default"]
    merged = {**before_settings, **values}
    connections.settings["default"] = merged
    connections["default"] = load_backend(merged["ENGINE"]).DatabaseWrapper(merged, "default")
    try:
        yield merged
    finally:
        connections["default"].close()
        connections.settings["default"] = before_settings
        connections["default"] = before


def sqlite_database(path: Path, *, template: Path) -> dict[str, Any]:
    """Return a file database with all tables."""
    shutil.copy(template, path)
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": str(path),
        "OPTIONS": {
            "transaction_mode": "IMMEDIATE",
            "timeout": PATIENCE_SECONDS,
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA foreign_keys=ON; PRAGMA synchronous=NORMAL;",
        },
    }


def postgres_database(url: str, *, name: str) -> dict[str, Any]:
    """Return the settings of one database of the server that ``url`` names."""
    values = dict(environ.Env.db_url_config(url))
    return {**values, "NAME": name, "OPTIONS": {}, "CONN_MAX_AGE": 60, "CONN_HEALTH_CHECKS": True}
