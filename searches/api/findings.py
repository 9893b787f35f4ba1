"""Findings, exports and pictures: what a search brought to light."""

from typing import Any, Literal

from django.db.models import QuerySet
from django.http import FileResponse, Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.utils import timezone
from ninja import Query, Router
from pydantic import Field

from searches.api.operations import operation
from searches.api.paging import Page, Paging, page_of
from searches.api.shapes.findings import FindingShape, finding_shapes
from searches.enums import Direction, FindingState, Minimality, TriageStatus
from searches.filters.findings import having_concepts, having_tag
from searches.models import Finding
from searches.services import exports, finding_lists, run_pages
from searches.services.blobs import open_blob
from vlmlab.core.errors import VlmLabError
from vlmlab.web.asked import LARGEST
from vlmlab.web.streaming import stream_file

router = Router(tags=["Findings and exports"])
Format = Literal["json", "csv"]


def file_of(media_types: tuple[str, ...]) -> dict[str, Any]:
    """Return the part of the schema that describes a download."""
    binary = {"type": "string", "format": "binary"}
    content = {one: {"schema": {} if one == "application/json" else binary} for one in media_types}
    return {"responses": {200: {"description": "The file, sent piece by piece.", "content": content}}}


FILE = file_of(("application/json", "text/csv"))
PICTURE = file_of(("image/png",))


class FindingFilters(Paging):
    """Which findings."""

    run: int | None = Field(None, ge=0, le=LARGEST, description="Id of a run.")
    campaign: int | None = Field(None, ge=0, le=LARGEST, description="Id of a campaign.")
    sut: str = Field("", max_length=64, description="Short name of a system.")
    state: FindingState | None = Field(None, description="Only findings of this state.")
    direction: Direction | None = Field(None, description="Only errors in this direction.")
    expected: str = Field("", max_length=40, description="Only sets that expect this answer.")
    q: str = Field("", max_length=200, description="Words of concepts, such as `cone + fog`.")
    minimality: Minimality | None = Field(None, description="Only what an ablation said so of.")
    triage: TriageStatus | None = Field(None, description="Only findings of this status.")
    tag: str = Field("", max_length=32, description="Only findings with this tag.")
    is_minimal: bool | None = Field(None, description="True: without sets that contain a smaller finding.")


@operation(router, "GET", "/findings", response=Page[FindingShape], errors=(422,))
def list_findings(request: HttpRequest, filters: Query[FindingFilters]) -> dict[str, Any]:
    """List the findings of all runs, newest first."""
    return page_of(_findings(filters), filters, request, shape=finding_shapes)


@operation(router, "GET", "/findings/export.{fmt}", response=None, errors=(404, 422), openapi_extra=FILE)
def export_findings(request: HttpRequest, fmt: Format, filters: Query[FindingFilters]) -> HttpResponseBase:
    """Download findings as one file.

    The same filters as the list, without pages; the file is sent piece by piece, whatever its size.
    """
    rows = finding_lists.sorted_by(_findings(filters), "")
    write = exports.findings_csv if fmt == "csv" else exports.findings_json
    name = f"vlmlab-findings-{timezone.localdate():%Y-%m-%d}.{fmt}"
    return stream_file(write(rows), name=name, media_type=exports.MEDIA_TYPES[fmt])


@operation(router, "GET", "/findings/{int:finding_id}", response=FindingShape, errors=(404,))
def read_finding(request: HttpRequest, finding_id: int) -> FindingShape:
    """Read one finding."""
    finding = finding_lists.all_findings().filter(pk=finding_id).first()
    if finding is None:
        raise Http404(f"There is no finding {finding_id}.")
    [shape] = finding_shapes([finding])
    return shape


@operation(
    router,
    "GET",
    "/runs/{int:run_id}/export/{what}.{fmt}",
    response=None,
    errors=(404, 422),
    openapi_extra=FILE,
)
def export_run(
    request: HttpRequest, run_id: int, what: Literal["run", "sets", "samples", "findings"], fmt: Format
) -> HttpResponseBase:
    """Download a run as one file.

    `run.json` holds everything: the configuration, the metrics, all sets and samples. `sets`, `samples` and
    `findings` are tables, as JSON or CSV. The file is sent piece by piece, whatever its size.
    """
    run = run_pages.run_for_page(run_id)
    write = exports.RUN_EXPORTS.get((what, fmt))
    if run is None or write is None:
        raise Http404(f"There is no run {run_id}." if run is None else f"There is no {what}.{fmt}.")
    moment = run.finished_at or run.created_at
    name = f"vlmlab-run-{run.pk}-{what}-{timezone.localtime(moment):%Y-%m-%d}.{fmt}"
    return stream_file(write(run), name=name, media_type=exports.MEDIA_TYPES[fmt])


@operation(router, "GET", "/pictures/{sha256}.png", response=None, errors=(404,), openapi_extra=PICTURE)
def read_picture(request: HttpRequest, sha256: str) -> HttpResponseBase:
    """Download a picture.

    Samples and findings name its path. Not every picture is kept; a scene can be drawn again from its seed.
    """
    try:
        response = FileResponse(open_blob(sha256), content_type="image/png")
    except VlmLabError as error:
        raise Http404(error.message) from error
    response["Cache-Control"] = "private, max-age=31536000, immutable"
    response["X-Content-Type-Options"] = "nosniff"
    return response


def _findings(filters: FindingFilters) -> QuerySet[Finding]:
    rows = finding_lists.all_findings()
    exact = {
        "run": filters.run,
        "run__campaign": filters.campaign,
        "sut__slug": filters.sut or None,
        "state": filters.state,
        "direction": filters.direction,
        "expected_action": filters.expected or None,
        "minimality": filters.minimality,
        "triage": filters.triage,
        "is_minimal_in_run": True if filters.is_minimal else None,
    }
    rows = rows.filter(**{name: value for name, value in exact.items() if value is not None})
    words = filters.q.strip()
    rows = having_concepts(rows, words) if words else rows
    return having_tag(rows, filters.tag) if filters.tag else rows
