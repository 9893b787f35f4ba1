"""Canaries: regressions that the timetable starts, and what to do about one that failed."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import InterfaceError, OperationalError, transaction
from django.utils import timezone

from searches.enums import FINAL_STATES
from searches.models import Campaign, Canary, RegressionFamily, SearchRun, SutRecord, User
from searches.services.audit import record
from searches.services.follow_ups import create_follow_up
from searches.services.regression_wishes import regression_wish
from vlmlab.core.errors import VlmLabError

logger = logging.getLogger(__name__)

MOST_AT_ONCE = 20
BROKEN = "Something broke on our side when it was to be started; the log of the worker says what."
STILL_AT_WORK = "The regression before has not ended, so none was started."


@dataclass(frozen=True)
class CanaryLine:
    """A canary as lists show it.

    Attributes:
        verdict: of its last regression; "" where there is none yet.
        problem: why it needs a person; "" while it does not.
    """

    canary: Canary
    verdict: str
    problem: str


@transaction.atomic
def create_canary(family: RegressionFamily, sut: SutRecord, *, every_hours: int, by: User | None) -> Canary:
    """Store a canary; its first regression starts with the next round of the timetable.

    Raises:
        VlmLabError: the family is archived or has no baseline, the system is the baseline, or has one.
    """
    regression_wish(family, candidate=sut)  # refuses what could never be started
    if family.canaries.filter(sut=sut).exists():
        raise VlmLabError(
            f"{sut.name} has a canary on “{family.name}” already.", hint="Change that one.", field="sut"
        )
    canary = Canary.objects.create(
        family=family, sut=sut, every_hours=every_hours, next_at=timezone.now(), created_by=by
    )
    record(by, "made", canary, after={"every_hours": every_hours})
    return canary


@transaction.atomic
def switch_canary(canary: Canary, *, is_on: bool, by: User | None) -> None:
    """Switch a canary on or off; one that is switched on starts with the next round.

    Raises:
        VlmLabError: its family is archived.
    """
    if is_on and canary.family.is_archived:
        raise VlmLabError(f"“{canary.family.name}” is archived.", hint="Bring the family back first.")
    values = {"is_on": is_on} | ({"next_at": timezone.now(), "last_error": ""} if is_on else {})
    Canary.objects.filter(pk=canary.pk).update(**values)
    record(by, "switched on" if is_on else "switched off", canary)


@transaction.atomic
def change_interval(canary: Canary, *, every_hours: int, by: User | None) -> None:
    """Give a canary another interval, counted from its next start.

    Raises:
        VlmLabError: the number is out of range.
    """
    if not 1 <= every_hours <= 24 * 366:
        raise VlmLabError("Enter a whole number of hours from 1 to 8,784.", field="every_hours")
    Canary.objects.filter(pk=canary.pk).update(every_hours=every_hours)
    record(
        by, "changed", canary, before={"every_hours": canary.every_hours}, after={"every_hours": every_hours}
    )


@transaction.atomic
def delete_canary(canary: Canary, *, by: User | None) -> None:
    """Delete a canary; its regressions stay."""
    record(by, "deleted", canary)
    canary.delete()


def start_due_canaries(now: datetime | None = None) -> list[Campaign]:
    """Start the regressions that are due, each once however many rounds were missed.

    Two timetables at once start none twice: who moves ``next_at`` on starts it. What keeps one from being
    started is stored with it and shown; the next round is as usual.

    Returns:
        What was started.
    """
    now = now or timezone.now()
    due = Canary.objects.filter(is_on=True, next_at__lte=now, family__is_archived=False)
    started = []
    for canary in due.select_related("family__baseline", "sut", "created_by")[:MOST_AT_ONCE]:
        campaign = _start_once(canary, now)
        if campaign is not None:
            started.append(campaign)
    return started


def canary_lines(canaries: Sequence[Canary]) -> list[CanaryLine]:
    """Return canaries with their last verdicts; select ``last_campaign__source``, family and system."""
    found = []
    for canary in canaries:
        verdict = _last_verdict(canary)
        found.append(CanaryLine(canary, verdict, _problem(canary, verdict)))
    return found


def all_canaries() -> list[Canary]:
    """Return every canary with what its row needs."""
    rows = Canary.objects.select_related(
        "family__baseline", "sut", "last_campaign__source", "created_by"
    ).order_by("family__name", "sut__name")
    return list(rows)


def canary_alerts() -> list[CanaryLine]:
    """Return the canaries that need a person: the last regression failed, or none could be started."""
    rows = Canary.objects.filter(is_on=True).select_related("family", "sut", "last_campaign__source")
    return [line for line in canary_lines(list(rows[:200])) if line.problem]


def _next(canary: Canary, now: datetime) -> datetime:
    """Return the first moment of the canary's rhythm that lies ahead: missed ones are not made up for."""
    every = timedelta(hours=canary.every_hours)
    missed = max(0, (now - canary.next_at) // every)
    return canary.next_at + (missed + 1) * every


@transaction.atomic
def _start_once(canary: Canary, now: datetime) -> Campaign | None:
    """Start a canary that is due unless another timetable has; an outage leaves it due."""
    won = Canary.objects.filter(pk=canary.pk, is_on=True, next_at=canary.next_at)
    return _start(canary) if won.update(next_at=_next(canary, now)) == 1 else None


def _start(canary: Canary) -> Campaign | None:
    last = canary.last_campaign_id
    try:
        if last is not None and _is_at_work(last):
            raise VlmLabError(STILL_AT_WORK)
        with transaction.atomic():
            wish = regression_wish(canary.family, candidate=canary.sut)
            campaign = create_follow_up(wish, by=canary.created_by)
            Canary.objects.filter(pk=canary.pk).update(last_campaign=campaign, last_error="")
    except VlmLabError as error:
        Canary.objects.filter(pk=canary.pk).update(last_error=str(error))
        logger.warning("canary %s was not started: %s", canary, error)
        return None
    except (OperationalError, InterfaceError):
        raise  # the caller waits an outage out; the next round starts it
    except Exception:
        Canary.objects.filter(pk=canary.pk).update(last_error=BROKEN)
        logger.exception("canary %s was not started", canary)
        return None
    logger.info("canary %s: regression %s", canary, campaign.pk)
    return campaign


def _is_at_work(campaign_id: int) -> bool:
    return SearchRun.objects.filter(campaign_id=campaign_id).exclude(state__in=FINAL_STATES).exists()


def _last_verdict(canary: Canary) -> str:
    campaign = canary.last_campaign
    if campaign is None:
        return ""
    source = getattr(campaign, "source", None)
    return str(source.spec.get("verdict", "")) if source is not None else ""


def _problem(canary: Canary, verdict: str) -> str:
    if canary.last_error:
        return canary.last_error
    words = {"fail": "The last regression failed.", "halted": "The last regression gave no verdict."}
    return words.get(verdict, "")
