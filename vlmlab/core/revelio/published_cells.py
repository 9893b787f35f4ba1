"""Published numbers by algorithm, value and measure, so that an experiment can stand beside them."""

from collections.abc import Mapping
from dataclasses import dataclass

from vlmlab.core.revelio.published import (
    ALGORITHM_OF,
    PAPER_ALGORITHMS,
    PaperDomain,
    PublishedTables,
    SamplesTable,
    WidthTable,
)

MEDIUM = "Gemini 3 Flash (medium)"
KERNELS = {"linear": "Dot", "rbf": "RBF"}


@dataclass(frozen=True)
class CellKey:
    """Where a number stands: algorithm of this lab, value of the axis ("" for none), name of a measure."""

    algorithm: str
    value: str
    measure: str


@dataclass(frozen=True)
class PublishedRow:
    """The numbers of one published system; shares in [0, 1], None where the paper prints none."""

    model: str
    cells: Mapping[CellKey, float | None]


def published_rows(tables: PublishedTables, number: int, domain: PaperDomain) -> list[PublishedRow]:
    """Return the rows of one of Tables 2 and 6 to 10; empty for other tables, or the other domain."""
    if number == 2:
        return _main(tables, domain)
    if number in (6, 7):
        return _width(tables.table_6 if number == 6 else tables.table_7) if _fits(number, domain) else []
    if number in (8, 9):
        return _samples(tables.table_8 if number == 8 else tables.table_9) if _fits(number, domain) else []
    return _kernels(tables, domain) if number == 10 else []


def _fits(number: int, domain: PaperDomain) -> bool:
    """Even tables of the ablations are indoor, odd ones driving."""
    return domain == ("indoor" if number % 2 == 0 else "driving")


def _main(tables: PublishedTables, domain: PaperDomain) -> list[PublishedRow]:
    rows = []
    for row in tables.table_2:
        if row.domain != domain:
            continue
        cells: dict[CellKey, float | None] = {}
        for name in PAPER_ALGORITHMS:
            one, algorithm = row.of(name), ALGORITHM_OF[name]
            cells[CellKey(algorithm, "", "pfm")] = one.pfm / 100.0
            cells[CellKey(algorithm, "", "mfr")] = one.mfr / 100.0
            cells[CellKey(algorithm, "", "diversity")] = one.div
        rows.append(PublishedRow(row.title, cells))
    return rows


def _width(table: WidthTable) -> list[PublishedRow]:
    cells: dict[CellKey, float | None] = {}
    for label, pfm in table.pfm.items():
        value = label.removeprefix("k=")
        cells[CellKey("beam", value, "pfm")] = pfm / 100.0
        cells[CellKey("beam", value, "mfr")] = table.mfr[label] / 100.0
    return [PublishedRow(MEDIUM, cells)]


def _samples(table: SamplesTable) -> list[PublishedRow]:
    cells: dict[CellKey, float | None] = {}
    for name, by_label in table.pfm.items():
        for label, pfm in by_label.items():
            value = label.removeprefix("m")
            cells[CellKey(ALGORITHM_OF[name], value, "pfm")] = pfm / 100.0
            cells[CellKey(ALGORITHM_OF[name], value, "mfr")] = table.mfr[name][label] / 100.0
    return [PublishedRow(MEDIUM, cells)]


def _kernels(tables: PublishedTables, domain: PaperDomain) -> list[PublishedRow]:
    cells: dict[CellKey, float | None] = {}
    for value, stem in KERNELS.items():
        row = next(one for one in tables.table_10 if one.domain == domain and one.kernel.startswith(stem))
        cells[CellKey("gpts", value, "pfm")] = row.pfm / 100.0
        cells[CellKey("gpts", value, "mfr")] = row.mfr / 100.0
        cells[CellKey("gpts", value, "diversity")] = row.div
    return [PublishedRow(MEDIUM, cells)]
