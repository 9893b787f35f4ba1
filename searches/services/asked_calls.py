"""The part of a batch that every method shares: the cache, the calls themselves, and what came of each."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from django.db.models import Q

from searches.models import CachedReply, SearchRun
from searches.services.sut_signals import stopping_when
from searches.services.suts import LoadedSut
from vlmlab.core.suts.base import SutReply, SutRequest


class AnsweredCall(Protocol):
    """One question of a batch with its reply."""

    @property
    def reply(self) -> SutReply:
        """What came back."""
        ...

    @property
    def cache_key(self) -> str:
        """Key of the reply in the response cache, "" where nothing could be asked."""
        ...

    @property
    def is_sent(self) -> bool:
        """Whether the system was asked; else the reply is from the cache, or there is none."""
        ...

    @property
    def may_be_reused(self) -> bool:
        """Whether the key is true of the reply."""
        ...


class AnsweredBatch(Protocol):
    """What one batch of any method brought."""

    @property
    def samples(self) -> Sequence[AnsweredCall]:
        """Its questions, in the order asked."""
        ...

    @property
    def sent(self) -> list[SutReply]:
        """What the system said to the calls that no cache answered."""
        ...

    @property
    def has_answer(self) -> bool:
        """Whether anything at all was answered."""
        ...


class BatchInterrupted(Exception):  # noqa: N818 - an order to stop, not an error
    """The worker was asked to stop within a batch, which is asked again as a whole.

    Args:
        replies: cache key -> reply of the calls that were answered before; keep them, they were paid for.
    """

    def __init__(self, replies: Mapping[str, SutReply] | None = None) -> None:
        super().__init__()
        self.replies = dict(replies or {})


def ask_sut(
    sut: LoadedSut,
    requests: Mapping[int, SutRequest],
    *,
    keys: Sequence[str],
    should_stop: Callable[[], bool],
) -> dict[int, SutReply]:
    """Return the replies by place.

    Args:
        sut: the system, loaded.
        requests: place in the batch -> question.
        keys: of the whole batch.
        should_stop: asked on the way.

    A system on this machine answers the whole batch: who stands beside whom in it decides the last digit. One
    behind a network may take minutes for it, longer than a worker has that must end: it is cut between calls.

    Raises:
        BatchInterrupted: ``should_stop`` said so before all was asked.
    """
    with stopping_when(should_stop):
        replies = dict(zip(requests, sut.generate(list(requests.values())), strict=True))
    if any(reply.is_stopped for reply in replies.values()):
        raise BatchInterrupted({keys[i]: reply for i, reply in replies.items() if not reply.is_stopped})
    return replies


def cache_key(fingerprint: str, prompt: str, image_sha256: str, *, repeat: int = 0) -> str:
    """Return the key of a question; the fingerprint covers weights, dtype, decoding and batch size."""
    parts = {"fingerprint": fingerprint, "prompt": prompt, "image": image_sha256, "repeat": repeat}
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def cached_replies(run: SearchRun, keys: Sequence[str]) -> dict[str, SutReply]:
    """Return stored replies that this run may use: older than itself, or its own."""
    visible = Q(pk__lte=run.cache_watermark) | Q(run_id=run.pk)
    rows = CachedReply.objects.filter(visible, key__in=keys)
    return {
        row.key: SutReply(
            row.text,
            row.finish_reason,  # type: ignore[arg-type]  # only finish reasons are stored
            input_tokens=row.input_tokens,
            output_tokens=row.output_tokens,
            seen_size=_seen_size(row),
            served_model=row.served_model,
        )
        for row in rows
    }


def _seen_size(row: CachedReply) -> tuple[int, int] | None:
    if row.seen_width is None or row.seen_height is None:
        return None
    return row.seen_width, row.seen_height
