"""What must hold before the lab starts: one lab a data folder, a free port, no open door."""

import errno
import fcntl
import ipaddress
import json
import os
import socket
import sys
from contextlib import suppress
from pathlib import Path

from vlmlab.core.errors import ConfigError, VlmLabError

BACKLOG = 256
TCP_LISTEN = "0A"


def check_exposure(host: str, *, is_debug: bool, has_generated_key: bool) -> None:
    """Refuse to serve other machines with settings that are safe only on one's own.

    Raises:
        ConfigError: ``host`` is reachable from outside and DEBUG is on or the key is the generated one.
    """
    if is_loopback(host):
        return
    if is_debug:
        raise ConfigError(
            f"With VLMLAB_DEBUG on, error pages show the lab's insides: it will not listen on {host}.",
            hint="Set VLMLAB_DEBUG=0, or leave out --host.",
            field="VLMLAB_DEBUG",
        )
    if has_generated_key:
        raise ConfigError(
            f"The secret key was generated on this machine: the lab will not listen on {host} with it.",
            hint="Set VLMLAB_SECRET_KEY to at least 50 random characters, or leave out --host.",
            field="VLMLAB_SECRET_KEY",
        )


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach ``host``; a name other than ``localhost`` counts as outside."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def take_lock(path: Path, address: str) -> int:
    """Return an open file that holds the lock of a data folder; it lives as long as the process tree.

    Raises:
        VlmLabError: a lab runs on this folder already; the sentence says where.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        holder: dict[str, object] = {}
        with suppress(OSError, ValueError):
            holder = json.loads(path.read_text("utf-8"))
        where = f" at {holder['address']} (process {holder['pid']})" if holder else ""
        raise VlmLabError(
            f"VLM Lab runs on this data folder already{where}.",
            hint="Stop it first, or give this one a folder of its own with VLMLAB_DATA_DIR.",
        ) from None
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, json.dumps({"pid": os.getpid(), "address": address}).encode(), 0)
    return descriptor


def lab_address(path: Path) -> str | None:
    """Return where the lab that holds this lock can be opened; None when no lab runs."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        with suppress(OSError, ValueError, KeyError, TypeError):
            return str(json.loads(path.read_text("utf-8"))["address"])
    finally:
        os.close(descriptor)
    return None


def open_port(host: str, port: int) -> socket.socket:
    """Return a listening socket; the supervisor keeps it, so a restarted web process loses no visitor.

    Raises:
        VlmLabError: the port is taken (the sentence names by whom, where that can be seen), not allowed,
            or the host is not an address of this machine.
    """
    try:
        family, kind, protocol, _, where = socket.getaddrinfo(
            host.strip("[]"), port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(where)
        listener.listen(BACKLOG)
    except PermissionError:
        raise VlmLabError(
            f"Port {port} is reserved for the system.", hint="Choose one with --port 8000."
        ) from None
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise VlmLabError(
                f"The lab cannot listen on {host}, port {port}: {error.strerror}.",
                hint="Leave out --host, or name an address of this machine.",
            ) from error
        raise VlmLabError(
            f"Port {port} is taken by {port_holder(port) or 'another program'}.",
            hint=f"Stop it, or choose another port: --port {port + 1} (make run PORT={port + 1}).",
        ) from None
    return listener


def port_holder(port: int) -> str | None:
    """Return ``name (process N)`` of the program that listens on ``port``; None where it cannot be seen."""
    if not sys.platform.startswith("linux"):
        return None
    sockets = {f"socket:[{inode}]" for inode in _listening_inodes(port)}
    if not sockets:
        return None
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and _holds(folder, sockets):
            with suppress(OSError):
                return f"{(folder / 'comm').read_text('utf-8').strip()} (process {folder.name})"
    return None


def _listening_inodes(port: int) -> set[str]:
    inodes = set()
    for table in ("tcp", "tcp6"):
        with suppress(OSError):
            for line in Path("/proc/net", table).read_text("ascii").splitlines()[1:]:
                words = line.split()
                if words[3] == TCP_LISTEN and int(words[1].rpartition(":")[2], 16) == port:
                    inodes.add(words[9])
    return inodes


def _holds(folder: Path, sockets: set[str]) -> bool:
    try:
        return any(_target(entry) in sockets for entry in (folder / "fd").iterdir())
    except OSError:
        return False


def _target(entry: Path) -> str:
    try:
        return str(entry.readlink())
    except OSError:  # closed since it was listed
        return ""
