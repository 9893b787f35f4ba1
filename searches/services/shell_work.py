"""Runs that one process at a shell works on in turn: which one is next, and whether all have ended."""

from django.db.models import QuerySet

from searches.enums import RunState
from searches.models import SearchRun
from searches.services.leases import Lease, take_lease
from searches.services.owners import this_owner
from searches.services.reaper import reap, release_dead_local_owners
from vlmlab.core.errors import VlmLabError


def free_the_dead() -> None:
    """Take over what workers of this machine that are gone have left, before anything is claimed."""
    release_dead_local_owners()
    reap()


def next_lease(runs: QuerySet[SearchRun]) -> Lease | None:
    """Claim the first of these runs that waits; None when none does."""
    while True:
        run = runs.filter(state=RunState.QUEUED).order_by("pk").values_list("pk", "queue").first()
        if run is None:
            return None
        lease = take_lease(this_owner(), [run[1]], run_id=run[0])
        if lease is not None:  # else another worker was faster
            return lease


def is_worked_on(runs: QuerySet[SearchRun]) -> bool:
    """Whether another worker has one of these runs."""
    return runs.filter(state__in=(RunState.RUNNING, RunState.CANCELLING)).exists()


def check_all_ended(runs: QuerySet[SearchRun], *, go_on: str) -> None:
    """Make sure that every one of these runs has ended by itself.

    Args:
        runs: what was worked on.
        go_on: the options that go on with them.

    Raises:
        VlmLabError: some have not; the message says why.
    """
    left = runs.exclude(state=RunState.SUCCEEDED)
    n_left = left.count()
    if not n_left:
        return
    told = left.exclude(error="").order_by("pk").values_list("error", "hint").first()
    reason = f"{told[0]} {told[1]}".strip() if told else ""
    raise VlmLabError(
        f"{n_left:,} of {runs.count():,} runs have not ended. {reason}".strip(), hint=f"Go on with {go_on}."
    )
