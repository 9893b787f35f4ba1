"""Lists of modality runs: what a row shows, in which order, and which case comes before and after another."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import F, FilteredRelation, OrderBy, Q, QuerySet
from django.urls import reverse

from searches.enums import CaseKind
from searches.models import Blob, Campaign, ModalityCase, ModalityRun
from searches.services.modality_outcomes import HasOutcome, outcome_of, thresholds_of
from searches.services.strategy_bars import StrategyBar, strategy_bars

SHOWN_OPERATORS = 3
HAS_CASE = {"returned__isnull": False}

SORTS: dict[str, str] = {
    "image": "picture__order",
    "label": "label",
    "clean": "clean_answer__iou",
    "iou": "returned__iou",
    "f2": "returned__f2",
    "f3": "returned__f3",
    "swtd": "returned__swtd",
    "evaluations": "evaluations",
    "outcome": "status",
}
"""Word in the address -> column; a minus before the word turns the order round."""

_READ = (
    "run_id", "campaign_id", "sut_id", "picture_id", "clean_answer_id", "stratum", "label", "regime",
    "replicate", "status", "evaluations", "run__state", "run__error", "sut__name", "sut__slug",
    "picture__order", "picture__file_name", "picture__image_sha256", "picture__width", "picture__height",
    "clean_answer__iou", "clean_answer__status",
)  # fmt: skip


@dataclass(frozen=True)
class RunLine(HasOutcome):
    """One row.

    Attributes:
        case: the test case that the run returned; None without one.
        outcome: a key of ``OUTCOMES``.
        seed_picture: digest of the clean picture, "" where its file is not kept.
        case_picture: address of the perturbed one, made again where its file is not kept; "" where that
            cannot be, and where only the prompt was changed.
    """

    row: ModalityRun
    case: ModalityCase | None
    outcome: str
    seed_picture: str
    case_picture: str

    @property
    def operators(self) -> list[StrategyBar]:
        """The strongest operators of the case."""
        bars = strategy_bars(self.case.severities) if self.case else []
        return sorted(bars, key=lambda bar: -bar.severity)[:SHOWN_OPERATORS]


@dataclass(frozen=True)
class Neighbours:
    """The cases around one in a list; ``place`` counts from 1 and is 0 where the list does not hold it."""

    previous: int | None
    following: int | None
    place: int
    total: int


def is_order(key: str) -> bool:
    """Return whether a word of the address names an order."""
    return key.removeprefix("-") in SORTS


def campaign_runs(campaign: Campaign) -> QuerySet[ModalityRun]:
    """Return the runs of a campaign with what a row needs; ``returned`` joins the case of each."""
    return (
        ModalityRun.objects.filter(campaign=campaign)
        .annotate(returned=FilteredRelation("cases", condition=Q(cases__kind=CaseKind.RETURNED)))
        .select_related("run", "sut", "picture", "clean_answer")
        .only(*_READ)
    )


def sorted_by(rows: QuerySet[ModalityRun], key: str) -> QuerySet[ModalityRun]:
    """Return runs in the order of a word of ``SORTS``; in that of the campaign for any other word.

    Runs without the number come last, whichever way round.
    """
    column = SORTS.get(key.removeprefix("-"))
    if column is None:
        return rows.order_by("run_id")
    order = OrderBy(F(column), descending=key.startswith("-"), nulls_last=True)
    return rows.order_by(order, "run_id")


def run_lines(rows: Sequence[ModalityRun], *, campaign: Campaign) -> list[RunLine]:
    """Return rows for a page (two queries more, whatever their number)."""
    cases = {
        case.modality_run_id: case
        for case in ModalityCase.objects.filter(
            modality_run__in=[row.pk for row in rows], kind=CaseKind.RETURNED
        )
        .select_related("evaluation")
        .defer("raw_text", "prompt", "generator", "truth", "boxes", "evaluation__raw_text")
    }
    named = {row.picture.image_sha256 for row in rows} | {case.image_sha256 for case in cases.values()}
    kept = set(Blob.objects.filter(pk__in=named).values_list("pk", flat=True))
    tau = thresholds_of(campaign).iou
    return [_line(row, cases.get(row.pk), kept=kept, iou_threshold=tau) for row in rows]


def neighbours(rows: QuerySet[ModalityRun], case: ModalityCase) -> Neighbours:
    """Return the returned cases before and after one in the order of a list (one query).

    A minimal case stands where the returned case of its run does.
    """
    joined: Any = rows.filter(Q(**HAS_CASE))  # types do not know of the relation that a query defines
    found: list[tuple[int, int]] = list(joined.values_list("pk", "returned__pk"))
    runs = [run for run, _ in found]
    if case.modality_run_id not in runs:
        return Neighbours(None, None, 0, len(found))
    at = runs.index(case.modality_run_id)
    return Neighbours(
        previous=found[at - 1][1] if at else None,
        following=found[at + 1][1] if at + 1 < len(found) else None,
        place=at + 1,
        total=len(found),
    )


def _line(row: ModalityRun, case: ModalityCase | None, *, kept: set[str], iou_threshold: float) -> RunLine:
    seed = row.picture.image_sha256
    return RunLine(
        row=row,
        case=case,
        outcome=outcome_of(row, case, iou_threshold=iou_threshold),
        seed_picture=seed if seed in kept else "",
        case_picture=_case_picture(row, case, kept=kept) if case and case.image_sha256 != seed else "",
    )


def _case_picture(row: ModalityRun, case: ModalityCase, *, kept: set[str]) -> str:
    if case.image_sha256 in kept:
        return reverse("blob", args=[case.image_sha256])
    asked = case.evaluation
    if asked is None or row.picture.image_sha256 not in kept:
        return ""
    return reverse("modality_picture", args=[row.run_id, asked.step, asked.position])
