"""One batch of a follow-up of test cases: inputs, cache, system, reading; nothing is written here."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from searches.models import SearchRun
from searches.services.asked_calls import BatchInterrupted, ask_sut, cache_key, cached_replies
from searches.services.call_costs import Prompted
from searches.services.case_draws import CaseQuestion
from searches.services.case_live import LiveCases
from searches.services.crashes import crash_point
from searches.services.sut_signals import progressed
from searches.services.suts import LoadedSut
from vlmlab.core.most.evaluate import BoxAnswer, read_answer
from vlmlab.core.most.types import AnswerStatus
from vlmlab.core.suts.base import SutReply, SutRequest
from vlmlab.core.verdicts.queries import FreshOutcome, FreshQuery

NO_REPLY = SutReply("", "other")


@dataclass(frozen=True)
class CaseAnswer:
    """One question of a batch with what came back (an ``AnsweredCall``).

    Attributes:
        question: what was shown, or why it was not.
        outcome: what the search is told.
        is_repeat: whether this input was shown for the item before.
        cache_key: key of the reply in the response cache, "" where nothing was asked.
    """

    question: CaseQuestion
    reply: SutReply
    answer: BoxAnswer
    outcome: FreshOutcome
    cache_key: str
    is_cached: bool
    is_repeat: bool
    may_be_reused: bool

    @property
    def is_sent(self) -> bool:
        """Whether the system was asked."""
        return bool(self.cache_key) and not self.is_cached


@dataclass(frozen=True)
class CaseBatch:
    """What one batch brought (an ``AnsweredBatch``).

    Attributes:
        samples: in the order asked.
        render_seconds: wall time of perturbing.
        sut_seconds: wall time of the calls and of reading them.
        fingerprint: of the system as it was loaded.
        change: what became of the system while it answered, "" for nothing.
    """

    samples: tuple[CaseAnswer, ...]
    render_seconds: float
    sut_seconds: float
    fingerprint: str
    change: str = ""

    @property
    def sent(self) -> list[SutReply]:
        """What the system said to the calls that no cache answered, in the order asked."""
        return [one.reply for one in self.samples if one.is_sent]

    @property
    def asked(self) -> list[CaseAnswer]:
        """The questions that were asked, or answered by the cache."""
        return [one for one in self.samples if one.cache_key]

    @property
    def has_answer(self) -> bool:
        """Whether anything at all was answered, or nothing needed to be."""
        return not self.asked or any(one.answer.status.is_answer for one in self.asked)


def answer_cases(
    run: SearchRun,
    live: LiveCases,
    queries: Sequence[FreshQuery],
    *,
    sut: LoadedSut,
    should_stop: Callable[[], bool],
    may_send: Callable[[Sequence[Prompted]], None],
) -> CaseBatch:
    """Make, ask and read one batch.

    Args:
        run: the run.
        live: its search.
        queries: what is asked.
        sut: the system, loaded.
        should_stop: asked before each picture, before the system is asked, and by remote systems on the way.
        may_send: called with the calls that no cache answers before any is sent; it may refuse them.

    Raises:
        BatchInterrupted: ``should_stop`` said so before all was asked.
        VlmLabError: an input cannot be made any more.
    """
    started = time.monotonic()
    questions = _made(live, queries, should_stop=should_stop)
    drawn = time.monotonic()
    crash_point("after_scenes")
    fingerprint = sut.info.fingerprint
    keys = [_key_of(fingerprint, one) for one in questions]
    cached = cached_replies(run, [key for key in keys if key])
    first: dict[str, int] = {}
    for i, key in enumerate(keys):
        if key and key not in cached:
            first.setdefault(key, i)  # cases of one seed image share its clean picture
    asked = sorted(first.values())
    if asked and should_stop():
        raise BatchInterrupted
    may_send([Prompted(questions[i].prompt, questions[i].size) for i in asked])
    requests = {i: SutRequest(questions[i].png, questions[i].prompt, questions[i].repeat) for i in asked}
    fresh = ask_sut(sut, requests, keys=keys, should_stop=should_stop)
    crash_point("after_answers")
    replies = cached | {keys[i]: reply for i, reply in fresh.items()}
    is_same_system = sut.info.fingerprint == fingerprint
    seen, samples = set(live.seen), []
    for i, (query, question, key) in enumerate(zip(queries, questions, keys, strict=True)):
        shown = (query.item, question.digest)
        samples.append(
            _answered(
                live,
                query,
                question,
                reply=replies.get(key),
                key=key,
                is_fresh=i in fresh,
                is_repeat=shown in seen,
                may_be_reused=is_same_system,
            )
        )
        seen.add(shown)
    change = "" if is_same_system else sut.info.details.get("batch size", "its identity changed")
    return CaseBatch(tuple(samples), drawn - started, time.monotonic() - drawn, sut.fingerprint, change)


def _made(
    live: LiveCases, queries: Sequence[FreshQuery], *, should_stop: Callable[[], bool]
) -> list[CaseQuestion]:
    questions = []
    for query in queries:
        if should_stop():
            raise BatchInterrupted
        questions.append(live.question(query))
        progressed()  # some pictures are large
    return questions


def _answered(
    live: LiveCases,
    query: FreshQuery,
    question: CaseQuestion,
    *,
    reply: SutReply | None,
    key: str,
    is_fresh: bool,
    is_repeat: bool,
    may_be_reused: bool,
) -> CaseAnswer:
    answer = BoxAnswer(AnswerStatus.CALL_ERROR)
    if reply is not None:
        answer = read_answer(
            reply, truth=question.truth, convention=live.asking.convention, image_size=question.size
        )
    outcome = live.outcome(
        query,
        status=answer.status,
        iou=answer.iou,
        not_asked=question.not_asked,
        picture=question.digest,
    )
    is_cached = bool(key) and not is_fresh
    return CaseAnswer(question, reply or NO_REPLY, answer, outcome, key, is_cached, is_repeat, may_be_reused)


def _key_of(fingerprint: str, question: CaseQuestion) -> str:
    """Return the key of a question, "" for one that is not asked."""
    if question.not_asked:
        return ""
    return cache_key(fingerprint, question.prompt, question.image_sha256, repeat=question.repeat)
