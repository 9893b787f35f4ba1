"""How many of the reported failure modes are true, before and after confirmation, on known landscapes.

    python benchmarks/confirmation.py --seeds 10 --out benchmarks/results/confirmation.md

A search spends its budget on a landscape whose every rate is known. *Paper's rule*: sets with at least tau
of their samples wrong are reported as found. *Re-test*: the ten highest of them, 20 fresh samples each,
counted again at tau. *Confirmed*: fresh samples of all suspects until the evidence decides, as the lab does.
*Confirmed, budget*: the same until 1,000 fresh samples are spent, sets with the highest counts first.
*Confirmed, some*: a family cut to as many suspects, drawn at random, as 1,000 fresh samples settle.
"""

import argparse
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from benchmarks.landscapes import Ground
from benchmarks.search import Landscape, landscape
from vlmlab.core.revelio.bench import bench_config, oracle_space, sample
from vlmlab.core.revelio.config import RevelioConfig
from vlmlab.core.revelio.search import build_search
from vlmlab.core.revelio.space import SearchSpace
from vlmlab.core.revelio.types import Outcome, TrialState, TrialStatus, Verdict
from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.core.scenes.concepts import Key
from vlmlab.core.seeding import rng_for
from vlmlab.core.verdicts.config import ConfirmConfig
from vlmlab.core.verdicts.confirm import ConfirmSearch
from vlmlab.core.verdicts.paper_protocol import top_by_rate
from vlmlab.core.verdicts.planner import affordable_suspects
from vlmlab.core.verdicts.queries import FreshOutcome, ItemSpec

SPARSE = ("pairwise", "order_three", "threshold", "answer_bias")  # 1 to 5 % of the sets fail
ALGORITHMS = ("beam", "gpts", "sits-minimal")
RULES = ("paper's rule", "re-test, top 10", "confirmed, some", "confirmed, budget", "confirmed, all")
STRONG = 0.85


@dataclass(frozen=True)
class Count:
    """What one rule called found, for one search on one landscape.

    Attributes:
        fresh: samples spent after the search.
        suspects, found, true: sets looked at, called found, and of those failing at tau or more.
        refuted, wrongly_refuted: sets called no failure mode, and of those failing all the same.
        strong, strong_found: suspects that fail in 85 % or more, and of those found.
    """

    family: str
    algorithm: str
    seed: int
    rule: str
    fresh: int
    suspects: int
    found: int
    true: int
    refuted: int = 0
    wrongly_refuted: int = 0
    strong: int = 0
    strong_found: int = 0

    @property
    def false_share(self) -> float:
        """False ones among the found; 0 where nothing was found."""
        return 1.0 - self.true / self.found if self.found else 0.0


class World:
    """A landscape with what a search suspects there."""

    def __init__(self, world: Landscape, algorithm: str, ground: Ground, config: RevelioConfig) -> None:
        self.world, self.algorithm, self.ground, self.config = world, algorithm, ground, config
        self.fresh = 0

    def rate(self, key: Key) -> float:
        """Return the true rate of a set."""
        mask = np.array([self.ground.domain.mask(key)], dtype=np.int64)
        return float(self.world.oracle.rate_of(mask)[0])

    def is_mode(self, key: Key) -> bool:
        """Whether it truly fails often enough."""
        return self.ground.domain.mask(key) in self.world.modes

    def fresh_verdict(self, key: Key, number: int) -> Verdict:
        """Draw a fresh sample, apart from all samples of the search."""
        self.fresh += 1
        rng = rng_for(self.world.seed, "fresh", self.algorithm, self.ground.domain.mask(key), number)
        return Verdict.FAIL if rng.random() < self.rate(key) else Verdict.PASS

    def suspects(self, space: SearchSpace) -> list[TrialState]:
        """Run the search to its end; returns what it reports."""
        search = build_search(self.config, domain=self.ground.domain, run_seed=self.world.seed, space=space)
        while batch := search.ask():
            search.tell(
                [
                    Outcome(
                        query,
                        sample(
                            self.world.seed,
                            self.ground.domain.mask(query.key),
                            number=query.number,
                            rate=self.rate(query.key),
                        ),
                    )
                    for query in batch
                ]
            )
        return [state for state in search.trials.values() if state.status is TrialStatus.DECIDED_FAIL]

    def count(self, rule: str, suspects: Sequence[Key], found: Sequence[Key], **more: int) -> Count:
        """Return the counts of a rule; fresh samples drawn since the last count are its own."""
        fresh, self.fresh = self.fresh, 0
        strong = [key for key in suspects if self.rate(key) >= STRONG]
        return Count(
            self.world.family,
            self.algorithm,
            self.world.seed,
            rule,
            fresh,
            len(suspects),
            len(found),
            sum(self.is_mode(key) for key in found),
            strong=len(strong),
            strong_found=len(set(strong) & set(found)),
            **more,
        )

    def confirmed(self, rule: str, suspects: Sequence[Key], *, budget: int | None = None) -> Count:
        """Confirm suspects with fresh samples."""
        if not suspects:
            return self.count(rule, (), ())
        config = ConfirmConfig(
            family_size=len(suspects),
            failure_rate_threshold=self.config.failure_rate_threshold,
            inference_budget=budget,
        )
        search = ConfirmSearch(config, [ItemSpec(place, "", key) for place, key in enumerate(suspects)])
        while batch := search.ask():
            search.tell([FreshOutcome(one, self.fresh_verdict(one.key, one.number)) for one in batch])
        states = [one.state for one in search.results()]
        by_state = {
            state: [key for key, given in zip(suspects, states, strict=True) if given == state]
            for state in ("confirmed", "refuted")
        }
        return self.count(
            rule,
            suspects,
            by_state["confirmed"],
            refuted=len(by_state["refuted"]),
            wrongly_refuted=sum(self.is_mode(key) for key in by_state["refuted"]),
        )

    def retested(self, rule: str, states: Sequence[TrialState]) -> Count:
        """Ask the ten highest sets again, 20 times each, and count those that reach tau again."""
        rates = [state.fails / state.samples for state in states]
        chosen = [states[place].key for place in top_by_rate(rates, 10, run_seed=self.world.seed)]
        found = []
        for key in chosen:
            fails = sum(self.fresh_verdict(key, number) is Verdict.FAIL for number in range(20))
            if fails >= 20 * self.config.failure_rate_threshold:
                found.append(key)
        return self.count(rule, chosen, found)

    def counts(self, space: SearchSpace, *, fresh_budget: int) -> list[Count]:
        """Return the counts of every rule on one search."""
        states = self.suspects(space)
        keys = [state.key for state in states]
        surest = [one.key for one in sorted(states, key=lambda one: (-one.fails, one.samples))]
        able = affordable_suspects(fresh_budget, ConfirmConfig())
        order = rng_for(self.world.seed, "some").permutation(len(keys))[:able]
        return [
            self.count(RULES[0], keys, keys),
            self.retested(RULES[1], states),
            self.confirmed(RULES[2], [keys[place] for place in order]),
            self.confirmed(RULES[3], surest, budget=fresh_budget),
            self.confirmed(RULES[4], keys),
        ]


