"""What a back end is, what it needs and what it is given; the table of back ends is in ``backends``."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from vlmlab.core.scenes.concepts import Domain
from vlmlab.core.scenes.pools import PicturePool
from vlmlab.core.scenes.render.cache import DEFAULT_MAX_BYTES
from vlmlab.core.scenes.scene import SceneSource
from vlmlab.core.suts.context import never, no_progress
from vlmlab.core.suts.network import NetworkPolicy

PresenceCheck = Callable[[bytes, Domain, tuple[str, ...]], tuple[str, ...]]
"""``(png, domain, concepts)`` -> ids of the concepts that cannot be seen; may raise ``GenerationError``."""


class BackendParams(BaseModel):
    """Settings of a back end; stored with a picture source."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


@dataclass(frozen=True)
class BackendContext:
    """Everything that is not a stored setting.

    Attributes:
        cache_dir, cache_max_bytes: where finished scenes are kept; None = nowhere.
        pool: the annotated pictures of an image pool.
        network: which addresses may be connected to.
        api_key: secret of the provider, "" for none; never shown, never part of an identity.
        presence: asks a second system what can be seen; None = nobody checks.
        model_root: folder below which local pipelines lie; None = none may be loaded.
        should_stop: whether the batch in hand is to end.
        on_progress: called whenever a slow provider gave a sign of life, so that nobody takes it for stuck.
    """

    cache_dir: Path | None = None
    cache_max_bytes: int = DEFAULT_MAX_BYTES
    pool: PicturePool | None = None
    network: NetworkPolicy = field(default_factory=NetworkPolicy)
    api_key: str = field(default="", repr=False)
    presence: PresenceCheck | None = None
    model_root: Path | None = None
    should_stop: Callable[[], bool] = never
    on_progress: Callable[[], None] = no_progress


def _free(_params: BackendParams) -> float | None:
    return 0.0


def _no_origin(_params: BackendParams) -> str:
    return ""


def _nothing_missing(_domain: Domain, _params: BackendParams, _context: BackendContext) -> tuple[str, ...]:
    return ()


@dataclass(frozen=True)
class BackendKind:
    """One kind of back end.

    Attributes:
        name: key in ``SCENE_BACKENDS``.
        title: short name for people.
        description: what it is for, one sentence.
        needs: what it takes to use it, one sentence.
        params: frozen pydantic model of its settings.
        obstacle: ``domain`` -> why it cannot draw that domain and what to do, "" when it can.
        check: says before launch what is missing (an extra, a server, a key, concepts without pictures);
            raises ``GenerationError`` with a hint. It may connect, for a few seconds at most.
        load: makes the source ready; the same seed then gives the same scene.
        is_registrable: whether a person configures it as a picture source; the embedded renderer is there.
        is_remote: whether it opens connections.
        is_described: whether the seed makes the scene description again without the back end.
        has_boxes: whether it knows where things are in the picture.
        key_words: what its secret is called; "" when it takes none.
        key_origin: settings -> the one server (scheme, host, port) that its secret is sent to; "" for none.
        takes_pool: whether it draws from a dataset, which ``context.pool`` holds.
        takes_presence: whether a second system may be asked if a picture shows what it should.
        picture_usd: settings -> the most that one picture can cost; None when its price is unknown.
        unpictured: ids of concepts that it can never show; a search must leave them out.
    """

    name: str
    title: str
    description: str
    needs: str
    params: type[BackendParams]
    obstacle: Callable[[Domain], str]
    check: Callable[[Domain, BackendParams, BackendContext], None]
    load: Callable[..., SceneSource]
    is_registrable: bool = True
    is_remote: bool = False
    is_described: bool = False
    has_boxes: bool = True
    key_words: str = ""
    key_origin: Callable[[BackendParams], str] = _no_origin
    takes_pool: bool = False
    takes_presence: bool = False
    picture_usd: Callable[[BackendParams], float | None] = _free
    unpictured: Callable[[Domain, BackendParams, BackendContext], tuple[str, ...]] = _nothing_missing
