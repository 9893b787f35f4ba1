"""The row of CARLA in the table of back ends and its settings; light, because web processes read it too."""

import ipaddress
from typing import Literal

from pydantic import Field, field_validator

from vlmlab.core.errors import GenerationError
from vlmlab.core.scenes.concepts import Domain
from vlmlab.core.scenes.render.backend_kinds import BackendContext, BackendKind, BackendParams
from vlmlab.core.scenes.render.carla.blueprints import CARLA_VERSION
from vlmlab.core.scenes.render.carla.vocabulary import unknown_concepts
from vlmlab.core.scenes.scene import SceneSource

CARLA = "carla"
MapChoice = Literal["towns", "crossing"]


class CarlaParams(BackendParams):
    """Where the CARLA server is and what it loads."""

    host: str = Field(
        "127.0.0.1", title="Address", description="IP address of the machine on which the server runs."
    )
    port: int = Field(2000, ge=1024, le=65_533, title="Port", description="The server's --carla-rpc-port.")
    map: MapChoice = Field(
        "towns",
        title="Map",
        description="Town01 and Town02 of CARLA; or a plain crossing of our own, which needs no town files.",
    )
    timeout_s: float = Field(
        30.0, ge=5, le=300, title="Patience", description="Seconds to wait for the server; maps load slowly."
    )
    settle_ticks: int = Field(
        20,
        ge=5,
        le=200,
        title="Steps before the picture",
        description="Steps of 0.05 s in which things come to rest, rain falls and the exposure adapts.",
    )

    @field_validator("host")
    @classmethod
    def _is_address(cls, value: str) -> str:
        value = "127.0.0.1" if value.strip() == "localhost" else value.strip()
        try:
            return str(ipaddress.ip_address(value))
        except ValueError:
            raise ValueError("Write an IP address, such as 127.0.0.1 or 10.1.2.3.") from None


def carla_obstacle(domain: Domain) -> str:
    """Return why CARLA cannot draw a domain, "" when it can."""
    if domain.draws_as != "driving":
        return (
            f"CARLA draws streets, and the domain {domain.title} does not draw as driving. "
            "Choose another picture source."
        )
    unknown = unknown_concepts(domain)
    if unknown:
        return (
            f"CARLA has nothing to show for these concepts of {domain.title}: {', '.join(unknown)}. "
            "Take them out of the domain or choose another picture source."
        )
    return ""


def carla_unpictured(domain: Domain, params: BackendParams, _context: BackendContext) -> tuple[str, ...]:
    """Return the concepts that the chosen map can never show."""
    assert isinstance(params, CarlaParams)
    if params.map == "towns":
        return ()
    return tuple(concept.id for concept in domain.concepts if concept.kind == "map")


def _check(domain: Domain, params: BackendParams, context: BackendContext) -> None:
    obstacle = carla_obstacle(domain)
    if obstacle:
        raise GenerationError(obstacle, field="backend")
    # Imported here: it looks for the simulator's packages, which a form never needs.
    from vlmlab.core.scenes.render.carla.availability import check_server

    assert isinstance(params, CarlaParams)
    check_server(params, context.network)


def _load(
    domain: Domain, params: BackendParams, context: BackendContext, *, width: int, height: int
) -> SceneSource:
    # Imported here: it brings Scenic and the simulator's client.
    from vlmlab.core.scenes.render.carla.source import make_carla_source

    assert isinstance(params, CarlaParams)
    return make_carla_source(domain, params, context, width=width, height=height)


CARLA_KIND = BackendKind(
    name=CARLA,
    title="CARLA",
    description="Lays out driving scenes with Scenic and photographs them in the CARLA simulator.",
    needs=f"The packages of requirements-carla.txt and a running CARLA server of version {CARLA_VERSION}.",
    params=CarlaParams,
    obstacle=carla_obstacle,
    check=_check,
    load=_load,
    is_remote=True,
    unpictured=carla_unpictured,
)
