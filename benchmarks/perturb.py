"""Measure the operators on pictures beside imagecorruptions, and the operators on prompts.

    python3.11 -m venv peers
    peers/bin/pip install imagecorruptions==1.1.2 scikit-image==0.21.0 "numpy<2" "setuptools<81"
    python benchmarks/perturb.py --peer-python peers/bin/python --out benchmarks/results/perturb.md
    python benchmarks/perturb.py --peer-python peers/bin/python --levels

The peer has an environment of its own because it needs old libraries; it runs in one process beside this one,
and the two take turns call by call, so that whatever else the machine does meets both. Times are processor
time of one thread for a call on a picture of 448 x 336, the median over pictures, levels and rounds.
`--levels` prints the table of `vlmlab/core/perturb/image_levels.py`: the severity at which our operator
changes pictures as much (mean root mean square difference) as each level of ImageNet-C does. Without
`--peer-python` only our own times are measured.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from PIL import Image

from vlmlab.core.perturb import IMAGE_OPERATORS, TEXT_OPERATORS, perturb_image
from vlmlab.core.perturb.image_operator import Pixels
from vlmlab.core.seeding import rng_for

WIDTH, HEIGHT = 448, 336
LEVELS = (1, 2, 3, 4, 5)
GRID = tuple(step / 40 for step in range(41))
SHARED = (
    *("brightness", "contrast", "saturate", "fog", "snow", "frost", "spatter"),
    *("defocus_blur", "gaussian_blur", "motion_blur", "zoom_blur", "elastic_transform"),
    *("gaussian_noise", "shot_noise", "impulse_noise", "speckle_noise", "pixelate", "jpeg_compression"),
)
PROMPTS = (
    'Find every forklift in the picture. Answer with JSON: [{"label": ..., "bbox_2d": [x1, y1, x2, y2]}].',
    "Where is the person in the yellow vest? Give the box as four numbers.",
)
# The peer's blurs were written for an older scikit-image, whose word for the axis of channels it still uses.
PEER = """
import json, sys, time, warnings
import cv2, numpy, skimage.filters
import imagecorruptions.corruptions as corruptions
warnings.filterwarnings("ignore")
cv2.setNumThreads(1)
def gaussian(image, sigma, multichannel=False, **others):
    return skimage.filters.gaussian(image, sigma=sigma, channel_axis=-1 if multichannel else None, **others)
corruptions.gaussian = gaussian
from imagecorruptions import corrupt
pictures = numpy.load(sys.argv[1])
for line in sys.stdin:
    name, level, number, seed = json.loads(line)
    numpy.random.seed(seed)
    start = time.process_time()
    changed = corrupt(pictures[number], corruption_name=name, severity=level)
    seconds = time.process_time() - start
    difference = changed.astype(numpy.float64) - pictures[number]
    print(json.dumps([seconds, float(numpy.sqrt((difference ** 2).mean()) / 255)]), flush=True)
"""


class Peer:
    """Imagecorruptions in a process of its own, asked over its standard streams."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process

    def call(self, name: str, level: int, *, number: int, seed: int) -> tuple[float, float]:
        """Return seconds of a call and how much it changed the picture."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps([name, level, number, seed]) + "\n")
        self.process.stdin.flush()
        seconds, change = json.loads(self.process.stdout.readline())
        return seconds, change


@contextmanager
def peer_process(python: Path, pictures: list[Pixels]) -> Iterator[Peer]:
    """Start the peer with the pictures, and stop it."""
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "pictures.npy"
        np.save(store, np.stack(pictures))
        command = [str(python), "-c", PEER, str(store)]
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        ) as process:
            yield Peer(process)
            process.stdin.close()  # type: ignore[union-attr]  # it is a pipe


def read_pictures(count: int) -> list[Pixels]:
    """Return pictures of the shipped pool, evenly spaced, at the size that is measured."""
    paths = sorted((ROOT / "vlmlab" / "assets" / "warehouse_pool").glob("*.jpg"))
    chosen = [paths[len(paths) * number // count] for number in range(count)]
    return [np.array(Image.open(path).convert("RGB").resize((WIDTH, HEIGHT))) for path in chosen]


def own_call(name: str, severity: float, *, picture: Pixels, seed: int) -> tuple[float, float]:
    """Return seconds of a call and how much it changed the picture."""
    operator, rng = IMAGE_OPERATORS[name], rng_for(seed, "benchmark", name)
    start = time.process_time()
    changed = operator.apply(picture, severity, rng)
    return time.process_time() - start, change_of(changed, picture)


def change_of(changed: Pixels, picture: Pixels) -> float:
    """Return the root mean square difference as a share of full scale."""
    return float(np.sqrt(np.mean((changed.astype(np.float64) - picture) ** 2)) / 255.0)


def shared_rows(peer: Peer, pictures: list[Pixels], *, rounds: int) -> tuple[list[str], list[float]]:
    """Return a table row and the peer's time over ours for each shared name."""
    rows, ratios = [], []
    for name in SHARED:
        severities = [IMAGE_OPERATORS[name].level_severity(level) for level in LEVELS]
        own_call(name, severities[0], picture=pictures[0], seed=0)
        peer.call(name, 1, number=0, seed=0)
        own, other = [], []
        for turn in range(rounds):
            for level, severity in zip(LEVELS, severities, strict=True):
                number = (turn + level) % len(pictures)
                own.append(own_call(name, severity, picture=pictures[number], seed=turn)[0] * 1e3)
                other.append(peer.call(name, level, number=number, seed=turn)[0] * 1e3)
        ratios.append(statistics.median(other) / statistics.median(own))
        rows.append(
            f"| {name} | {statistics.median(own):.2f} | {statistics.median(other):.2f} | {ratios[-1]:.1f} |"
        )
    return rows, ratios


