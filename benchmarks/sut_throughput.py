"""Inferences a second of a local checkpoint at several batch sizes, beside the library's own pipeline.

Usage: ``python benchmarks/sut_throughput.py CHECKPOINT [--threads 2] [--requests 64] [--pictures FOLDER]``.
The peer is ``transformers.pipeline`` asked one by one with the same pictures, prompt and length.
"""

import argparse
import io
import os
import resource
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from vlmlab.core.images import encode_png, read_image
from vlmlab.core.seeding import rng_for
from vlmlab.core.suts.base import SutRequest
from vlmlab.core.suts.checkpoint import CheckpointRoots
from vlmlab.core.suts.kinds import load_sut

PROMPT = (
    "You are driving this car. What should the driver do now?\n"
    "A. Stop\nB. Slow down\nC. Continue\nAnswer with the letter only."
)


def resident_megabytes() -> float:
    """Return the resident memory of this process now (Linux), or its peak elsewhere."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmRSS"))
        return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def pictures(folder: Path | None, count: int, *, width: int, height: int) -> list[bytes]:
    """Return canonical pictures from a folder, or smooth random ones."""
    if folder is not None:
        files = sorted(path for path in folder.rglob("*") if path.suffix.lower() in (".png", ".jpg", ".jpeg"))
        made = [read_image(path.read_bytes()).png for path in files[:count]]
        return [made[number % len(made)] for number in range(count)]
    result = []
    for number in range(count):
        small = rng_for(1, "benchmark picture", number).integers(0, 256, (12, 16, 3), dtype=np.uint8)
        result.append(encode_png(np.asarray(Image.fromarray(small).resize((width, height)), dtype=np.uint8)))
    return result


@dataclass(frozen=True)
class Measured:
    """Rates of one way to ask.

    Attributes:
        name: who was asked and how.
        rate: inferences a second of wall time, fastest repeat.
        cpu_ms: processor milliseconds of all threads an inference, fastest repeat.
        texts: the answers.
    """

    name: str
    rate: float
    cpu_ms: float
    texts: list[str]


def measure(name: str, ask: Callable[[], list[str]], *, repeats: int) -> Measured:
    """Ask once to warm up, then several times, and keep the fastest."""
    texts, wall, cpu = ask(), [], []
    for _ in range(repeats):
        start, cpu_start = time.perf_counter(), time.process_time()
        ask()
        wall.append(time.perf_counter() - start)
        cpu.append(time.process_time() - cpu_start)
    return Measured(name, len(texts) / min(wall), 1000 * min(cpu) / len(texts), texts)


def ours(options: argparse.Namespace, requests: list[SutRequest], batch_size: int) -> Measured:
    """Measure our adapter at one batch size."""
    sut = load_sut(
        "transformers_local",
        {
            "checkpoint": str(Path(options.checkpoint).resolve()),
            "batch_size": batch_size,
            "max_new_tokens": options.max_new_tokens,
            "threads": options.threads,
            "device": options.device,
        },
        CheckpointRoots(allow_any_folder=True),
    )

    def ask_all() -> list[str]:
        replies = sut.generate(requests)
        failed = [reply.call_error for reply in replies if reply.is_call_error]
        if failed:
            sys.exit(f"{len(failed)} calls failed: {failed[0]}")
        return [reply.text for reply in replies]

    result = measure(f"adapter, batch {batch_size}", ask_all, repeats=options.repeats)
    common = Counter(result.texts).most_common(4)
    print(f"batch {batch_size}: memory {resident_megabytes():.0f} MB, answers {common}")
    sut.close()
    return result


def peer(options: argparse.Namespace, requests: list[SutRequest]) -> Measured:
    """Measure ``transformers.pipeline`` asked one by one."""
    import torch
    import transformers

    library_logging: Any = transformers.utils.logging
    library_logging.set_verbosity_error()
    device = "cuda" if torch.cuda.is_available() and options.device != "cpu" else "cpu"
    dtype = torch.bfloat16 if device == "cuda" else torch.float32
    asker: Any = transformers.pipeline(
        "image-text-to-text", model=options.checkpoint, dtype=dtype, device=device
    )
    decoding = {"max_new_tokens": options.max_new_tokens, "do_sample": False}

    def ask(request: SutRequest) -> str:
        image = Image.open(io.BytesIO(request.image_png))
        content = [{"type": "image", "image": image}, {"type": "text", "text": request.prompt}]
        conversation = [{"role": "user", "content": content}]
        (output,) = asker(text=conversation, generate_kwargs=decoding, return_full_text=False)
        return str(output["generated_text"])

    return measure(
        "pipeline, one by one", lambda: [ask(request) for request in requests], repeats=options.repeats
    )


def main() -> None:
    """Measure and print one table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("checkpoint")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--requests", type=int, default=64)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--batch-sizes", type=int, nargs="+", default=[1, 8, 32])
    parser.add_argument("--max-new-tokens", type=int, default=8)
    parser.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto")
    parser.add_argument("--pictures", type=Path)
    parser.add_argument("--width", type=int, default=448)
    parser.add_argument("--height", type=int, default=336)
    parser.add_argument("--no-peer", action="store_true")
    options = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", str(options.threads))
    made = pictures(options.pictures, options.requests, width=options.width, height=options.height)
    requests = [SutRequest(png, PROMPT) for png in made]
    print(f"memory before loading: {resident_megabytes():.0f} MB")
    rows = [ours(options, requests, batch_size) for batch_size in options.batch_sizes]
    if not options.no_peer:
        rows.append(peer(options, requests))
    base = rows[-1]
    print(f"\n{'who':24}{'inferences/s':>14}{'CPU ms each':>13}{'times peer':>12}{'same as first row':>20}")
    for row in rows:
        same = sum(one == other for one, other in zip(row.texts, rows[0].texts, strict=True))
        ratio = row.rate / base.rate
        print(f"{row.name:24}{row.rate:14.1f}{row.cpu_ms:13.1f}{ratio:12.2f}{same:>14} / {len(row.texts)}")


if __name__ == "__main__":
    main()
