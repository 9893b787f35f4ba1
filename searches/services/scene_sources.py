"""The scene source of a domain and size; one back end a process, because loading its assets takes seconds."""

from functools import lru_cache

from django.conf import settings
from django.utils.module_loading import import_string

from vlmlab.core.errors import GenerationError
from vlmlab.core.scenes.concepts import Domain
from vlmlab.core.scenes.render.backends import EMBEDDED
from vlmlab.core.scenes.scene import SceneSource


def scene_source(domain: Domain, backend: str = EMBEDDED, *, width: int, height: int) -> SceneSource:
    """Return the source that makes pictures of a domain's concept sets in one size.

    Args:
        domain: the version whose sets are drawn.
        backend: ``embedded``, or the slug of a picture source.
        width: of the pictures, in pixels.
        height: of the pictures, in pixels.

    Raises:
        GenerationError: there is no such picture source, or it cannot draw this domain.
    """
    if backend != EMBEDDED:
        raise GenerationError(f"There is no picture source “{backend}”.", field="backend")
    factory, cache_dir = settings.SCENE_SOURCE_FACTORY, str(settings.SCENE_CACHE_DIR)
    return _embedded(domain, width, height, factory, cache_dir)


@lru_cache(maxsize=4)
def _embedded(domain: Domain, width: int, height: int, factory: str, cache_dir: str) -> SceneSource:
    if factory:
        made: SceneSource = import_string(factory)(domain.slug, width=width, height=height)
        return made
    # Imported here: the renderer brings embreex, which a web process must never load.
    from vlmlab.core.scenes.render.generator import make_scene_source

    return make_scene_source(
        domain=domain,
        width=width,
        height=height,
        cache_dir=settings.SCENE_CACHE_DIR,
        cache_max_bytes=settings.SCENE_CACHE_MAX_BYTES,
    )
