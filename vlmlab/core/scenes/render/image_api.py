"""Scenes from image-generating models: prompts of a set's own words, a cache, refusals, a second look."""

import hashlib
import json
import threading
from dataclasses import dataclass, field, replace

from vlmlab.core.errors import DrawingStoppedError, GenerationError, ImageError, SourceAwayError, VlmLabError
from vlmlab.core.images import sha256_of
from vlmlab.core.scenes.concepts import Domain, Key
from vlmlab.core.scenes.prompts_for_pictures import PROMPT_VERSION, picture_prompt
from vlmlab.core.scenes.render.backend_kinds import BackendContext
from vlmlab.core.scenes.render.cache import DirectoryCache, scene_key
from vlmlab.core.scenes.render.image_api_calls import PictureCall, PictureCalls
from vlmlab.core.scenes.render.image_api_params import IMAGE_API, UNIDENTIFYING, ImageApiParams
from vlmlab.core.scenes.render.image_api_pictures import cost_of_picture, fitted_png
from vlmlab.core.scenes.render.image_providers import ImageProvider, MadePicture, provider_of
from vlmlab.core.scenes.scene import Camera, GeneratedScene, SceneDescription
from vlmlab.core.seeding import derive_seed
from vlmlab.core.suts.provider import CallFailure
from vlmlab.core.suts.storable import storable_text

VERSION = "1"
_OF_ONE_PROMPT = frozenset({"request", "not_json", "too_large"})
_ROUNDING = 1e-9
_MOST_REASON = 200


@dataclass(frozen=True)
class Tally:
    """What a source did since it was loaded.

    Attributes:
        n_pictures: scenes that were made, those from the cache not counted.
        n_cached: scenes that came from the cache.
        n_refusals: attempts that the provider refused.
        n_unfit: pictures that could not be read, or that did not show enough of their set.
        cost_usd: of everything that was asked for.
    """

    n_pictures: int = 0
    n_cached: int = 0
    n_refusals: int = 0
    n_unfit: int = 0
    cost_usd: float = 0.0


@dataclass
class _Bill:
    """What the attempts for one scene cost and came to.

    Attributes:
        reasons: why an attempt gave no picture -> how often.
    """

    cost_usd: float = 0.0
    n_refusals: int = 0
    reasons: dict[str, int] = field(default_factory=dict)

    def note(self, reason: str) -> None:
        """Count why an attempt gave no picture."""
        plain = storable_text(reason)[:_MOST_REASON].rstrip(".")
        self.reasons[plain] = self.reasons.get(plain, 0) + 1


@dataclass(frozen=True)
class _Seen:
    """A picture in its final size, what the provider said of it, and what the second system did not see."""

    png: bytes
    made: MadePicture
    unseen: tuple[str, ...]


