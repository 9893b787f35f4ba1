"""The heartbeat of a process: a thread with its own connection that renews leases and the worker's row."""

import logging
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings
from django.db import DatabaseError, connection
from django.db.models import F
from django.db.models.functions import Now

from searches.models import WorkerHeartbeat
from searches.services.leases import JobLease, Lease, renew_job, renew_lease
from searches.services.owners import resident_mb
from searches.services.sut_signals import report_progress_to
from searches.services.suts import loaded_sut

logger = logging.getLogger(__name__)

STUCK_EXIT_CODE = 75
SECONDS_BETWEEN_BEATS = 0.5
"""A worker may do many short runs a second; its row need not say each."""


@dataclass
class Held:
    """A claim this process works on."""

    lease: Lease | JobLease
    progressed_at: float


def exit_stuck() -> None:
    """End this process at once; whatever it hangs in cannot be stopped otherwise."""
    os._exit(STUCK_EXIT_CODE)


@dataclass
class Presence:
    """What one process holds and how it reports itself; the thread starts with the first claim or worker."""

    owner: str = ""
    queues: Sequence[str] = ()
    mode: str = ""
    device: str = ""
    on_stuck: Callable[[], None] = exit_stuck
    is_stopping: bool = False
    _held: dict[Lease | JobLease, Held] = field(default_factory=dict)
    _n_batches: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _row_lock: threading.Lock = field(default_factory=threading.Lock)
    _wake: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None
    _pid: int = 0

    def announce(self, owner: str, *, queues: Sequence[str], mode: str, device: str = "") -> None:
        """Report this process as a worker from now on."""
        self.owner, self.queues, self.mode, self.device = owner, tuple(queues), mode, device
        self.is_stopping = False
        if settings.HAS_HEARTBEATS:
            self.report()
            self._start()

    @contextmanager
    def hold(self, lease: Lease | JobLease) -> Iterator[None]:
        """Renew a lease until the block ends."""
        with self._lock:
            self._held[lease] = Held(lease, time.monotonic())
        report_progress_to(self.answered)
        if settings.HAS_HEARTBEATS:
            self._start()
            self._wake.set()  # the workers page shows at once what is being done
        try:
            yield
        finally:
            with self._lock:
                self._held.pop(lease, None)
            self._wake.set()

    def progressed(self, lease: Lease) -> None:
        """Note that a batch was written: this process is not stuck."""
        with self._lock:
            self._n_batches += 1
            if lease in self._held:
                self._held[lease].progressed_at = time.monotonic()

    def answered(self) -> None:
        """Note that an answer arrived within a batch: a slow system is not a stuck one.

        A process works on one thing at a time, so the answer belongs to whatever it holds.
        """
        now = time.monotonic()
        with self._lock:
            for one in self._held.values():
                one.progressed_at = now

    def retire(self) -> None:
        """Stop reporting and take the worker off the list."""
        self.is_stopping = True
        self._wake.set()
        with self._row_lock:
            if self.owner and settings.HAS_HEARTBEATS:
                WorkerHeartbeat.objects.filter(pk=self.owner).delete()
            self.owner = ""

    def beat(self) -> None:
        """Renew every lease of this process once; a stuck batch is left to the reaper."""
        now = time.monotonic()
        with self._lock:
            held = list(self._held.values())
        for one in held:
            if now - one.progressed_at > settings.MAX_BATCH_SECONDS:
                logger.error("no progress for %.0f s on %s", now - one.progressed_at, one.lease)
                self.on_stuck()
            elif isinstance(one.lease, Lease):
                renew_lease(one.lease)
            else:
                renew_job(one.lease)
        self.report()

    def report(self) -> None:
        """Write the worker's row."""
        if not self.owner:
            return
        with self._lock:
            leases = list(self._held)
            batches, self._n_batches = self._n_batches, 0
        loaded = loaded_sut()
        values = {
            "queues": list(self.queues),
            "device": self.device,
            "mode": self.mode,
            "loaded_sut": loaded.slug if loaded else "",
            "run_id": next((one.run_id for one in leases if isinstance(one, Lease)), None),
            "job_id": next((one.job_id for one in leases if isinstance(one, JobLease)), ""),
            "rss_mb": resident_mb(),
            "seen_at": Now(),
            "is_stopping": self.is_stopping,
        }
        with self._row_lock:
            if self.owner:  # it may have retired meanwhile, in another thread
                self._write(values, batches)

    def _write(self, values: dict[str, Any], batches: int) -> None:
        rows = WorkerHeartbeat.objects.filter(pk=self.owner)
        if not rows.update(n_batches=F("n_batches") + batches, **values):
            new = {
                "host": socket.gethostname(),
                "pid": os.getpid(),
                "started_at": Now(),
                "n_batches": batches,
            }
            WorkerHeartbeat.objects.create(owner=self.owner, **new, **values)

    def _start(self) -> None:
        with self._lock:
            if self._thread is not None and self._thread.is_alive() and self._pid == os.getpid():
                return
            self._pid = os.getpid()  # a forked child inherits the object but not the thread
            self._thread = threading.Thread(target=self._run, name="heartbeat", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        beaten_at = time.monotonic() - SECONDS_BETWEEN_BEATS
        while not (self.is_stopping and not self._held):
            self._wake.wait(settings.LEASE_SECONDS / 4)
            if not self.is_stopping:
                time.sleep(max(0.0, beaten_at + SECONDS_BETWEEN_BEATS - time.monotonic()))
            self._wake.clear()
            beaten_at = time.monotonic()
            try:
                self.beat()
            except DatabaseError as error:
                logger.warning("heartbeat: the database did not answer: %s", error)
                connection.close()
        try:
            with self._row_lock:
                if self.owner:  # a worker that ends in good order leaves the list
                    WorkerHeartbeat.objects.filter(pk=self.owner).delete()
        except DatabaseError:
            logger.warning("heartbeat: the worker's row stays until it is forgotten")
        connection.close()


presence = Presence()
"""The one presence of this process."""
