"""Connections that reach checked addresses only: a name is resolved once and every address is checked."""

import socket
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from ssl import SSLContext
from typing import Any
from weakref import WeakSet

import httpcore2

from vlmlab.core.suts.network import NetworkPolicy, how_to_allow, refusal_of

Resolver = Callable[[str, int], Sequence[str]]
Connector = Callable[[str, int, float], httpcore2.NetworkStream]
CONNECT_TIMEOUT_S = 10.0
_MOST_ADDRESSES_TRIED = 4


class AddressRefused(Exception):  # noqa: N818 - says what happened to an address
    """A name led to an address that may not be connected to.

    Args:
        reason: a sentence about the address.
        hint: what to do about it; may be empty.
    """

    def __init__(self, reason: str, hint: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.hint = hint


class Deadline(threading.local):
    """When the call of this thread must be over; each thread has its own.

    A server that sends one byte now and then never runs into a read timeout, so every read gets what is
    left of the call's time.
    """

    ends_at: float | None = None


class GuardedBackend(httpcore2.NetworkBackend):
    """Resolves, checks and connects; what comes after (TLS, Host) still sees the name.

    Args:
        policy: what may be connected to.
        scheme: of the endpoint; public addresses take https only.
        resolver: name and port to addresses.
        connector: opens a connection to an address that was checked.
        clock: seconds that only grow.
    """

    def __init__(
        self,
        policy: NetworkPolicy,
        scheme: str,
        *,
        resolver: Resolver,
        connector: Connector,
        clock: Callable[[], float],
    ) -> None:
        self._policy = policy
        self._scheme = scheme
        self._resolve = resolver
        self._connect = connector
        self._clock = clock
        self._open: WeakSet[httpcore2.NetworkStream] = WeakSet()
        self._lock = threading.Lock()
        self.deadline = Deadline()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.NetworkStream:
        """Connect to the first address of a name that answers, after all of them were checked.

        Raises:
            AddressRefused: one of the addresses is not allowed.
            httpcore2.ConnectError: the name is unknown or nobody listens.
            httpcore2.ConnectTimeout: nobody answered in time.
        """
        addresses = self._checked(host, port)
        failure: httpcore2.ConnectError | httpcore2.ConnectTimeout | None = None
        for address in addresses[:_MOST_ADDRESSES_TRIED]:
            try:
                wait = self.remaining(timeout if timeout is not None else CONNECT_TIMEOUT_S)
                return self.watched(self._connect(address, port, wait))
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                failure = error
        raise failure or httpcore2.ConnectError("the name has no address")

    def connect_unix_socket(
        self, path: str, timeout: float | None = None, socket_options: Iterable[Any] | None = None
    ) -> httpcore2.NetworkStream:
        """Refuse: no endpoint is a file."""
        raise AddressRefused("A socket file is not an endpoint.")

    def watched(self, stream: httpcore2.NetworkStream) -> httpcore2.NetworkStream:
        """Return a connection that ends with the call it serves, and that ``hang_up`` ends."""
        bounded = _BoundedStream(stream, self)
        with self._lock:
            self._open.add(bounded)
        return bounded

    def hang_up(self) -> None:
        """End every connection, also under a thread that waits for an answer; closing alone wakes nobody."""
        with self._lock:
            streams = list(self._open)
        for stream in streams:
            connection = stream.get_extra_info("socket")
            if isinstance(connection, socket.socket):
                with suppress(OSError):  # it ended by itself
                    socket.socket.shutdown(connection, socket.SHUT_RDWR)

    def remaining(self, timeout: float | None) -> float:
        """Return the time limit of one step: its own or what is left of the call, whichever is less.

        Raises:
            httpcore2.ReadTimeout: nothing is left.
        """
        ends_at = self.deadline.ends_at
        wanted = timeout if timeout is not None else CONNECT_TIMEOUT_S
        if ends_at is None:
            return wanted
        left = ends_at - self._clock()
        if left <= 0:
            raise httpcore2.ReadTimeout("the call took too long")
        return min(wanted, left)

    def _checked(self, host: str, port: int) -> list[str]:
        try:
            found = list(dict.fromkeys(self._resolve(host, port)))
        except (OSError, UnicodeError) as error:
            raise httpcore2.ConnectError(f"the name {host} is not known") from error
        for address in found:
            reason = refusal_of(address, port, scheme=self._scheme, policy=self._policy)
            if reason:
                shown = address if address == host else f"{host} is {address}, which"
                raise AddressRefused(f"{shown} {reason}.", how_to_allow(address, port))
        return found


class _BoundedStream(httpcore2.NetworkStream):
    """A connection whose reads and writes end with the call they serve."""

    def __init__(self, stream: httpcore2.NetworkStream, backend: GuardedBackend) -> None:
        self._stream = stream
        self._backend = backend

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, timeout=self._backend.remaining(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, timeout=self._backend.remaining(timeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        wait = self._backend.remaining(timeout)
        return self._backend.watched(self._stream.start_tls(ssl_context, server_hostname, wait))

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


def resolve(host: str, port: int) -> list[str]:
    """Return the addresses of a name as the system resolves it.

    Raises:
        OSError: the name is not known.
    """
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(address[4][0]) for address in found]


def connect(address: str, port: int, timeout_s: float) -> httpcore2.NetworkStream:
    """Open a TCP connection to an address."""
    return httpcore2.SyncBackend().connect_tcp(address, port, timeout=timeout_s, socket_options=())
