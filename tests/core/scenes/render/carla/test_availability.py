"""What is missing is said before a run starts."""

import importlib.metadata
import importlib.util
import socket

import pytest

from vlmlab.core.errors import GenerationError, SourceAwayError
from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.core.scenes.render.backend_kinds import BackendContext
from vlmlab.core.scenes.render.backends import SCENE_BACKENDS
from vlmlab.core.scenes.render.carla.availability import check_packages
from vlmlab.core.scenes.render.carla.params import CarlaParams
from vlmlab.core.suts.network import NetworkPolicy, policy_of

DRIVING = load_domain("driving")
ALLOWED = policy_of(["127.0.0.1:1-65535"])


def check(params=None, network=ALLOWED):
    kind = SCENE_BACKENDS["carla"]
    kind.check(DRIVING, params or CarlaParams(), BackendContext(network=network))


def test_server_of_the_right_version_passes(server):
    check()


def test_missing_packages_are_named_with_the_command_that_installs_them(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)

    with pytest.raises(GenerationError) as missing:
        check()

    assert str(missing.value) == (
        "CARLA scenes need the Python packages scenic and carla. Run: pip install -r requirements-carla.txt."
    )


def test_client_of_another_version_is_named(monkeypatch):
    monkeypatch.setattr(importlib.metadata, "version", lambda name: "0.9.15")

    with pytest.raises(GenerationError) as wrong:
        check_packages()

    assert wrong.value.message == "The installed CARLA client is 0.9.15, not 0.9.16."
    assert wrong.value.hint == "Run: pip install -r requirements-carla.txt."


def test_address_that_nobody_allowed_is_not_asked(server):
    server.is_down = True  # asking it would be another error

    with pytest.raises(SourceAwayError) as refused:
        check(network=NetworkPolicy())

    assert str(refused.value) == (
        "The CARLA server's address 127.0.0.1:2000 is a local or reserved one and not allowed. "
        "For a server of your own ask whoever runs the site to add 127.0.0.1:2000 to VLMLAB_ENDPOINT_ALLOW."
    )


def test_server_of_another_version_is_named(server):
    server.answers_as = "0.9.15"

    with pytest.raises(SourceAwayError) as wrong:
        check()

    assert wrong.value.message == "The server at 127.0.0.1:2000 is CARLA 0.9.15, the client 0.9.16."


def test_own_build_of_the_right_version_passes(server):
    server.answers_as = "0.9.16-3-gabc123"

    check()


def test_real_client_gives_up_within_seconds_where_no_server_listens():
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        port = silent.getsockname()[1]

        with pytest.raises(SourceAwayError) as away:
            check(CarlaParams(port=port))

    assert away.value.message == f"No CARLA server answers at 127.0.0.1:{port}."
    assert away.value.hint
