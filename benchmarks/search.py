"""Compare the searches on synthetic landscapes, so that anyone can check what the manual claims.

    python benchmarks/search.py --seeds 10 --budget 1000 --out benchmarks/results/search.md

Prints, for each family and algorithm, the true failure modes found (rate >= tau), those that are minimal
in the landscape, the share of reports that are false, sets touched, and the search's own milliseconds an
inference; then the ratios that are our goals.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import numpy.typing as npt

from benchmarks.landscapes import FAMILIES, Ground, minimal_among, rates
from vlmlab.core.errors import ConfigError
from vlmlab.core.revelio.bench import (
    ALGORITHM_NAMES,
    Oracle,
    bench_config,
    oracle_space,
    sample,
)
from vlmlab.core.revelio.config import RevelioConfig
from vlmlab.core.revelio.search import build_search
from vlmlab.core.revelio.space import SearchSpace
from vlmlab.core.revelio.types import Outcome, TrialStatus
from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.core.seeding import rng_for
from vlmlab.core.stats import bootstrap_interval

INFERENCE_MS = 200.0  # what an inference is assumed to take
MAX_OVERHEAD = 0.02


@dataclass(frozen=True)
class Score:
    """One search on one landscape."""

    family: str
    algorithm: str
    seed: int
    reported: int
    true: int
    minimal: int
    touched: int
    inferences: int
    overhead_ms: float

    @property
    def false_share(self) -> float:
        """False reports / reports."""
        return 1.0 - self.true / self.reported if self.reported else 0.0


@dataclass(frozen=True)
class Landscape:
    """A landscape with what is to be found in it."""

    family: str
    seed: int
    oracle: Oracle
    modes: frozenset[int]
    minimal: frozenset[int]


def landscape(family: str, *, ground: Ground, seed: int, tau: float) -> Landscape:
    """Return a landscape of a family; its modes are the sets whose true rate is at least tau."""
    values = rates(family, ground=ground, seed=seed)
    modes = ground.masks[values >= tau]
    return Landscape(
        family,
        seed,
        Oracle.of(ground.masks, values),
        frozenset(int(mask) for mask in modes),
        frozenset(minimal_among(modes)),
    )


def replayed(path: Path, *, ground: Ground, seed: int, tau: float) -> Landscape:
    """Return the landscape of a run export: sets with all samples, rates as measured (add one half).

    Raises:
        ConfigError: the export holds no such set.
    """
    decided = {TrialStatus.DECIDED_FAIL, TrialStatus.DECIDED_PASS}
    table: dict[int, float] = {}
    for row in json.loads(path.read_text(encoding="utf-8"))["sets"]:
        if row["status"] in decided and not row["is_curtailed"]:
            mask = ground.domain.mask(ground.domain.canonical(row["concepts"]))
            table[mask] = (row["fails"] + 0.5) / (row["fails"] + row["passes"] + 1.0)
    if not table:
        raise ConfigError(
            f"The export {path.name} holds no concept set with all its samples.",
            hint="Export a run of random, beam or gpts without early stopping.",
            field="replay",
        )
    masks = np.array(sorted(table), dtype=np.int64)
    values = np.array([table[int(mask)] for mask in masks])
    modes = masks[values >= tau]
    return Landscape(
        f"replay:{path.stem}",
        seed,
        Oracle.of(masks, values),
        frozenset(int(mask) for mask in modes),
        frozenset(minimal_among(modes)),
    )


def play(config: RevelioConfig, *, name: str, world: Landscape, ground: Ground, space: SearchSpace) -> Score:
    """Run one search to its end; only its own time is measured."""
    search = build_search(config, domain=ground.domain, run_seed=world.seed, space=space)
    own = 0.0
    inferences = 0
    while True:
        start = time.perf_counter()
        batch = search.ask()
        own += time.perf_counter() - start
        if not batch:
            break
        masks = np.array([ground.domain.mask(query.key) for query in batch], dtype=np.int64)
        truth = world.oracle.rate_of(masks)
        outcomes = [
            Outcome(query, sample(world.seed, int(mask), number=query.number, rate=float(rate)))
            for query, mask, rate in zip(batch, masks, truth, strict=True)
        ]
        inferences += len(batch)
        start = time.perf_counter()
        search.tell(outcomes)
        own += time.perf_counter() - start
    states = search.trials.values()
    reported = {ground.domain.mask(s.key) for s in states if s.status is TrialStatus.DECIDED_FAIL}
    return Score(
        world.family,
        name,
        world.seed,
        len(reported),
        len(reported & world.modes),
        len(reported & world.minimal),
        sum(state.samples > 0 for state in states),
        inferences,
        1000.0 * own / max(1, inferences),
    )


Pick = Callable[[Score], float]


def column(scores: Sequence[Score], pick: Pick) -> str:
    """Return mean and 95 % bootstrap interval over seeds."""
    values = [pick(score) for score in scores]
    interval = bootstrap_interval(values, rng=rng_for(0, "bootstrap"))
    return f"{np.mean(values):.1f} [{interval.low:.1f}, {interval.high:.1f}]"


def table(scores: Sequence[Score], families: Sequence[str], names: Sequence[str]) -> list[str]:
    """Return the lines of the table: a family and an algorithm a row, means with intervals."""
    lines = [
        "| family | algorithm | true modes found | minimal ones | false reports % | reported "
        "| sets touched | own ms an inference |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for family in families:
        for name in names:
            rows = [score for score in scores if (score.family, score.algorithm) == (family, name)]
            cells = [
                column(rows, lambda s: s.true),
                column(rows, lambda s: s.minimal),
                column(rows, lambda s: 100.0 * s.false_share),
                column(rows, lambda s: s.reported),
                column(rows, lambda s: s.touched),
                f"{np.mean([s.overhead_ms for s in rows]):.2f}",
            ]
            lines.append(f"| {family} | {name} | " + " | ".join(cells) + " |")
    return lines


def totals(
    scores: Sequence[Score], families: Sequence[str], name: str, pick: Pick
) -> npt.NDArray[np.float64]:
    """Return ``(families, seeds)`` values of one algorithm."""
    return np.array(
        [[pick(s) for s in scores if (s.family, s.algorithm) == (family, name)] for family in families]
    )


def ratio(
    scores: Sequence[Score], families: Sequence[str], names: tuple[str, str], pick: Pick
) -> tuple[list[float], float, tuple[float, float]]:
    """Return the ratio of means in each family, their geometric mean, and its 95 % bootstrap interval."""
    upper, lower = (totals(scores, families, name, pick) for name in names)
    rng = rng_for(0, "bootstrap", *names)

    def per_family(columns: npt.NDArray[np.intp]) -> npt.NDArray[np.float64]:
        floor = 0.5 / upper.shape[1]  # half a mode in all: a search that finds nothing has no ratio
        ratios: npt.NDArray[np.float64] = np.maximum(upper[:, columns].mean(axis=1), floor) / np.maximum(
            lower[:, columns].mean(axis=1), floor
        )
        return ratios

    whole = per_family(np.arange(upper.shape[1]))
    draws = [
        float(np.exp(np.log(per_family(row)).mean()))
        for row in rng.integers(upper.shape[1], size=(1000, upper.shape[1]))
    ]
    low, high = np.quantile(draws, [0.025, 0.975])
    return [float(r) for r in whole], float(np.exp(np.log(whole).mean())), (float(low), float(high))


def summary(scores: Sequence[Score], families: Sequence[str], names: Sequence[str]) -> list[str]:
    """Return the lines of the ratios that are our goals, then false reports and own time."""
    lines = ["", "| ratio of means | " + " | ".join(families) + " | geometric mean | goal |"]
    lines.append("|---" * (len(families) + 3) + "|")
    wanted: tuple[tuple[str, str, str, Pick, str], ...] = (
        ("true modes", "sits", "gpts", lambda s: s.true, ">= 3"),
        ("true modes", "sits", "beam", lambda s: s.true, ">= 4"),
        ("true modes", "sits-minimal", "gpts", lambda s: s.true, ""),
        ("minimal modes", "sits", "gpts", lambda s: s.minimal, ""),
        ("minimal modes", "sits-minimal", "gpts", lambda s: s.minimal, ""),
    )
    for what, upper, lower, pick, goal in wanted:
        if upper in names and lower in names:
            parts, mean, (low, high) = ratio(scores, families, (upper, lower), pick)
            cells = " | ".join(f"{part:.2f}" for part in parts)
            lines.append(
                f"| {what}: {upper} / {lower} | {cells} | {mean:.2f} [{low:.2f}, {high:.2f}] | {goal} |"
            )
    lines.append("")
    for name in names:
        shares = totals(scores, families, name, lambda s: 100.0 * s.false_share).mean(axis=1)
        pooled = [s for s in scores if s.algorithm == name]
        false = sum(s.reported - s.true for s in pooled) / max(1, sum(s.reported for s in pooled))
        slowest = max(s.overhead_ms for s in pooled)
        lines.append(
            f"- {name}: false reports {shares.mean():.1f} % (mean of families), {100 * false:.1f} % pooled; "
            f"own time at most {slowest:.2f} ms an inference (goal < {INFERENCE_MS * MAX_OVERHEAD:.0f})"
        )
    return lines


def missed_goals(scores: Sequence[Score], families: Sequence[str]) -> list[str]:
    """Return a sentence for each goal that was missed; needs sits, gpts and beam among the algorithms."""
    missed = []
    for other, goal in (("gpts", 3.0), ("beam", 4.0)):
        mean = ratio(scores, families, ("sits", other), lambda s: s.true)[1]
        if mean < goal:
            missed.append(f"sits finds {mean:.2f} times the true modes of {other}, wanted {goal:g}")
    shares = {
        name: float(totals(scores, families, name, lambda s: 100.0 * s.false_share).mean())
        for name in ("sits", "gpts")
    }
    if shares["sits"] > shares["gpts"] + 5.0:
        missed.append(f"false reports of sits {shares['sits']:.1f} %, of gpts {shares['gpts']:.1f} %")
    own = float(np.mean([s.overhead_ms for s in scores if s.algorithm == "sits"]))
    if own > INFERENCE_MS * MAX_OVERHEAD:
        missed.append(f"sits spends {own:.1f} ms of its own an inference")
    return missed


def main(arguments: Sequence[str] | None = None) -> int:
    """Run every search on every landscape, print and write the tables; 1 when a goal was missed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--domain", default="driving")
    parser.add_argument("--families", default=",".join(FAMILIES))
    parser.add_argument("--algorithms", default=",".join(ALGORITHM_NAMES))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--budget", type=int, default=1000)
    parser.add_argument(
        "--param", action="append", default=[], metavar="KEY=VALUE", help="for every algorithm"
    )
    parser.add_argument("--replay", action="append", default=[], type=Path, help="a run export (JSON)")
    parser.add_argument("--out", type=Path, help="also write the tables to this file")
    parser.add_argument("--check", action="store_true", help="exit with 1 when a goal is missed")
    options = parser.parse_args(arguments)
    names = options.algorithms.split(",")
    params = dict(text.split("=", 1) for text in options.param)
    configs = {name: bench_config(name, budget=options.budget, params=params) for name in names}
    ground = Ground.of(load_domain(options.domain))
    scores: list[Score] = []
    start = time.monotonic()
    for seed in range(options.first_seed, options.first_seed + options.seeds):
        tau = next(iter(configs.values())).failure_rate_threshold
        worlds = [
            landscape(family, ground=ground, seed=seed, tau=tau)
            for family in options.families.split(",")
            if family
        ]
        worlds += [replayed(path, ground=ground, seed=seed, tau=tau) for path in options.replay]
        for world in worlds:
            space = oracle_space(ground.domain, next(iter(configs.values())), oracle=world.oracle)
            for name, config in configs.items():
                scores.append(play(config, name=name, world=world, ground=ground, space=space))
        print(f"seed {seed}: {time.monotonic() - start:.0f} s", file=sys.stderr, flush=True)
    families = list(dict.fromkeys(score.family for score in scores))
    command = "python benchmarks/search.py " + " ".join(sys.argv[1:] if arguments is None else arguments)
    lines = [
        f"`{command}`: {options.seeds} seeds, {options.budget} inferences, "
        f"{time.monotonic() - start:.0f} s. Mean [95 % interval over seeds].",
        "",
        *(f"- {family}: {FAMILIES[family].__doc__}" for family in families if family in FAMILIES),
        "",
        *table(scores, families, names),
        *summary(scores, families, names),
    ]
    text = "\n".join(lines) + "\n"
    print(text)
    if options.out:
        options.out.write_text(text, encoding="utf-8")
    missed = missed_goals(scores, families) if options.check else []
    for sentence in missed:
        print(f"goal missed: {sentence}", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
