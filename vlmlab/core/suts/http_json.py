"""JSON over HTTP to one endpoint: guarded connections, no redirects, bounded replies, no key in any word."""

import json
import re
import time
from collections.abc import Callable, Mapping
from functools import lru_cache
from ssl import SSLCertVerificationError, SSLContext, SSLError

import httpcore2
from pydantic import JsonValue

from vlmlab.core.errors import SutError
from vlmlab.core.suts.failures import failure_of_status, not_json, retry_after_of, unexpected
from vlmlab.core.suts.guarded import (
    CONNECT_TIMEOUT_S,
    AddressRefused,
    Connector,
    GuardedBackend,
    Resolver,
    connect,
    resolve,
)
from vlmlab.core.suts.network import NetworkPolicy, check_endpoint
from vlmlab.core.suts.provider import CallFailure
from vlmlab.core.suts.redaction import Redactor, keep_debug_lines_quiet

MOST_REPLY_BYTES = 16_000_000
Explain = Callable[[int, JsonValue, CallFailure], CallFailure]
_MOST_CONNECTIONS = 64
_IDLE_S = 30.0
_MOST_TIMEOUTS = 3  # each may take minutes, and providers charge for answers that nobody waited for
_OPEN_HEADERS = frozenset(
    {"accept", "accept-encoding", "anthropic-beta", "anthropic-version", "content-type", "user-agent"}
)
_PRINTABLE = re.compile(r"[\x20-\x7e]*")


