"""Measure what searches without a model rest on: answers of the scripted system, and sets of a domain.

    python benchmarks/scripted.py --check --out benchmarks/results/scripted.md

Prints processor time: answers a second of a scripted system with five rules and call errors, the best of
five rounds, beside a bare function with the same rules; and seconds until all sets of a domain are known for
the first time in a process.
"""

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.core.suts.base import SutRequest
from vlmlab.core.suts.scripted import ScriptedParams, ScriptedSut

ROUNDS = 5
N_REQUESTS = 10_000
MARKS = tuple(f"concept {number}" for number in range(5))
LEAST_ANSWERS_A_SECOND = 20_000
MOST_SECONDS_FOR_DRIVING = 1.0


def seconds(work: Callable[[], object], *, rounds: int = ROUNDS) -> float:
    """Return the least processor time of some rounds."""
    best = float("inf")
    for _ in range(rounds):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best


def bare_answer(request: SutRequest) -> str:
    """Answer as the rules say, with nothing around them."""
    return "B" if any(mark.encode() in request.image_png for mark in MARKS) else "A"


def answers_a_second() -> tuple[float, float]:
    """Return the answers a second of the scripted system and of the bare function."""
    rules = tuple({"image_contains": (mark,), "answer": "B"} for mark in MARKS)
    sut = ScriptedSut(ScriptedParams(call_error_rate=0.01, rules=rules))
    requests = [SutRequest(b"x" * 2_000, "What now?", number) for number in range(N_REQUESTS)]
    scripted = seconds(lambda: sut.generate(requests))
    bare = seconds(lambda: [bare_answer(request) for request in requests])
    return N_REQUESTS / scripted, N_REQUESTS / bare


def universe_seconds(slug: str) -> tuple[int, float]:
    """Return how many sets a domain has, and the seconds until they are known."""
    took = seconds(load_domain(slug).universe, rounds=1)
    return len(load_domain(slug).universe()), took


def main() -> None:
    """Measure, print, and with ``--check`` end with status 1 where a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    scripted, bare = answers_a_second()
    universes = {slug: universe_seconds(slug) for slug in ("driving", "indoor")}
    report = "\n".join(
        [
            f"scripted system: {scripted:,.0f} answers a second (goal: {LEAST_ANSWERS_A_SECOND:,}), "
            f"{scripted / bare:.2f} of a bare function",
            *(f"{slug}: {count:,} sets in {took:.2f} s" for slug, (count, took) in universes.items()),
            f"goal for driving: {MOST_SECONDS_FOR_DRIVING:g} s",
        ]
    )
    print(report)
    if options.out:
        options.out.write_text(report + "\n", "utf-8")
    met = scripted > LEAST_ANSWERS_A_SECOND and universes["driving"][1] < MOST_SECONDS_FOR_DRIVING
    if options.check and not met:
        raise SystemExit("a goal is missed")


if __name__ == "__main__":
    main()
