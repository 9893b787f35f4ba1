"""Asks a system whether a generated picture shows what it should: one statement a concept, true or false."""

import hashlib
import json
import threading

from django.db import transaction

from searches.models import SutRecord
from searches.services.call_counts import count_calls
from searches.services.spending import SpendingLimitError, check_may_spend
from searches.services.suts import loaded_sut, sut_context
from vlmlab.core.errors import SourceAwayError, VlmLabError
from vlmlab.core.images import png_size
from vlmlab.core.replies.plain import plain_text, visible_part
from vlmlab.core.replies.statements import read_statements
from vlmlab.core.scenes.concepts import Domain
from vlmlab.core.scenes.recognition import statement_prompt
from vlmlab.core.scenes.render.backend_kinds import PresenceCheck
from vlmlab.core.suts.base import Sut, SutReply, SutRequest
from vlmlab.core.suts.kinds import load_sut as load_kind


def presence_check(record: SutRecord) -> PresenceCheck:
    """Return a function that asks a system which concepts of a set a picture does not show.

    A concept counts as seen only where the system says that its statement is true; an answer that cannot be
    read does not count.
    """

    def check(png: bytes, domain: Domain, concepts: tuple[str, ...]) -> tuple[str, ...]:
        statements = [domain.statements(concepts, concept)[0] for concept in concepts]
        replies = _ask(record, png, [statement_prompt(one) for one in statements])
        return tuple(
            concept for concept, reply in zip(concepts, replies, strict=True) if not says_true(reply)
        )

    settings = json.dumps([record.kind, record.params], sort_keys=True)
    digest = hashlib.sha256(settings.encode()).hexdigest()[:12]
    # Part of a source's identity: a picture that one system has let pass was not looked at by another.
    check.identity = f"{record.pk}:{digest}"  # type: ignore[attr-defined]  # functions take attributes
    return check


def says_true(reply: SutReply) -> bool:
    """Whether a reply to one statement says that it is true."""
    return read_statements(plain_text(visible_part(reply.text).text), 1).verdicts == (True,)


def _ask(record: SutRecord, png: bytes, prompts: list[str]) -> list[SutReply]:
    """Ask the system and count its calls.

    Raises:
        SourceAwayError: it is off, cannot be loaded, may not spend more, or does not answer.
    """
    try:
        record.refresh_from_db()
        if not record.is_enabled:
            raise SourceAwayError(f"{record.name}, which looks at the pictures, is switched off.")
        longest = max(map(len, prompts))
        check_may_spend(record, calls=len(prompts), prompt_chars=longest, size=png_size(png))
        replies = _generate(record, [SutRequest(png, prompt) for prompt in prompts])
    except SpendingLimitError as error:
        raise SourceAwayError(error.message, hint=error.hint) from error
    except SourceAwayError:
        raise
    except VlmLabError as error:
        raise SourceAwayError(
            f"{record.name}, which looks at the pictures, cannot be asked: {error.message}", hint=error.hint
        ) from error
    with transaction.atomic():
        count_calls(record.pk, replies)
    failed = next((reply.call_error for reply in replies if reply.is_call_error), "")
    if failed:
        raise SourceAwayError(
            f"{record.name}, which looks at the pictures, does not answer: {failed}",
            hint="Look at its page, then resume.",
        )
    return replies


_lock = threading.RLock()
_own: tuple[tuple[int, str, str], Sut] | None = None


def _generate(record: SutRecord, requests: list[SutRequest]) -> list[SutReply]:
    """Ask the system that this process has in memory, or one loaded beside it: a run needs its own."""
    current = loaded_sut()
    if current is not None and current.record_id == record.pk and dict(current.params) == record.params:
        return current.generate(requests)
    with _lock:
        return list(_loaded_beside(record).generate(requests))


def _loaded_beside(record: SutRecord) -> Sut:
    global _own
    token = record.api_key.secret.token if record.api_key else ""
    wanted = (record.pk, json.dumps(record.params, sort_keys=True), token)
    if _own is None or _own[0] != wanted:
        forget_presence_sut()
        _own = (wanted, load_kind(record.kind, record.params, sut_context(record)))
    return _own[1]


def forget_presence_sut() -> None:
    """Free the system that looks at pictures, as a new process would start."""
    global _own
    with _lock:
        if _own is not None:
            _own[1].close()
        _own = None
