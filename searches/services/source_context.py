"""What loading a picture source needs besides its settings; the one place that opens its key."""

from django.conf import settings

from searches.models import ApiKey, PictureSource
from searches.services.dataset_pools import pool_of_dataset
from searches.services.presence_asking import presence_check
from searches.services.sut_signals import is_asked_to_stop, progressed
from vlmlab.core.complaints import checked_settings
from vlmlab.core.errors import ConfigError
from vlmlab.core.scenes.render.backend_kinds import BackendContext, BackendKind, BackendParams
from vlmlab.core.scenes.render.backends import SCENE_BACKENDS
from vlmlab.core.suts.network import policy_of


def backend_kind(name: str) -> BackendKind:
    """Return a kind of picture source.

    Raises:
        ConfigError: there is none of this name that a person can configure.
    """
    kind = SCENE_BACKENDS.get(name)
    if kind is None or not kind.is_registrable:
        known = ", ".join(kind.name for kind in registrable_kinds())
        raise ConfigError(f"There is no kind of source “{name}”.", hint=f"Known: {known}.", field="kind")
    return kind


def registrable_kinds() -> list[BackendKind]:
    """Return the kinds that a person can configure."""
    return [kind for kind in SCENE_BACKENDS.values() if kind.is_registrable]


def source_params(source: PictureSource) -> BackendParams:
    """Return the checked settings of a stored source.

    Raises:
        ConfigError: the stored ones are not valid any more, or its kind is unknown.
    """
    return checked_settings(backend_kind(source.kind).params, source.params)


def check_key_fits(api_key: ApiKey, kind: BackendKind, params: BackendParams) -> None:
    """Check that settings send a key to the one server that it was entered for.

    Raises:
        ConfigError: they send it elsewhere, or nowhere.
    """
    origin = kind.key_origin(params)
    if not origin or api_key.origin != origin:
        raise ConfigError(
            f"The key {api_key} is only for {api_key.origin or 'no address'}, not for "
            f"{origin or 'this kind of source'}.",
            hint="Choose another key, or none.",
            field="api_key",
        )


def source_context(source: PictureSource) -> BackendContext:
    """Return what loading a source needs; holds its key in the open.

    Raises:
        ConfigError: its settings are not valid any more, or its key is for another server.
        SourceAwayError: its dataset is not ready.
    """
    kind = backend_kind(source.kind)
    if source.api_key is not None:
        check_key_fits(source.api_key, kind, source_params(source))
    asks = kind.takes_presence and source.presence_sut is not None
    return BackendContext(
        cache_dir=settings.SCENE_CACHE_DIR,
        cache_max_bytes=settings.SCENE_CACHE_MAX_BYTES,
        pool=pool_of_dataset(source.dataset) if kind.takes_pool and source.dataset else None,
        network=policy_of(settings.ENDPOINT_ALLOW),
        api_key=source.api_key.secret.reveal() if source.api_key else "",
        presence=presence_check(source.presence_sut) if asks and source.presence_sut else None,
        model_root=settings.MODEL_DIR,
        should_stop=is_asked_to_stop,
        on_progress=progressed,
    )
