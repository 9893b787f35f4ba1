"""Says what is missing before a run starts: packages, the right to connect, a server of the right version."""

import importlib.metadata
import importlib.util
from typing import Any

from vlmlab.core.errors import GenerationError, SourceAwayError
from vlmlab.core.scenes.render.carla.blueprints import CARLA_VERSION
from vlmlab.core.scenes.render.carla.params import CarlaParams
from vlmlab.core.suts.network import NetworkPolicy, how_to_allow, refusal_of

CHECK_SECONDS = 2.0
PACKAGES = ("scenic", "carla")
INSTALL_HINT = "Run: pip install -r requirements-carla.txt"


def check_packages() -> None:
    """Check that Scenic and the client of the right version are installed, without loading them.

    Raises:
        GenerationError: one is missing, or the client is of another version.
    """
    missing = [name for name in PACKAGES if importlib.util.find_spec(name) is None]
    if missing:
        raise GenerationError(
            f"CARLA scenes need the Python package{'s' if len(missing) > 1 else ''} {' and '.join(missing)}.",
            hint=f"{INSTALL_HINT}.",
            field="backend",
        )
    installed = importlib.metadata.version("carla")
    if installed != CARLA_VERSION:
        raise GenerationError(
            f"The installed CARLA client is {installed}, not {CARLA_VERSION}.",
            hint=f"{INSTALL_HINT}.",
            field="backend",
        )


def check_address(params: CarlaParams, network: NetworkPolicy) -> None:
    """Check that the site may connect to the server.

    Raises:
        SourceAwayError: the address is not on the list of allowed servers.
    """
    refusal = refusal_of(params.host, params.port, scheme="http", policy=network)
    if refusal:
        raise SourceAwayError(
            f"The CARLA server's address {params.host}:{params.port} {refusal}.",
            hint=how_to_allow(params.host, params.port),
            field="host",
        )


def connect(params: CarlaParams, network: NetworkPolicy, *, timeout_s: float | None = None) -> Any:
    """Return a client of a server that answers and has the right version.

    Args:
        params: where it is.
        network: which addresses may be connected to.
        timeout_s: seconds to wait for the first answer; by default those of the settings.

    Raises:
        GenerationError: a package is missing or of another version.
        SourceAwayError: the server may not be asked, does not answer, or has another version.
    """
    check_packages()
    check_address(params, network)
    # Imported here: the simulator's client is a large library.
    import carla

    client = carla.Client(params.host, params.port)
    client.set_timeout(timeout_s or params.timeout_s)
    try:
        version = str(client.get_server_version())
    except RuntimeError as error:
        raise SourceAwayError(
            f"No CARLA server answers at {params.host}:{params.port}.",
            hint="Start it (CarlaUE4.sh -RenderOffScreen) and check its address and port.",
            field="host",
        ) from error
    if version.split("-")[0] != CARLA_VERSION:
        raise SourceAwayError(
            f"The server at {params.host}:{params.port} is CARLA {version}, the client {CARLA_VERSION}.",
            hint=f"Start a server of version {CARLA_VERSION}.",
            field="host",
        )
    client.set_timeout(params.timeout_s)
    return client


def check_server(params: CarlaParams, network: NetworkPolicy) -> None:
    """Check all that a run needs, within a few seconds.

    Raises:
        GenerationError: as ``connect``.
    """
    connect(params, network, timeout_s=CHECK_SECONDS)
