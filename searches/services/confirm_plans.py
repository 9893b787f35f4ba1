"""What the planner shows: how many fresh scenes settle a suspect of an assumed failure rate."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from searches.models import Finding
from searches.services.set_settings import set_settings
from vlmlab.core.verdicts.config import ConfirmConfig
from vlmlab.core.verdicts.planner import POWERS, Prospect, SettlingPlan, plan_settling

MOST_SHOWN = 300
SHRINK = 0.85  # of the counts a set was found with: reported sets fail less on fresh scenes


@dataclass(frozen=True)
class RateRow:
    """How a suspect with one failure rate ends under the settings."""

    rate: float
    is_assumed: bool
    prospect: Prospect


@dataclass(frozen=True)
class PowerPage:
    """Everything the planner shows.

    Attributes:
        plan: of the assumed rate.
        needed: chance wanted and the least scenes that reach it, None where even the most shown do not.
        most: scenes up to which the chances are counted.
        rows: how it ends at other failure rates.
    """

    config: ConfirmConfig
    plan: SettlingPlan
    needed: tuple[tuple[float, int | None], ...]
    most: int
    rows: tuple[RateRow, ...]

    @property
    def is_above(self) -> bool:
        """Whether the assumed rate lies above the threshold, so that it should be confirmed."""
        return self.plan.rate > self.config.failure_rate_threshold

    @property
    def right_word(self) -> str:
        """What would be right at the assumed rate."""
        return "confirmed" if self.is_above else "refuted"


def power_page(
    *, tau: float, rate: float, family: int, level: float, max_samples: int, others: int
) -> PowerPage:
    """Return the plan of one suspect of a family.

    Args:
        tau: failure rate threshold.
        rate: assumed true failure rate.
        family: suspects that share the false discovery rate.
        level: that rate.
        max_samples: most scenes a set.
        others: suspects that are counted on to be confirmed as well.
    """
    config = ConfirmConfig(
        failure_rate_threshold=tau, family_size=family, fdr_level=level, max_samples=max_samples
    )
    most = max(MOST_SHOWN, max_samples)
    counted = min(others, family - 1)
    plan = _plan(rate, config, counted, most)
    shown = sorted({rate, *(one / 20 for one in range(2, 20) if abs(one / 20 - tau) < 0.36)})
    return PowerPage(
        config=config,
        plan=plan,
        needed=tuple((power, plan.samples_for[power]) for power in POWERS),
        most=most,
        rows=tuple(
            RateRow(one, one == rate, _plan(one, config, counted, max_samples).prospect) for one in shown
        ),
    )


def planner_values(finding_pk: int) -> tuple[Finding | None, dict[str, Any]]:
    """Return a finding and what the planner assumes for it; nothing where it is unknown.

    The assumed rate is that on fresh scenes where there are any, else less than what it was found with.
    """
    rows = Finding.objects.select_related("run__campaign", "sut")
    finding = rows.filter(pk=finding_pk).first()
    if finding is None:
        return None, {}
    tau = set_settings(finding.run).failure_rate_threshold
    family = Finding.objects.filter(run__campaign=finding.run.campaign_id).count()
    if finding.fresh_n:
        rate = (finding.fresh_fails or 0) / finding.fresh_n
    else:
        rate = SHRINK * finding.fails / finding.n if finding.n else 0.85
    values = {"tau": tau, "rate": round(min(max(rate, 0.05), 0.99), 2), "family": max(family, 1)}
    return finding, values


def expected_scenes(finding: Finding, config: ConfirmConfig) -> float:
    """Return the mean number of fresh scenes that settle a finding, if it fails less than in its search.

    Rates are rounded to steps of 5 %, so that many findings share few plans.
    """
    rate = SHRINK * finding.fails / finding.n if finding.n else SHRINK
    return _plan(round(20 * rate) / 20, config, 0, 1).prospect.expected_samples


@lru_cache(maxsize=256)
def _plan(rate: float, config: ConfirmConfig, others: int, most: int) -> SettlingPlan:
    return plan_settling(rate, config, others=others, most=most)
