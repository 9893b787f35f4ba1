"""What the pages of word tables show: coverage of the shipped ones, own tables, and one under review."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from django.db.models import QuerySet

from searches.enums import WordTableKind, WordTableState
from searches.models import Job, SutRecord, WordTableRecord
from searches.services.job_queue import UNFINISHED
from searches.services.word_table_asking import asking_job
from searches.services.word_table_drafts import StoredDraft, draft_of, kind_of, open_labels
from searches.services.word_table_review import known_statuses, uses_of
from searches.services.word_tables import KINDS
from vlmlab.core.perturb.word_table_requests import ReviewedAlternative
from vlmlab.core.perturb.word_tables import label_key, label_sets, shipped_table
from vlmlab.core.suts.kinds import SUT_KINDS

LABELS_A_PAGE = 20
"""A page is one form; it must stay below the number of fields that one request may have."""

SET_TITLES = {"sample": "Our sample set", "coco": "COCO", "imagenet": "ImageNet-1k"}


@dataclass(frozen=True)
class Coverage:
    """How many labels of a set the shipped table of a kind has an entry for."""

    title: str
    kind: str
    total: int
    missing: tuple[str, ...]

    @property
    def covered(self) -> int:
        """Labels with an entry."""
        return self.total - len(self.missing)


@dataclass(frozen=True)
class ReviewLine:
    """A label with what was proposed for it.

    Attributes:
        shipped: what the shipped table has for it.
        problems: what the reader left out of the answer: text, and why.
        is_asked: whether the system was asked for it yet.
    """

    label: str
    alternatives: tuple[ReviewedAlternative, ...]
    shipped: tuple[str, ...]
    problems: tuple[tuple[str, str], ...]
    is_asked: bool


@dataclass(frozen=True)
class WordTablePage:
    """One word table.

    Attributes:
        draft: read once, because that of thousands of labels takes a tenth of a second.
        counts: proposals by status.
        n_ready: labels with an accepted proposal.
        strays: what the reader left out and that belongs to no label.
        uses: how many campaigns name it.
    """

    row: WordTableRecord
    draft: StoredDraft
    job: Job | None
    counts: dict[str, int]
    n_asked: int
    n_ready: int
    strays: tuple[tuple[str, str], ...]
    uses: int

    @property
    def is_at_work(self) -> bool:
        """Whether a worker has it or will take it."""
        is_asking = self.row.state == WordTableState.ASKING
        return is_asking and self.job is not None and self.job.state in UNFINISHED

    @property
    def is_empty(self) -> bool:
        """Whether every label was asked for and nothing came of it."""
        return self.n_asked == len(self.row.labels) and not any(self.counts.values())

    @property
    def can_go_on(self) -> bool:
        """Whether there is something left to ask and nobody is at it."""
        is_open = self.row.state in (WordTableState.ASKING, WordTableState.FAILED)
        return is_open and not self.is_at_work and self.n_asked < len(self.row.labels)

    @property
    def can_finish(self) -> bool:
        """Whether the review may be finished."""
        return self.row.state in (WordTableState.DRAFT, WordTableState.FAILED) and self.n_ready > 0

    @property
    def is_final(self) -> bool:
        """Whether it never changes any more."""
        return self.row.state == WordTableState.REVIEWED

    @property
    def can_delete(self) -> bool:
        """Whether nobody needs it."""
        return not self.uses and self.row.state != WordTableState.ASKING

    @property
    def problem(self) -> str:
        """What went wrong, "" when nothing did."""
        if self.row.error:
            return self.row.error
        if self.row.state == WordTableState.ASKING and not self.is_at_work:
            return f"{self.job.error} {self.job.hint}".strip() if self.job else "Its job is gone."
        return ""


@lru_cache(maxsize=1)
def coverage() -> tuple[Coverage, ...]:
    """Return the coverage of each set of labels by each shipped table."""
    return tuple(
        Coverage(
            SET_TITLES.get(name, name),
            WordTableKind(kind).label,
            len(labels),
            shipped_table(kind).missing(labels),
        )
        for name, labels in label_sets().items()
        for kind in KINDS
    )


def word_table_rows() -> QuerySet[WordTableRecord]:
    """Return the own tables for a list, newest first, without their contents."""
    rows = WordTableRecord.objects.select_related("sut", "created_by")
    return rows.defer("draft", "table").order_by("-id")


def find_word_table(slug: str) -> WordTableRecord | None:
    """Return a table by its short name."""
    rows = WordTableRecord.objects.select_related("sut", "created_by").defer("table")
    return rows.filter(slug=slug).first()


def word_table_page(row: WordTableRecord) -> WordTablePage:
    """Return what the page of a table shows beside its labels."""
    draft = draft_of(row)
    keys = {label_key(label) for label in row.labels}
    ready = sum(any(one.status == "accepted" for one in some) for some in draft.table.labels.values())
    return WordTablePage(
        row=row,
        draft=draft,
        job=asking_job(row),
        counts=known_statuses(draft.table.labels),
        n_asked=len(row.labels) - len(open_labels(row, draft)),
        n_ready=ready,
        strays=tuple(one for one in draft.problems.items() if _owner(one[0], keys) == ""),
        uses=uses_of(row),
    )


def review_lines(page: WordTablePage, labels: Iterable[str]) -> list[ReviewLine]:
    """Return some labels of a table with what was proposed for them."""
    draft = page.draft
    wanted = [(label, label_key(label)) for label in labels]
    problems = _problems(draft, {key for _, key in wanted})
    asked = set(draft.asked)
    shipped = shipped_table(kind_of(page.row))
    return [
        ReviewLine(
            label,
            draft.table.labels.get(key, ()),
            shipped.alternatives(label),
            tuple(problems.get(key, ())),
            key in asked,
        )
        for label, key in wanted
    ]


def answering_suts() -> QuerySet[SutRecord]:
    """Return the systems that may be asked for a table, those with a large model behind them first."""
    kinds = [name for name, kind in SUT_KINDS.items() if kind.is_remote] + ["transformers_local", "scripted"]
    rows = SutRecord.objects.filter(is_enabled=True, kind__in=kinds)
    return rows.order_by("queue", "name")


def _problems(draft: StoredDraft, keys: set[str]) -> dict[str, list[tuple[str, str]]]:
    found: dict[str, list[tuple[str, str]]] = {}
    for text, why in draft.problems.items():
        owner = _owner(text, keys)
        if owner:
            rest = text[len(owner) + 2 :] if len(text) > len(owner) else ""
            found.setdefault(owner, []).append((rest, why))
    return found


def _owner(text: str, keys: set[str]) -> str:
    """Return the label that a refused text was proposed for, "" where it is about no label."""
    key = label_key(text)
    if key in keys:
        return key
    before = key.partition(": ")[0]
    return before if before in keys else ""