class ImageApiSource:
    """A ``SceneSource`` that asks an image-generating model; thread-safe.

    It knows no boxes. Whether a picture shows its set is judged by ``context.presence`` when there is one,
    and by reviewers. The seed is part of the cache key, chooses neutral background words and is sent to
    providers that take one, so the scenes of a set differ from each other and stay what they are.

    Args:
        provider: one wire format.
        domain: whose sets are asked for.
        params: settings of the source.
        context: cache, presence check and order to stop.
        width: of the scenes in pixels.
        height: of the scenes in pixels.
        digest: what the pictures are made from on this machine, "" for what is served elsewhere.
        calls: asks the provider; made from the settings when None.
    """

    def __init__(
        self,
        provider: ImageProvider,
        domain: Domain,
        params: ImageApiParams,
        context: BackendContext,
        *,
        width: int,
        height: int,
        digest: str = "",
        calls: PictureCalls | None = None,
    ) -> None:
        self._provider, self._domain, self._params = provider, domain, params
        self._width, self._height, self._digest = width, height, digest
        self._presence = context.presence
        self._calls = calls or PictureCalls(
            provider, params, should_stop=context.should_stop, on_progress=context.on_progress
        )
        folder = context.cache_dir
        self._cache = DirectoryCache(folder, context.cache_max_bytes) if folder is not None else None
        self._tally, self._lock = Tally(), threading.Lock()

    @property
    def identity(self) -> str:
        """Back end, version, provider, model, settings, domain, size and check as one line, without keys."""
        params = self._params
        settings = params.model_dump(mode="json", exclude=set(UNIDENTIFYING))
        digest = hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()[:16]
        made_from = f" weights={self._digest[:16]}" if self._digest else ""
        return (
            f"{IMAGE_API} {VERSION} {params.provider}/{provider_of(params).adapter_version} "
            f"model={params.model}{made_from} settings={digest} prompts={PROMPT_VERSION} "
            f"domain={self._domain.ref} size={self._width}x{self._height} check={self._check_name}"
        )

    @property
    def tally(self) -> Tally:
        """What was made, refused and spent since the source was loaded."""
        return self._tally

    def generate(self, concepts: Key, *, seed: int) -> GeneratedScene:
        """Return a picture of the canonical set; one that was made before costs nothing.

        Raises:
            SourceAwayError: the provider cannot be reached, or refuses every call.
            GenerationError: no attempt gave a picture that shows the set, with each reason and its number;
                or the set's words are too long.
        """
        cache_key = scene_key(self.identity, concepts, seed=seed)
        stored = self._cache.get(cache_key) if self._cache is not None else None
        if stored is not None:
            self._count(n_cached=1)
            return stored
        scene = self._made(concepts, seed)
        if self._cache is not None:
            self._cache.put(cache_key, scene)
        return scene

    def is_paid(self, concepts: Key, *, seed: int) -> bool:
        """Return whether the scene lies in the cache undamaged, so that it costs nothing.

        It is not named as in ``DrawsAhead``: no other worker may spend money for a run.
        """
        if self._cache is None:
            return False
        return self._cache.get(scene_key(self.identity, concepts, seed=seed)) is not None

    def close(self) -> None:
        """End waiting calls and close the connections."""
        self._calls.close()

    def _made(self, concepts: Key, seed: int) -> GeneratedScene:
        """Ask attempt after attempt; an error says what was paid before it."""
        bill = _Bill()
        try:
            for attempt in range(self._params.max_attempts):
                call = self._call(concepts, seed, attempt)
                seen = self._attempted(call, concepts, bill)
                if seen is not None:
                    self._count(n_pictures=1)
                    return self._scene(seen, call, concepts, seed=seed, attempt=attempt, cost=bill.cost_usd)
            raise self._no_picture(concepts, bill)
        except GenerationError as error:
            error.cost_usd, error.n_refusals = bill.cost_usd, bill.n_refusals
            raise

    def _attempted(self, call: PictureCall, concepts: Key, bill: "_Bill") -> "_Seen | None":
        """Ask once; a refusal counts as an attempt, because other background words may pass."""
        try:
            made = self._calls.ask(call)
        except CallFailure as failure:
            if self._is_away(failure):
                raise _away(failure) from None
            is_refusal = failure.kind == "filtered"
            bill.n_refusals += is_refusal
            bill.note(failure.message)
            self._count(n_refusals=int(is_refusal), n_unfit=int(not is_refusal))
            return None
        price = cost_of_picture(self._params, made)
        bill.cost_usd += price
        self._count(cost_usd=price)
        looked_at = self._looked_at(made, concepts)
        if isinstance(looked_at, _Seen):
            return looked_at
        bill.note(looked_at)
        self._count(n_unfit=1)
        return None

    def _is_away(self, failure: CallFailure) -> bool:
        """Return whether a failure says that no picture of any set will come.

        A refused request or an odd answer is laid at the prompt's door where the same settings have already
        given a picture, else at the settings'.
        """
        if failure.kind == "filtered":
            return False
        return failure.kind not in _OF_ONE_PROMPT or not self._tally.n_pictures + self._tally.n_cached

    def _looked_at(self, made: MadePicture, concepts: Key) -> "_Seen | str":
        """Return the picture in its final size, or a phrase that says why it will not do."""
        try:
            png = fitted_png(made.content, width=self._width, height=self._height)
        except ImageError as error:
            return f"the answer is no usable picture: {error.message}"
        unseen = self._unseen(png, concepts)
        n_seen = len(concepts) - len(unseen)
        if n_seen >= self._params.presence_threshold * len(concepts) - _ROUNDING:
            return _Seen(png, made, unseen)
        return f"the picture does not show {self._labels(unseen)}"

    def _call(self, concepts: Key, seed: int, attempt: int) -> PictureCall:
        prompt = picture_prompt(
            self._domain,
            concepts,
            seed=seed,
            attempt=attempt,
            style=self._params.style,
            avoid=self._params.avoid,
            max_words=self._params.max_words,
            max_characters=self._provider.most_characters,
        )
        return PictureCall(prompt, self._width, self._height, derive_seed(seed, IMAGE_API, "sample", attempt))

    @property
    def _check_name(self) -> str:
        if self._presence is None:
            return "none"
        return str(getattr(self._presence, "identity", "second system"))

    def _unseen(self, png: bytes, concepts: Key) -> tuple[str, ...]:
        if self._presence is None:
            return ()
        missing = set(self._presence(png, self._domain, concepts))
        return tuple(concept for concept in concepts if concept in missing)

    def _labels(self, concepts: tuple[str, ...]) -> str:
        return ", ".join(self._domain.concept(concept).label for concept in concepts)

    def _scene(
        self, seen: "_Seen", call: PictureCall, concepts: Key, *, seed: int, attempt: int, cost: float
    ) -> GeneratedScene:
        digest = sha256_of(seen.png)
        description = SceneDescription(
            domain=self._domain.slug,
            concepts=concepts,
            seed=seed,
            attempt=attempt,
            camera=Camera((0.0, 0.0, 0.0), (0.0, 1.0, 0.0)),
            environment={},
            world={"backend": IMAGE_API, "picture": digest, "file": f"{digest[:16]}.png"},
            objects=(),
        )
        provenance = {
            "backend": IMAGE_API,
            "version": VERSION,
            "provider": self._params.provider,
            "model": self._params.model,
            "answered_by": seen.made.model,
            "prompt": call.prompt.text,
            "left_out": "; ".join(call.prompt.avoid),
            "revised_prompt": seen.made.revised_prompt,
            "size": f"{self._width}x{self._height}",
            "check": self._check_name,
            "not_seen": ", ".join(seen.unseen),
        }
        return GeneratedScene(
            description=description,
            image_png=seen.png,
            image_sha256=digest,
            annotations=(),
            provenance={name: storable_text(value) for name, value in provenance.items() if value},
            cost_usd=cost,
        )

    def _no_picture(self, concepts: Key, bill: "_Bill") -> GenerationError:
        listed = "; ".join(f"{reason} ({number}x)" for reason, number in sorted(bill.reasons.items()))
        n_attempts = self._params.max_attempts
        what = "The one attempt" if n_attempts == 1 else f"None of {n_attempts} attempts"
        verb = "did not give" if n_attempts == 1 else "gave"
        return GenerationError(
            f"{what} {verb} a picture of {self._labels(concepts)}: {listed}.",
            hint="Use fewer concepts at once, other words for them, or another picture source.",
        )

    def _count(self, *, cost_usd: float = 0.0, **counts: int) -> None:
        with self._lock:
            now = self._tally
            added = {name: getattr(now, name) + number for name, number in counts.items()}
            self._tally = replace(now, cost_usd=now.cost_usd + cost_usd, **added)


