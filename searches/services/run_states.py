"""The one way in which runs change their state, one by one or many at once."""

from collections.abc import Collection
from typing import Any

from django.db.models import QuerySet
from django.db.models.functions import Now

from searches.enums import FINAL_STATES, RUN_MOVES, RunState
from searches.models import SearchRun


def move_run(
    run_id: int,
    *,
    frm: RunState | Collection[RunState],
    to: RunState,
    held_fence: int | None = None,
    **values: Any,
) -> bool:
    """Move a run by compare-and-set.

    Args:
        run_id: the run.
        frm: the state or states it must be in.
        to: the state it gets.
        held_fence: the claim that must still hold; None when no worker is involved.
        values: further columns to set in the same statement.

    Returns:
        Whether the run moved; False means somebody else moved it first.

    Raises:
        ValueError: the move is not in the table of allowed moves.
    """
    rows = SearchRun.objects.filter(pk=run_id)
    if held_fence is not None:
        rows = rows.filter(fence=held_fence)
    return move_runs(rows, frm=frm, to=to, **values) == 1


def move_runs(
    rows: QuerySet[SearchRun], *, frm: RunState | Collection[RunState], to: RunState, **values: Any
) -> int:
    """Move those of many runs that are in a state, in one statement, and return how many moved.

    Args:
        rows: the runs.
        frm: the state or states that are moved; runs in others stay as they are.
        to: the state they get.
        values: further columns to set in the same statement.

    Raises:
        ValueError: the move is not in the table of allowed moves.
    """
    states = {frm} if isinstance(frm, RunState) else set(frm)
    for state in states:
        if to not in RUN_MOVES[state]:
            raise ValueError(f"a run may not move from {state} to {to}")
    if to != RunState.RUNNING:
        values = {"finished_at": None, "is_halted_by_spending": False} | values
    if to not in (RunState.RUNNING, RunState.CANCELLING, RunState.PAUSED):
        values = {"owner": "", "lease_expires": None} | values  # in those a worker lets go by itself
    if to not in (RunState.RUNNING, RunState.CANCELLING, RunState.PAUSED):
        values = {"reserved_usd": 0.0} | values  # those three may still have a batch in hand
    if to in FINAL_STATES:
        values = values | {"finished_at": Now()}
    return rows.filter(state__in=states).update(state=to, **values)
