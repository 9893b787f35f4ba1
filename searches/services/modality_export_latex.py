"""How the tables of a modality campaign are printed in a paper: names, stars, captions of ours."""

from collections.abc import Mapping, Sequence

from searches.models import Campaign, SutRecord
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


def cell_names(cell: Cell, names: Mapping[str, str]) -> list[str | Raw]:
    """Return system, scene type and regime as people read them."""
    sut, scene_type, regime = cell
    return [names.get(sut, sut), scene_type_title(scene_type), REGIME_TITLES[regime]]


def marked_rate(families: Families, cell: Cell, name: str, rate: Rate) -> Raw:
    """Return ``54 / 96`` with the stars of its difference from the joint regime."""
    return starred(write_rate(rate), stars(_against_joint(families, cell, name)))


def marked_spread(families: Families, cell: Cell, name: str, numbers: Spread, places: int = 2) -> Raw:
    """Return mean and standard deviation with the stars of the difference from the joint regime."""
    return starred(write_spread(numbers, places), stars(_against_joint(families, cell, name)))


def marks_sentence(families: Families, choice: Choice) -> str:
    """Return what stars mean, how many tests were adjusted together, and how seeds were read."""
    sizes = sorted({family.size for family in families.values() if family.size})
    tests = f"{sizes[0]}" if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}" if sizes else "no"
    seeds = " Seed images eligible for every system only." if choice.common_seeds else ""
    return (
        f"Stars at image and text: differs from joint on the same seed images ({STARS}; Holm over {tests} "
        f"tests a measure). {choice.reading.capitalize()} reading of replies.{seeds}"
    )


def _against_joint(families: Families, cell: Cell, name: str) -> RegimeComparison | None:
    sut, scene_type, regime = cell
    pair = {"image": IMAGE_JOINT, "text": TEXT_JOINT}.get(regime)
    among = families[name].comparisons if name in families else ()
    wanted = (sut, scene_type, pair)
    return next((one for one in among if (one.sut, one.scene_type, one.regimes) == wanted), None)
