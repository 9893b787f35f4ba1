"""Measures `manage.py up`: seconds to the first page and idle memory of everything it starts.

    python benchmarks/startup.py [--idle-seconds 15] [--json OUT]

Memory is the proportional set size (PSS): shared pages count once over all processes. Linux only.
"""

import argparse
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TIMEOUT_SECONDS = 120.0
FIRST_PAGE_GOAL_SECONDS = 10.0
MEMORY_GOAL_MB = 450.0


@dataclass(frozen=True)
class Start:
    """One start of the lab."""

    name: str
    first_page_seconds: float
    memory_mb: dict[str, float]

    @property
    def total_mb(self) -> float:
        """Memory of all its processes together."""
        return sum(self.memory_mb.values())


def free_port() -> int:
    """Return a port nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for_page(url: str, child: subprocess.Popen[bytes]) -> float:
    """Return the seconds until the sign-in page is answered."""
    began = time.monotonic()
    while time.monotonic() - began < TIMEOUT_SECONDS:
        if child.poll() is not None:
            raise SystemExit(f"manage.py up ended with status {child.returncode}")
        try:
            with urllib.request.urlopen(url, timeout=TIMEOUT_SECONDS) as answer:
                if answer.status == 200:
                    return time.monotonic() - began
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.05)
    raise SystemExit("no page within two minutes")


def family(pid: int) -> list[int]:
    """Return a process and everything below it."""
    below = Path(f"/proc/{pid}/task/{pid}/children").read_text("ascii").split()
    return [pid, *(descendant for child in below for descendant in family(int(child)))]


def pss_mb(pid: int) -> float:
    """Return the proportional set size of a process."""
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text("ascii").splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) / 1024
    return 0.0


def part_name(pid: int) -> str:
    """Return what a process is, from its command line."""
    words = Path(f"/proc/{pid}/cmdline").read_text("utf-8", "replace").split("\0")
    line = " ".join(words)
    for mark, name in (
        ("vlmlab.serve.supervisor", "supervisor"),
        ("vlmlab.serve.web", "web"),
        ("celery", "worker"),
        ("manage.py worker", "worker"),
        ("load_sample_data", "sample data"),
        ("queue.sock", "queue"),
    ):
        if mark in line:
            return name
    return Path(words[0]).name


def measure(name: str, folder: Path, *, idle_seconds: float, arguments: tuple[str, ...] = ()) -> Start:
    """Start the lab, wait for its first page, let it idle, weigh it, stop it."""
    port = free_port()
    environment = {
        **os.environ,
        "VLMLAB_DATA_DIR": str(folder / "data"),
        "VLMLAB_STATIC_ROOT": str(folder / "static"),
    }
    child = subprocess.Popen(
        [sys.executable, str(ROOT / "manage.py"), "up", "--port", str(port), *arguments],
        env=environment,
        stdout=subprocess.DEVNULL,
    )
    try:
        seconds = wait_for_page(f"http://127.0.0.1:{port}/login/", child)
        time.sleep(idle_seconds)
        memory = {f"{part_name(pid)} ({pid})": round(pss_mb(pid), 1) for pid in family(child.pid)}
    finally:
        child.send_signal(signal.SIGINT)
        child.wait(60)
    return Start(name, round(seconds, 2), memory)


def main() -> None:
    """Measure a first start, a second start, and one without a queue; print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--idle-seconds", type=float, default=15.0)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        starts = [
            measure("first start", Path(folder), idle_seconds=options.idle_seconds),
            measure("second start", Path(folder), idle_seconds=options.idle_seconds),
            measure("no queue", Path(folder), idle_seconds=options.idle_seconds, arguments=("--no-queue",)),
        ]
    print(f"goals: first page in {FIRST_PAGE_GOAL_SECONDS:g} s, {MEMORY_GOAL_MB:g} MB for everything")
    for start in starts:
        parts = ", ".join(f"{name.partition(' (')[0]} {mb:.0f}" for name, mb in start.memory_mb.items())
        print(f"{start.name:14} {start.first_page_seconds:10.1f} s {start.total_mb:7.0f} MB   {parts}")
    if options.json:
        options.json.write_text(json.dumps([asdict(start) for start in starts], indent=1), "utf-8")


if __name__ == "__main__":
    main()
