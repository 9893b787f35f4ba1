"""Reviewed tables of other words for labels: which ones there are, and the text operators of a search."""

from collections.abc import Mapping
from datetime import datetime
from functools import lru_cache

from searches.enums import WordTableKind, WordTableState
from searches.models import WordTableRecord
from vlmlab.core.errors import VlmLabError
from vlmlab.core.most.config import MostConfig
from vlmlab.core.perturb.text import TEXT_OPERATORS, text_operators
from vlmlab.core.perturb.text_operator import TextOperator
from vlmlab.core.perturb.word_tables import Alternative, TableKind, WordTable
from vlmlab.web.asked import asked_slug

KINDS: tuple[TableKind, ...] = ("homophone", "synonym")


def operators_of(config: MostConfig) -> Mapping[str, TextOperator]:
    """Return the text operators of a search: with its own tables where it names some, else the shipped ones.

    Raises:
        VlmLabError: no table has that short name, it is of the other kind, or nobody has reviewed it yet.
    """
    return operators_with(homophone=config.homophone_table, synonym=config.synonym_table)


def operators_with(*, homophone: str = "", synonym: str = "") -> Mapping[str, TextOperator]:
    """Return the text operators with the reviewed tables of these short names; "" is the shipped one.

    Raises:
        VlmLabError: see ``operators_of``.
    """
    wanted: dict[TableKind, str] = {"homophone": homophone, "synonym": synonym}
    tables = [find_reviewed(slug, kind) for kind, slug in wanted.items() if slug]
    return text_operators(*tables) if tables else TEXT_OPERATORS


def find_reviewed(slug: str, kind: TableKind) -> WordTable:
    """Return a reviewed table; it never changes, so a process reads it once.

    Raises:
        VlmLabError: see ``operators_of``; ``field`` is the setting that names the table.
    """
    field = f"{kind}_table"
    rows = WordTableRecord.objects.filter(slug=slug) if asked_slug(slug) else WordTableRecord.objects.none()
    row = rows.values("pk", "kind", "state", "title", "reviewed_at").first()
    if row is None:
        raise VlmLabError(
            f"There is no word table called “{slug[:64]}”.",
            hint="Choose another, or leave it empty for the shipped one.",
            field=field,
        )
    if row["kind"] != kind:
        label = WordTableKind(row["kind"]).label.lower()
        raise VlmLabError(
            f"“{row['title']}” is a table of {label}.", hint="Choose one of the right kind.", field=field
        )
    if row["state"] != WordTableState.REVIEWED:
        raise VlmLabError(
            f"Nobody has finished the review of “{row['title']}” yet.",
            hint="Finish it on the table's page, or choose another table.",
            field=field,
        )
    return _table(row["pk"], row["reviewed_at"], kind)


def reviewed_slugs(kind: TableKind) -> list[tuple[str, str]]:
    """Return short name and title of every table that a search may name."""
    rows = WordTableRecord.objects.filter(kind=kind, state=WordTableState.REVIEWED)
    return list(rows.values_list("slug", "title"))


@lru_cache(maxsize=16)
def _table(pk: int, _reviewed_at: datetime | None, kind: TableKind) -> WordTable:
    stored = WordTableRecord.objects.values_list("table", flat=True).get(pk=pk)
    return WordTable(
        kind,
        {label: tuple(Alternative.model_validate(one) for one in some) for label, some in stored.items()},
    )
