"""Measure the text operators: prompts a second on one core, by operator and severity.

    python benchmarks/perturb_text.py --out benchmarks/results/perturb_text.md

Prompts ask for the labels that the shipped tables were made for, in wordings of three lengths. Processor
time, the best of ``--repeats`` passes, the generators made before. The goal is 10,000 prompts a second for
every operator, at every severity, over all wordings together; ``--check`` ends with 1 where it is missed. A
second table has the time that a strategy of three operators takes, its generators included, and the time of a
prompt of 10,000 characters.
"""

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from vlmlab.core.perturb.text import TEXT_OPERATORS, TextOperator, perturb_text
from vlmlab.core.perturb.word_tables import label_sets
from vlmlab.core.seeding import rng_for

GOAL = 10_000
SEVERITIES = (0.05, 0.5, 1.0)
FORMAT = (
    'Answer with a JSON list such as [{"label": "LABEL", "box_2d": [x_min, y_min, x_max, y_max]}], in pixels.'
)
WORDINGS = (
    "Locate the LABEL.",
    "Locate the LABEL in the picture and answer with its box.",
    f"Locate every LABEL in the picture. {FORMAT} If there is none, answer [].",
)
STRATEGY = {"synonym": 0.4, "keyboard_typo": 0.3, "filler": 0.3}


def prompts_of(count: int) -> list[str]:
    """Return prompts, each with another label and the wordings in turn."""
    labels = [label for name in sorted(label_sets()) for label in label_sets()[name]]
    return [
        WORDINGS[number % len(WORDINGS)].replace("LABEL", labels[number % len(labels)])
        for number in range(count)
    ]


def best_time(act: Callable[[], object], repeats: int) -> float:
    """Return the least processor time in seconds."""
    best = float("inf")
    for _ in range(repeats):
        start = time.process_time()
        act()
        best = min(best, time.process_time() - start)
    return best


def prompts_a_second(
    operator: TextOperator, severity: float, prompts: Sequence[str], *, repeats: int
) -> float:
    """Return how many prompts an operator changes in a second."""
    best = float("inf")
    for _ in range(repeats):
        generators = [np.random.default_rng(number) for number in range(len(prompts))]
        start = time.process_time()
        for prompt, generator in zip(prompts, generators, strict=True):
            operator.apply(prompt, severity, generator)
        best = min(best, time.process_time() - start)
    return len(prompts) / max(best, 1e-9)


def whole_strategies(prompts: Sequence[str], *, repeats: int) -> list[str]:
    """Return table rows: a strategy of three operators, with its generators, and very long prompts."""

    def run_strategy() -> None:
        for number, prompt in enumerate(prompts):
            perturb_text(prompt, STRATEGY, rng_of=lambda name, seed=number: rng_for(0, seed, name))

    strategy = best_time(run_strategy, repeats) / len(prompts)
    long = (" ".join(prompts) * 100)[:10_000]
    slowest = {
        name: best_time(lambda one=one: one.apply(long, 1.0, np.random.default_rng(0)), repeats)
        for name, one in TEXT_OPERATORS.items()
    }
    name = max(slowest, key=lambda one: slowest[one])
    return [
        f"| a strategy of {len(STRATEGY)} operators, generators included | {strategy * 1e6:.0f} |",
        f"| a prompt of 10,000 characters, slowest operator ({name}) | {slowest[name] * 1e6:.0f} |",
    ]


def main() -> int:
    """Measure, print the tables, and say whether the goal is met."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--prompts", type=int, default=3000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--check", action="store_true", help="end with 1 where the goal is missed")
    chosen = parser.parse_args()
    prompts = prompts_of(chosen.prompts)
    for operator in TEXT_OPERATORS.values():  # tables are read once, before anything is timed
        operator.apply(WORDINGS[0], 1.0, np.random.default_rng(0))
    rates = {
        name: [prompts_a_second(operator, one, prompts, repeats=chosen.repeats) for one in SEVERITIES]
        for name, operator in TEXT_OPERATORS.items()
    }
    least = min(min(row) for row in rates.values())
    length = sum(map(len, prompts)) / len(prompts)
    report = "\n".join(
        [
            f"{len(prompts)} prompts of {length:.0f} characters on average. Least of all: {least:,.0f} "
            f"prompts a second; goal {GOAL:,}: {'met' if least >= GOAL else 'missed'}.",
            "",
            f"| Prompts a second at severity | {' | '.join(map(str, SEVERITIES))} |",
            f"|---|{'---|' * len(SEVERITIES)}",
            *(f"| {name} | {' | '.join(f'{rate:,.0f}' for rate in row)} |" for name, row in rates.items()),
            "",
            "| Whole | microseconds |",
            "|---|---|",
            *whole_strategies(prompts, repeats=chosen.repeats),
        ]
    )
    print(report)
    if chosen.out:
        chosen.out.write_text(report + "\n", "utf-8")
    return 1 if chosen.check and least < GOAL else 0


if __name__ == "__main__":
    sys.exit(main())
