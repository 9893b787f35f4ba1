"""What a regression asks of two systems, and what its number of scenes can show."""

from dataclasses import dataclass
from functools import lru_cache

from searches.enums import FamilyKind
from searches.models import RegressionFamily, SutRecord
from searches.services.families import settings_of
from searches.services.follow_ups import MAX_NAME, FollowUpWish, ItemWish
from searches.services.runs import MAX_RUN_SEED
from vlmlab.core.errors import VlmLabError
from vlmlab.web.numbers import write_count, write_percent

OFTEN, ASSUMED_FAILING, ASSUMED_DIFFERING = 0.8, 0.8, 0.1
"""Wished chance; failure rate of a pinned mode, and share of scenes answered differently, in the examples."""


@dataclass(frozen=True)
class PlannedPower:
    """What a number of scenes can show.

    Attributes:
        scenes, modes: the plan.
        detectable: newer rate up to which a mode that failed on 80 % is likely called fixed; None for none.
        passing: chance that a mode that did not change passes.
        needed: scenes with which that chance is 80 %; None where no number will do.
        fewest: scenes below which no change at all can be significant.
        margin: of the pass.
    """

    scenes: int
    modes: int
    detectable: float | None
    passing: float
    needed: int | None
    fewest: int
    margin: float

    @property
    def calls(self) -> int:
        """Answers that both systems give together."""
        return 2 * self.scenes * self.modes

    @property
    def sentences(self) -> list[str]:
        """The plan in words."""
        found = []
        if self.scenes < self.fewest:
            found.append(
                f"Too few: below {write_count(self.fewest)} scenes no change can be significant, whatever "
                "the answers."
            )
        elif self.detectable is None:
            found.append(
                f"A mode that failed on {write_percent(ASSUMED_FAILING)} of scenes is not likely called"
                " fixed even when it never fails any more."
            )
        else:
            found.append(
                f"A mode that failed on {write_percent(ASSUMED_FAILING)} of scenes is likely (at least "
                f"{write_percent(OFTEN)}) found to fail less once it fails on "
                f"{write_percent(self.detectable)} or less."
            )
        more = (
            f" That takes {write_count(self.needed)} scenes for {write_percent(OFTEN)}."
            if (self.needed and self.needed > self.scenes)
            else ""
        )
        found.append(
            f"A mode that did not change passes with a chance of {write_percent(self.passing)}, when "
            f"{write_percent(ASSUMED_DIFFERING)} of scenes are answered differently.{more}"
        )
        found.append(f"{write_count(self.calls)} answers in all, half of each system.")
        return found


@lru_cache(maxsize=256)
def power_of(*, scenes: int, margin: float, level: float, modes: int) -> PlannedPower | None:
    """Return what a plan can show; None where a number is out of range."""
    from vlmlab.core.stats import pass_power
    from vlmlab.core.verdicts.regress_plan import detectable_rate, fewest_pairs, plan_pass

    if not (1 <= scenes <= 2_000 and 0 < margin < 1 and 0 < level < 0.5):
        return None
    modes, half = max(1, modes), ASSUMED_DIFFERING / 2
    passing = pass_power(scenes, first_only=half, second_only=half, margin=margin, level=level)
    needed = None if passing >= OFTEN else plan_pass(ASSUMED_DIFFERING, margin=margin, level=level).pairs
    return PlannedPower(
        scenes=scenes,
        modes=modes,
        detectable=detectable_rate(scenes, ASSUMED_FAILING, modes=modes, level=level),
        passing=passing,
        needed=needed,
        fewest=fewest_pairs(level, modes=modes),
        margin=margin,
    )


def regression_wish(
    family: RegressionFamily,
    *,
    candidate: SutRecord,
    baseline: SutRecord | None = None,
    scenes: int | None = None,
    run_seed: int | None = None,
) -> FollowUpWish:
    """Return what is asked of baseline and candidate: every member, on the same fresh scenes.

    Args:
        family: what is pinned.
        candidate: the system that is tried.
        baseline: what it is compared with; the family's own where none is said.
        scenes: of each member; the family's where none is said.
        run_seed: where the scenes come from; None for scenes that nothing was asked on before.

    Raises:
        VlmLabError: the family is archived or empty, there is no baseline, both are the same system, or a
            number is out of range.
    """
    baseline = _checked_baseline(family, baseline or family.baseline, candidate=candidate)
    if run_seed is not None and not 0 <= run_seed <= MAX_RUN_SEED:
        raise VlmLabError(f"The seed must be between 0 and {MAX_RUN_SEED}.", field="run_seed")
    config = settings_of(family, scenes=scenes)
    spec = {"baseline": baseline.pk, "candidate": candidate.pk}
    name = f"{family.name}: {candidate.name}"[:MAX_NAME]
    if family.kind == FamilyKind.CASES:
        from searches.services import case_wishes

        return case_wishes.regress_cases_wish(
            family, config=config, suts=[baseline, candidate], name=name, spec=spec, run_seed=run_seed
        )
    members = list(family.members.select_related("finding").order_by("order"))
    if not members:
        raise VlmLabError(f"“{family.name}” has no members.", hint="Pin findings first.")
    items = [
        ItemWish(
            key=tuple(one.concepts), finding=one.finding, member=one, expected_action=one.expected_action
        )
        for one in members
    ]
    return FollowUpWish(
        kind="regress",
        config=config,
        domain_ref=f"{family.domain}@{family.domain_version}",
        items=[(baseline, items), (candidate, items)],
        name=name,
        family=family,
        spec=spec,
        run_seed=run_seed,
        accepts_changed_system=True,
    )


def _checked_baseline(
    family: RegressionFamily, baseline: SutRecord | None, *, candidate: SutRecord
) -> SutRecord:
    """Return the baseline, where a family can be asked of both systems."""
    if family.is_archived:
        raise VlmLabError(f"“{family.name}” is archived.", hint="Bring it back on its page first.")
    if baseline is None:
        raise VlmLabError(
            f"“{family.name}” has no baseline.", hint="Choose the system to compare with.", field="baseline"
        )
    if baseline.pk == candidate.pk:
        raise VlmLabError(
            "A system cannot be compared with itself.",
            hint="Register the newer revision as a system of its own, and try that.",
            field="candidate",
        )
    return baseline
