"""The list of flagged scenes, with what each belongs to."""

from django.db.models import Exists, OuterRef, QuerySet

from searches.enums import SceneFlagKind
from searches.models import Blob, SceneFlag, SearchRun


def flag_rows(*, run: int | None, kind: str, with_withdrawn: bool) -> QuerySet[SceneFlag]:
    """Return flags, newest first, with all they belong to and ``has_picture``: whether it is kept.

    Args:
        run: only scenes of this run; None for all.
        kind: only flags of this kind; anything unknown for all.
        with_withdrawn: also those that were taken back.
    """
    rows = SceneFlag.objects.select_related(
        "author", "sample__trial", "sample__run__campaign", "sample__run__sut"
    )
    rows = rows.annotate(has_picture=Exists(Blob.objects.filter(sha256=OuterRef("sample__image_sha256"))))
    rows = rows.order_by("-id")
    if run is not None:
        rows = rows.filter(sample__run_id=run)
    if kind in SceneFlagKind.values:
        rows = rows.filter(kind=kind)
    return rows if with_withdrawn else rows.filter(withdrawn_at=None)


def flagged_count(run: SearchRun) -> int:
    """Return how many scenes of a run carry a flag that holds."""
    return SceneFlag.objects.filter(sample__run=run, withdrawn_at=None).values("sample").distinct().count()