def own_rows(pictures: list[Pixels], *, rounds: int) -> list[str]:
    """Return a table row for each operator: milliseconds at severities 0.1, 0.5 and 1."""
    rows = []
    for name in IMAGE_OPERATORS:
        own_call(name, 0.5, picture=pictures[0], seed=0)
        times = [
            statistics.median(
                own_call(name, severity, picture=pictures[turn % len(pictures)], seed=turn)[0] * 1e3
                for turn in range(rounds)
            )
            for severity in (0.1, 0.5, 1.0)
        ]
        rows.append(f"| {name} | " + " | ".join(f"{value:.2f}" for value in times) + " |")
    return rows


def strategy_milliseconds(pictures: list[Pixels], *, rounds: int) -> list[float]:
    """Return the median time of strategies with 3, 8 and all operators, which share a budget of 1."""
    medians = []
    for size in (3, 8, len(IMAGE_OPERATORS)):
        times = []
        for turn in range(rounds):
            rng = rng_for(turn, "benchmark", "strategy", size)
            names = rng.choice(list(IMAGE_OPERATORS), size, replace=False).tolist()
            severities = dict(zip(names, rng.dirichlet(np.ones(size)).tolist(), strict=True))
            start = time.process_time()
            rng_of = partial(rng_for, turn, "benchmark")
            perturb_image(pictures[turn % len(pictures)], severities, rng_of=rng_of)
            times.append((time.process_time() - start) * 1e3)
        medians.append(statistics.median(times))
    return medians


def text_rows(*, rounds: int) -> list[str]:
    """Return a table row for each operator on prompts: thousands of prompts a second at severity 0.5."""
    rows = []
    for name, operator in TEXT_OPERATORS.items():
        rng = rng_for(0, "benchmark", name)
        operator.apply(PROMPTS[0], 0.5, rng)
        start = time.process_time()
        for turn in range(200 * rounds):
            operator.apply(PROMPTS[turn % len(PROMPTS)], 0.5, rng)
        rows.append(f"| {name} | {200 * rounds / (time.process_time() - start) / 1e3:.1f} |")
    return rows


def level_rows(peer: Peer, pictures: list[Pixels]) -> list[str]:
    """Return a line of the level table for each shared name."""
    lines = []
    for name in SHARED:
        wanted = [
            statistics.fmean(peer.call(name, level, number=n, seed=n)[1] for n in range(len(pictures)))
            for level in LEVELS
        ]
        # Where the peer's level changes less than a lower one (textures are drawn), it counts as much.
        rising = np.maximum.accumulate(wanted)
        own = [
            statistics.fmean(own_call(name, s, picture=p, seed=n)[1] for n, p in enumerate(pictures))
            for s in GRID
        ]
        severities = np.interp(rising, np.maximum.accumulate(own), GRID)
        note = "" if rising[-1] <= max(own) else f"  # level 5 changes {rising[-1]:.3f}, we {max(own):.3f}"
        lines.append(f'"{name}": ({", ".join(f"{value:.3f}" for value in severities)}),{note}')
    return lines


def report(options: argparse.Namespace, pictures: list[Pixels]) -> str:
    """Return all tables as Markdown."""
    lines = [f"Milliseconds of processor time a call, {WIDTH} x {HEIGHT}, {options.rounds} rounds.", ""]
    if options.peer_python:
        with peer_process(options.peer_python, pictures) as peer:
            rows, ratios = shared_rows(peer, pictures, rounds=options.rounds)
        lines += ["| operator | ours | imagecorruptions | ratio |", "|---|---|---|---|", *rows, ""]
        lines += [
            f"Median ratio {statistics.median(ratios):.1f} (goal: at least 3), "
            f"least {min(ratios):.2f} (goal: at least 1).",
            "",
        ]
    lines += ["| operator | s = 0.1 | s = 0.5 | s = 1 |", "|---|---|---|---|"]
    lines += [*own_rows(pictures, rounds=options.rounds), ""]
    few, some, every = strategy_milliseconds(pictures, rounds=options.rounds)
    lines += [
        f"A strategy of 3 operators {few:.1f} ms, of 8 {some:.1f} ms, of all {every:.1f} ms.",
        "",
        "| operator on prompts | thousand prompts a second (goal: at least 10) |",
        "|---|---|",
        *text_rows(rounds=options.rounds),
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Read the options, measure, print and write the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--peer-python", type=Path, help="the Python in which imagecorruptions is installed")
    parser.add_argument("--pictures", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--levels", action="store_true", help="print the table of ImageNet-C's levels")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    pictures = read_pictures(options.pictures)
    if options.levels:
        if options.peer_python is None:
            parser.error("--levels needs --peer-python")
        with peer_process(options.peer_python, pictures) as peer:
            text = "\n".join(level_rows(peer, pictures)) + "\n"
    else:
        text = report(options, pictures)
    print(text)
    if options.out:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
