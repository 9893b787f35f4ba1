"""Tables of an explanation as CSV and JSON: one row a concept, pair, answer, step, part, reason or cell."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from searches.services.explain_answers import OUTCOMES, answer_page, reason_page
from searches.services.explain_attribution import attribution_page
from searches.services.explain_concepts import concept_page
from searches.services.explain_coverage import PlanWish, coverage_page, part_lines
from searches.services.explain_pairs import pair_page
from searches.services.explain_scopes import Scope
from searches.services.explain_sets import Source
from searches.services.explain_systems import SystemGrid
from searches.services.exports import csv_lines
from vlmlab.core.verdicts.regimes import RegimeThresholds

FORMATS = {"csv": "text/csv", "json": "application/json"}
REASONS_EXPORTED = 10_000


@dataclass(frozen=True)
class Choices:
    """What a person chose on the page that is exported."""

    source: Source = "all"
    thresholds: RegimeThresholds = field(default_factory=RegimeThresholds)
    least_sets: int = 10
    is_alone: bool = True
    wish: PlanWish = field(default_factory=PlanWish)


@dataclass(frozen=True)
class Table:
    """Columns and rows of an export."""

    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]

    def lines(self, fmt: str) -> Iterator[str]:
        """Return the table as the text of a file, piece by piece."""
        if fmt == "csv":
            yield from csv_lines(self.columns, self.rows)
            return
        named = [dict(zip(self.columns, row, strict=True)) for row in self.rows]
        yield json.dumps(named, ensure_ascii=False, indent=1)


def explain_table(scope: Scope, what: str, choices: Choices) -> Table | None:
    """Return a table of an explanation; None where there is none of this name."""
    make = TABLES.get(what)
    return make(scope, choices) if make else None


def grid_table(grid: SystemGrid) -> Table:
    """Return the cells of the heatmap across systems, one a row."""
    rows = [
        (
            concept, sut.slug, grid.measure, cell.value, cell.interval.low if cell.interval else None,
            cell.interval.high if cell.interval else None, cell.count, cell.reason,
        )
        for concept, _, own in grid.rows
        for sut, cell in zip(grid.suts, own, strict=True)
    ]  # fmt: skip
    return Table(("concept", "system", "measure", "value", "low", "high", "count", "reason"), rows)


def _concepts(scope: Scope, choices: Choices) -> Table:
    page = concept_page(scope, thresholds=choices.thresholds, source=choices.source)
    columns = (
        "concept", "f", "f_low", "f_high", "sets", "fails", "samples", "r", "r_low", "r_high", "replies",
        "true_statements_right", "false_statements_right", "unanswered", "regime", "why",
    )  # fmt: skip
    rows = [
        (
            line.concept, line.failure.value, line.reading.failure.low, line.reading.failure.high,
            line.failure.sets, line.failure.fails, line.failure.samples, line.recognition.value,
            line.reading.recognition.low, line.reading.recognition.high, line.recognition.replies,
            line.recognition.positive_accuracy, line.recognition.negative_accuracy,
            line.recognition.unanswered, line.reading.regime, line.reading.why,
        )
        for line in [*page.lines, *page.left_out]
    ]  # fmt: skip
    return Table(columns, rows)


def _pairs(scope: Scope, choices: Choices) -> Table:
    page = pair_page(scope, least_sets=choices.least_sets, source=choices.source)
    columns = (
        "first", "second", "rate_both", "sets_both", "f_first", "f_second", "base", "lift", "no_effect_lift",
        "log_odds", "low", "high", "design_effect", "reading",
    )  # fmt: skip
    rows = []
    for line in page.lines:
        one, found = line.effect, line.effect.interaction
        numbers = (
            (found.value, found.low, found.high, found.design_effect, found.direction)
            if found
            else (None,) * 5
        )
        rows.append(
            (*one.pair, one.both.value, one.both.sets, one.first.value, one.second.value, one.base, one.lift,
             one.no_effect, *numbers)
        )  # fmt: skip
    return Table(columns, rows)


def _answers(scope: Scope, choices: Choices) -> Table:
    page = answer_page(scope, choices.source)
    counts = ("decided", "modes", "suspected", "confirmed", "refuted", "undetermined")
    columns = ("expected", "answers", *OUTCOMES, "mean_rate", "sets_with_rate", *counts)
    rows = [
        (
            line.action or "all", line.answers, *(line.outcomes.get(name, 0) for name in OUTCOMES),
            line.rate.value, line.rate.sets, *(getattr(line, name) for name in counts),
        )
        for line in [*page.lines, page.total]
    ]  # fmt: skip
    return Table(columns, rows)


def _attribution(scope: Scope, choices: Choices) -> Table:
    page = attribution_page(scope, choices.source)
    rows = [(line.name, line.calls, line.share, line.low, line.high) for line in page.lines]
    return Table(("step", "calls", "share_of_wrong_answers", "low", "high"), rows)


def _coverage(scope: Scope, choices: Choices) -> Table:
    page = coverage_page(scope, is_alone=choices.is_alone, wish=choices.wish, source=choices.source)
    rows = [
        (
            "+".join(line.key), size.size, line.state.name.lower(), line.sets, line.fails, line.samples,
            line.bound,
        )
        for size in page.sizes
        for line in part_lines(size, scope.domain)
    ]  # fmt: skip
    return Table(("concepts", "size", "state", "sets", "fails", "samples", "upper_bound"), rows)


def _plan(scope: Scope, choices: Choices) -> Table:
    page = coverage_page(scope, is_alone=choices.is_alone, wish=choices.wish, source=choices.source)
    rows: Sequence[tuple[Any, ...]] = [
        (place, "+".join(line.key), choices.wish.samples_per_set, line.new_pairs, line.new_triples)
        for place, line in enumerate(page.planned, start=1)
    ]
    return Table(("place", "concepts", "scenes", "new_pairs", "new_triples"), list(rows))


def _reasons(scope: Scope, choices: Choices) -> Table:
    page = reason_page(scope, limit=REASONS_EXPORTED)
    rows = [
        (one.sample.trial.key, one.sample.run_id, one.sample.expected_action, one.sample.answered_action,
         one.sample.direction, one.sample.reason_text, "; ".join(one.proposed))
        for one in page.reasons
    ]  # fmt: skip
    columns = ("concepts", "run", "expected", "answered", "direction", "reason", "tags_proposed_by_words")
    return Table(columns, rows)


TABLES: dict[str, Callable[[Scope, Choices], Table]] = {
    "concepts": _concepts,
    "pairs": _pairs,
    "answers": _answers,
    "attribution": _attribution,
    "coverage": _coverage,
    "plan": _plan,
    "reasons": _reasons,
}
