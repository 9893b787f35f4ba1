"""What each file of a modality campaign holds: cells of system, scene type and regime, runs, comparisons."""

from collections.abc import Mapping

from searches.models import Campaign
from searches.services.modality_export_cells import (
    CELL_COLUMNS,
    POOLED,
    SCOPES,
    Scope,
    file_cells,
    rows_by_sut,
    scene_type_value,
    scoped_families,
)
from searches.services.modality_export_latex import (
    cell_names,
    latex_table,
    marked_rate,
    marked_spread,
    marks_sentence,
    scene_type_name,
    sut_names,
)
from searches.services.modality_latex import Raw
from searches.services.modality_results import (
    ResultRow,
    most_config,
    outcome_word,
    picture_names,
    regimes_of,
)
from searches.services.modality_table_files import ResultTable, Value
from searches.services.modality_tables import REGIME_TITLES, Choice, pair_title, shown_rows
from searches.services.modality_tables_operators import budget_lines, operator_cases, operator_lines
from searches.services.strategy_bars import operator_title
from vlmlab.core.most.comparisons import PAIRED_METRICS, RegimeComparison
from vlmlab.core.most.outcomes import FailureCriterion
from vlmlab.core.most.summaries import Rate, Spread, effectiveness, efficiency, outcome_counts

LIKENESS = ("ms_ssim", "ned", "swtd", "swtd_mean")
COSTS = (
    "image_budget", "text_budget", "total_budget", "evaluations", "wall_s", "perturbation_s", "inference_s",
)  # fmt: skip
OUTCOMES = ("below", "empty", "malformed", "held", "baseline_failures", "call_errors", "unfinished")
RATES = {f"asr_{one.value.lower()}": one for one in FailureCriterion}


def effectiveness_table(campaign: Campaign, choice: Choice) -> ResultTable:
    """Return ASR under each criterion, likeness and SWTD of every cell."""
    columns = [*CELL_COLUMNS]
    for name in RATES:
        columns += [f"{name}_k", f"{name}_n", name, f"{name}_low", f"{name}_high"]
    columns += [f"{name}_{part}" for name in ("iou_drop", *LIKENESS) for part in ("mean", "sd", "n")]
    rows: list[tuple[Value, ...]] = []
    printed: list[list[str | Raw]] = []
    families, names, cells = (
        scoped_families(campaign, choice),
        sut_names(),
        list(file_cells(campaign, choice)),
    )
    for one in cells:
        found = effectiveness([row.result for row in one.rows])
        rates = {name: found.outcomes.attack_success(criterion) for name, criterion in RATES.items()}
        spreads = {name: getattr(found, name) for name in ("iou_drop", *LIKENESS)}
        values = [value for rate in rates.values() for value in _rate_values(rate)]
        values += [value for numbers in spreads.values() for value in _spread_values(numbers)]
        rows.append((*one.values, *values, found.unfaithful))
        marked = [
            *(marked_rate(families, one, name, rate) for name, rate in rates.items()),
            *(marked_spread(families, one, name, spreads[name]) for name in LIKENESS),
        ]
        printed += [] if one.is_repeated else [[*cell_names(one, names), *marked]]
    latex = latex_table(
        "effectiveness",
        campaign,
        caption="How often perturbations break each system: failing test cases of all finished runs under "
        "three criteria, then likeness (MS-SSIM), edit distance (NED) and similarity-weighted target drop "
        "(SWTD) over runs that ended with boxes, mean and standard deviation. "
        + marks_sentence(families, cells, choice, measures={"a rate": RATES, "any other measure": LIKENESS}),
        alignment="lllrrrrrrr",
        head=("System", "Scene type", "Regime", "C1", "C2", "C3", "MS-SSIM", "NED", "SWTD", "SWTD mean"),
        rows=printed,
    )
    return ResultTable((*columns, "unfaithful"), rows, about(campaign, choice), latex)


def efficiency_table(campaign: Campaign, choice: Choice) -> ResultTable:
    """Return budgets, evaluations and times of every cell."""
    columns = (
        *CELL_COLUMNS,
        *(f"{name}_{part}" for name in COSTS for part in ("mean", "sd", "n")),
        "first_hits",
    )
    rows: list[tuple[Value, ...]] = []
    printed: list[list[str | Raw]] = []
    families, names, cells = (
        scoped_families(campaign, choice),
        sut_names(),
        list(file_cells(campaign, choice)),
    )
    for one in cells:
        found = efficiency([row.result for row in one.rows])
        spreads = {name: getattr(found, name) for name in COSTS}
        values = [value for numbers in spreads.values() for value in _spread_values(numbers)]
        hits = sum(row.first_hit is not None and row.result.case is not None for row in one.rows)
        rows.append((*one.values, *values, hits))
        marked = (marked_spread(families, one, name, numbers) for name, numbers in spreads.items())
        printed += [] if one.is_repeated else [[*cell_names(one, names), *marked]]
    latex = latex_table(
        "efficiency",
        campaign,
        caption="What a run costs: perturbation budget of its test case on image and text, answered "
        "strategies, seconds; mean and standard deviation over finished runs. "
        + marks_sentence(families, cells, choice, measures={"a measure": COSTS}),
        alignment="lllrrrrrrr",
        head=(
            "System", "Scene type", "Regime", "Image", "Text", "Both", "Evaluations", "Wall", "Perturbing",
            "Inference",
        ),
        rows=printed,
    )  # fmt: skip
    return ResultTable(columns, rows, about(campaign, choice), latex)


