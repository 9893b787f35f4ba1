"""Adds sent calls to what a system took in all and on that day."""

from collections.abc import Sequence
from datetime import UTC
from typing import Any

from django.db.models import F
from django.db.models.expressions import CombinedExpression
from django.db.models.functions import Now
from django.utils import timezone

from searches.models import SpendDay, SutRecord
from vlmlab.core.suts.base import SutReply


def count_calls(sut_id: int, replies: Sequence[SutReply]) -> None:
    """Add calls to a system's totals and to its day, inside the caller's transaction.

    A call that failed before it was sent leaves its error and counts as none.

    The row of the system comes before the row of its day: two writers wait for each other at the first.
    """
    if not replies:
        return
    errors = [reply.call_error for reply in replies if reply.is_call_error]
    counts = {
        "n_calls": sum(reply.n_attempts > 0 for reply in replies),
        "n_call_errors": sum(reply.is_call_error and reply.n_attempts > 0 for reply in replies),
        "input_tokens": sum(reply.input_tokens or 0 for reply in replies),
        "output_tokens": sum(reply.output_tokens or 0 for reply in replies),
    }
    cost = sum(reply.cost_usd for reply in replies)
    latency = sum(reply.latency_ms for reply in replies if not reply.is_call_error)
    values: dict[str, Any] = _plus(**counts, latency_ms_sum=latency, spend_usd=cost) | {"last_used_at": Now()}
    if len(errors) < len(replies):
        values["last_answer_at"] = Now()
    if errors:
        values |= {"last_error": errors[-1], "last_error_at": Now()}
    SutRecord.objects.filter(pk=sut_id).update(**values)
    _add_to_day(sut_id, **counts, cost_usd=cost)


def _add_to_day(sut_id: int, **amounts: float) -> None:
    day = timezone.now().astimezone(UTC).date()
    rows = SpendDay.objects.filter(sut_id=sut_id, day=day)
    if not rows.update(**_plus(**amounts)):
        SpendDay.objects.bulk_create([SpendDay(sut_id=sut_id, day=day)], ignore_conflicts=True)
        rows.update(**_plus(**amounts))


def _plus(**amounts: float) -> dict[str, CombinedExpression]:
    """Return columns, each with what is to be added by the database."""
    return {name: F(name) + amount for name, amount in amounts.items()}
