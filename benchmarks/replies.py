"""Measure the reader of boxes: each collected reply, and hostile text of growing length.

    python benchmarks/replies.py --out benchmarks/results/replies.md

Prints processor time: microseconds a collected reply, milliseconds for 64 kB (the longest that is read) and
for 1 MB of each hostile unit, and the growth from 16 kB to 64 kB (4 is linear, 16 is quadratic).
"""

import argparse
import json
import statistics
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from vlmlab.core.conventions import RELATIVE_1000, BoxConvention
from vlmlab.core.replies.box_mapping import as_convention
from vlmlab.core.replies.boxes import parse_boxes

CASES = ROOT / "tests" / "core" / "replies" / "cases" / "reply_cases.jsonl"
HOSTILE = (
    *(
        "[",
        "{",
        "(",
        '"',
        "'",
        "```",
        "<",
        "<box>",
        "<ref>",
        "<think>",
        "</think>",
        "<answer>",
        "\\",
        "9",
        " ",
    ),
    *(
        "[1,",
        '{"a":',
        "[1 ```",
        "[1,2,3,4] ",
        "(1,2),",
        "<box>[",
        "<loc_1> x ",
        '["a"b "',
        '{"a":"b" ',
        "[1;",
    ),
    *("\\boxed{", "<point ", '{"bbox_2d":[1,2,3,4]},', '{"bbox_2d":[1,2,3,4],"label":"a"}\n'),
)


def seconds(text: str, convention: BoxConvention, size: tuple[int, int], *, repeats: int) -> float:
    """Return the least processor time of a reading."""
    best = float("inf")
    for _ in range(repeats):
        start = time.process_time()
        parse_boxes(text, convention=convention, image_size=size)
        best = min(best, time.process_time() - start)
    return best


def typical() -> list[float]:
    """Return the microseconds of each collected reply, averaged over 50 readings."""
    times = []
    for line in CASES.read_text("utf-8").splitlines():
        case = json.loads(line)
        convention, size = as_convention(case["convention"]), tuple(case["image_size"])
        start = time.process_time()
        for _ in range(50):
            parse_boxes(case["raw"], convention=convention, image_size=size)
        times.append((time.process_time() - start) / 50 * 1e6)
    return sorted(times)


def hostile_rows() -> list[str]:
    """Return a table row a unit."""
    rows = []
    for unit in HOSTILE:
        at = {
            size: seconds((unit * size)[:size], RELATIVE_1000, (640, 480), repeats=3)
            for size in (16_000, 64_000, 1_000_000)
        }
        growth = at[64_000] / max(at[16_000], 1e-6)
        rows.append(f"| `{unit!r}` | {at[64_000] * 1e3:.1f} | {growth:.1f} | {at[1_000_000] * 1e3:.1f} |")
    return rows


def main() -> None:
    """Run both measurements and write the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    times = typical()
    report = "\n".join(
        [
            f"{len(times)} collected replies: median {statistics.median(times):.0f} us, "
            f"90th percentile {times[int(len(times) * 0.9)]:.0f} us, most {times[-1]:.0f} us",
            "",
            "| Unit, repeated | 64 kB, ms | growth from 16 kB | 1 MB, ms |",
            "|---|---|---|---|",
            *hostile_rows(),
        ]
    )
    print(report)
    if arguments.out:
        arguments.out.write_text(report + "\n", "utf-8")


if __name__ == "__main__":
    main()