class JsonEndpoint:
    """One endpoint that takes and gives JSON; thread-safe, keeps connections open.

    httpcore2, the lower half of httpx2, is used as it is: it follows no redirect, reads no environment
    variable, keeps no cookie and unpacks no compressed answer.

    Args:
        base_url: address before every call's own path.
        headers: sent with every call; every value but those of well-known names counts as a secret.
        timeout_s: seconds that one call may take from start to end.
        policy: what may be connected to.
        resolver: name and port to addresses; the system's when None.
        connector: opens a connection to a checked address; a TCP connection when None.
        ssl_context: how certificates are checked; the system's when None.
        clock: seconds that only grow.
        now: seconds since 1970, for servers that name a date to come back at.
        explain: what a provider's own error answer means beyond its status: the status, the parsed answer and
            the failure of the status in, the failure to report out.

    Raises:
        SutError: the address is not allowed, or the key holds signs that cannot be sent.
    """

    def __init__(
        self,
        *,
        base_url: str,
        headers: Mapping[str, str],
        timeout_s: float,
        policy: NetworkPolicy,
        resolver: Resolver | None = None,
        connector: Connector | None = None,
        ssl_context: SSLContext | None = None,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
        explain: Explain | None = None,
    ) -> None:
        self.endpoint = check_endpoint(base_url, policy)
        self._redactor = Redactor(_secrets_of(headers))
        # Their finest log writes a server's headers, which may repeat the key.
        keep_debug_lines_quiet("httpcore2", "httpx2")
        self._headers = {"Content-Type": "application/json", "Accept": "application/json", **headers}
        self._timeout_s = timeout_s
        self._clock = clock
        self._now = now
        self._explain = explain
        self._backend = GuardedBackend(
            policy,
            self.endpoint.scheme,
            resolver=resolver or resolve,
            connector=connector or connect,
            clock=clock,
        )
        is_tls = self.endpoint.scheme == "https"
        self._pool = httpcore2.ConnectionPool(
            ssl_context=(ssl_context or _certificates()) if is_tls else None,
            max_connections=_MOST_CONNECTIONS,
            keepalive_expiry=_IDLE_S,
            network_backend=self._backend,
        )

    def address_of(self, path: str) -> str:
        """Return the whole address of a call."""
        return f"{self.endpoint.address}{path}"

    def describe(self, path: str, body: dict[str, JsonValue]) -> dict[str, JsonValue]:
        """Return a request as people may see it: every secret header's value is left out.

        Args:
            path: after the endpoint's own path, from its slash on.
            body: with words in place of pictures.
        """
        headers: dict[str, JsonValue] = {
            name: value if name.lower() in _OPEN_HEADERS else "<key>" for name, value in self._headers.items()
        }
        return {"address": f"POST {self.address_of(path)}", "headers": headers, "body": body}

    def post(self, path: str, body: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
        """Send JSON once and return the JSON object that came back.

        Args:
            path: after the endpoint's own path, from its slash on.
            body: what is sent.

        Raises:
            CallFailure: no connection, no answer in time, another status than 2xx, or no JSON object.
        """
        content = json.dumps(body, ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode()
        return self._asked("POST", path, content)

    def get(self, path: str) -> dict[str, JsonValue]:
        """Ask once for the JSON object at a path; raises as ``post`` does."""
        return self._asked("GET", path, b"")

    def _asked(self, method: str, path: str, content: bytes) -> dict[str, JsonValue]:
        try:
            status, headers, raw = self._exchange(method, path, content)
        except CallFailure:
            raise
        except AddressRefused as error:
            raise CallFailure(
                "address",
                f"The connection was refused here: {error.reason} {error.hint}".rstrip(),
                is_retryable=False,
            ) from None
        except httpcore2.ConnectTimeout:
            raise self._timed_out("nobody answered at") from None
        except httpcore2.TimeoutException:
            raise self._timed_out("no complete answer came from") from None
        except httpcore2.LocalProtocolError:  # its words quote headers
            raise CallFailure("request", "The request cannot be sent as HTTP.", is_retryable=False) from None
        except (httpcore2.NetworkError, httpcore2.ProtocolError) as error:
            raise self._disconnected(error) from None
        return self._parsed(status, headers, raw)

    def redacted(self, text: str) -> str:
        """Return an error's words without the key, also where a server quotes it shortened."""
        return self._redactor.words(text)

    def close(self) -> None:
        """Close the connections, also those that a call waits on."""
        self._backend.hang_up()
        self._pool.close()

    def _exchange(self, method: str, path: str, content: bytes) -> tuple[int, dict[str, str], bytes]:
        """Return status, headers in lower case and body of one call, within its time and size."""
        endpoint = self.endpoint
        url = httpcore2.URL(
            scheme=endpoint.scheme, host=endpoint.host, port=endpoint.port, target=f"{endpoint.path}{path}"
        )
        timeouts = {
            "connect": min(CONNECT_TIMEOUT_S, self._timeout_s),
            "read": self._timeout_s,
            "write": self._timeout_s,
            "pool": self._timeout_s,
        }
        headers: list[tuple[bytes | str, bytes | str]] = [
            ("Host", endpoint.authority),
            ("Content-Length", str(len(content))),
            *self._headers.items(),
        ]
        self._backend.deadline.ends_at = self._clock() + self._timeout_s
        try:
            with self._pool.stream(
                method, url, headers=headers, content=content, extensions={"timeout": timeouts}
            ) as response:
                parts, size = [], 0
                for part in response.iter_stream():
                    parts.append(part)
                    size += len(part)
                    if size > MOST_REPLY_BYTES:
                        raise _too_much()
                names = {
                    name.decode("ascii", "replace").lower(): value.decode("latin-1")
                    for name, value in response.headers
                }
                return response.status, names, b"".join(parts)
        finally:
            self._backend.deadline.ends_at = None

    def _parsed(self, status: int, headers: Mapping[str, str], raw: bytes) -> dict[str, JsonValue]:
        """Return the object of a good answer; every word of it is free of the key."""
        body = self._redactor.answer(_json_of(raw))
        if not 200 <= status < 300:
            wait = retry_after_of(headers, now_s=self._now())
            failure = failure_of_status(status, body, retry_after_s=wait, raw=raw)
            if self._explain is not None:
                failure = self._explain(status, body, failure)
            failure.reword(self.redacted)
            raise failure
        if body is None:
            failure = not_json(raw)
            failure.reword(self.redacted)
            raise failure
        if not isinstance(body, dict):
            raise unexpected("no JSON object")
        return body

    def _timed_out(self, what: str) -> CallFailure:
        return CallFailure(
            "timeout",
            f"In {self._timeout_s:g} seconds {what} {self.endpoint.authority}. Try again later, raise the "
            "time limit, or ask for shorter replies.",
            is_retryable=True,
            max_tries=_MOST_TIMEOUTS,
        )

    def _disconnected(self, error: Exception) -> CallFailure:
        where = self.endpoint.authority
        cause = error.args[0] if error.args else None  # httpcore2 drops the chain, but keeps the argument
        if isinstance(cause, SSLCertVerificationError):
            return CallFailure(
                "connection",
                f"The certificate of {where} is not valid: {cause.verify_message}. Check the address.",
                is_retryable=False,
            )
        if isinstance(cause, SSLError) and isinstance(error, httpcore2.ConnectError):
            return CallFailure(
                "connection",
                f"{where} does not speak https. Write http:// for a local server without it.",
                is_retryable=False,
            )
        if isinstance(error, httpcore2.ConnectError):
            return CallFailure(
                "connection",
                f"{where} cannot be reached: {_why(cause)}. Check the address and that the server runs.",
                is_retryable=True,
            )
        return CallFailure(
            "connection", f"The connection to {where} broke before the answer was complete. Try again.",
            is_retryable=True,
        )  # fmt: skip


def _why(cause: object) -> str:
    if isinstance(cause, ConnectionRefusedError):
        return "no server listens there"
    if isinstance(cause, OSError):
        return str(cause.strerror or "the connection failed")[:100].lower()
    return str(cause or "the connection failed")[:300]


def _json_of(raw: bytes) -> JsonValue:
    """Return parsed JSON, None when it is none: damaged, too deep, numbers that are not finite."""
    try:
        parsed: JsonValue = json.loads(raw.decode("utf-8-sig"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return None
    return parsed


@lru_cache(maxsize=1)
def _certificates() -> SSLContext:
    """Return how certificates are checked; reading the system's takes a while, so once a process."""
    return httpcore2.default_ssl_context()


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


def _too_much() -> CallFailure:
    return CallFailure(
        "too_large",
        f"The server's answer is longer than {MOST_REPLY_BYTES // 1_000_000} MB. Check the address.",
        is_retryable=False,
    )


def _secrets_of(headers: Mapping[str, str]) -> tuple[str, ...]:
    """Return what no word may repeat: the values of all headers that may hold a key, scheme words off.

    Raises:
        SutError: a value cannot stand in a header.
    """
    found = []
    for name, value in headers.items():
        if not _PRINTABLE.fullmatch(value) or value != value.strip():
            raise SutError(
                "The key holds spaces or signs that no key has.",
                hint="Copy it again from the provider's page.",
                field="api_key",
            )
        if name.lower() not in _OPEN_HEADERS:
            # Also the parts of a key that was pasted with the word before it.
            found += [value.removeprefix("Bearer "), *value.removeprefix("Bearer ").split()]
    return tuple(one for one in found if one.casefold() != "bearer")
