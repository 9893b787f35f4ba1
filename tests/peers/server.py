"""A real HTTP server on a free loopback port that speaks one provider's format and fails as it is told.

A peer answers with its ``routes``. ``peer.next(…)`` puts answers in front: each request takes one. Every
request is kept in ``peer.requests``.

    with Peer({"/v1/chat/completions": completion}) as peer:
        peer.next(status(429, {"error": {"message": "slow down"}}, retry_after="2"))
        endpoint = JsonEndpoint(base_url=f"{peer.url}/v1", policy=peer.policy, headers={}, timeout_s=60)
"""

import json
import threading
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_network
from ssl import SSLContext
from typing import Any

from vlmlab.core.suts.network import AllowedNetwork, NetworkPolicy


@dataclass(frozen=True)
class Asked:
    """A request as it came in.

    Attributes:
        method: such as ``POST``.
        path: with its query.
        headers: names in lower case.
        raw: the body's bytes.
        connection: number of the connection it came on.
    """

    method: str
    path: str
    headers: Mapping[str, str]
    raw: bytes
    connection: int = 0

    @property
    def body(self) -> Any:
        """The body read as JSON."""
        return json.loads(self.raw)


@dataclass(frozen=True)
class Answer:
    """What is sent back.

    Attributes:
        delay_s: silence before the first byte.
        drop_after: so many bytes of the body are sent, then the connection is cut; None sends all.
        drip_s: pause after every byte of the body; 0 sends it at once.
    """

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    delay_s: float = 0.0
    drop_after: int | None = None
    drip_s: float = 0.0


Behaviour = Callable[[Asked], Answer]


def json_answer(body: object, *, code: int = 200, **headers: str) -> Answer:
    """Return an answer of JSON; ``retry_after="2"`` becomes the header Retry-After."""
    names = {name.replace("_", "-").title(): value for name, value in headers.items()}
    return Answer(code, json.dumps(body).encode(), {"Content-Type": "application/json", **names})


def status(code: int, body: object, **headers: str) -> Behaviour:
    """Answer with a status and JSON."""
    return lambda _asked: json_answer(body, code=code, **headers)


def page(title: str = "Welcome to nginx!", *, code: int = 200) -> Behaviour:
    """Answer with a web page."""
    html = f"<!DOCTYPE html><html><head><title>{title}</title></head><body>…</body></html>".encode()
    return lambda _asked: Answer(code, html, {"Content-Type": "text/html"})


def redirect(address: str, *, code: int = 302) -> Behaviour:
    """Answer with a redirect."""
    return lambda _asked: Answer(code, b"", {"Location": address})


def raw(body: bytes, *, code: int = 200, content_type: str = "application/json") -> Behaviour:
    """Answer with bytes as they are."""
    return lambda _asked: Answer(code, body, {"Content-Type": content_type})


def slow(seconds: float, then: Behaviour) -> Behaviour:
    """Answer late."""
    return lambda asked: replace(then(asked), delay_s=seconds)


def dripping(pause_s: float, then: Behaviour) -> Behaviour:
    """Answer one byte at a time."""
    return lambda asked: replace(then(asked), drip_s=pause_s)


def dropped(after: int, then: Behaviour) -> Behaviour:
    """Cut the connection after some bytes of the body."""
    return lambda asked: replace(then(asked), drop_after=after)


class Peer:
    """The server; use it as a context manager.

    Args:
        routes: path without query to behaviour; a key that ends in ``*`` matches what begins with it.
        ssl_context: makes it an https server.
        not_found: what other paths answer.
    """

    def __init__(
        self,
        routes: Mapping[str, Behaviour],
        *,
        ssl_context: SSLContext | None = None,
        not_found: Behaviour | None = None,
    ) -> None:
        self.requests: list[Asked] = []
        self.n_connections = 0
        self._routes = routes
        self._not_found = not_found or status(404, {"detail": "Not Found"})
        self._scripted: deque[Behaviour] = deque()
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._server = _Server(("127.0.0.1", 0), _handler_of(self))
        if ssl_context is not None:
            self._server.socket = ssl_context.wrap_socket(self._server.socket, server_side=True)
        self._scheme = "http" if ssl_context is None else "https"
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )

    @property
    def port(self) -> int:
        """The port it listens on."""
        return int(self._server.server_address[1])

    @property
    def url(self) -> str:
        """Address without a path."""
        return f"{self._scheme}://127.0.0.1:{self.port}"

    @property
    def policy(self) -> NetworkPolicy:
        """A policy that allows this server and nothing else that is local."""
        return NetworkPolicy((AllowedNetwork(ip_network("127.0.0.1"), self.port, self.port),))

    def next(self, *behaviours: Behaviour) -> None:
        """Answer the next requests like this, one each, before the routes answer again."""
        with self._lock:
            self._scripted.extend(behaviours)

    def answer(self, asked: Asked) -> Answer:
        """Note a request and return its answer."""
        path = asked.path.partition("?")[0]
        with self._lock:
            self.requests.append(asked)
            behaviour = self._scripted.popleft() if self._scripted else None
        return (behaviour or self._routes.get(path) or self._wildcard(path))(asked)

    def wait(self, seconds: float) -> bool:
        """Pause; whether the server is still up after it."""
        return not self._closing.wait(seconds)

    def connected(self) -> int:
        """Count a new connection and return its number."""
        with self._lock:
            self.n_connections += 1
            return self.n_connections

    def __enter__(self) -> "Peer":
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)

    def _wildcard(self, path: str) -> Behaviour:
        for pattern, behaviour in self._routes.items():
            if pattern.endswith("*") and path.startswith(pattern[:-1]):
                return behaviour
        return self._not_found


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: clients of these tests hang up on purpose."""


def _handler_of(peer: Peer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        wbufsize = -1  # headers and body in one packet

        def setup(self) -> None:
            super().setup()
            self.number = peer.connected()

        def handle_any(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            headers = {name.lower(): value for name, value in self.headers.items()}
            asked = Asked(self.command, self.path, headers, self.rfile.read(length), self.number)
            answer = peer.answer(asked)
            if answer.delay_s and not peer.wait(answer.delay_s):
                return
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(answer.body)))
            self.end_headers()
            self._send_body(answer)

        do_GET = do_POST = handle_any  # noqa: N815 - names that the base class looks for

        def _send_body(self, answer: Answer) -> None:
            body = answer.body if answer.drop_after is None else answer.body[: answer.drop_after]
            if answer.drip_s:
                for byte in body:
                    self.wfile.write(bytes([byte]))
                    self.wfile.flush()
                    if not peer.wait(answer.drip_s):
                        break
            else:
                self.wfile.write(body)
            self.wfile.flush()
            if answer.drop_after is not None:
                self.close_connection = True

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's
            """Write nothing."""

    return Handler
