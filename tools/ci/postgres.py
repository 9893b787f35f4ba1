"""A PostgreSQL server for the tests: on a free loopback port, in a temporary folder, gone afterwards."""

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tools.ci.debian import postgres_folder

ROLE = "vlmlab"
# Nothing here outlives the tests, so nothing waits for the disk.
FAST_SETTINGS = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "max_connections": "120",
}


@contextmanager
def temporary_server() -> Iterator[str | None]:
    """Run a server and give its URL; give None where PostgreSQL cannot be had."""
    programs = postgres_folder()
    if programs is None:
        yield None
        return
    account = _unprivileged_account()
    folder = Path(tempfile.mkdtemp(prefix="vlmlab-pg-"))
    if account:
        os.chown(folder, account.pw_uid, account.pw_gid)
    port = _free_port()
    try:
        _run(
            programs / "initdb",
            "-D",
            folder / "data",
            "-U",
            ROLE,
            "-A",
            "trust",
            "-E",
            "UTF8",
            "--no-sync",
            account=account,
        )
        options = " ".join(f"-c {name}={value}" for name, value in FAST_SETTINGS.items())
        listen = f"-p {port} -c listen_addresses=127.0.0.1 -k {folder} {options}"
        _run(
            programs / "pg_ctl",
            "-D",
            folder / "data",
            "-l",
            folder / "log",
            "-w",
            "-o",
            listen,
            "start",
            account=account,
        )
        yield f"postgres://{ROLE}@127.0.0.1:{port}/postgres"
    finally:
        if (folder / "data" / "postmaster.pid").exists():
            _run(programs / "pg_ctl", "-D", folder / "data", "-m", "immediate", "-w", "stop", account=account)
        shutil.rmtree(folder, ignore_errors=True)


def _unprivileged_account() -> pwd.struct_passwd | None:
    """Return the account to run the server as; it refuses to run as root."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    return None


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _run(*command: str | Path, account: pwd.struct_passwd | None) -> None:
    who = {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []} if account else {}
    subprocess.run(  # type: ignore[call-overload]  # the account's keywords come as a mapping
        [str(word) for word in command],
        check=True,
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,  # not a pipe: the server would keep it open
        **who,
    )
