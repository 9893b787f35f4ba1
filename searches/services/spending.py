"""Hard limits of money: what may still be spent, what a batch can cost at most, and who holds how much.

A limit is checked before anything is sent, with the most that the calls can cost, so that it is never passed.
Runs that share the limit of a system take turns at the system's row and write down there what their batch in
hand can cost; the commit of the batch puts the real cost in place of it, in one transaction.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import QuerySet, Sum
from pydantic import BaseModel

from searches.enums import RunState
from searches.models import Job, SearchRun, SutRecord
from searches.services.call_costs import Prompted, batch_cost, batch_size, most_calls_cost
from searches.services.job_holds import held_by_jobs, hold
from searches.services.leases import Lease, LeaseLost
from searches.services.search_limits import SearchLimits
from searches.services.suts import params_of
from vlmlab.core.errors import VlmLabError
from vlmlab.core.revelio.config import RevelioConfig
from vlmlab.core.scenes.concepts import Domain
from vlmlab.web.numbers import round_money_up, write_many, write_money

NO_LIMIT = 0.0  # stored in SearchRun.spend_cap_usd by a person who takes the limit away
HOLDING_STATES = (RunState.RUNNING, RunState.CANCELLING, RunState.PAUSED)
SMALLEST_USD = 1e-9  # sums of floats differ by less; no call costs as little
TRIED_PROMPT = 4_000  # characters
TRIED_SIZE = (1_568, 1_568)
LONGEST = "if every reply is as long as it may be"
UNKNOWN_HINT = "Enter both prices on the system's page, or leave the limit empty to spend without one."


class SpendingLimitError(VlmLabError):
    """The next calls may cost more than is left; nothing of them was sent."""


class RunLimitError(SpendingLimitError):
    """It is the run's own limit; others with the same system may go on."""


@dataclass(frozen=True)
class Limits:
    """What a run may spend.

    Attributes:
        run_cap: limit of the run, None without one.
        run_spent: what it has spent.
        sut_cap: limit of its system, None without one.
        sut_spent: what all work with the system has cost.
        sut_held: what the batches of other runs in hand, tries and calibrations can cost.
    """

    run_cap: float | None
    run_spent: float
    sut_cap: float | None
    sut_spent: float = 0.0
    sut_held: float = 0.0

    @property
    def is_limited(self) -> bool:
        """Whether there is any limit."""
        return self.run_cap is not None or self.sut_cap is not None

    @property
    def run_left(self) -> float | None:
        """What is left of the run's limit, None without one."""
        return None if self.run_cap is None else max(0.0, self.run_cap - self.run_spent)

    @property
    def sut_left(self) -> float | None:
        """What is left of the system's limit, None without one."""
        return None if self.sut_cap is None else max(0.0, self.sut_cap - self.sut_spent - self.sut_held)


@dataclass(frozen=True)
class Hold:
    """Why a run may not spend more, for its page.

    Attributes:
        limits: as they stand now.
        batch: the most that the next batch can cost, None when a price is unknown.
        is_of_run: whether the run's own limit is too small for it.
        is_of_system: whether the system's is.
    """

    limits: Limits
    batch: float | None
    is_of_run: bool
    is_of_system: bool

    @property
    def proposed_limit(self) -> float | None:
        """Twice the run's limit, and enough for the next batch; None without a limit of its own."""
        if self.limits.run_cap is None:
            return None
        return max(2 * self.limits.run_cap, round_money_up(self.limits.run_spent + (self.batch or 0.0)))


def hold_of(run: SearchRun, config: RevelioConfig, *, domain: Domain) -> Hold | None:
    """Return what holds a run that spending halted; None for any other run, or one whose system is broken."""
    if not run.is_halted_by_spending or run.state != RunState.PAUSED:
        return None
    try:
        limits, batch = limits_of(run, config), batch_cost(run.sut, config, domain=domain)
    except VlmLabError:  # the next slice says what is wrong with the settings of the system
        return None
    return Hold(
        limits,
        batch,
        is_of_run=_is_short(limits.run_left, batch),
        is_of_system=_is_short(limits.sut_left, batch),
    )


