"""The scene source of a domain and size: one a process, because loading its assets takes seconds."""

import json
from functools import lru_cache

from django.conf import settings
from django.utils.module_loading import import_string

from searches.models import PictureSource
from searches.services.source_context import backend_kind, source_context, source_params
from searches.services.source_obstacles import obstacle_of
from vlmlab.core.errors import SourceAwayError
from vlmlab.core.scenes.concepts import Domain
from vlmlab.core.scenes.render.backends import EMBEDDED, load_backend
from vlmlab.core.scenes.scene import SceneSource


def scene_source(domain: Domain, backend: str = EMBEDDED, *, width: int, height: int) -> SceneSource:
    """Return the source that makes pictures of a domain's concept sets in one size.

    Args:
        domain: the version whose sets are drawn.
        backend: ``embedded``, or the slug of a picture source.
        width: of the pictures, in pixels.
        height: of the pictures, in pixels.

    Raises:
        GenerationError: it cannot draw this domain.
        SourceAwayError: there is no such picture source, it is off, or something it needs is missing.
        ConfigError: its stored settings are not valid any more.
    """
    if backend == EMBEDDED:
        factory, cache_dir = settings.SCENE_SOURCE_FACTORY, str(settings.SCENE_CACHE_DIR)
        return _embedded(domain, width, height, factory, cache_dir)
    source = find_source(backend)
    obstacle = obstacle_of(source, domain)
    if obstacle:
        raise SourceAwayError(obstacle, field="backend")
    return _loaded(source, domain, width, height)


def find_source(slug: str) -> PictureSource:
    """Return a picture source with everything that it names.

    Raises:
        SourceAwayError: there is none of this short name.
    """
    rows = PictureSource.objects.select_related("dataset", "api_key", "presence_sut__api_key")
    source = rows.filter(slug=slug).first()
    if source is None:
        raise SourceAwayError(
            f"There is no picture source “{slug}”.", hint="Choose another.", field="backend"
        )
    return source


_kept: dict[tuple[object, ...], SceneSource] = {}
MOST_KEPT = 4


def _loaded(source: PictureSource, domain: Domain, width: int, height: int) -> SceneSource:
    """Return a loaded source; one that was changed since is loaded afresh."""
    context = source_context(source)
    token = source.api_key.secret.token if source.api_key else ""
    pool = context.pool.digest if context.pool else ""
    key = (
        source.pk,
        domain.ref,
        (width, height),
        json.dumps(source.params, sort_keys=True),
        (token, pool, source.presence_sut_id, getattr(context.presence, "identity", "")),
        str(settings.SCENE_CACHE_DIR),
    )
    if key not in _kept:
        kind = backend_kind(source.kind)
        loaded = load_backend(kind.name, domain, source_params(source), context, width=width, height=height)
        while len(_kept) >= MOST_KEPT:
            _kept.pop(next(iter(_kept)), None)
        _kept[key] = loaded
    return _kept[key]


def forget_sources() -> None:
    """Drop every loaded source, as a new process would start."""
    _kept.clear()
    _embedded.cache_clear()


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
