"""Starts the parts of the lab, restarts one that dies, and stops them all in order.

A process without Django (``python -m vlmlab.serve.supervisor``), so that it stays small while the lab runs.
"""

import os
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from urllib.parse import urlsplit

from vlmlab.serve.plan import Part, Plan, read_plan
from vlmlab.serve.tether import tethered

TICK_SECONDS = 0.1
FIRST_PAUSE_SECONDS = 0.5
LONGEST_PAUSE_SECONDS = 30.0
HEALTHY_SECONDS = 60.0
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def say(text: str) -> None:
    """Tell the person at the terminal."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


@dataclass
class Running:
    """A part with its process and what is known of its health."""

    part: Part
    child: subprocess.Popen[bytes] | None = None
    started_at: float = 0.0
    pause_seconds: float = FIRST_PAUSE_SECONDS
    start_at: float = 0.0
    is_done: bool = False
    deaths: int = 0

    @property
    def is_alive(self) -> bool:
        """Whether its process runs."""
        return self.child is not None and self.child.poll() is None


@dataclass
class Supervisor:
    """Keeps the parts of a plan running until it is told to stop."""

    plan: Plan
    running: list[Running] = field(default_factory=list)
    stop_requests: int = 0
    is_web_ready: bool = False
    probe: socket.socket | None = None

    def run(self) -> int:
        """Run until a stop signal, then stop everything; return the exit status."""
        for number in STOP_SIGNALS:
            signal.signal(number, self._on_stop)
        self.running = [Running(part) for part in self.plan.parts]
        try:
            while not self.stop_requests:
                self.tick(time.monotonic())
                time.sleep(TICK_SECONDS)
        finally:
            self.stop()
        return 0

    def tick(self, now: float) -> None:
        """Notice deaths, start what is due, and announce the site when it answers."""
        for entry in self.running:
            if entry.child is not None and entry.child.poll() is not None:
                self._bury(entry, now)
            if (
                entry.child is None
                and not entry.is_done
                and now >= entry.start_at
                and self._may_start(entry.part)
            ):
                self._start(entry, now)
        if not self.is_web_ready and self._web_answers():
            self.is_web_ready = True
            say(f"\nVLM Lab is ready: {self.plan.address}")
            for note in self.plan.notes:
                say(note)
            say("Stop it with Ctrl-C.\n")

    def _may_start(self, part: Part) -> bool:
        if part.starts_after == "queue" and self.plan.queue_socket:
            return Path(self.plan.queue_socket).exists()
        return part.starts_after != "web" or self.is_web_ready

    def _start(self, entry: Running, now: float) -> None:
        command, before = tethered(entry.part.command, os.getpid())
        entry.child = subprocess.Popen(  # noqa: S603 - commands of our own plan
            command,
            env={**os.environ, **entry.part.environment},
            pass_fds=entry.part.descriptors,
            stdin=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C reaches the supervisor only, which stops the parts in order
            preexec_fn=before,  # safe: this process has one thread
        )
        entry.started_at = now

    def _bury(self, entry: Running, now: float) -> None:
        assert entry.child is not None
        status, entry.child = entry.child.returncode, None
        part = entry.part
        if part.is_once:
            entry.is_done = True
            if status == 0 and part.done_file:
                Path(part.done_file).touch()
            elif status:
                say(f"The part “{part.name}” ended with status {status}; it runs again at the next start.")
            return
        if part.name == "queue" and self.plan.queue_socket:
            Path(self.plan.queue_socket).unlink(missing_ok=True)
        entry.deaths += 1
        healthy = now - entry.started_at >= HEALTHY_SECONDS
        entry.pause_seconds = (
            FIRST_PAUSE_SECONDS
            if healthy or entry.deaths == 1
            else min(2 * entry.pause_seconds, LONGEST_PAUSE_SECONDS)
        )
        entry.start_at = now + entry.pause_seconds
        say(f"The part “{part.name}” {_how_it_ended(status)}; it starts again in {entry.pause_seconds:g} s.")

    def _web_answers(self) -> bool:
        """Whether the site answered the question that is asked once and waited for without blocking.

        The listening socket is open before the web process is: the question waits in its backlog.
        """
        try:
            if self.probe is None:
                self.probe = self._ask()
            if not select.select([self.probe], [], [], 0)[0]:
                return False
            answer = self.probe.recv(64)
        except OSError:
            answer = b""
        if self.probe is not None:
            self.probe.close()
        self.probe = None
        return re.match(rb"HTTP/1\.\d [1-4]\d\d ", answer) is not None

    def _ask(self) -> socket.socket:
        url = urlsplit(self.plan.health_url)
        probe = socket.create_connection((url.hostname or "", url.port or 80), timeout=1.0)
        probe.sendall(f"GET {url.path} HTTP/1.1\r\nHost: {url.netloc}\r\nConnection: close\r\n\r\n".encode())
        return probe

    def _on_stop(self, number: int, frame: FrameType | None) -> None:
        self.stop_requests += 1

    def stop(self) -> None:
        """Ask everything but the queue to stop, then the queue; a second stop signal ends the patience."""
        say("\nStopping. A worker first finishes the batch it is at; press Ctrl-C again not to wait.")
        for is_queue in (False, True):
            group = [entry for entry in self.running if (entry.part.name == "queue") is is_queue]
            self._stop_group([entry for entry in group if entry.is_alive])
        if self.plan.runtime_dir:
            shutil.rmtree(self.plan.runtime_dir, ignore_errors=True)
        say("Stopped.")

    def _stop_group(self, entries: list[Running]) -> None:
        for entry in entries:
            _signal(entry, signal.SIGTERM)
        patience = max(1, self.stop_requests)
        began = time.monotonic()
        while any(entry.is_alive for entry in entries) and self.stop_requests <= patience:
            if all(
                time.monotonic() - began > entry.part.grace_seconds for entry in entries if entry.is_alive
            ):
                break
            time.sleep(TICK_SECONDS / 2)
        for entry in entries:
            if entry.is_alive:
                _signal(entry, signal.SIGKILL)
                assert entry.child is not None
                entry.child.wait()


def _signal(entry: Running, number: signal.Signals) -> None:
    assert entry.child is not None
    with suppress(ProcessLookupError):
        if number == signal.SIGKILL:
            os.killpg(entry.child.pid, number)  # with whatever it started itself
        else:
            entry.child.send_signal(number)


def _how_it_ended(status: int) -> str:
    if status < 0:
        return f"was ended by signal {signal.Signals(-status).name}"
    return f"ended with status {status}"


if __name__ == "__main__":
    sys.exit(Supervisor(read_plan()).run())
