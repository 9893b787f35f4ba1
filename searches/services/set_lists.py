"""All concept sets of a run, page by page: keyset paging, so that the last page is as quick as the first."""

from dataclasses import dataclass

from django.db.models import QuerySet

from searches.models import Trial

PAGE_SIZE = 50


@dataclass(frozen=True)
class TrialPart:
    """Rows in the order they were opened; ``after`` is where the next ones start, None at the end."""

    trials: list[Trial]
    after: int | None
    is_first: bool


def trial_page(rows: QuerySet[Trial], *, after: int | None) -> TrialPart:
    """Return the sets opened after the ``after``-th."""
    ordered = rows.order_by("order")
    if after is not None:
        ordered = ordered.filter(order__gt=after)
    found = list(ordered[: PAGE_SIZE + 1])
    shown = found[:PAGE_SIZE]
    return TrialPart(shown, shown[-1].order if len(found) > PAGE_SIZE else None, after is None)