def _is_short(left: float | None, batch: float | None) -> bool:
    return left is not None and (batch is None or batch > left + SMALLEST_USD)


def run_cap_of(run: SearchRun, config: SearchLimits) -> float | None:
    """Return the spending limit of a run: a person's, else that of its settings; None without one."""
    cap = config.spend_cap_usd if run.spend_cap_usd is None else run.spend_cap_usd
    return cap or None


def sut_cap_of(params: BaseModel) -> float | None:
    """Return the spending limit of a system, None without one."""
    cap = getattr(params, "spend_cap_usd", None)
    return cap if isinstance(cap, int | float) else None


def limits_of(run: SearchRun, config: SearchLimits) -> Limits:
    """Return the limits of a run as the rows stand."""
    sut_cap = sut_cap_of(params_of(run.sut))
    held = _held_by_others(run) if sut_cap is not None else 0.0
    return Limits(run_cap_of(run, config), run.spend_usd, sut_cap, run.sut.spend_usd, held)


def reserve(run: SearchRun, config: SearchLimits, calls: Sequence[Prompted], *, lease: Lease) -> None:
    """Make sure that the calls of a batch fit into every limit, and hold their price until they are written.

    Raises:
        SpendingLimitError: they may not; nothing is held.
        LeaseLost: the claim does not hold any more.
    """
    if not calls:
        return
    params = params_of(run.sut)
    limits = Limits(run_cap_of(run, config), run.spend_usd, sut_cap_of(params))
    if not limits.is_limited:
        return
    cost = most_calls_cost(params, calls)
    if cost is None:
        raise SpendingLimitError(
            f"The price of a call to {run.sut.name} is unknown, so its spending limit cannot be kept.",
            hint="Enter both prices on the system's page or take the limit away, then resume.",
        )
    if limits.sut_cap is None:
        _check_batch(run.sut, limits, cost, n_calls=len(calls))
        return
    with transaction.atomic():
        rows = SearchRun.objects.filter(pk=run.pk, fence=lease.fence, step=run.step, state__in=HOLDING_STATES)
        if not rows.update(reserved_usd=cost):
            raise LeaseLost
        spent = SutRecord.objects.select_for_update().values_list("spend_usd", flat=True).get(pk=run.sut_id)
        held = _held_by_others(run)
        shared = Limits(limits.run_cap, limits.run_spent, limits.sut_cap, spent, held)
        _check_batch(run.sut, shared, cost, n_calls=len(calls))


@transaction.atomic
def check_may_spend(
    sut: SutRecord,
    *,
    calls: int,
    prompt_chars: int = TRIED_PROMPT,
    size: tuple[int, int] = TRIED_SIZE,
    job: Job | None = None,
) -> None:
    """Make sure that calls outside a run fit into the limit of a system, and hold their price for a job.

    Raises:
        SpendingLimitError: they may not.
    """
    params = params_of(sut)
    cap = sut_cap_of(params)
    if cap is None:
        return
    cost = most_calls_cost(params, [Prompted("x" * prompt_chars, size)] * calls)
    if cost is None:
        raise SpendingLimitError(
            f"The price of a call to {sut.name} is unknown, so its spending limit cannot be kept.",
            hint="Enter both prices on the system's page or take the limit away.",
        )
    spent = SutRecord.objects.select_for_update().values_list("spend_usd", flat=True).get(pk=sut.pk)
    held = _held(SearchRun.objects.filter(sut=sut)) + held_by_jobs(sut, but=job)
    if _is_short(cap - spent - held, cost):
        raise SpendingLimitError(
            f"{_sut_limit(sut, Limits(None, 0.0, cap, spent, held))} "
            f"{write_many(calls, 'more call')} may cost up to {write_money(cost)} {LONGEST}.",
            hint="Raise the spending limit on the system's page, or lower Longest reply there.",
        )
    if job is not None:
        hold(job, cost)


