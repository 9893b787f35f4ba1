"""Runs: progress, what people do to them, their log, sets and samples."""

from collections.abc import Callable
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from ninja import Query, Router
from pydantic import Field

from searches import launch
from searches.api.conditional import unchanged
from searches.api.errors import ConflictError, conflict_of
from searches.api.operations import operation, person_of
from searches.api.paging import Page, Paging, page_of
from searches.api.shapes.runs import (
    LogLine,
    RunShape,
    SampleShape,
    SetShape,
    SpendingLimit,
    run_shape,
    run_shapes,
    sample_shapes,
    set_shapes,
)
from searches.enums import CONCEPT_METHOD, LIVE_STATES, RunState, TrialStatus, Verdict
from searches.models import SearchRun
from searches.services import run_pages, runs
from vlmlab.core.errors import VlmLabError
from vlmlab.web.asked import LARGEST

router = Router(tags=["Runs"])
ACT = (404, 409)


class RunFilters(Paging):
    """Which runs."""

    state: RunState | None = Field(None, description="Only runs in this state.")
    is_live: bool | None = Field(None, description="Only runs that are queued or at work, or that are not.")
    sut: str = Field("", max_length=64, description="Short name of a system.")
    campaign: int | None = Field(None, ge=0, le=LARGEST, description="Id of a campaign.")


class SetFilters(Paging):
    """Which concept sets."""

    status: TrialStatus | None = Field(None, description="Only sets of this status.")
    expected: str = Field("", max_length=40, description="Only sets that expect this answer.")


class SampleFilters(Paging):
    """Which samples."""

    set: int | None = Field(None, ge=0, le=LARGEST, description="Only samples of this concept set.")
    verdict: Verdict | None = Field(None, description="Only samples of this verdict.")


@operation(router, "GET", "/runs", response=Page[RunShape], errors=(422,))
def list_runs(request: HttpRequest, filters: Query[RunFilters]) -> dict[str, Any]:
    """List the runs of searches over concept sets, newest first."""
    rows = run_pages.runs_for_list().select_related("created_by")
    rows = rows.filter(state=filters.state) if filters.state else rows
    rows = rows.filter(sut__slug=filters.sut) if filters.sut else rows
    rows = rows.filter(campaign=filters.campaign) if filters.campaign is not None else rows
    if filters.is_live is not None:
        rows = rows.filter(state__in=LIVE_STATES) if filters.is_live else rows.exclude(state__in=LIVE_STATES)
    return page_of(rows, filters, request, shape=run_shapes)


@operation(router, "GET", "/runs/{int:run_id}", response=RunShape, errors=(404,))
def read_run(request: HttpRequest, response: HttpResponse, run_id: int) -> RunShape | HttpResponse:
    """Read a run: state, progress, spending.

    Cheap enough to ask every few seconds; an `If-None-Match` with the last ETag saves the body.
    """
    run = _run(run_id)
    mark = f"{run.etag}-{run.spend_cap_usd}-{run.n_call_errors}-{run.is_halted_by_spending}"
    return unchanged(request, response, mark) or run_shape(run)


@operation(router, "POST", "/runs/{int:run_id}/cancel", response=RunShape, errors=ACT)
def cancel_run(request: HttpRequest, run_id: int) -> RunShape:
    """End a run.

    The batch in hand is finished first. What it found is kept, and it can be resumed.
    """
    return _act(request, run_id, runs.cancel_run)


@operation(router, "POST", "/runs/{int:run_id}/pause", response=RunShape, errors=ACT)
def pause_run(request: HttpRequest, run_id: int) -> RunShape:
    """Pause a run."""
    return _act(request, run_id, runs.pause_run)


@operation(router, "POST", "/runs/{int:run_id}/resume", response=RunShape, errors=ACT)
def resume_run(request: HttpRequest, run_id: int) -> RunShape:
    """Go on with a paused, failed or ended run where it was."""
    return _act(request, run_id, launch.resume_run)


@operation(router, "POST", "/runs/{int:run_id}/retry-call-errors", response=RunShape, errors=ACT)
def retry_call_errors(request: HttpRequest, run_id: int) -> RunShape:
    """Ask only the failed calls of a run again."""
    return _act(request, run_id, launch.retry_call_errors)


@operation(router, "POST", "/runs/{int:run_id}/raise-limit", response=RunShape, errors=(400, 404, 409, 422))
def raise_spending_limit(request: HttpRequest, run_id: int, payload: SpendingLimit) -> RunShape:
    """Give a run that its spending limit halted a new one; it goes on where it was."""
    try:
        return _act(request, run_id, launch.raise_limit, new_limit=payload.spend_cap_usd)
    except ConflictError as error:
        if not error.field:
            raise
        raise VlmLabError(error.message, hint=error.hint, field="spend_cap_usd") from error


@operation(router, "GET", "/runs/{int:run_id}/log", response=Page[LogLine], errors=(404, 422))
def read_log(request: HttpRequest, run_id: int, filters: Query[Paging]) -> dict[str, Any]:
    """Read the log of a run, newest line first."""
    rows = _run(run_id).events.all()
    return page_of(rows, filters, request, shape=lambda events: [LogLine.of(one) for one in events])


@operation(router, "GET", "/runs/{int:run_id}/sets", response=Page[SetShape], errors=(404, 422))
def list_sets(request: HttpRequest, run_id: int, filters: Query[SetFilters]) -> dict[str, Any]:
    """List the concept sets of a run, in the order they were opened."""
    rows = _run(run_id).trials.all()
    rows = rows.filter(status=filters.status) if filters.status else rows
    rows = rows.filter(expected_action=filters.expected) if filters.expected else rows
    return page_of(rows, filters, request, shape=set_shapes, order="order")


@operation(router, "GET", "/runs/{int:run_id}/samples", response=Page[SampleShape], errors=(404, 422))
def list_samples(request: HttpRequest, run_id: int, filters: Query[SampleFilters]) -> dict[str, Any]:
    """List the samples of a run, in the order they were asked."""
    rows = _run(run_id).samples.all()
    rows = rows.filter(trial=filters.set) if filters.set is not None else rows
    rows = rows.filter(verdict=filters.verdict) if filters.verdict else rows
    return page_of(rows, filters, request, shape=sample_shapes, order="id")


def _act(request: HttpRequest, run_id: int, action: Callable[..., None], **values: Any) -> RunShape:
    """Do something to a run and return it as it is then; what its state does not allow is a conflict."""
    try:
        action(_run(run_id), by=person_of(request), **values)
    except VlmLabError as error:
        raise conflict_of(error) from error
    return run_shape(_run(run_id))


def _run(run_id: int) -> SearchRun:
    run = run_pages.run_for_page(run_id)
    if run is None or run.campaign.method != CONCEPT_METHOD:
        raise Http404(f"There is no run {run_id}.")
    return run
