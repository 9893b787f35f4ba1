"""How a system is doing: from its switch, its workers, its limit and its last calls."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import F, FloatField, Q
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast
from django.utils import timezone

from searches.models import SutRecord
from searches.services.navigation import alive_workers

HEALTH_LABELS = {
    "ready": "Ready",
    "failing": "Fails",
    "limit": "Limit reached",
    "unused": "Not asked here yet",
    "off": "Switched off",
}
_CAP = Cast(KeyTextTransform("spend_cap_usd", "params"), FloatField())


@dataclass(frozen=True)
class Health:
    """How a system is doing: state of its badge, one word, one sentence."""

    state: str
    label: str
    sentence: str


def health_filter(name: str) -> Q:
    """Return the condition of the systems that are doing so; ``name`` is a key of ``HEALTH_LABELS``."""
    reached = SutRecord.objects.annotate(cap=_CAP).filter(cap__gt=0, spend_usd__gte=F("cap")).values("pk")
    failed = SutRecord.objects.filter(
        Q(n_calls__gt=0) & (Q(n_call_errors=F("n_calls")) | Q(last_error_at__gt=F("last_answer_at")))
    ).values("pk")
    within = Q(is_enabled=True) & ~Q(pk__in=reached)
    return {
        "off": Q(is_enabled=False),
        "limit": Q(is_enabled=True, pk__in=reached),
        "unused": within & Q(n_calls=0),
        "failing": within & Q(pk__in=failed),
        "ready": within & Q(n_calls__gt=0) & ~Q(pk__in=failed),
    }[name]


def health_of(sut: SutRecord, *, loaded: Mapping[str, str]) -> Health:
    """Return how a system is doing; ``loaded`` maps short names to the host that has them in memory."""
    if not sut.is_enabled:
        return Health("off", HEALTH_LABELS["off"], "No new search may use it.")
    cap = spend_cap(sut.params)
    if cap is not None and sut.spend_usd >= cap:
        return Health("paused", HEALTH_LABELS["limit"], f"Its spending limit of ${cap:,.2f} is used up.")
    if sut.n_calls == 0:
        if sut.slug in loaded:
            return _loaded(loaded[sut.slug])
        return Health("idle", HEALTH_LABELS["unused"], "Try it on a picture before you search.")
    if sut.n_call_errors == sut.n_calls:
        return Health(
            "failed", HEALTH_LABELS["failing"], f"It has not answered once. {sut.last_error}".strip()
        )
    if sut.last_error_at and sut.last_answer_at and sut.last_error_at > sut.last_answer_at:
        moment = timezone.localtime(sut.last_error_at)
        return Health(
            "failed",
            HEALTH_LABELS["failing"],
            f"Its last call failed ({moment:%d %b, %H:%M}). {sut.last_error}",
        )
    if sut.slug in loaded:
        return _loaded(loaded[sut.slug])
    return Health("ready", HEALTH_LABELS["ready"], "It is loaded when a run or a try asks for it.")


def spend_cap(params: Mapping[str, Any]) -> float | None:
    """Return the spending limit of stored settings, if they have one."""
    cap = params.get("spend_cap_usd") if isinstance(params, Mapping) else None
    return float(cap) if isinstance(cap, int | float) else None


def loaded_slugs() -> dict[str, str]:
    """Return slug -> host of a living worker that has it in memory."""
    return dict(alive_workers().exclude(loaded_sut="").values_list("loaded_sut", "host"))


def _loaded(host: str) -> Health:
    return Health("ready", "Loaded", f"In the memory of {host}; it answers at once.")
