"""Measure what a picture costs, so that anyone can check the renderer's numbers.

    python benchmarks/renderer.py --scenes 20 --out benchmarks/results/renderer.md
    python benchmarks/renderer.py --domain indoor --out benchmarks/results/renderer_indoor.md

Prints CPU-seconds a picture (user and system time of this process, median and 90th percentile) from concept
set to PNG, presence check included. Cold = the first picture of a fresh process, which also reads the meshes.
"""

import argparse
import os
import statistics
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from vlmlab.core.errors import GenerationError
from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.core.scenes.render.generator import make_scene_source
from vlmlab.core.seeding import rng_for

SETTINGS = ((224, 168, "fast", None), (320, 240, "standard", 0.5), (448, 336, "standard", 0.9))
COLD_RUNS = 3
COLD_SETS = {"driving": ("pedestrian", "weather_wet"), "indoor": ("kitchen", "toddler_standing", "stove_on")}
COLD_SCRIPT = """
import time
from vlmlab.core.scenes.render.generator import make_scene_source
source = make_scene_source(domain="{domain}", width={width}, height={height}, quality="{quality}")
start = time.process_time()
source.generate({key!r}, seed={seed})
print(time.process_time() - start)
"""


def random_sets(slug: str, count: int, *, largest: int, seed: int) -> list[tuple[str, ...]]:
    """Return valid random concept sets of a domain."""
    domain = load_domain(slug)
    masks = domain.universe(largest)
    rng = rng_for(seed, "benchmark", "sets")
    return [domain.key_of(int(masks[index])) for index in rng.integers(0, len(masks), count)]


def warm_seconds(
    slug: str, sets: list[tuple[str, ...]], *, width: int, height: int, quality: str
) -> list[float]:
    """Return the CPU-seconds of each set that can be drawn, in a process that has drawn before."""
    source = make_scene_source(domain=slug, width=width, height=height, quality=quality)
    for number, key in enumerate(sets[:4]):
        with suppress(GenerationError):
            source.generate(key, seed=900 + number)
    seconds = []
    for number, key in enumerate(sets):
        start = time.process_time()
        with suppress(GenerationError):
            source.generate(key, seed=number)
            seconds.append(time.process_time() - start)
    return seconds


def cold_seconds(slug: str, *, width: int, height: int, quality: str) -> list[float]:
    """Return the CPU-seconds of the first picture in fresh processes."""
    seconds = []
    for seed in range(COLD_RUNS):
        script = COLD_SCRIPT.format(
            domain=slug, key=COLD_SETS[slug], width=width, height=height, quality=quality, seed=seed
        )
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
        seconds.append(float(done.stdout))
    return seconds


def table(slug: str, count: int, *, largest: int, seed: int) -> str:
    """Return the results as a Markdown table."""
    sets = random_sets(slug, count, largest=largest, seed=seed)
    lines = [
        f"{slug}: {count} random valid sets of at most {largest} concepts, seed {seed}; "
        "CPU-seconds a picture.",
        "",
        "| size | quality | warm median | warm 90 % | cold median | goal (warm median) |",
        "|---|---|---|---|---|---|",
    ]
    for width, height, quality, goal in SETTINGS:
        warm = warm_seconds(slug, sets, width=width, height=height, quality=quality)
        cold = cold_seconds(slug, width=width, height=height, quality=quality)
        high = sorted(warm)[int(0.9 * (len(warm) - 1))]
        wanted = "" if goal is None else f"<= {goal}"
        lines.append(
            f"| {width}x{height} | {quality} | {statistics.median(warm):.2f} | {high:.2f} "
            f"| {statistics.median(cold):.2f} | {wanted} |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    """Read the options, measure, print and write the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--domain", choices=sorted(COLD_SETS), default="driving")
    parser.add_argument("--scenes", type=int, default=20)
    parser.add_argument("--largest", type=int, default=3, help="concepts in the largest set")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=None)
    options = parser.parse_args()
    text = table(options.domain, options.scenes, largest=options.largest, seed=options.seed)
    print(text)
    if options.out is not None:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(text)


if __name__ == "__main__":
    main()
