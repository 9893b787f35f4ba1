"""Compare the modality searches on systems on paper, so that anyone can check what the manual claims.

    python benchmarks/most.py --seeds 20 --out benchmarks/results/most.md --check

Prints, for each regime, family and algorithm, how many systems a failure was found in, how many answers the
first one took (median over systems; a miss counts as more than any budget), answers in all, distances
measured, and the search's own milliseconds an answer; then what our goals compare in each regime.
"""

import argparse
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import numpy.typing as npt

from vlmlab.core.most.bench import ALGORITHM_NAMES, BenchResult, bench_config, run_bench
from vlmlab.core.most.landscapes import FAMILIES
from vlmlab.core.most.types import REGIMES, Regime
from vlmlab.core.seeding import rng_for
from vlmlab.core.stats import wilson_interval

FloatArray = npt.NDArray[np.float64]
GOAL_RATIO = 0.2
MAX_OWN_MS = 5.0  # of everything but the system and the perturbation
DRAWS = 2000


def first_hits(results: Sequence[BenchResult]) -> FloatArray:
    """Return answers to the first failure, infinite for a miss."""
    return np.array([np.inf if one.first_hit is None else one.first_hit for one in results])


def median(values: FloatArray) -> float:
    """Return the lower median: with infinite values there is no middle of two."""
    return float(np.sort(values)[(len(values) - 1) // 2])


def number(value: float) -> str:
    """Return a whole number, or ``none`` where less than half of the searches found a failure."""
    return "none" if np.isinf(value) else f"{value:.0f}"


def median_with_interval(results: Sequence[BenchResult]) -> str:
    """Return the median of first failures with its 95 % bootstrap interval."""
    values = first_hits(results)
    rows = rng_for(0, "bootstrap").integers(len(values), size=(DRAWS, len(values)))
    draws = np.sort([median(values[row]) for row in rows])
    low, high = draws[int(0.025 * DRAWS)], draws[int(0.975 * DRAWS)]
    return f"{number(median(values))} [{number(low)}, {number(high)}]"


def success(results: Sequence[BenchResult]) -> str:
    """Return how many searches found a failure, with the 95 % Wilson interval of the share."""
    hits = sum(one.first_hit is not None for one in results)
    interval = wilson_interval(hits, len(results))
    return f"{hits}/{len(results)} [{100 * interval.low:.0f}, {100 * interval.high:.0f}] %"


def own_ms(results: Sequence[BenchResult]) -> float:
    """Return the search's own milliseconds an answer."""
    return 1000.0 * sum(one.own_seconds for one in results) / max(1, sum(one.evaluations for one in results))


def chosen(
    results: Sequence[BenchResult], *, algorithm: str, regime: str, family: str | None = None
) -> list[BenchResult]:
    """Return the results of an algorithm in a regime, all families or one."""
    return [
        one
        for one in results
        if (one.algorithm, one.regime) == (algorithm, regime) and family in (None, one.family)
    ]


def row(label: str, algorithm: str, results: Sequence[BenchResult]) -> str:
    """Return one line of a table."""
    cells = [
        success(results),
        median_with_interval(results),
        f"{np.mean([one.evaluations for one in results]):.0f}",
        f"{np.mean([one.fidelities for one in results]):.0f}",
        f"{own_ms(results):.2f}",
    ]
    return f"| {label} | {algorithm} | " + " | ".join(cells) + " |"


HEAD = [
    "| family | algorithm | found | answers to the first failure | answers in all | distances measured "
    "| own ms an answer |",
    "|---|---|---|---|---|---|---|",
]


def tables(results: Sequence[BenchResult], names: Sequence[str], families: Sequence[str]) -> list[str]:
    """Return the lines of one table a regime: every family, then all together."""
    lines: list[str] = []
    for regime in dict.fromkeys(one.regime for one in results):
        lines += ["", f"### {regime}", "", *HEAD]
        for family in families:
            for name in names:
                lines.append(row(family, name, chosen(results, algorithm=name, regime=regime, family=family)))
        for name in names:
            lines.append(row("**all**", name, chosen(results, algorithm=name, regime=regime)))
    return lines


def ratio_of_medians(
    first: Sequence[BenchResult], second: Sequence[BenchResult]
) -> tuple[float, float, float]:
    """Return the ratio of the medians of two algorithms with its 95 % bootstrap interval over systems.

    Both met the same systems in the same order, so a draw takes the same systems of both. A ratio to a search
    that finds no failure in half of the systems is 0.
    """
    upper, lower = first_hits(first), first_hits(second)

    def ratio(rows: npt.NDArray[np.intp]) -> float:
        above, below = median(upper[rows]), median(lower[rows])
        if np.isinf(above):
            return np.inf
        return 0.0 if np.isinf(below) else above / below

    drawn = rng_for(0, "bootstrap", "ratio").integers(len(upper), size=(DRAWS, len(upper)))
    draws = np.sort([ratio(rows) for rows in drawn])
    return ratio(np.arange(len(upper))), draws[int(0.025 * DRAWS)], draws[int(0.975 * DRAWS)]


def goals(results: Sequence[BenchResult]) -> tuple[list[str], list[str]]:
    """Return the lines of what our goals compare, and a sentence for each that was missed."""
    lines = [
        "",
        "| regime | screen / nsga2, answers to the first failure | goal | found by screen | by nsga2 |",
    ]
    lines.append("|---|---|---|---|---|")
    missed = []
    for regime in dict.fromkeys(one.regime for one in results):
        ours = chosen(results, algorithm="screen", regime=regime)
        theirs = chosen(results, algorithm="nsga2", regime=regime)
        if not ours or not theirs:
            continue
        value, low, high = ratio_of_medians(ours, theirs)
        lines.append(
            f"| {regime} | {value:.3f} [{low:.3f}, {high:.3f}] | <= {GOAL_RATIO:g} "
            f"| {success(ours)} | {success(theirs)} |"
        )
        if value > GOAL_RATIO:
            missed.append(f"{regime}: screen takes {value:.2f} of the answers that nsga2 takes")
        found = [sum(one.first_hit is not None for one in some) for some in (ours, theirs)]
        if found[0] < found[1]:
            missed.append(f"{regime}: screen finds {found[0]} failures, nsga2 {found[1]}")
    slow = own_ms([one for one in results if one.algorithm == "screen"])
    if slow > MAX_OWN_MS:
        missed.append(f"screen spends {slow:.1f} ms of its own an answer")
    return lines, missed


def run_all(
    names: Sequence[str], *, families: Sequence[str], regimes: Sequence[Regime], seeds: range
) -> list[BenchResult]:
    """Run every algorithm on every system; all algorithms meet the same systems."""
    configs = {name: bench_config(name) for name in names}
    results = []
    start = time.monotonic()
    for seed in seeds:
        for regime in regimes:
            for family in families:
                for name, config in configs.items():
                    results.append(
                        run_bench(
                            config,
                            algorithm=name,
                            family=family,
                            regime=regime,
                            seed=seed,
                            clock=time.perf_counter,
                        )
                    )
        print(f"seed {seed}: {time.monotonic() - start:.0f} s", file=sys.stderr, flush=True)
    return results


def main(arguments: Sequence[str] | None = None) -> int:
    """Run every search on every system, print and write the tables; 1 when a goal was missed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--families", default=",".join(FAMILIES))
    parser.add_argument("--regimes", default=",".join(REGIMES))
    parser.add_argument("--algorithms", default=",".join(ALGORITHM_NAMES))
    parser.add_argument("--seeds", type=int, default=20, help="systems of each family")
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="also write the tables to this file")
    parser.add_argument("--check", action="store_true", help="exit with 1 when a goal is missed")
    options = parser.parse_args(arguments)
    names, families = options.algorithms.split(","), options.families.split(",")
    start = time.monotonic()
    results = run_all(
        names,
        families=families,
        regimes=[regime for regime in REGIMES if regime in options.regimes.split(",")],
        seeds=range(options.first_seed, options.first_seed + options.seeds),
    )
    command = "python benchmarks/most.py " + " ".join(sys.argv[1:] if arguments is None else arguments)
    compared, missed = goals(results)
    lines = [
        f"`{command}`: {options.seeds} systems of each family, {time.monotonic() - start:.0f} s. "
        "Intervals are of 95 %.",
        "",
        *(f"- {family}: {FAMILIES[family].__doc__}" for family in families),
        *tables(results, names, families),
        *compared,
    ]
    text = "\n".join(lines) + "\n"
    print(text)
    if options.out:
        options.out.write_text(text, encoding="utf-8")
    for sentence in missed:
        print(f"goal missed: {sentence}", file=sys.stderr)
    return 1 if missed and options.check else 0


if __name__ == "__main__":
    raise SystemExit(main())
