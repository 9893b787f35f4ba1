"""A word table on its way: the labels to ask for, and the draft with what was proposed and refused."""

from collections.abc import Iterable, Sequence

from django.db import IntegrityError, transaction
from django.utils.text import slugify
from pydantic import BaseModel, ConfigDict, Field

from searches.models import Dataset, SutRecord, User, WordTableRecord
from searches.services.asked_things import things_by_name
from searches.services.audit import record
from vlmlab.core.errors import ConfigError
from vlmlab.core.perturb.text_tokens import words_of
from vlmlab.core.perturb.word_table_requests import TableDraft, TableProposal, with_proposal
from vlmlab.core.perturb.word_tables import TableKind, label_key, shipped_table
from vlmlab.core.storable_values import UNSTORABLE

MOST_LABELS, MOST_LABEL_CHARACTERS = 5_000, 80
MOST_PROBLEMS_A_REPLY = 100
RESERVED_SLUGS = frozenset({"new"})


class StoredDraft(BaseModel):
    """What ``WordTableRecord.draft`` holds.

    Attributes:
        table: labels with their proposals and decisions.
        asked: labels that were answered, or given up, in the form of ``label_key``.
        problems: label or text -> why the reader left it out.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    table: TableDraft
    asked: tuple[str, ...] = ()
    problems: dict[str, str] = Field(default_factory=dict)


def draft_of(row: WordTableRecord) -> StoredDraft:
    """Return the draft of a table; an empty one where nothing was asked yet."""
    if row.draft:
        return StoredDraft.model_validate(row.draft)
    return StoredDraft(table=TableDraft(kind=kind_of(row)))


def open_labels(row: WordTableRecord, draft: StoredDraft) -> list[str]:
    """Return the labels that were not asked for yet, in their order."""
    done = set(draft.asked)
    return [label for label in row.labels if label_key(label) not in done]


def checked_labels(labels: Iterable[str], kind: TableKind, *, skips_shipped: bool) -> list[str]:
    """Return the labels to ask for, each once.

    Args:
        labels: as they were typed, or from a dataset.
        kind: of the table.
        skips_shipped: leave out what the shipped table has an entry for.

    Raises:
        ConfigError: there is none left, there are too many, or one cannot stand in a prompt.
    """
    kept: dict[str, str] = {}
    for label in (" ".join(one.split()) for one in labels):
        if label:
            _check_label(label)
            kept.setdefault(label_key(label), label)
    if not kept:
        raise ConfigError("There is no label to ask for.", hint="Write one a line.", field="labels")
    found = list(kept.values())
    if skips_shipped:
        found = list(shipped_table(kind).missing(found))
    if not found:
        raise ConfigError(
            "The shipped table has an entry for every one of these labels.",
            hint="Turn “Only labels without an entry” off to ask for them nevertheless.",
            field="labels",
        )
    if len(found) > MOST_LABELS:
        raise ConfigError(
            f"These are {len(found):,} labels; at most {MOST_LABELS:,} are taken.",
            hint="Make several tables.",
            field="labels",
        )
    return found


def dataset_labels(dataset: Dataset) -> list[str]:
    """Return what the things in a dataset are called, sorted."""
    found: set[str] = set()
    for picture in dataset.pictures.only("dataset", "annotations").iterator(chunk_size=500):
        found.update(name for name, _ in things_by_name(picture) if name)
    return sorted(found)


def create_word_table(
    *, title: str, kind: TableKind, labels: Sequence[str], sut: SutRecord, by: User | None
) -> WordTableRecord:
    """Store a table that shall be asked for.

    Raises:
        ConfigError: the title is empty.
    """
    title = " ".join(title.split())[:120]
    if not title:
        raise ConfigError("The table needs a title.", field="title")
    for _ in range(5):
        try:
            with transaction.atomic():
                row = WordTableRecord.objects.create(
                    slug=_free_slug(title),
                    title=title,
                    kind=kind,
                    labels=list(labels),
                    sut=sut,
                    draft=StoredDraft(table=TableDraft(kind=kind)).model_dump(mode="json"),
                    created_by=by,
                )
                record(by, "started a word table", row, after={"sut": sut.slug, "labels": len(labels)})
                return row
        except IntegrityError:  # somebody else took the short name at this moment
            continue
    raise ConfigError("No short name could be found for this title.", hint="Choose another.", field="title")


def with_answer(
    draft: StoredDraft, proposal: TableProposal, labels: Sequence[str], *, source: str
) -> StoredDraft:
    """Return a draft with what a system proposed for some labels."""
    problems = dict(list(proposal.problems.items())[:MOST_PROBLEMS_A_REPLY])
    return StoredDraft(
        table=with_proposal(draft.table, proposal, source=source[:200]),
        asked=tuple(dict.fromkeys((*draft.asked, *map(label_key, labels)))),
        problems=draft.problems | problems,
    )


def _check_label(label: str) -> None:
    spans = words_of(label.casefold())
    is_words = bool(spans) and spans[0][0] == 0 and spans[-1][1] == len(label.casefold())
    if len(label) > MOST_LABEL_CHARACTERS or UNSTORABLE.search(label) or not label.isprintable():
        raise ConfigError(
            f"“{label[:40]}” cannot be a label.",
            hint=f"Use up to {MOST_LABEL_CHARACTERS} visible characters.",
            field="labels",
        )
    if not is_words:
        raise ConfigError(
            f"“{label}” cannot be found in a prompt.",
            hint="A label must begin and end with a letter or a digit.",
            field="labels",
        )


def kind_of(row: WordTableRecord) -> TableKind:
    """Return what a table holds, as the core names it."""
    return "homophone" if row.kind == "homophone" else "synonym"


def _free_slug(title: str) -> str:
    stem = slugify(title)[:56].strip("-") or "table"
    taken = set(WordTableRecord.objects.filter(slug__startswith=stem).values_list("slug", flat=True))
    taken |= RESERVED_SLUGS
    number, slug = 1, stem
    while slug in taken:
        number += 1
        slug = f"{stem}-{number}"
    return slug
