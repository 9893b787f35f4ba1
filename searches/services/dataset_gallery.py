"""The pictures of a dataset as a grid: filtered, paged, each with the boxes of what can be asked for."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.core.paginator import Page, Paginator

from searches.models import Blob, Dataset, DatasetPicture
from searches.services.asked_things import things_by_name
from searches.services.dataset_index import DatasetIndex
from searches.services.seed_inputs import askable_labels
from vlmlab.web.boxed_pictures import DrawnBox, read_box

PAGE_SIZE = 24
MOST_BOXES = 25
MOST_NAMED = 3


@dataclass(frozen=True)
class GalleryFilter:
    """Which pictures are shown; "" asks for nothing."""

    stratum: str = ""
    concept: str = ""
    label: str = ""

    def __bool__(self) -> bool:
        return bool(self.stratum or self.concept or self.label)


@dataclass(frozen=True)
class Shot:
    """One picture of the grid.

    Attributes:
        row: the picture.
        is_kept: whether its file is there.
        boxes: of what can be asked for, or of the label that the grid is narrowed to.
        words: what can be asked for, the first few by name.
    """

    row: DatasetPicture
    is_kept: bool
    boxes: tuple[DrawnBox, ...]
    words: str


@dataclass(frozen=True)
class Gallery:
    """One page of the grid."""

    page: Page[int]
    shots: list[Shot]


def gallery(dataset: Dataset, index: DatasetIndex, wanted: GalleryFilter, *, number: str | None) -> Gallery:
    """Return one page of the pictures of a dataset.

    Args:
        dataset: whose pictures.
        index: what is in it.
        wanted: which of them.
        number: of the page; the first where it is none.
    """
    orders = index.matching(stratum=wanted.stratum, concept=wanted.concept, label=wanted.label)
    page = Paginator(orders, PAGE_SIZE).get_page(number)
    rows = list(dataset.pictures.filter(order__in=list(page)).order_by("order").defer("description"))
    kept = set(Blob.objects.filter(pk__in={row.image_sha256 for row in rows}).values_list("pk", flat=True))
    shots = [_shot(row, wanted.label, is_kept=row.image_sha256 in kept) for row in rows]
    return Gallery(page, shots)


def asked_boxes(row: DatasetPicture, label: str = "") -> tuple[DrawnBox, ...]:
    """Return the boxes of what can be asked for in a picture; of one label, where one is named."""
    labels = {label} if label else set(askable_labels(row))
    things = [(name, one) for name, one in things_by_name(row) if name in labels]
    return tuple(
        read_box(0, name, one["box"], kind="truth") for name, one in things[:MOST_BOXES] if "box" in one
    )


def label_words(labels: Sequence[str]) -> str:
    """Return the first few labels by name, and how many more there are."""
    more = len(labels) - MOST_NAMED
    named = ", ".join(labels[:MOST_NAMED])
    return f"{named} and {more} more" if more > 0 else named


def _shot(row: DatasetPicture, label: str, *, is_kept: bool) -> Shot:
    return Shot(row, is_kept, asked_boxes(row, label), label_words(askable_labels(row)))
