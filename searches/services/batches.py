"""One batch of a run: scenes, cache, system under test, reading; nothing of the run is written here."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from searches.models import SearchRun
from searches.services.asked_calls import BatchInterrupted, ask_sut, cache_key, cached_replies
from searches.services.call_costs import Prompted
from searches.services.crashes import crash_point
from searches.services.live_scenes import LiveScenes, QueryT
from searches.services.picture_bills import billed
from searches.services.prerender import draw_ahead, share_batch
from searches.services.scene_sources import scene_source
from searches.services.sut_signals import progressed, stopping_when
from searches.services.suts import LoadedSut, asking_of
from vlmlab.core.errors import DrawingStoppedError, VlmLabError
from vlmlab.core.revelio.evaluate import PreparedSample, SampleRecord
from vlmlab.core.revelio.types import Verdict
from vlmlab.core.scenes.scene import SceneSource
from vlmlab.core.suts.asking import choice_prompt
from vlmlab.core.suts.base import SutReply, SutRequest

__all__ = ["AnsweredSample", "Batch", "BatchInterrupted", "answer_batch"]

NO_REPLY = SutReply("", "other")


@dataclass(frozen=True)
class AnsweredSample:
    """One sample from picture to verdict.

    Attributes:
        prompt: the complete text that the system is sent, the question inside the words of its registration.
        cache_key: key of the reply in the response cache, "" without a picture.
        is_cached: whether the reply came from the cache.
        render_ms: wall time of the picture, in milliseconds.
        may_be_reused: whether the key is true of the reply: a system that ran out of memory while it answered
            goes on as another one, and nobody can tell which of the two gave which reply.
    """

    prepared: PreparedSample
    prompt: str
    reply: SutReply
    record: SampleRecord
    cache_key: str
    is_cached: bool
    render_ms: float
    may_be_reused: bool

    @property
    def is_sent(self) -> bool:
        """Whether the system was asked."""
        return bool(self.cache_key) and not self.is_cached


@dataclass(frozen=True)
class Batch:
    """What one batch brought, with the wall seconds that its parts took.

    Attributes:
        fingerprint: of the system as it was loaded.
        pictures: identity of what made the pictures.
        change: what became of the system while it answered (a device that ran out of memory), "" for nothing.
    """

    samples: tuple[AnsweredSample, ...]
    render_seconds: float
    sut_seconds: float
    fingerprint: str
    change: str = ""
    pictures: str = ""

    @property
    def sent(self) -> list[SutReply]:
        """What the system said to the calls that no cache answered, in the order asked."""
        return [one.reply for one in self.samples if one.is_sent]

    @property
    def has_answer(self) -> bool:
        """Whether anything at all was answered."""
        return any(one.record.verdict in (Verdict.PASS, Verdict.FAIL) for one in self.samples)


def answer_batch(
    run: SearchRun,
    live: LiveScenes[QueryT],
    queries: Sequence[QueryT],
    *,
    sut: LoadedSut,
    should_stop: Callable[[], bool],
    may_send: Callable[[Sequence[Prompted]], None],
) -> Batch:
    """Draw, ask and read one batch.

    Args:
        run: the run.
        live: its search.
        queries: what is asked.
        sut: the system, loaded.
        should_stop: asked before each picture, before the system is asked, and by remote systems on the way.
        may_send: called with the calls that no cache answers before any is sent; it may refuse them.

    Raises:
        BatchInterrupted: ``should_stop`` said so before all was asked.
        VlmLabError: the pictures of this run are not made any more as when it began.
    """
    started = time.monotonic()
    config = live.config
    source = scene_source(live.domain, config.backend, width=config.image_width, height=config.image_height)
    _check_same_pictures(run, source)
    share_batch(run, live, queries)
    prepared, render_ms = _draw(run, live, queries, source=source, should_stop=should_stop)
    drawn = time.monotonic()
    crash_point("after_scenes")
    fingerprint, asking = sut.info.fingerprint, asking_of(run.sut)
    prompts = [choice_prompt(asking, sample.question.prompt) for sample in prepared]
    keys = [_key_of(fingerprint, *pair) for pair in zip(prepared, prompts, strict=True)]
    cached = cached_replies(run, [key for key in keys if key])
    asked = [i for i, key in enumerate(keys) if key and key not in cached]
    if asked and should_stop():
        raise BatchInterrupted
    may_send([Prompted(prompts[i], (live.config.image_width, live.config.image_height)) for i in asked])
    requests = {i: _request(prepared[i], prompts[i]) for i in asked}
    if requests:
        draw_ahead(run, live)
    fresh = ask_sut(sut, requests, keys=keys, should_stop=should_stop)
    crash_point("after_answers")
    is_same_system = sut.info.fingerprint == fingerprint
    samples = []
    for i, sample in enumerate(prepared):
        reply = fresh.get(i) or cached.get(keys[i], NO_REPLY)
        record = live.read(sample, reply)
        is_cached = bool(keys[i]) and i not in fresh
        samples.append(
            AnsweredSample(
                sample, prompts[i], reply, record, keys[i], is_cached, render_ms[i], is_same_system
            )
        )
    change = "" if is_same_system else sut.info.details.get("batch size", "its identity changed")
    asked_seconds = time.monotonic() - drawn
    return Batch(tuple(samples), drawn - started, asked_seconds, sut.fingerprint, change, source.identity)


def _check_same_pictures(run: SearchRun, source: SceneSource) -> None:
    """Make sure that a run never mixes pictures of two makers, as it never mixes two systems.

    Raises:
        VlmLabError: its pictures are not made any more as when it began.
    """
    if run.checkpoint.get("pictures", source.identity) != source.identity:
        raise VlmLabError(
            "Pictures are not made any more as when this run began.",
            hint="The picture source, its dataset or the renderer has changed. Undo that and resume, or copy "
            "the settings to search with pictures as they are made now.",
        )


def _draw(
    run: SearchRun,
    live: LiveScenes[QueryT],
    queries: Sequence[QueryT],
    *,
    source: SceneSource,
    should_stop: Callable[[], bool],
) -> tuple[list[PreparedSample], list[float]]:
    config = live.config
    prepared, times = [], []
    with billed(run, config, source) as source, stopping_when(should_stop):
        for query in queries:
            if should_stop():
                raise BatchInterrupted
            started = time.monotonic()
            try:
                sample = live.prepare(query, source=source, run_seed=run.run_seed)
            except DrawingStoppedError:
                raise BatchInterrupted from None
            progressed()  # some pictures take minutes, and a batch has many
            prepared.append(sample)
            times.append((time.monotonic() - started) * 1000)
    return prepared, times


def _request(sample: PreparedSample, prompt: str) -> SutRequest:
    if sample.scene is None:
        raise ValueError("a sample without a scene cannot be asked")
    return SutRequest(sample.scene.image_png, prompt)


def _key_of(fingerprint: str, sample: PreparedSample, prompt: str) -> str:
    """Return the key of a question, "" without a picture."""
    return "" if sample.scene is None else cache_key(fingerprint, prompt, sample.scene.image_sha256)
