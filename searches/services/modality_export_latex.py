"""How the tables of a modality campaign are printed in a paper: names, stars, captions of ours."""

from collections.abc import Iterable, Mapping, Sequence

from searches.models import Campaign, SutRecord
from searches.services.modality_export_cells import ONE_TYPE, POOLED, SCOPES, FileCell, Scope, ScopedFamilies
from searches.services.modality_latex import LatexTable, Raw, starred
from searches.services.modality_tables import (
    REGIME_TITLES,
    Choice,
    Families,
    stars,
    write_rate,
    write_spread,
)
from searches.services.seed_plans import scene_type_title
from vlmlab.core.most.comparisons import IMAGE_JOINT, TEXT_JOINT, RegimeComparison
from vlmlab.core.most.summaries import Cell, Rate, Spread
from vlmlab.web.numbers import write_many

ROWS: Mapping[Scope, str] = {ONE_TYPE: "rows of one scene type: ", POOLED: "rows of all: "}
Names = Iterable[str]
STARS = "* p < 0.05, ** p < 0.01, *** p < 0.001"


def sut_names() -> dict[str, str]:
    """Return the names of all systems by slug (one query)."""
    return dict(SutRecord.objects.values_list("slug", "name"))


def latex_table(
    what: str,
    campaign: Campaign,
    *,
    caption: str,
    alignment: str,
    head: Sequence[str],
    rows: Sequence[Sequence[str | Raw]],
) -> LatexTable:
    """Return a table whose groups are its first two columns."""
    breaks = (number for number in range(1, len(rows)) if rows[number][:2] != rows[number - 1][:2])
    return LatexTable(caption, f"tab:modality-{campaign.pk}-{what}", alignment, head, rows, frozenset(breaks))


def scene_type_name(scene_type: str, scope: Scope) -> str:
    """Return what people call the scene type of a row."""
    return "All" if scope == POOLED else scene_type_title(scene_type)


def cell_names(one: FileCell, names: Mapping[str, str]) -> list[str | Raw]:
    """Return system, scene type and regime as people read them."""
    sut, scene_type, regime = one.cell
    return [names.get(sut, sut), scene_type_name(scene_type, one.scope), REGIME_TITLES[regime]]


def marked_rate(families: ScopedFamilies, one: FileCell, name: str, rate: Rate) -> Raw:
    """Return ``54 / 96`` with the stars of its difference from the joint regime."""
    return starred(write_rate(rate), stars(_against_joint(families[one.scope], one.cell, name)))


def marked_spread(
    families: ScopedFamilies, one: FileCell, name: str, numbers: Spread, places: int = 2
) -> Raw:
    """Return mean and standard deviation with the stars of the difference from the joint regime."""
    return starred(write_spread(numbers, places), stars(_against_joint(families[one.scope], one.cell, name)))


def marks_sentence(
    families: ScopedFamilies, cells: Iterable[FileCell], choice: Choice, *, measures: Mapping[str, Names]
) -> str:
    """Return what stars mean, how many tests were adjusted together, and how seeds were read.

    Args:
        families: comparisons by scope.
        cells: of the table; those that say nothing new are not printed.
        choice: what of a campaign is shown.
        measures: the columns that may have stars, by what one of them is called.
    """
    printed = {one.scope for one in cells if not one.is_repeated}
    said = [
        f"{ROWS[scope] if len(printed) > 1 else ''}{_tests(families[scope], measures)}"
        for scope in SCOPES
        if scope in printed
    ]
    seeds = " Seed images eligible for every system only." if choice.common_seeds else ""
    return (
        f"Stars at image and text: differs from joint on the same seed images ({STARS}; after Holm"
        f"{''.join(f'; {one}' for one in said)}). {choice.reading.capitalize()} reading of replies.{seeds}"
    )


def _tests(families: Families, measures: Mapping[str, Names]) -> str:
    """Return how many tests were adjusted together for one of each kind of measures."""
    parts = []
    for title, names in measures.items():
        sizes = sorted({families[name].size for name in names if name in families and families[name].size})
        least = f"{sizes[0]} to " if len(sizes) > 1 else ""
        parts.append(f"{least}{write_many(sizes[-1], 'test') if sizes else 'no test'} {title}")
    return ", ".join(parts)


def _against_joint(families: Families, cell: Cell, name: str) -> RegimeComparison | None:
    sut, scene_type, regime = cell
    pair = {"image": IMAGE_JOINT, "text": TEXT_JOINT}.get(regime)
    among = families[name].comparisons if name in families else ()
    wanted = (sut, scene_type, pair)
    return next((one for one in among if (one.sut, one.scene_type, one.regimes) == wanted), None)
