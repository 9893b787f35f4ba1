"""Starts real processes for tests and watches them."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.patience import PATIENCE_SECONDS

ROOT = Path(__file__).resolve().parents[2]


def clean_environment(**more: str) -> dict[str, str]:
    """Return this process's environment without settings of the tests."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("VLMLAB_", "DJANGO_"))}
    return {**kept, "PYTHONUNBUFFERED": "1", **more}


def wait_until(claim: Callable[[], object], what: str, seconds: float = PATIENCE_SECONDS) -> None:
    """Wait until ``claim`` holds; fail the test naming ``what`` did not happen."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if claim():
            return
        time.sleep(0.05)
    raise AssertionError(f"did not happen within {seconds:g} s: {what}")


def children_of(pid: int) -> dict[int, str]:
    """Return pid -> command line of the living children of a process."""
    found = {}
    listing = subprocess.run(
        ["ps", "-Ao", "pid=,ppid=,stat=,args="], capture_output=True, text=True, check=True
    )
    for line in listing.stdout.splitlines():
        own, parent, state, arguments = line.split(None, 3)
        if int(parent) == pid and not state.startswith("Z"):
            found[int(own)] = arguments
    return found


def is_alive(pid: int) -> bool:
    """Whether a process runs (a zombie does not)."""
    listing = subprocess.run(
        ["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False
    )
    return bool(listing.stdout.strip()) and not listing.stdout.strip().startswith("Z")


@dataclass
class Lab:
    """A running ``manage.py up`` with its own folder, port and log."""

    process: "subprocess.Popen[bytes]"
    folder: Path
    port: int

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def log(self) -> str:
        return (self.folder / "up.log").read_text("utf-8")

    @property
    def sign_in_link(self) -> str:
        found = re.search(r"http://\S+/sign-in/\S+", self.log)
        assert found is not None, self.log
        return found.group()

    def part(self, mark: str) -> int:
        """Return the process whose command line contains ``mark``; 0 while there is none."""
        return next((pid for pid, line in children_of(self.process.pid).items() if mark in line), 0)

    def stop(self) -> int:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        return self.process.wait(PATIENCE_SECONDS)


def start_lab(folder: Path, port: int, *arguments: str) -> Lab:
    """Start the whole lab and wait until it says that it is ready."""
    with (folder / "up.log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "manage.py", "up", "--port", str(port), "--no-sample-data", *arguments],
            cwd=ROOT,
            env=lab_environment(folder),
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    lab = Lab(process, folder, port)
    wait_until(lambda: "is ready" in lab.log or process.poll() is not None, "the lab is ready")
    assert process.poll() is None, lab.log
    return lab


def lab_environment(folder: Path) -> dict[str, str]:
    """Return settings for a lab in ``folder``; the static files of all labs are collected once."""
    return clean_environment(
        VLMLAB_DATA_DIR=str(folder / "data"), VLMLAB_STATIC_ROOT=str(folder.parent / "static")
    )
