"""What pages show of the fresh draws of test cases: the evidence of one case, its draws, other systems."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.urls import reverse

from searches.enums import FINAL_STATES, AnswerKind, FindingState, FollowUpName
from searches.models import Blob, CaseSample, FollowUpItem, ModalityCase
from searches.services.case_draws import NOT_ASKED, CaseInputs, unmeasured
from searches.services.case_live import CASE_RELATIONS
from searches.services.case_transfers import fresh_counts
from searches.services.modality_inputs import as_boxes
from searches.services.modality_run_pages import drawn
from searches.services.suts import asking_of
from vlmlab.core.complaints import checked_settings
from vlmlab.core.errors import VlmLabError
from vlmlab.core.verdicts.case_draws import FIRST_FRESH, Part, part_of
from vlmlab.core.verdicts.config import ConfirmConfig
from vlmlab.core.verdicts.queries import FreshQuery
from vlmlab.web.boxed_pictures import BoxedPicture
from vlmlab.web.numbers import write_many

SHOWN_DRAWS = 12
PART_WORDS = {
    Part.CLEAN: "without a perturbation",
    Part.EXACT: "its own input again",
    Part.RANDOM: "a random strategy",
    Part.FRESH: "fresh draw",
}


@dataclass(frozen=True)
class DrawLine:
    """One question of a follow-up of a case.

    Attributes:
        row: the sample.
        picture: what was shown, with the truth and the answer; None where it cannot be shown.
        prompt_changed: whether its prompt differs from that of the case.
    """

    row: CaseSample
    part: Part
    index: int
    picture: BoxedPicture | None
    prompt_changed: bool

    @property
    def title(self) -> str:
        """What was shown, in words."""
        return f"Draw {self.index + 1}" if self.part is Part.FRESH else PART_WORDS[self.part].capitalize()

    @property
    def not_asked(self) -> str:
        """Why it was not asked, "" where it was."""
        return NOT_ASKED.get(self.row.reading_reason, "")

    @property
    def counts(self) -> bool:
        """Whether it is evidence: a fresh draw with an answer that is no repetition."""
        return (
            self.part is Part.FRESH
            and not self.not_asked
            and not self.row.is_repeat
            and self.row.status != AnswerKind.CALL_ERROR
        )

    @property
    def tone(self) -> str:
        """bad, ok, or "" for what is neither."""
        if self.not_asked or self.row.status == AnswerKind.CALL_ERROR:
            return ""
        return "bad" if self.row.is_failure else "ok"

    @property
    def answer(self) -> str:
        """The answer in words."""
        if self.not_asked:
            return "not asked"
        if self.row.status == AnswerKind.BOXES:
            return f"IoU {self.row.iou:.3f}"
        return str(self.row.get_status_display()).lower()


@dataclass(frozen=True)
class TransferLine:
    """How one other system answers a case."""

    item: FollowUpItem
    exact: CaseSample | None

    @property
    def fresh(self) -> tuple[int, int]:
        """Wrong answers and answers to fresh draws."""
        return fresh_counts(self.item)


@dataclass(frozen=True)
class CaseEvidence:
    """Everything that fresh draws say of a case.

    Attributes:
        item: of its newest confirmation; None before the first.
        config: of that confirmation.
        exact: its own input, asked again there; None where it was not.
        draws: the draws to show, in the order asked.
        n_draws: all of them.
        n_left_out: draws that were not asked, for what they show.
        transfers: answers of systems that were shown the case, newest first.
    """

    case: ModalityCase
    item: FollowUpItem | None
    config: ConfirmConfig | None
    exact: DrawLine | None
    draws: list[DrawLine]
    n_draws: int
    n_left_out: int
    transfers: list[TransferLine]

    @property
    def is_at_work(self) -> bool:
        """Whether a confirmation of it has not ended."""
        return self.item is not None and self.item.run.state not in FINAL_STATES

    @property
    def draws_nothing(self) -> bool:
        """Whether its operators make the same input however they are seeded."""
        return self.n_draws > 0 and self.n_left_out == self.n_draws and all(
            one.row.reading_reason == "same_input" for one in self.draws
        )  # fmt: skip

    @property
    def may_confirm(self) -> bool:
        """Whether a confirmation can be started."""
        is_open = self.case.state in (FindingState.SUSPECTED, FindingState.UNDETERMINED)
        return self.case.is_failure and is_open and not self.is_at_work and not self.draws_nothing

    @property
    def exact_words(self) -> str:
        """What its own input says when it is asked again."""
        if self.exact is None:
            return ""
        if self.exact.tone == "":
            return "Asked again, its own input got no answer."
        if self.exact.tone == "bad":
            return "Asked again, its own input is answered wrongly again."
        return "Asked again, its own input is answered rightly now."

    @property
    def sentence(self) -> str:
        """What is known of the case by fresh draws."""
        case = self.case
        if self.draws_nothing:
            return f"Its operators draw nothing, so there is one input and no fresh draw. {self.exact_words}"
        if self.item is None or not self.item.n:
            return "Found by the search, and not tried on fresh draws yet."
        seen = f"{self.item.fails:,} of {write_many(self.item.n, 'fresh draw')} answered wrongly"
        return f"{case.get_state_display()}: {seen}."


def case_evidence(case: ModalityCase, *, shows_all: bool = False) -> CaseEvidence:
    """Return what fresh draws say of a case (a constant number of queries).

    Args:
        case: with run, picture and campaign.
        shows_all: whether all draws are wanted, instead of the first ones.

    Raises:
        VlmLabError: the settings of its confirmation are not those of this version.
    """
    items = list(
        FollowUpItem.objects.filter(case=case)
        .select_related("run__sut", "campaign")
        .order_by("-campaign_id", "run_id")
    )
    confirmed = next((one for one in items if one.campaign.kind == FollowUpName.CONFIRM), None)
    others = [one for one in items if one.campaign.kind == FollowUpName.TRANSFER]
    rows: list[CaseSample] = []
    left_out = n_draws = 0
    if confirmed is not None:
        asked = CaseSample.objects.filter(item=confirmed)
        fresh = asked.filter(number__gte=FIRST_FRESH)
        n_draws = fresh.count()
        left_out = fresh.filter(reading_reason__in=NOT_ASKED).count()
        rows = list(asked.filter(number__lt=FIRST_FRESH).order_by("number"))
        found = fresh.order_by("number")
        rows += list(found if shows_all else found[:SHOWN_DRAWS])
    lines = draw_lines(case, rows)
    exact = [one for one in lines if one.part is Part.EXACT]
    return CaseEvidence(
        case=case,
        item=confirmed,
        config=checked_settings(ConfirmConfig, confirmed.campaign.config) if confirmed else None,
        exact=exact[-1] if exact else None,
        draws=[one for one in lines if one.part is Part.FRESH],
        n_draws=n_draws,
        n_left_out=left_out,
        transfers=_transfers(others),
    )


def draw_lines(case: ModalityCase, rows: Sequence[CaseSample]) -> list[DrawLine]:
    """Return questions of a case as its page shows them (one query)."""
    seed = case.modality_run.picture.image_sha256
    shown = {row.image_sha256 for row in rows} - {""}
    kept = set(Blob.objects.filter(pk__in=shown | {seed}).values_list("pk", flat=True))
    return [_line(case, row, kept=kept) for row in rows]


def find_draw(pk: int) -> CaseSample | None:
    """Return one question with what making its picture again needs."""
    related = ("run__sut", *(f"item__{name}" for name in CASE_RELATIONS))
    return CaseSample.objects.select_related(*related).filter(pk=pk).first() if pk < 2**63 else None


def draw_picture(row: CaseSample) -> bytes:
    """Return the picture of a question as PNG: the bytes that the system was sent, made again.

    Raises:
        VlmLabError: it cannot be made again; the message says why.
    """
    item = row.item
    if item.case is None:
        raise VlmLabError("The test case is gone.", hint="Its campaign was deleted.")
    asking = asking_of(row.run.sut)
    inputs = CaseInputs(item.case, asking, row.run.run_seed, item.block, embed=unmeasured)
    return inputs.picture(FreshQuery(0, (), row.number))


def _transfers(items: Sequence[FollowUpItem]) -> list[TransferLine]:
    newest: dict[int, FollowUpItem] = {}
    for item in items:
        newest.setdefault(item.run.sut_id, item)
    rows: dict[int, list[CaseSample]] = defaultdict(list)
    wanted = CaseSample.objects.filter(item__in=newest.values(), number__lt=FIRST_FRESH)
    for row in wanted.order_by("number"):
        if part_of(row.number)[0] is Part.EXACT:
            rows[row.item_id].append(row)
    return [TransferLine(item, rows[item.pk][-1] if rows[item.pk] else None) for item in newest.values()]


def _line(case: ModalityCase, row: CaseSample, *, kept: set[str]) -> DrawLine:
    part, index = part_of(row.number)
    can_be_made = case.modality_run.picture.image_sha256 in kept and bool(row.image_sha256)
    is_kept = row.image_sha256 in kept
    return DrawLine(
        row=row,
        part=part,
        index=index,
        picture=_picture(case, row, is_kept=is_kept) if is_kept or can_be_made else None,
        prompt_changed=row.prompt != case.prompt,
    )


def _picture(case: ModalityCase, row: CaseSample, *, is_kept: bool) -> BoxedPicture:
    place = case.modality_run
    truth, given = as_boxes(row.truth), as_boxes(row.boxes)
    boxes: tuple[Any, ...] = (
        *drawn(truth, place.label, kind="truth"),
        *drawn(given, "answer", kind="perturbed"),
    )
    return BoxedPicture(
        url=reverse("blob", args=[row.image_sha256])
        if is_kept
        else reverse("case_draw_picture", args=[row.pk]),
        alt=f"{PART_WORDS[part_of(row.number)[0]].capitalize()}: "
        f"{write_many(len(truth), 'true box,true boxes')}, "
        f"{write_many(len(given), 'box,boxes')} of the answer",
        width=place.picture.width,
        height=place.picture.height,
        boxes=boxes,
    )
