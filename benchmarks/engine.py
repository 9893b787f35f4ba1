"""Measure what the run engine itself costs: writing a batch, replaying a run, memory over a long run.

    python benchmarks/engine.py --trials 5000 --out benchmarks/results/engine.md

A scripted system and flat 16 x 12 pictures stand in for the model and the renderer, so that what is left is
the engine: search, cache look-up, files, one transaction a batch. The database is SQLite in a temporary
folder, or the one in ``VLMLAB_BENCH_DATABASE_URL`` (tables are made and filled: name an empty database).
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
FOLDER = tempfile.TemporaryDirectory(prefix="vlmlab-bench-")
os.environ.update(
    DJANGO_SETTINGS_MODULE="vlmlab.settings",
    VLMLAB_DATA_DIR=FOLDER.name,
    VLMLAB_DATABASE_URL=os.environ.get("VLMLAB_BENCH_DATABASE_URL", f"sqlite:///{FOLDER.name}/bench.sqlite3"),
    VLMLAB_BLOB_DIR=f"{FOLDER.name}/blobs",
    VLMLAB_SECRET_KEY="benchmark",
    VLMLAB_SQLITE_SYNCHRONOUS="NORMAL",
    VLMLAB_LOG_LEVEL="WARNING",
    VLMLAB_TEST_HOOKS="1",
    VLMLAB_SCENE_SOURCE_FACTORY="tests.doubles.make_flat_source",
)

import django

django.setup()

from django.core.management import call_command

from searches.models import SearchRun
from searches.services import advance as advancing
from searches.services.live import forget_all, live_search
from searches.services.owners import resident_mb
from tests.searches.engine import advance, scripted, start_run


def timed(function: Callable[..., Any], times: list[float]) -> Callable[..., Any]:
    """Return the function with its wall time added to ``times`` at each call."""

    def wrapped(*args: Any, **values: Any) -> Any:
        started = time.perf_counter()
        try:
            return function(*args, **values)
        finally:
            times.append(time.perf_counter() - started)

    return wrapped


def measure_writing(slots: int, answers: int) -> str:
    """Return a table row: what a sample costs beside picture and answer."""
    plain = advancing.commit_batch, advancing.keep_pictures
    commits: list[float] = []
    files: list[float] = []
    advancing.commit_batch, advancing.keep_pictures = timed(plain[0], commits), timed(plain[1], files)
    run = start_run(scripted(), algorithm="random", inference_budget=answers, slots=slots)
    started = time.perf_counter()
    advance(run)
    total = time.perf_counter() - started
    advancing.commit_batch, advancing.keep_pictures = plain
    per_sample = [1000 * sum(times) / run.n_inferences for times in (commits, files)]
    return (
        f"| {slots} | {1000 * sum(commits) / len(commits):.1f} | {per_sample[0]:.2f} | {per_sample[1]:.2f} | "
        f"{1000 * total / run.n_inferences:.2f} |"
    )


def measure_memory(trials: int) -> tuple[list[str], SearchRun]:
    """Return table rows with the memory of this process along a long run, and the run."""
    samples_per_set = 2
    run = start_run(
        scripted(),
        algorithm="random",
        inference_budget=trials * samples_per_set,
        samples_per_set=samples_per_set,
        max_set_size=5,
    )
    marks = [round(trials * share) for share in (0.1, 0.25, 0.5, 0.75)]
    rows: list[str] = []

    def look() -> bool:
        count = SearchRun.objects.values_list("n_trials", flat=True).get(pk=run.pk)
        if len(rows) < len(marks) and count >= marks[len(rows)]:
            rows.append(f"| {count:,} | {resident_mb():.1f} |")
        return False

    advance(run, should_yield=look)
    rows.append(f"| {run.n_trials:,} (end) | {resident_mb():.1f} |")
    return rows, run


def measure_replay(run: SearchRun) -> str:
    """Return how long a fresh process takes to resume a run."""
    forget_all()
    row = SearchRun.objects.select_related("campaign", "sut").get(pk=run.pk)
    started = time.perf_counter()
    live_search(row)
    return (
        f"{time.perf_counter() - started:.2f} s for {row.samples.count():,} samples of {row.n_trials:,} sets"
    )


def report(trials: int, answers: int) -> str:
    """Run everything and return the report."""
    call_command("migrate", verbosity=0)
    advance(start_run(algorithm="random", inference_budget=40))  # warm up
    writing = [measure_writing(slots, answers) for slots in (8, 32)]
    memory, run = measure_memory(trials)
    engine = "PostgreSQL" if "VLMLAB_BENCH_DATABASE_URL" in os.environ else "SQLite"
    return "\n".join(
        [
            f"Database: {engine}. Wall times on a shared machine.",
            "",
            "| batch | transaction, ms | transaction, ms a sample | files, ms a sample | all but model and "
            "renderer, ms a sample |",
            "|---|---|---|---|---|",
            *writing,
            "",
            "| sets so far | memory of the worker, MB |",
            "|---|---|",
            *memory,
            "",
            f"Resume by replay: {measure_replay(run)}.",
        ]
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=5000, help="sets of the long run")
    parser.add_argument("--answers", type=int, default=400, help="answers of each short run")
    parser.add_argument("--out", help="also write the report here")
    options = parser.parse_args()
    text = report(options.trials, options.answers)
    print(text)
    if options.out:
        Path(options.out).write_text(text + "\n", encoding="utf-8")
