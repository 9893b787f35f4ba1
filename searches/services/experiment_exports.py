"""Files of an experiment: every measure of every arm, all runs, and the table for a paper."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from searches.models import Experiment
from searches.services.experiment_pages import ExperimentPage, cell_interval, cell_text, experiment_page
from searches.services.experiment_results import ExperimentRun, experiment_results
from searches.services.exports import csv_lines
from searches.services.modality_latex import LatexTable, Raw, latex_lines
from vlmlab.core.revelio.arm_summaries import (
    COMPARED,
    MEASURES,
    MeasureSummary,
    RunFacts,
    differences,
)
from vlmlab.core.revelio.experiments import ExperimentSpec
from vlmlab.web.numbers import write_many

FORMATS = {
    "csv": "text/csv",
    "json": "application/json",
    "tex": "application/x-tex",
}
LATEX_MEASURES = ("modes", "minimal", "pfm", "mfr", "diversity")
HEAD = (
    "system", "arm", "algorithm", "value", "expected_answer", "measure", "mean", "low", "high", "level",
    "runs", "numerator", "denominator",
)  # fmt: skip


def experiment_lines(experiment: Experiment, fmt: str) -> Iterator[str]:
    """Yield the file of an experiment in one of ``FORMATS``.

    Raises:
        VlmLabError: what is stored is not known to this version.
    """
    pages = _pages(experiment)
    if fmt == "csv":
        return _csv(pages)
    if fmt == "tex":
        return latex_lines(_latex(experiment, pages))
    return iter([json.dumps(_json(experiment, pages), ensure_ascii=False, indent=1)])


def _pages(experiment: Experiment) -> list[ExperimentPage]:
    first = experiment_page(experiment)
    return [experiment_page(experiment, sut=sut.slug) for sut in first.suts] or [first]


def _rows(pages: list[ExperimentPage]) -> Iterator[dict[str, Any]]:
    for page in pages:
        for row in page.arms:
            arm, summary = row.arm, row.summary
            parts = {"": summary.measures, **summary.by_expected}
            for expected, measures in parts.items():
                for name, cell in measures.items():
                    if cell.seeds is not None:
                        yield _row(cell) | {
                            "system": page.sut.slug if page.sut else "",
                            "arm": arm.name,
                            "algorithm": arm.algorithm,
                            "value": arm.value,
                            "expected_answer": expected,
                            "measure": name,
                        }


def _row(cell: MeasureSummary) -> dict[str, Any]:
    seeds = cell.seeds
    assert seeds is not None
    return {
        "mean": seeds.mean,
        "low": seeds.low,
        "high": seeds.high,
        "level": seeds.level,
        "runs": seeds.n,
        "numerator": cell.pooled.numerator if cell.pooled else None,
        "denominator": cell.pooled.denominator if cell.pooled else None,
    }


def _csv(pages: list[ExperimentPage]) -> Iterator[str]:
    return csv_lines(HEAD, ([row[name] for name in HEAD] for row in _rows(pages)))


def _json(experiment: Experiment, pages: list[ExperimentPage]) -> dict[str, Any]:
    results = experiment_results(experiment)
    return {
        "experiment": experiment.pk,
        "name": experiment.name,
        "kind": experiment.kind,
        "preset": experiment.preset,
        "spec": experiment.spec,
        "arms": list(_rows(pages)),
        "runs": [
            {
                "run": one.run.pk,
                "system": one.run.sut.slug,
                "arm": one.arm,
                "run_seed": one.run_seed,
                "state": one.run.state,
                "measures": {
                    name: None if one.facts is None else measure.value(one.facts)
                    for name, measure in MEASURES.items()
                },
            }
            for one in results
        ],
        "differences": [
            _difference(pages[0].spec, _facts_on(results, sut.pk), name) | {"system": sut.slug}
            for sut in pages[0].suts
            for name in COMPARED
        ],
    }  # fmt: skip


def _facts_on(results: Sequence[ExperimentRun], sut_id: int) -> list[RunFacts]:
    return [one.facts for one in results if one.run.sut_id == sut_id and one.facts is not None]


def _difference(spec: ExperimentSpec, facts: Sequence[RunFacts], name: str) -> dict[str, Any]:
    return {
        "measure": name,
        "pairs": [
            {
                "first": one.first,
                "second": one.second,
                "second_less_first": one.paired.mean if one.paired else None,
                "low": one.paired.low if one.paired else None,
                "high": one.paired.high if one.paired else None,
                "pairs": one.paired.n if one.paired else 0,
                "p_value": one.paired.p_value if one.paired else None,
                "p_holm": one.p_adjusted,
            }
            for one in differences([arm.name for arm in spec.arms], facts, MEASURES[name])
        ],
    }


def _latex(experiment: Experiment, pages: list[ExperimentPage]) -> LatexTable:
    rows: list[tuple[str | Raw, ...]] = []
    groups = []
    for page in pages:
        groups.append(len(rows))
        for row in page.arms:
            cells = [row.summary.measures[name] for name in LATEX_MEASURES]
            shown = [_latex_cell(cell) for cell in cells]
            rows.append((page.sut.name if page.sut else "", row.arm.name, *shown))
    spec = pages[0].spec
    return LatexTable(
        caption=f"{experiment.name}. Mean over {write_many(len(spec.run_seeds), 'run seed')} with Student's "
        "95 % interval; failure modes are suspected, before fresh scenes.",
        label=f"tab:experiment-{experiment.pk}",
        alignment="ll" + "r" * len(LATEX_MEASURES),
        head=("System", "Arm", *(MEASURES[name].title for name in LATEX_MEASURES)),
        rows=rows,
        rules_before=frozenset(groups),
    )


def _latex_cell(cell: MeasureSummary) -> str:
    interval = cell_interval(cell)
    return f"{cell_text(cell)} ({interval})" if interval else cell_text(cell)
