"""The one table of back ends that make pictures; heavy libraries are imported when one is loaded."""

from collections.abc import Mapping

from vlmlab.core.errors import GenerationError
from vlmlab.core.scenes.concepts import Domain
from vlmlab.core.scenes.render.backend_kinds import (
    BackendContext,
    BackendKind,
    BackendParams,
    PresenceCheck,
)
from vlmlab.core.scenes.render.carla.params import CARLA_KIND
from vlmlab.core.scenes.render.image_api_params import IMAGE_API_KIND
from vlmlab.core.scenes.render.image_pool_params import IMAGE_POOL_KIND
from vlmlab.core.scenes.scene import SceneSource

EMBEDDED = "embedded"


def _embedded_obstacle(domain: Domain) -> str:
    if domain.draws_as:
        return ""
    return (
        f"The embedded renderer has no world for the domain {domain.title}. Choose a picture source that has."
    )


def _embedded_check(domain: Domain, _params: BackendParams, _context: BackendContext) -> None:
    obstacle = _embedded_obstacle(domain)
    if obstacle:
        raise GenerationError(obstacle, field="backend")


def _embedded_load(
    domain: Domain, _params: BackendParams, context: BackendContext, *, width: int, height: int
) -> SceneSource:
    # Imported here: the renderer brings Embree, which a web process must never load.
    from vlmlab.core.scenes.render.generator import make_scene_source

    return make_scene_source(
        domain=domain,
        width=width,
        height=height,
        cache_dir=context.cache_dir,
        cache_max_bytes=context.cache_max_bytes,
    )


SCENE_BACKENDS: Mapping[str, BackendKind] = {
    kind.name: kind
    for kind in (
        BackendKind(
            name=EMBEDDED,
            title="Embedded renderer",
            description="Draws driving scenes and kitchens on this machine's processor.",
            needs="Nothing.",
            params=BackendParams,
            obstacle=_embedded_obstacle,
            check=_embedded_check,
            load=_embedded_load,
            is_registrable=False,
            is_described=True,
        ),
        IMAGE_POOL_KIND,
        IMAGE_API_KIND,
        CARLA_KIND,
    )
}


def is_described(name: str) -> bool:
    """Return whether the seed alone gives the descriptions of a back end; unknown ones count so."""
    kind = SCENE_BACKENDS.get(name)
    return kind is None or kind.is_described


def load_backend(
    kind: str, domain: Domain, params: BackendParams, context: BackendContext, *, width: int, height: int
) -> SceneSource:
    """Return a ready source of pictures of one size.

    Raises:
        GenerationError: there is no such kind, it cannot draw the domain, or something it needs is missing.
    """
    entry = SCENE_BACKENDS.get(kind)
    if entry is None:
        raise GenerationError(
            f"There is no back end {kind!r}.", hint=f"Known: {', '.join(SCENE_BACKENDS)}.", field="backend"
        )
    obstacle = entry.obstacle(domain)
    if obstacle:
        raise GenerationError(obstacle, field="backend")
    return entry.load(domain, params, context, width=width, height=height)


__all__ = [
    "EMBEDDED",
    "SCENE_BACKENDS",
    "BackendContext",
    "BackendKind",
    "BackendParams",
    "PresenceCheck",
    "is_described",
    "load_backend",
]
