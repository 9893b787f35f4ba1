"""Pages of lists: an opaque cursor instead of numbers, so that no row is skipped while new ones arrive."""

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from django.db.models import Model, QuerySet
from django.http import HttpRequest
from ninja import Schema
from pydantic import Field

from searches.api.shapes.common import Received
from vlmlab.core.errors import VlmLabError
from vlmlab.web.asked import asked_number

MOST_ROWS = 200
Row = TypeVar("Row", bound=Model)
Shape = TypeVar("Shape")


class Page(Schema, Generic[Shape]):
    """Some rows of a list."""

    items: list[Shape] = Field(description="The rows of this page.")
    next: str | None = Field(
        description="Address of the next page, with all filters; null on the last one.",
        examples=["/api/v1/runs?limit=50&cursor=812"],
    )


class Paging(Received):
    """Which page."""

    limit: int = Field(50, ge=1, le=MOST_ROWS, description="Most rows of a page.")
    cursor: str = Field("", max_length=40, description="Where the page starts; take it from `next`.")


def page_of(
    rows: QuerySet[Row],
    paging: Paging,
    request: HttpRequest,
    *,
    shape: Callable[[Sequence[Row]], list[Any]],
    order: str = "-id",
) -> dict[str, Any]:
    """Return one page.

    Args:
        rows: everything that matches, in any order.
        paging: from the request.
        request: its other parameters go into ``next``.
        shape: turns the rows of the page into what is sent; may ask the database once more for all of them.
        order: a column without equals among ``rows``, with "-" for descending.

    Raises:
        VlmLabError: the cursor is not one of ours.
    """
    column = order.lstrip("-")
    ordered = rows.order_by(order)
    if paging.cursor:
        after = asked_number(paging.cursor)
        if after is None:
            raise VlmLabError(
                "This cursor is not valid.", hint="Take the address from “next” as it is.", field="cursor"
            )
        comparison = "lt" if order.startswith("-") else "gt"
        ordered = ordered.filter(**{f"{column}__{comparison}": after})
    found = list(ordered[: paging.limit + 1])
    shown = found[: paging.limit]
    following = None
    if len(found) > paging.limit:
        query = request.GET.copy()
        query["cursor"] = str(getattr(shown[-1], column))
        following = f"{request.path}?{query.urlencode()}"
    return {"items": shape(shown), "next": following}
