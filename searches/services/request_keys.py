"""A request that a program repeats under one key starts one campaign, not two."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from searches.models import Campaign, User
from vlmlab.core.errors import VlmLabError

MOST_CHARACTERS = 80


class RequestKeyError(VlmLabError):
    """The key was used before, for something else."""


@dataclass(frozen=True)
class RequestKey:
    """What a program calls its request, and a digest of what it asked for."""

    text: str
    digest: str

    @classmethod
    def of(cls, text: str, content: Mapping[str, Any]) -> "RequestKey":
        """Return the key of a request.

        Raises:
            VlmLabError: it is empty, too long or not printable.
        """
        if not 0 < len(text) <= MOST_CHARACTERS or not text.isascii() or not text.isprintable():
            raise VlmLabError(
                f"The key of a request must be 1 to {MOST_CHARACTERS} plain characters.",
                hint="A UUID is a good one.",
                field="Idempotency-Key",
            )
        canonical = json.dumps(content, sort_keys=True, default=str)
        return cls(text, hashlib.sha256(canonical.encode()).hexdigest())


def started_before(key: RequestKey, *, by: User) -> Campaign | None:
    """Return the campaign that this person's request started; call it in the transaction that starts one.

    Requests of one person take turns at their row.

    Raises:
        RequestKeyError: the key belongs to another request.
    """
    User.objects.select_for_update().get(pk=by.pk)
    campaign = Campaign.objects.filter(created_by=by, request_key=key.text).first()
    if campaign is not None and campaign.request_digest != key.digest:
        raise RequestKeyError(
            "This key was used before, for another search.",
            hint="Send a new key, or the same request again.",
            field="Idempotency-Key",
        )
    return campaign


def remember(campaign: Campaign, key: RequestKey) -> None:
    """Note which request started a campaign."""
    campaign.request_key, campaign.request_digest = key.text, key.digest
    campaign.save(update_fields=["request_key", "request_digest"])
