"""What the page of a test case shows: both pictures with boxes, prompts, strategy, numbers, relatives."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.urls import reverse

from searches.enums import AnswerKind, CaseKind
from searches.models import Blob, ModalityCase, ModalityRun
from searches.services.modality_case_numbers import Number, case_numbers
from searches.services.modality_inputs import as_boxes, read_again
from searches.services.modality_outcomes import HasOutcome, outcome_of, thresholds_of
from searches.services.modality_run_pages import clean_picture, drawn
from searches.services.prompt_diffs import PromptDiff, prompt_diff
from searches.services.seed_inputs import things_of
from searches.services.stored_shapes import reading_stored
from searches.services.strategy_bars import StrategyBar, strategy_bars
from vlmlab.core.most.outcomes import FailureCriterion
from vlmlab.core.most.types import AnswerStatus, Thresholds
from vlmlab.core.replies.boxes import BoxReading
from vlmlab.web.boxed_pictures import BoxedPicture
from vlmlab.web.numbers import write_many

REASONS: dict[str, str] = {
    "failure": "Of the failures that no other failure beats in f1, f2 and f3, this one has the highest SWTD.",
    "closest": "The run found no boxes below the threshold on an input that is close enough to the clean "
    "one. Of the answers to such inputs, this one lost most.",
    "unfaithful": "No input was close enough to the clean one. Of all answers, this one lost most.",
    "minimal": "The failure above with the fewest operators and the lowest severities that still fail.",
}
"""Why this answer is the case -> a sentence."""


@dataclass(frozen=True)
class CriterionLine:
    """Whether a failure criterion is met by the strict and by the lenient reading."""

    name: str
    description: str
    strict: bool
    lenient: bool


@dataclass(frozen=True)
class PairedLine(HasOutcome):
    """The same seed image and label in another regime, on another system, or asked once more."""

    row: ModalityRun
    case: ModalityCase | None
    outcome: str
    is_this: bool


@dataclass(frozen=True)
class BoxLine:
    """One box in numbers: whose it is, and its corners in pixels."""

    whose: str
    corners: tuple[float, float, float, float]


@dataclass(frozen=True)
class CasePage(HasOutcome):
    """One test case.

    Attributes:
        original: the seed image with the truth and the clean answer; None where its file is not kept.
        perturbed: the perturbed picture with the moved truth and the answer; the same.
        reading: of the raw text, by the reader of this version; None where the call failed.
        other: the minimal case of a returned one, the returned case of a minimal one; None without it.
        other_picture: the perturbed picture of that one.
    """

    case: ModalityCase
    run: ModalityRun
    thresholds: Thresholds
    original: BoxedPicture | None
    perturbed: BoxedPicture | None
    bars: list[StrategyBar]
    diff: PromptDiff
    numbers: list[Number]
    criteria: list[CriterionLine]
    reading: BoxReading | None
    paired: list[PairedLine]
    other: ModalityCase | None
    other_picture: BoxedPicture | None
    outcome: str

    @property
    def reason(self) -> str:
        """Why this answer is the case."""
        return REASONS.get(self.case.reason, "")

    @property
    def box_lines(self) -> list[BoxLine]:
        """All boxes in numbers, for people who do not see the pictures."""
        clean = self.run.clean_answer
        groups = [
            ("truth", [one["box"] for one in things_of(self.run.picture, self.run.label)]),
            ("clean answer", clean.boxes if clean else []),
            ("moved truth", self.case.truth),
            ("perturbed answer", self.case.boxes),
        ]
        return [BoxLine(whose, corners) for whose, boxes in groups for corners in as_boxes(boxes)]

    @property
    def is_minimal(self) -> bool:
        """Whether it is the minimal perturbation of another case."""
        return self.case.kind == CaseKind.MINIMAL

    @property
    def is_picture_same(self) -> bool:
        """Whether the picture is the clean one."""
        return self.case.image_sha256 == self.run.picture.image_sha256

    @property
    def sentence(self) -> str:
        """What happened, for the head of the page."""
        clean = self.run.clean_answer.iou if self.run.clean_answer else 0.0
        system, changed = self.run.sut.name, _changed(self.case)
        if self.case.status != AnswerKind.BOXES:
            word = "an empty answer" if self.case.status == AnswerKind.EMPTY else "no readable boxes"
            return f"{system} finds {self._wanted} at IoU {clean:.3f}; with {changed} it gives {word}."
        verb = "falls to" if self.outcome == "below" else "holds at"
        return (
            f"{system} finds {self._wanted} at IoU {clean:.3f}; with {changed} it {verb} {self.case.iou:.3f}."
        )

    @property
    def _wanted(self) -> str:
        return f"“{self.run.label}”"


def find_case(pk: int) -> ModalityCase | None:
    """Return a case with what its page needs."""
    return (
        ModalityCase.objects.select_related(
            "evaluation",
            "modality_run__run",
            "modality_run__campaign__dataset",
            "modality_run__sut",
            "modality_run__picture",
            "modality_run__clean_answer",
        )
        .filter(pk=pk)
        .first()
    )


def case_page(case: ModalityCase) -> CasePage:
    """Return what the page of a case shows (a constant number of queries).

    Raises:
        VlmLabError: what is stored cannot be read.
    """
    run = case.modality_run
    thresholds = thresholds_of(run.campaign)
    other_kind = CaseKind.RETURNED if case.kind == CaseKind.MINIMAL else CaseKind.MINIMAL
    other = ModalityCase.objects.filter(modality_run=run, kind=other_kind).first()
    if other is not None:
        other.modality_run = run
    with reading_stored("case", hint="Start the campaign again."):
        before = other.severities if other and case.kind == CaseKind.MINIMAL else None
        return CasePage(
            case=case,
            run=run,
            thresholds=thresholds,
            original=clean_picture(run),
            perturbed=_perturbed(case),
            bars=strategy_bars(case.severities, before=before),
            diff=prompt_diff(run.clean_answer.prompt if run.clean_answer else case.prompt, case.prompt),
            numbers=case_numbers(case, thresholds),
            criteria=[_criterion(one, case, thresholds) for one in FailureCriterion],
            reading=read_again(run, case),
            paired=paired_lines(run, iou_threshold=thresholds.iou),
            other=other,
            other_picture=_perturbed(other) if other else None,
            outcome=outcome_of(run, case, iou_threshold=thresholds.iou),
        )


def paired_lines(run: ModalityRun, *, iou_threshold: float) -> list[PairedLine]:
    """Return all runs of a campaign on one seed image and label, by system and regime (two queries)."""
    rows = list(
        ModalityRun.objects.filter(campaign_id=run.campaign_id, picture_id=run.picture_id, label=run.label)
        .select_related("run", "sut", "clean_answer")
        .order_by("sut__name", "run_id")
    )
    cases = {
        case.modality_run_id: case
        for case in ModalityCase.objects.filter(modality_run__in=rows, kind=CaseKind.RETURNED)
    }
    return [
        PairedLine(
            row=row,
            case=cases.get(row.pk),
            outcome=outcome_of(row, cases.get(row.pk), iou_threshold=iou_threshold),
            is_this=row.pk == run.pk,
        )
        for row in rows
    ]


def compared_bars(page: CasePage) -> list[StrategyBar]:
    """Return the operators of the minimal case beside those of the returned one; none without both."""
    if page.other is None:
        return []
    returned, minimal = (page.other, page.case) if page.is_minimal else (page.case, page.other)
    return strategy_bars(minimal.severities, before=returned.severities)


def _perturbed(case: ModalityCase) -> BoxedPicture | None:
    run = case.modality_run
    wanted = {case.image_sha256, run.picture.image_sha256}
    kept = set(Blob.objects.filter(pk__in=wanted).values_list("pk", flat=True))
    if not kept:
        return None
    is_kept = case.image_sha256 in kept
    truth, given = as_boxes(case.truth), as_boxes(case.boxes)
    return BoxedPicture(
        url=reverse("blob", args=[case.image_sha256])
        if is_kept
        else reverse("modality_case_picture", args=[case.pk]),
        alt=f"Perturbed picture, {write_many(len(truth), 'true box,true boxes')} and "
        f"{write_many(len(given), 'box,boxes')} of the perturbed answer",
        width=run.picture.width,
        height=run.picture.height,
        boxes=(
            *drawn(truth, run.label, kind="truth"),
            *drawn(given, "perturbed answer", kind="perturbed"),
        ),
    )


def _criterion(one: FailureCriterion, case: ModalityCase, thresholds: Thresholds) -> CriterionLine:
    lenient_status = AnswerStatus(case.lenient_status or case.status)
    lenient_iou = case.lenient_iou if case.lenient_status else case.iou
    return CriterionLine(
        name=one.value,
        description=one.description,
        strict=one.is_met(AnswerStatus(case.status), case.iou, iou_threshold=thresholds.iou),
        lenient=one.is_met(lenient_status, lenient_iou, iou_threshold=thresholds.iou),
    )


def _changed(case: ModalityCase) -> str:
    bars = strategy_bars(case.severities)
    words = [f"{bar.title} {bar.severity:.2f}" for bar in sorted(bars, key=lambda one: -one.severity)]
    return _listed(words) if words else "no operator acting"


def _listed(words: Sequence[str]) -> str:
    shown, rest = words[:3], len(words) - 3
    if rest > 0:
        return f"{', '.join(shown)} and {rest} more"
    return " and ".join([", ".join(shown[:-1]), shown[-1]]) if len(shown) > 1 else shown[0]
