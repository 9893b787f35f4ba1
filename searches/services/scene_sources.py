"""The scene source of a domain and size; one back end a process, because loading its assets takes seconds."""

from functools import lru_cache

from django.conf import settings
from django.utils.module_loading import import_string

from vlmlab.core.scenes.scene import SceneSource


def scene_source(domain_slug: str, *, width: int, height: int) -> SceneSource:
    """Return the source that draws a domain's concept sets in one size."""
    return _source(domain_slug, width, height, settings.SCENE_SOURCE_FACTORY, str(settings.SCENE_CACHE_DIR))


@lru_cache(maxsize=4)
def _source(domain_slug: str, width: int, height: int, factory: str, cache_dir: str) -> SceneSource:
    if factory:
        made: SceneSource = import_string(factory)(domain_slug, width=width, height=height)
        return made
    # Imported here: the renderer brings embreex, which a web process must never load.
    from vlmlab.core.scenes.render.generator import make_scene_source

    return make_scene_source(
        domain=domain_slug,
        width=width,
        height=height,
        cache_dir=settings.SCENE_CACHE_DIR,
        cache_max_bytes=settings.SCENE_CACHE_MAX_BYTES,
    )
