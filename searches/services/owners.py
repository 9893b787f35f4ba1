"""Names of worker processes, from which another process of the same host can tell whether they live."""

import os
import socket
import threading
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path


@dataclass(frozen=True)
class Owner:
    """A thread of a process: host, process id, when the process started (kernel ticks), thread."""

    host: str
    pid: int
    started: str


def this_owner() -> str:
    """Return the name of this thread of this process."""
    return f"{socket.gethostname()}:{os.getpid()}:{_started(os.getpid())}:{_thread_name()}"


def parse_owner(text: str) -> Owner:
    """Read a name; parts that are missing become empty."""
    host, pid, started, *_ = [*text.split(":"), "", "", ""]
    return Owner(host, int(pid) if pid.isdigit() else 0, started)


def is_process_alive(owner: Owner) -> bool:
    """Whether this very process of this host still runs (a process id may be used again by another)."""
    if owner.pid <= 0:
        return False
    try:
        os.kill(owner.pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    if _state(owner.pid) == "Z":
        return False
    return not owner.started or _started_now(owner.pid) == owner.started


def resident_mb() -> float:
    """Return the memory this process holds, in MB; 0 where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def _thread_name() -> str:
    thread = threading.current_thread()
    return "main" if thread is threading.main_thread() else thread.name.replace(":", "-")[:40]


@lru_cache(maxsize=8)
def _started(pid: int) -> str:
    return _started_now(pid)


def _started_now(pid: int) -> str:
    """Return the start time in clock ticks since boot, "" where /proc does not exist."""
    fields = _stat_fields(pid)
    return fields[19] if len(fields) > 19 else ""


def _state(pid: int) -> str:
    fields = _stat_fields(pid)
    return fields[0] if fields else ""


def _stat_fields(pid: int) -> list[str]:
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return []
    return text.rpartition(")")[2].split()  # the name in brackets may hold spaces
