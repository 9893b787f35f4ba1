"""One batch of a MoST run: perturb, look into the cache, ask, read; nothing of the run is written here."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from searches.models import SearchRun
from searches.services.asked_calls import BatchInterrupted, ask_sut, cache_key, cached_replies
from searches.services.call_costs import Prompted
from searches.services.crashes import crash_point
from searches.services.modality_live import LiveModality
from searches.services.sut_signals import progressed
from searches.services.suts import LoadedSut
from vlmlab.core.images import sha256_of
from vlmlab.core.most.evaluate import BoxAnswer
from vlmlab.core.most.types import FloatArray, Query
from vlmlab.core.suts.base import SutReply, SutRequest


@dataclass(frozen=True, eq=False)
class Question:
    """One picture with its prompt, and the truth that the answer is held against.

    Attributes:
        png: the picture as the system is sent it.
        prompt: the complete text.
        truth: ``(n, 4)`` boxes in pixels.
        attempt: how many calls failed for it before.
    """

    png: bytes
    prompt: str
    truth: FloatArray
    attempt: int = 0


@dataclass(frozen=True)
class AnsweredQuestion:
    """One question of a batch with what came back (an ``AnsweredCall``).

    Attributes:
        reply: what the system said.
        answer: its boxes against the truth.
        cache_key: key of the reply in the response cache.
        is_cached: whether the reply came from there.
        may_be_reused: whether the key is true of the reply: a system that ran out of memory while it answered
            goes on as another one.
    """

    reply: SutReply
    answer: BoxAnswer
    cache_key: str
    is_cached: bool
    may_be_reused: bool

    @property
    def is_sent(self) -> bool:
        """Whether the system was asked."""
        return not self.is_cached


@dataclass(frozen=True)
class ModalityBatch:
    """What one batch brought (an ``AnsweredBatch``).

    Attributes:
        samples: in the order asked.
        sut_seconds: wall time of the calls and of reading them.
        fingerprint: of the system as it was loaded.
        change: what became of the system while it answered, "" for nothing.
    """

    samples: tuple[AnsweredQuestion, ...]
    sut_seconds: float
    fingerprint: str
    change: str = ""

    @property
    def sent(self) -> list[SutReply]:
        """What the system said to the calls that no cache answered, in the order asked."""
        return [one.reply for one in self.samples if one.is_sent]

    @property
    def has_answer(self) -> bool:
        """Whether anything at all was answered."""
        return any(one.answer.status.is_answer for one in self.samples)


def clean_question(live: LiveModality, *, attempt: int) -> Question:
    """Return the question without a perturbation."""
    seed = live.seed_image
    with live.perturbing.running():
        return Question(seed.png, seed.prompt, seed.truth, attempt)


def perturbed_questions(
    live: LiveModality, queries: Sequence[Query], *, should_stop: Callable[[], bool]
) -> list[Question]:
    """Return the questions that strategies stand for.

    Raises:
        BatchInterrupted: ``should_stop`` said so before all were made.
    """
    questions = []
    for query in queries:
        if should_stop():
            raise BatchInterrupted
        with live.perturbing.running():
            made = live.perturber.perturbed(query.strategy)
            questions.append(Question(made.png, made.prompt, made.truth.boxes, query.attempt))
        progressed()  # some pictures are large
    crash_point("after_scenes")
    return questions


def answer_questions(
    run: SearchRun,
    live: LiveModality,
    questions: Sequence[Question],
    *,
    sut: LoadedSut,
    should_stop: Callable[[], bool],
    may_send: Callable[[Sequence[Prompted]], None],
) -> ModalityBatch:
    """Ask and read one batch.

    Args:
        run: the run.
        live: its search.
        questions: what is asked.
        sut: the system, loaded.
        should_stop: asked before the system is, and by remote systems on the way.
        may_send: called with the calls that no cache answers before any is sent; it may refuse them.

    Raises:
        BatchInterrupted: ``should_stop`` said so before all was asked.
    """
    started = time.monotonic()
    fingerprint, size = sut.info.fingerprint, live.seed_image.size
    keys = [cache_key(fingerprint, one.prompt, sha256_of(one.png), repeat=one.attempt) for one in questions]
    cached = cached_replies(run, keys)
    asked = [i for i, key in enumerate(keys) if key not in cached]
    if asked and should_stop():
        raise BatchInterrupted
    may_send([Prompted(questions[i].prompt, size) for i in asked])
    requests = {i: SutRequest(questions[i].png, questions[i].prompt, questions[i].attempt) for i in asked}
    fresh = ask_sut(sut, requests, keys=keys, should_stop=should_stop)
    crash_point("after_answers")
    is_same_system = sut.info.fingerprint == fingerprint
    samples = []
    for i, question in enumerate(questions):
        reply = fresh[i] if i in fresh else cached[keys[i]]
        answer = live.method.read(
            reply, truth=question.truth, convention=live.asking.convention, image_size=size
        )
        samples.append(AnsweredQuestion(reply, answer, keys[i], i not in fresh, is_same_system))
    change = "" if is_same_system else sut.info.details.get("batch size", "its identity changed")
    return ModalityBatch(tuple(samples), time.monotonic() - started, sut.fingerprint, change)