def row(counts: Sequence[Count], name: str, algorithm: str, rule: str) -> str:
    """Return a line of the table: means over campaigns; shares pooled, and as the mean over campaigns."""
    found, true = (sum(getattr(one, part) for one in counts) for part in ("found", "true"))
    strong = sum(one.strong for one in counts)
    kept = f"{sum(one.strong_found for one in counts)} of {strong}"
    is_test = rule.startswith("confirmed")
    cells = [
        f"{np.mean([one.suspects for one in counts]):.1f}",
        f"{np.mean([one.found for one in counts]):.1f}",
        f"{np.mean([one.true for one in counts]):.1f}",
        f"{np.mean([one.found - one.true for one in counts]):.2f}",
        f"{100 * (found - true) / max(1, found):.1f}",
        f"{100 * np.mean([one.false_share for one in counts]):.1f}",
        kept,
        f"{sum(one.wrongly_refuted for one in counts)} of {sum(one.refuted for one in counts)}"
        if is_test
        else "",
        f"{np.mean([one.fresh for one in counts]):.0f}",
    ]
    return f"| {name} | {algorithm} | {rule} | " + " | ".join(cells) + " |"


def table(counts: Sequence[Count], families: Sequence[str], algorithms: Sequence[str]) -> list[str]:
    """Return the lines of the table, all families together first."""
    lines = [
        "| family | search | rule | suspects | found | truly failing | false | false, % of all found "
        "| false, mean % a campaign | at 85 % or more found | refuted wrongly | fresh samples |",
        "|---" * 12 + "|",
    ]
    for name in ("all", *families):
        for algorithm in algorithms:
            for rule in RULES:
                chosen = [
                    one
                    for one in counts
                    if (one.algorithm, one.rule) == (algorithm, rule) and name in ("all", one.family)
                ]
                lines.append(row(chosen, name, algorithm, rule))
    return lines


def main(arguments: Sequence[str] | None = None) -> int:
    """Search, confirm and count on every landscape; print and write the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--domain", default="driving")
    parser.add_argument("--families", default=",".join(SPARSE))
    parser.add_argument("--algorithms", default=",".join(ALGORITHMS))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--budget", type=int, default=1000, help="samples of each search")
    parser.add_argument("--fresh-budget", type=int, default=1000, help="fresh samples for some suspects")
    parser.add_argument("--out", type=Path, help="also write the table to this file")
    options = parser.parse_args(arguments)
    families, algorithms = options.families.split(","), options.algorithms.split(",")
    configs = {name: bench_config(name, budget=options.budget, params={}) for name in algorithms}
    ground = Ground.of(load_domain(options.domain))
    counts: list[Count] = []
    start = time.monotonic()
    for seed in range(options.seeds):
        for family in families:
            tau = configs[algorithms[0]].failure_rate_threshold
            known = landscape(family, ground=ground, seed=seed, tau=tau)
            space = oracle_space(ground.domain, configs[algorithms[0]], oracle=known.oracle)
            for name, config in configs.items():
                world = World(known, name, ground, config)
                counts += world.counts(space, fresh_budget=options.fresh_budget)
        print(f"seed {seed}: {time.monotonic() - start:.0f} s", file=sys.stderr, flush=True)
    command = "python benchmarks/confirmation.py " + " ".join(
        sys.argv[1:] if arguments is None else arguments
    )
    lines = [
        f"`{command.strip()}`: {options.seeds} seeds, {options.budget} samples a search, "
        f"{time.monotonic() - start:.0f} s. Means over campaigns.",
        "",
        *table(counts, families, algorithms),
    ]
    text = "\n".join(lines) + "\n"
    print(text)
    if options.out:
        options.out.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