def check_first_batch(sut: SutRecord, config: RevelioConfig, *, domain: Domain) -> None:
    """Make sure that a run can begin under its limits.

    Raises:
        VlmLabError: a price is unknown or the first batch does not fit; ``field`` says where it belongs.
    """
    if config.spend_cap_usd is None and sut_cap_of(params_of(sut)) is None:
        return
    cost = batch_cost(sut, config, domain=domain)
    check_first_calls(sut, cost, n_calls=batch_size(config), spend_cap_usd=config.spend_cap_usd)


def check_first_calls(
    sut: SutRecord, cost: float | None, *, n_calls: int, spend_cap_usd: float | None
) -> None:
    """Make sure that the first calls of a run fit into its limit and that of its system.

    Args:
        sut: the system.
        cost: the most that the calls can cost in US dollars, None when a price is unknown.
        n_calls: how many they are.
        spend_cap_usd: limit of the run, None without one.

    Raises:
        VlmLabError: a price is unknown or they do not fit; ``field`` says where it belongs.
    """
    sut_cap = sut_cap_of(params_of(sut))
    if spend_cap_usd is None and sut_cap is None:
        return
    field = "suts" if spend_cap_usd is None else "spend_cap_usd"
    if cost is None:
        raise VlmLabError(
            f"The price of {sut.name} is unknown, so a spending limit cannot be kept.",
            hint=UNKNOWN_HINT,
            field=field,
        )
    batch = f"The first batch of {write_many(n_calls, 'call')} to {sut.name}"
    if _is_short(spend_cap_usd, cost):
        raise VlmLabError(
            f"{batch} may cost up to {write_money(cost)} {LONGEST}.",
            hint="Enter at least that, ask fewer questions at a time, or lower Longest reply on the system's "
            "page.",
            field="spend_cap_usd",
        )
    limits = Limits(None, 0.0, sut_cap, sut.spend_usd)
    if _is_short(limits.sut_left, cost):
        raise VlmLabError(
            f"{_sut_limit(sut, limits)} {batch} may cost up to {write_money(cost)} {LONGEST}.",
            hint="Raise the spending limit or lower Longest reply on the system's page, or choose another.",
            field="suts",
        )


def _check_batch(sut: SutRecord, limits: Limits, cost: float, *, n_calls: int) -> None:
    batch = f"The next {write_many(n_calls, 'call')} may cost up to {write_money(cost)} {LONGEST}"
    if _is_short(limits.run_left, cost):
        raise RunLimitError(
            f"The spending limit of this run is reached: {write_money(limits.run_spent)} of "
            f"{write_money(limits.run_cap)} are spent. {batch}, so nothing of them was sent.",
            hint="Raise the limit to go on, or end the run with what it has.",
        )
    if _is_short(limits.sut_left, cost):
        raise SpendingLimitError(
            f"{_sut_limit(sut, limits)} {batch}, so nothing of them was sent.",
            hint="Raise the spending limit on the system's page, then resume.",
        )


def _sut_limit(sut: SutRecord, limits: Limits) -> str:
    held = f" and {write_money(limits.sut_held)} held for calls in hand" if limits.sut_held else ""
    return (
        f"The spending limit of {sut.name} is reached: {write_money(limits.sut_spent)} of "
        f"{write_money(limits.sut_cap)} are spent{held}."
    )


def _held_by_others(run: SearchRun) -> float:
    return _held(SearchRun.objects.filter(sut_id=run.sut_id).exclude(pk=run.pk)) + held_by_jobs(run.sut)


def _held(runs: QuerySet[SearchRun]) -> float:
    held = runs.filter(state__in=HOLDING_STATES, reserved_usd__gt=0).aggregate(usd=Sum("reserved_usd"))
    return float(held["usd"] or 0.0)