def outcomes_table(campaign: Campaign, choice: Choice) -> ResultTable:
    """Return how the runs of every cell ended."""
    rows: list[tuple[Value, ...]] = []
    printed: list[list[str | Raw]] = []
    names = sut_names()
    for one in file_cells(campaign, choice):
        found = outcome_counts([row.result for row in one.rows])
        counts = [int(getattr(found, name)) for name in OUTCOMES]
        rows.append((*one.values, *counts, found.finished))
        line = [*cell_names(one, names), *(str(count) for count in counts)]
        printed += [] if one.is_repeated else [line]
    latex = latex_table(
        "outcomes",
        campaign,
        caption="How runs ended: boxes below the IoU threshold, empty, malformed, or held. Baseline "
        "failures, call errors and unfinished runs are in no rate.",
        alignment="lllrrrrrrr",
        head=(
            "System", "Scene type", "Regime", "Below", "Empty", "Malformed", "Held", "Baseline",
            "Call errors", "Unfinished",
        ),
        rows=printed,
    )  # fmt: skip
    return ResultTable((*CELL_COLUMNS, *OUTCOMES, "finished"), rows, about(campaign, choice), latex)


def comparisons_table(campaign: Campaign, choice: Choice) -> ResultTable:
    """Return every comparison of two regimes, each scene type for itself and all of them together."""
    columns = (
        "metric", "test", "scope", "sut", "scene_type", "first", "second", "n", "excluded", "excluded_share",
        "mean_difference", "first_larger", "second_larger", "effect", "p_value", "p_holm", "family_size",
    )  # fmt: skip
    rows: list[tuple[Value, ...]] = []
    printed: list[list[str | Raw]] = []
    names, families = sut_names(), scoped_families(campaign, choice)
    for scope in SCOPES:
        for name, family in families[scope].items():
            for one in family.comparisons:
                if choice.sut and one.sut != choice.sut:
                    continue
                rows.append((name, family.metric.test, scope, *_comparison_values(one, scope), family.size))
                if scope != POOLED or family.size < families[SCOPES[0]][name].size:
                    printed.append(_printed_comparison(name, one, names, scope, family.size))
    latex = latex_table(
        "comparisons",
        campaign,
        caption="Regimes compared on the same seed images: exact McNemar tests for ASR, Wilcoxon signed "
        "ranks for all else. Effect: rank-biserial correlation, for ASR the share of one-sided failures. "
        "P-values after Holm over all tests of one measure: those by scene type and those over all scene "
        "types are families of their own, whose size is in the last column.",
        alignment="llllrrrrr",
        head=("Measure", "System", "Scene type", "Regimes", "n", "Excluded", "Effect", "p", "Tests"),
        rows=printed,
    )
    return ResultTable(columns, rows, about(campaign, choice), latex)


def budget_table(campaign: Campaign, choice: Choice) -> ResultTable:
    """Return each operator's mean share of the final budget, by system and regime."""
    rows: list[tuple[Value, ...]] = []
    printed: list[list[str | Raw]] = []
    names = sut_names()
    for sut, runs in rows_by_sut(campaign, choice):
        for line in budget_lines(operator_cases(campaign, runs)):
            shares = [(regime, line.shares.get(regime)) for regime in regimes_of(runs)]
            rows += [(sut, line.name, line.modality, regime, share) for regime, share in shares]
            printed += [
                [names.get(sut, sut), line.title, REGIME_TITLES[regime], f"{share:.3f}"]
                for regime, share in shares
                if share
            ]
    latex = latex_table(
        "budget",
        campaign,
        caption="Mean share of the final perturbation budget by operator, over finished runs; operators "
        "without a share are left out.",
        alignment="lllr",
        head=("System", "Operator", "Regime", "Share"),
        rows=printed,
    )
    columns = ("sut", "operator", "modality", "regime", "mean_share")
    return ResultTable(columns, rows, about(campaign, choice), latex)