def load_image_api(
    domain: Domain, params: ImageApiParams, context: BackendContext, *, width: int, height: int
) -> ImageApiSource:
    """Return a source that is ready to be asked; nothing is connected before the first picture.

    Raises:
        SourceAwayError: the address, the key or the folder cannot work.
    """
    kind = provider_of(params)
    try:
        provider = kind.make(params, context)
        digest = kind.digest(params, context)
    except VlmLabError as error:
        raise _unusable(error) from error
    return ImageApiSource(provider, domain, params, context, width=width, height=height, digest=digest)


def check_image_api(_domain: Domain, params: ImageApiParams, context: BackendContext) -> None:
    """Say before launch what is missing: a key, an address that is allowed, a package, a folder.

    Providers that list their models for nothing are asked for them, for a few seconds at most.

    Raises:
        SourceAwayError: what is missing, and what to do.
    """
    try:
        provider_of(params).check(params, context)
    except CallFailure as failure:
        raise _away(failure) from None
    except VlmLabError as error:
        raise _unusable(error) from error


def _away(failure: CallFailure) -> SourceAwayError:
    error = DrawingStoppedError if failure.kind in ("stopped", "closed") else SourceAwayError
    return error(storable_text(failure.message))


def _unusable(error: VlmLabError) -> SourceAwayError:
    return SourceAwayError(error.message, hint=error.hint, field=error.field)
