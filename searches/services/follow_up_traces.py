"""How the evidence of fresh scenes grew: the e-value after each batch, and the interval of the rate."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import Any

from django.db.models import Case, When

from searches.models import FollowUpItem
from searches.services.follow_up_pages import FollowUpPage, follow_up_config, item_words
from vlmlab.core.stats import confidence_sequence, log_bar
from vlmlab.core.verdicts.config import ConfirmConfig
from vlmlab.core.verdicts.settling import family_level

MOST_RACERS = 40
MOST_READ = 200  # items hold their whole course: of more, confirmed and open ones are read first


@dataclass(frozen=True)
class TracePoint:
    """What was known of one suspect after so many fresh answers; e-values as natural logarithms."""

    samples: int
    fails: int
    log_e: float
    log_e_against: float


@dataclass(frozen=True)
class Trace:
    """The evidence about one suspect as it grew.

    Attributes:
        points: the number of answers ascending.
        threshold: failure rate that is tested.
        log_needed: bar that ``log_e`` must reach to confirm it; None where none is stored.
        log_against_needed: bar that ``log_e_against`` must reach to refute it.
        intervals: of the failure rate at each point, as ``(low, high)`` at ``level``.
        unit: what was asked: ``fresh scene``, or ``fresh draw`` of a test case.
    """

    words: str
    threshold: float
    points: tuple[TracePoint, ...]
    log_needed: float | None
    log_against_needed: float | None
    level: float
    intervals: tuple[tuple[float, float], ...] = ()
    unit: str = "fresh scene"


@dataclass(frozen=True)
class Racer:
    """One suspect of a race: its trace and its state."""

    item_id: int
    trace: Trace
    state: str


@dataclass(frozen=True)
class Race:
    """The evidence about all suspects of a confirmation against the scenes that each was asked.

    Attributes:
        racers: at most ``MOST_RACERS``, those with the most evidence first.
        n_asked: suspects with an answer.
        log_alone: bar for a suspect that is confirmed alone; None where places in a line decide.
        log_together: bar with as many confirmed as now; None with fewer than two.
        n_confirmed: how many those are.
    """

    campaign_id: int
    racers: tuple[Racer, ...]
    n_asked: int
    log_alone: float | None
    log_together: float | None
    n_confirmed: int


def trace_of(item: FollowUpItem) -> Trace | None:
    """Return how the evidence about one suspect of a confirmation grew; None without answers."""
    config = follow_up_config(item.campaign)
    if not isinstance(config, ConfirmConfig) or config.protocol != "sequential":
        return None
    return _trace(item, config, with_intervals=True)


def race_of(page: FollowUpPage) -> Race | None:
    """Return the race of a sequential confirmation; None for other kinds and before the first answer."""
    config = page.config
    if not isinstance(config, ConfirmConfig) or config.protocol != "sequential":
        return None
    rows = FollowUpItem.objects.filter(campaign=page.campaign, n__gt=0)
    n_asked = rows.count()
    weight = Case(When(state="confirmed", then=0), When(state="", then=1), default=2)
    items = sorted(
        rows.select_related("campaign", "case").order_by(weight, "-n")[:MOST_READ],
        key=lambda item: (-float(item.numbers.get("log_e") or 0.0), item.pk),
    )
    traces = [(item, _trace(item, config, with_intervals=False)) for item in items[:MOST_RACERS]]
    racers = tuple(Racer(item.pk, trace, item.state) for item, trace in traces if trace is not None)
    if not racers:
        return None
    confirmed = page.progress.by_state.get("confirmed", 0)
    return Race(
        campaign_id=page.campaign.pk,
        racers=racers,
        n_asked=n_asked,
        log_alone=_bar(config, rejected=1),
        log_together=_bar(config, rejected=confirmed) if confirmed > 1 else None,
        n_confirmed=confirmed,
    )


def in_tens(log_value: float) -> float:
    """Return a natural logarithm as one to the base of ten, as charts show it."""
    return log_value / log(10.0)


def _bar(config: ConfirmConfig, *, rejected: int) -> float | None:
    if config.later_index is not None:
        return None
    return log_bar(1.0 / config.family_size, level=family_level(config), rejected=rejected)


def _trace(item: FollowUpItem, config: ConfirmConfig, *, with_intervals: bool) -> Trace | None:
    points = _points(item.numbers.get("trail"), item)
    if not points:
        return None
    stored = item.numbers.get("interval")
    level = float(stored["level"]) if isinstance(stored, Mapping) and "level" in stored else config.coverage
    intervals: tuple[tuple[float, float], ...] = ()
    if with_intervals:
        found = [confidence_sequence(one.fails, one.samples, level) for one in points]
        intervals = tuple((one.low, one.high) for one in found)
    return Trace(
        words=item_words(item),
        threshold=config.failure_rate_threshold,
        points=points,
        log_needed=_number(item.numbers, "log_e_needed"),
        log_against_needed=_number(item.numbers, "log_e_against_needed"),
        level=level,
        intervals=intervals,
        unit="fresh draw" if item.case_id is not None else "fresh scene",
    )


def _points(trail: Any, item: FollowUpItem) -> tuple[TracePoint, ...]:
    """Return the stored course of an item; its end alone where no course was stored."""
    rows: Sequence[Any] = trail if isinstance(trail, list) else []
    points = tuple(TracePoint(int(n), int(k), float(e), float(against)) for n, k, e, against in rows)
    end, log_e = item.n, _number(item.numbers, "log_e")
    if points or not end or log_e is None:
        return points
    return (TracePoint(end, item.fails, log_e, _number(item.numbers, "log_e_against") or 0.0),)


def _number(numbers: Mapping[str, Any], name: str) -> float | None:
    value = numbers.get(name)
    return float(value) if isinstance(value, int | float) else None
