"""What is refused before the lab starts."""

import json
import os
import socket
import sys
from pathlib import Path

import pytest

from vlmlab.core.errors import ConfigError, VlmLabError
from vlmlab.serve.guards import (
    check_exposure,
    is_loopback,
    lab_address,
    open_port,
    port_holder,
    take_lock,
)


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("127.0.0.1", True),
        ("127.8.8.8", True),
        ("::1", True),
        ("[::1]", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("::", False),
        ("192.168.1.5", False),
        ("lab.example.org", False),
        ("", False),
    ],
)
def test_only_addresses_of_this_machine_count_as_loopback(host, expected):
    assert is_loopback(host) is expected


@pytest.mark.parametrize(
    ("host", "is_debug", "has_generated_key", "field"),
    [
        ("0.0.0.0", True, False, "VLMLAB_DEBUG"),
        ("0.0.0.0", False, True, "VLMLAB_SECRET_KEY"),
        ("0.0.0.0", True, True, "VLMLAB_DEBUG"),
        ("::", False, True, "VLMLAB_SECRET_KEY"),
        ("192.168.1.5", True, False, "VLMLAB_DEBUG"),
    ],
)
def test_other_machines_are_not_served_with_debug_or_a_generated_key(
    host, is_debug, has_generated_key, field
):
    with pytest.raises(ConfigError) as caught:
        check_exposure(host, is_debug=is_debug, has_generated_key=has_generated_key)

    assert caught.value.field == field


@pytest.mark.parametrize(
    ("host", "is_debug", "has_generated_key"),
    [("127.0.0.1", True, True), ("localhost", False, True), ("0.0.0.0", False, False)],
)
def test_safe_settings_are_let_pass(host, is_debug, has_generated_key):
    check_exposure(host, is_debug=is_debug, has_generated_key=has_generated_key)


def test_a_second_lab_on_the_same_folder_is_refused_and_told_where_the_first_is(tmp_path):
    take_lock(tmp_path / "up.lock", "http://127.0.0.1:8000")

    with pytest.raises(VlmLabError) as caught:
        take_lock(tmp_path / "up.lock", "http://127.0.0.1:8001")

    assert f"at http://127.0.0.1:8000 (process {os.getpid()})" in caught.value.message
    assert "VLMLAB_DATA_DIR" in caught.value.hint


def test_a_lock_left_by_a_dead_lab_does_not_hinder(tmp_path):
    path = tmp_path / "up.lock"
    path.write_text(json.dumps({"pid": 1, "address": "http://127.0.0.1:1"}), "utf-8")

    descriptor = take_lock(path, "http://127.0.0.1:8000")

    assert json.loads(path.read_text("utf-8")) == {"pid": os.getpid(), "address": "http://127.0.0.1:8000"}
    os.close(descriptor)


def test_a_taken_port_is_told_with_who_holds_it_and_which_to_try():
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(VlmLabError) as caught:
            open_port("127.0.0.1", port)

    assert f"Port {port} is taken by" in caught.value.message
    assert f"--port {port + 1}" in caught.value.hint
    if sys.platform.startswith("linux"):
        assert f"(process {os.getpid()})" in caught.value.message


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc")
def test_a_file_that_is_closed_meanwhile_hides_no_holder(monkeypatch):
    real, closed = Path.readlink, set()

    def readlink(path):
        if path.parent not in closed:
            closed.add(path.parent)
            raise FileNotFoundError(path)
        return real(path)

    monkeypatch.setattr(Path, "readlink", readlink)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        holder = port_holder(listener.getsockname()[1])

    assert holder is not None
    assert f"(process {os.getpid()})" in holder


def test_an_address_of_another_machine_is_told_as_such():
    with pytest.raises(VlmLabError, match=r"cannot listen on 192\.0\.2\.1"):
        open_port("192.0.2.1", 8000)


def test_a_host_that_does_not_exist_is_told_as_such():
    with pytest.raises(VlmLabError, match=r"cannot listen on no-such-host\.invalid"):
        open_port("no-such-host.invalid", 8000)


def test_a_free_port_is_opened_and_freed_again():
    listener = open_port("127.0.0.1", 0)
    port = listener.getsockname()[1]
    listener.close()

    with open_port("127.0.0.1", port) as again:
        assert again.getsockname() == ("127.0.0.1", port)


def test_nobody_holds_a_free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))  # held, so that nobody else listens there meanwhile

        assert port_holder(probe.getsockname()[1]) is None


def test_the_address_of_a_lab_is_told_only_while_it_runs(tmp_path):
    path = tmp_path / "up.lock"

    before = lab_address(path)
    lock = take_lock(path, "http://127.0.0.1:8123")
    running = lab_address(path)
    os.close(lock)

    assert (before, running, lab_address(path)) == (None, "http://127.0.0.1:8123", None)
