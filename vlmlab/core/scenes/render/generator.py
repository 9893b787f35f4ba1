"""Makes pictures of concept sets: sampler, presence check, back end and cache behind one call."""

import hashlib
import io
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt
from PIL import Image

from vlmlab.core.errors import GenerationError
from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.core.scenes.concepts import Domain
from vlmlab.core.scenes.masks import encode_mask
from vlmlab.core.scenes.render.cache import DEFAULT_MAX_BYTES, DirectoryCache, SceneCache, scene_key
from vlmlab.core.scenes.render.embedded import EmbeddedBackend
from vlmlab.core.scenes.render.fault_words import in_labels, nothing_shows
from vlmlab.core.scenes.samplers import SAMPLERS
from vlmlab.core.scenes.scene import GeneratedScene, RenderedScene, SceneDescription, SceneSource

CHECK_VERSION = "2"
PNG_COMPRESSION = 3


class Backend(Protocol):
    """Draws scene descriptions."""

    name: str
    version: str

    @property
    def asset_digest(self) -> str:
        """Digest of whatever the pictures are made from."""
        ...

    def fault_or_render(
        self, description: SceneDescription, *, width: int, height: int, quality: str
    ) -> RenderedScene | str:
        """Return the picture, or one phrase that says which required object would not be seen."""
        ...


BACKENDS: dict[str, Callable[[], Backend]] = {EmbeddedBackend.name: EmbeddedBackend}


def encode_png(image: npt.NDArray[np.uint8]) -> bytes:
    """Return an ``(h, w, 3)`` picture as PNG; equal pictures give equal bytes."""
    buffer = io.BytesIO()
    Image.fromarray(image).save(buffer, "PNG", compress_level=PNG_COMPRESSION)
    return buffer.getvalue()


class SceneGenerator:
    """A ``SceneSource``: draws layouts until one shows every required concept.

    Args:
        backend: what draws.
        domain: a domain with ``draws_as``, or the slug of a built-in one; its sampler makes the layouts.
        width, height: of the pictures, in pixels.
        quality: a name the back end knows.
        max_attempts: layouts tried for one seed.
        cache: where finished scenes are kept; None = nowhere.
    """

    def __init__(
        self,
        backend: Backend,
        *,
        domain: Domain | str = "driving",
        width: int,
        height: int,
        quality: str = "standard",
        max_attempts: int = 8,
        cache: SceneCache | None = None,
    ) -> None:
        self._backend = backend
        self._domain = load_domain(domain) if isinstance(domain, str) else domain
        self._sample = SAMPLERS[self._domain.draws_as]
        self._width, self._height, self._quality = width, height, quality
        self._max_attempts = max_attempts
        self._cache = cache

    @property
    def identity(self) -> str:
        """Back end, version, asset digest, size, quality and rules of the presence check as one line."""
        backend = self._backend
        return (
            f"{backend.name} {backend.version} assets={backend.asset_digest} domain={self._domain.draws_as} "
            f"size={self._width}x{self._height} quality={self._quality} "
            f"check={CHECK_VERSION}/{self._max_attempts}"
        )

    def generate(self, concepts: tuple[str, ...], *, seed: int) -> GeneratedScene:
        """Return a scene of the canonical set that shows every required concept.

        Raises:
            GenerationError: no attempt showed every required object, or the back end cannot draw it.
            ConceptError: the set is not valid in the domain.
        """
        key = scene_key(self.identity, concepts, seed=seed)
        stored = self._cache.get(key) if self._cache is not None else None
        if stored is not None and self._is_current(stored, concepts, seed):
            return stored
        scene = self._draw(concepts, seed)
        if self._cache is not None:
            self._cache.put(key, scene)
        return scene

    def is_kept(self, concepts: tuple[str, ...], *, seed: int) -> bool:
        """Return whether the scene lies in the cache; True without one, where drawing ahead is in vain."""
        return self._cache is None or self._cache.has(scene_key(self.identity, concepts, seed=seed))

    def _is_current(self, stored: GeneratedScene, concepts: tuple[str, ...], seed: int) -> bool:
        """Return whether today's sampler still makes the stored layout."""
        try:
            today = self._sample(concepts, seed=seed, attempt=stored.description.attempt, domain=self._domain)
        except GenerationError:
            return False
        return today.digest == stored.description.digest

    def _draw(self, concepts: tuple[str, ...], seed: int) -> GeneratedScene:
        """Try layout after layout; one that the sampler cannot make counts as an attempt."""
        reasons: list[str] = []
        for attempt in range(self._max_attempts):
            try:
                description = self._sample(concepts, seed=seed, attempt=attempt, domain=self._domain)
            except GenerationError as error:
                reasons.append(error.message.rstrip("."))
                continue
            drawn = self._backend.fault_or_render(
                description, width=self._width, height=self._height, quality=self._quality
            )
            if isinstance(drawn, RenderedScene):
                return _finished(description, drawn)
            reasons.append(in_labels(drawn, description, self._domain))
        raise nothing_shows(concepts, self._domain, reasons)


def _finished(description: SceneDescription, drawn: RenderedScene) -> GeneratedScene:
    png = encode_png(drawn.image)
    return GeneratedScene(
        description=description,
        image_png=png,
        image_sha256=hashlib.sha256(png).hexdigest(),
        annotations=drawn.annotations,
        provenance=drawn.provenance,
        masks={name: encode_mask(mask) for name, mask in drawn.masks.items()},
    )


def make_scene_source(
    backend: str = "embedded",
    *,
    domain: Domain | str,
    width: int,
    height: int,
    quality: str = "standard",
    cache_dir: Path | None = None,
    cache_max_bytes: int = DEFAULT_MAX_BYTES,
) -> SceneSource:
    """Return the scene source of a domain; with ``cache_dir`` it remembers finished scenes there.

    Raises:
        GenerationError: there is no such back end, or no sampler for the domain.
    """
    if backend not in BACKENDS:
        raise GenerationError(
            f"There is no back end {backend!r}.", hint=f"Choose one of: {', '.join(BACKENDS)}."
        )
    if isinstance(domain, str):
        domain = load_domain(domain)
    if domain.draws_as not in SAMPLERS:
        raise GenerationError(
            f"The embedded renderer cannot draw the domain {domain.title}.",
            hint="Choose another picture source, or let the domain draw as one that is built in.",
        )
    cache = DirectoryCache(cache_dir, cache_max_bytes) if cache_dir is not None else None
    return SceneGenerator(
        BACKENDS[backend](), domain=domain, width=width, height=height, quality=quality, cache=cache
    )