def operators_table(campaign: Campaign, choice: Choice) -> ResultTable:
    """Return how often each operator acts in failures, by system and regime."""
    columns = (
        "sut", "regime", "operator", "modality", "failures", "failing_cases", "share", "share_low",
        "share_high", "in_held", "held_cases", "alone", "mean_severity",
    )  # fmt: skip
    rows: list[tuple[Value, ...]] = []
    printed: list[list[str | Raw]] = []
    names = sut_names()
    for sut, runs in rows_by_sut(campaign, choice):
        for regime in regimes_of(runs):
            cases = operator_cases(campaign, [row for row in runs if row.result.regime == regime])
            for line in operator_lines(cases, choice.criterion):
                held, alone, severity = line.in_held, line.alone.numerator, line.mean_severity
                values = (*_rate_values(line.in_failures), held.numerator, held.denominator, alone, severity)
                rows.append((sut, regime, line.name, line.modality, *values))
                shown = f"{line.in_failures.numerator} / {line.in_failures.denominator}"
                strength = "–" if severity is None else f"{severity:.3f}"
                title = operator_title(line.name)
                printed.append(
                    [names.get(sut, sut), REGIME_TITLES[regime], title, shown, str(alone), strength]
                )
    latex = latex_table(
        "operators",
        campaign,
        caption=f"Operators by the share of failing test cases ({choice.criterion.value}) in which they act, "
        "how many of these no other operator touches, and their mean severity there.",
        alignment="lllrrr",
        head=("System", "Regime", "Operator", "Acts in", "Alone", "Severity"),
        rows=printed,
    )
    return ResultTable(columns, rows, about(campaign, choice), latex)


def runs_table(campaign: Campaign, choice: Choice) -> ResultTable:
    """Return every run with its outcome and numbers."""
    columns = (
        "run", "sut", "scene_type", "seed_image", "file_name", "image_sha256", "label", "regime",
        "replicate", "status", "outcome", "clean_status", "clean_iou", "answer", "iou", "is_faithful",
        *LIKENESS, *COSTS[:4], "first_hit", *COSTS[4:],
    )  # fmt: skip
    rows = shown_rows(campaign, choice)
    names = picture_names(row.picture_id for row in rows)
    return ResultTable(columns, [_run_values(row, names, choice) for row in rows], about(campaign, choice))


def about(campaign: Campaign, choice: Choice) -> dict[str, Value]:
    """Return what the numbers of a file are of."""
    config = most_config(campaign)
    return {
        "campaign": campaign.pk,
        "name": campaign.name,
        "dataset": campaign.dataset.slug if campaign.dataset else "",
        "algorithm": config.algorithm,
        "iou_threshold": config.iou_threshold,
        "reading": choice.reading,
        "common_seeds": choice.common_seeds,
        "replicate": choice.replicate,
        "criterion": choice.criterion.value,
    }


def _run_values(row: ResultRow, names: Mapping[int, tuple[str, str]], choice: Choice) -> tuple[Value, ...]:
    result, case = row.result, row.result.case
    file_name, digest = names.get(row.picture_id, ("", ""))
    measured: tuple[Value, ...] = (None,) * 10
    if case is not None:
        measured = (
            case.status.value, case.iou, case.is_faithful, *(getattr(case, name) for name in LIKENESS),
            case.image_budget, case.text_budget, case.total_budget,
        )  # fmt: skip
    return (
        row.run_id, result.sut, result.scene_type, row.picture_id, file_name, digest, row.label,
        result.regime, choice.replicate, result.status.value, outcome_word(result),
        result.clean_status.value if result.clean_status else None, result.clean_iou, *measured,
        result.evaluations, row.first_hit, result.wall_s, result.perturbation_s, result.inference_s,
    )  # fmt: skip


def _rate_values(rate: Rate) -> list[Value]:
    low, high = rate.interval()
    return [rate.numerator, rate.denominator, rate.value, low, high]


def _spread_values(numbers: Spread) -> list[Value]:
    return [numbers.mean, numbers.sd, numbers.n]


def _comparison_values(one: RegimeComparison, scope: Scope) -> tuple[Value, ...]:
    return (
        one.sut, scene_type_value(one.scene_type, scope), *one.regimes, one.n, one.excluded,
        one.excluded_share, one.mean_difference, one.first_larger, one.second_larger, one.effect,
        one.p_value, one.p_adjusted,
    )  # fmt: skip


def _printed_comparison(
    metric: str, one: RegimeComparison, names: Mapping[str, str], scope: Scope, family_size: int
) -> list[str | Raw]:
    share, p = one.excluded_share, one.p_adjusted
    return [
        PAIRED_METRICS[metric].title,
        names.get(one.sut, one.sut),
        scene_type_name(one.scene_type, scope),
        pair_title(one.regimes),
        str(one.n),
        "–" if share is None else f"{share:.0%}",
        "–" if one.effect is None else f"{one.effect:.2f}",
        "–" if p is None else "< 0.001" if p < 0.001 else f"{p:.3f}",
        str(family_size),
    ]
