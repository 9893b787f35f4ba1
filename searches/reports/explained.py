"""What explains the failures of one system, as sections of a report."""

from dataclasses import replace

from searches.charts.explain_answers import outcome_chart, waterfall_chart
from searches.charts.explain_concepts import failure_chart, recognition_chart
from searches.reports.document import Block, Figure, Section, Table, Text
from searches.services.explain_answers import answer_page
from searches.services.explain_attribution import attribution_page
from searches.services.explain_concepts import concept_page
from searches.services.explain_coverage import PlanWish, coverage_page
from searches.services.explain_exports import Choices, explain_table
from searches.services.explain_scopes import Scope
from vlmlab.core.verdicts.regimes import RegimeThresholds
from vlmlab.web.numbers import write_percent

TABLES = {
    "concepts": "Concepts: failure rate F, recognition R, regime",
    "pairs": "Pairs: lift and interaction",
    "answers": "By expected answer",
    "attribution": "Where wrong answers come from",
    "coverage": "Coverage of pairs and triples",
}
SHOWN = {"concepts": 40, "pairs": 20, "answers": 20, "attribution": 20, "coverage": 20}


def explained_section(scope: Scope, *, is_only: bool) -> Section:
    """Return concepts, answers, attribution and coverage of a system, each with its whole table."""
    concepts = concept_page(scope, thresholds=RegimeThresholds())
    answers, attribution = answer_page(scope), attribution_page(scope)
    blocks: list[Block] = []
    if concepts.lines:
        blocks.append(Figure(failure_chart(concepts, address=_nowhere)))
    if any(line.recognition.value is not None for line in concepts.lines):
        blocks.append(Figure(recognition_chart(concepts, address=_nowhere)))
    blocks.append(_table(scope, "concepts"))
    blocks.append(
        Text(
            "F counts each set with a rate once. R needs statements in the same reply; without a probe it is "
            "empty and the regime undetermined.",
            is_muted=True,
        )
    )
    if answers.lines:
        blocks.append(Figure(outcome_chart(answers)))
    blocks.append(_table(scope, "answers"))
    if attribution.found.calls:
        blocks.append(Figure(waterfall_chart(attribution)))
    blocks += [_table(scope, "attribution"), _table(scope, "pairs"), *_coverage(scope)]
    blocks = [block for block in blocks if not isinstance(block, Table) or block.rows]
    title = "What explains the failures" if is_only else f"What explains the failures of {scope.sut.name}"
    return Section(f"explained-{scope.sut.slug}", title, _named(blocks, scope))


def _coverage(scope: Scope) -> list[Block]:
    page = coverage_page(scope, is_alone=True, wish=PlanWish(calls=5))
    rows = [
        (size.title, state.title, state.count, state.total, write_percent(state.count / state.total))
        for size in page.sizes
        for state in size.states
        if state.total
    ]
    counts = Table(
        "coverage-states", "What was shown at all", ("Parts", "State", "Number", "Of", "Share"), rows,
        frozenset({2, 3, 4}),
        note=f"{page.answers:,} answers on {page.sets:,} distinct sets, of {page.universe:,} possible ones",
    )  # fmt: skip
    return [counts, _table(scope, "coverage")]


def _table(scope: Scope, what: str) -> Table:
    found = explain_table(scope, what, Choices(wish=PlanWish(calls=5)))
    columns, rows = (found.columns, found.rows) if found else ((), [])
    shown = [tuple(_short(value) for value in row) for row in rows[: SHOWN[what]]]
    numbers = frozenset(
        place for place in range(len(columns)) if any(isinstance(row[place], int | float) for row in rows)
    )
    names = [name.replace("_", " ").capitalize() for name in columns]
    return Table(what, TABLES[what], names, shown, numbers, all_rows=rows)


def _short(value: object) -> str | float | int | None:
    if isinstance(value, float):
        return round(value, 3)
    return value if value is None or isinstance(value, int | str) else str(value)


def _named(blocks: list[Block], scope: Scope) -> list[Block]:
    """Return the blocks with names that are unique where a report holds several systems."""
    slug = scope.sut.slug
    found: list[Block] = []
    for block in blocks:
        if isinstance(block, Table):
            block = replace(block, slug=f"{slug}-{block.slug}")
        elif isinstance(block, Figure):
            block = Figure(replace(block.chart, slug=f"{slug}-{block.chart.slug}"))
        found.append(block)
    return found


def _nowhere(concepts: object) -> str:
    return ""
