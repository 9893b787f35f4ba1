"""Rows of follow-ups of test cases: what each case is, and everything that was shown for it."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.urls import reverse

from searches.models import Blob, CaseSample, FollowUpItem, ModalityCase
from searches.services.case_pages import PART_WORDS, DrawLine, draw_lines
from searches.services.case_transfers import fresh_counts
from vlmlab.core.verdicts.case_draws import Part


@dataclass(frozen=True)
class ItemOfCase:
    """A row of a follow-up: its item, and where the picture of its case is; "" where it cannot be shown."""

    item: FollowUpItem
    case: ModalityCase | None
    picture_url: str

    @property
    def parts(self) -> list[tuple[str, str]]:
        """How the fixed inputs were answered: words, and pass, fail or why there is no answer."""
        stored = self.item.numbers.get("parts") or {}
        return [(PART_WORDS[part], stored[part.value]) for part in Part if part.value in stored]

    @property
    def fresh(self) -> tuple[int, int]:
        """Wrong answers and answers to fresh draws beside the input itself."""
        return fresh_counts(self.item)


def items_of_cases(items: Sequence[FollowUpItem]) -> list[ItemOfCase]:
    """Return rows with their cases, in the order given (two queries)."""
    wanted = [item.case_id for item in items if item.case_id is not None]
    related = ("modality_run__picture", "modality_run__sut", "modality_run__campaign")
    cases = ModalityCase.objects.select_related(*related).defer("raw_text", "generator").in_bulk(wanted)
    digests = {one.image_sha256 for one in cases.values()}
    digests |= {one.modality_run.picture.image_sha256 for one in cases.values()}
    kept = set(Blob.objects.filter(pk__in=digests).values_list("pk", flat=True))
    return [_item_of_case(item, cases.get(item.case_id or 0), kept) for item in items]


def _item_of_case(item: FollowUpItem, case: ModalityCase | None, kept: set[str]) -> ItemOfCase:
    url = ""
    if case is not None and case.image_sha256 in kept:
        url = reverse("blob", args=[case.image_sha256])
    elif case is not None and case.modality_run.picture.image_sha256 in kept:
        url = reverse("modality_case_picture", args=[case.pk])
    return ItemOfCase(item, case, url)


def item_draws(item: FollowUpItem) -> list[DrawLine]:
    """Return everything that was shown for an item, in the order of numbers (three queries)."""
    if item.case_id is None:
        return []
    related = ("modality_run__picture", "modality_run__campaign")
    case = ModalityCase.objects.select_related(*related).filter(pk=item.case_id).first()
    rows = CaseSample.objects.filter(item=item).order_by("number")
    return draw_lines(case, list(rows)) if case is not None else []
