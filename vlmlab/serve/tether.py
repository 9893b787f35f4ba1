"""Ties a child process to its parent: when the parent dies, however it dies, the child is told to stop.

On Linux the kernel does it. Elsewhere this module is run between the two and watches the parent's number:
``python -m vlmlab.serve.tether PARENT_PID command ...``.
"""

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence

PR_SET_PDEATHSIG = 1
WATCH_SECONDS = 0.5
GRACE_SECONDS = 10.0
IS_LINUX = sys.platform.startswith("linux")


def tethered(command: Sequence[str], parent_pid: int) -> tuple[list[str], Callable[[], None] | None]:
    """Return the command to start and what to run in the child before it (None where nothing is needed)."""
    if not IS_LINUX:
        return [sys.executable, "-m", "vlmlab.serve.tether", str(parent_pid), *command], None
    prctl = ctypes.CDLL(None, use_errno=True).prctl

    def die_with_parent() -> None:
        prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
        if os.getppid() != parent_pid:  # it died before the kernel was told
            os._exit(1)

    return list(command), die_with_parent


def main(arguments: Sequence[str]) -> int:
    """Run a command and stop it when the parent is gone."""
    parent_pid, command = int(arguments[0]), list(arguments[1:])
    child = subprocess.Popen(command, close_fds=False)  # noqa: S603 - the supervisor's own command
    signal.signal(signal.SIGTERM, lambda *_: child.terminate())
    signal.signal(signal.SIGINT, lambda *_: child.terminate())
    while child.poll() is None:
        if os.getppid() != parent_pid:
            child.terminate()
            try:
                child.wait(GRACE_SECONDS)
            except subprocess.TimeoutExpired:
                child.kill()
            break
        time.sleep(WATCH_SECONDS)
    return child.wait()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
