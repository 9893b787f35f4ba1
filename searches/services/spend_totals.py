"""What calls have cost lately, by system: the tile of the overview."""

from dataclasses import dataclass
from datetime import UTC, date, timedelta

from django.utils import timezone

from searches.models import SpendDay
from vlmlab.core.suts.kinds import SUT_KINDS

LOOK_BACK_DAYS = 30
NAMED_SYSTEMS = 3


@dataclass(frozen=True)
class SystemSpend:
    """What one system cost in the last 30 days and today, in US dollars."""

    slug: str
    name: str
    usd: float
    usd_today: float
    is_price_unknown: bool


@dataclass(frozen=True)
class RecentSpend:
    """What all systems cost.

    Attributes:
        systems: those that were called, dearest first.
    """

    systems: tuple[SystemSpend, ...]

    @property
    def usd(self) -> float:
        """Cost of the last 30 days."""
        return sum(one.usd for one in self.systems)

    @property
    def usd_today(self) -> float:
        """Cost of today (UTC)."""
        return sum(one.usd_today for one in self.systems)

    @property
    def dearest(self) -> tuple[SystemSpend, ...]:
        """The systems that are named."""
        return tuple(one for one in self.systems if one.usd)[:NAMED_SYSTEMS]

    @property
    def n_more(self) -> int:
        """How many more systems have cost something."""
        return sum(one.usd > 0 for one in self.systems) - len(self.dearest)

    @property
    def unpriced(self) -> tuple[SystemSpend, ...]:
        """The systems whose calls may have cost money that nobody counts."""
        return tuple(one for one in self.systems if one.is_price_unknown)


def recent_spend(*, today: date | None = None) -> RecentSpend:
    """Return what the systems that were called in the last 30 days cost, in one query."""
    today = today or timezone.now().astimezone(UTC).date()
    rows = SpendDay.objects.filter(day__gt=today - timedelta(days=LOOK_BACK_DAYS), day__lte=today)
    systems: dict[str, SystemSpend] = {}
    for day, cost, slug, name, kind, *prices in rows.values_list(
        "day", "cost_usd", "sut__slug", "sut__name", "sut__kind",
        "sut__params__input_price_usd", "sut__params__output_price_usd",
    ):  # fmt: skip
        so_far = systems.get(slug)
        systems[slug] = SystemSpend(
            slug=slug,
            name=name,
            usd=cost + (so_far.usd if so_far else 0.0),
            usd_today=(cost if day == today else 0.0) + (so_far.usd_today if so_far else 0.0),
            is_price_unknown=kind in SUT_KINDS and SUT_KINDS[kind].is_remote and None in prices,
        )
    return RecentSpend(tuple(sorted(systems.values(), key=lambda one: (-one.usd, one.name))))
