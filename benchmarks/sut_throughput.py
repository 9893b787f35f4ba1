"""Answers a second of a local checkpoint in batches, beside the library's own pipeline and bare ``generate``.

    python benchmarks/sut_throughput.py vlmlab/assets/pocket --out benchmarks/results/sut_throughput.md
    python benchmarks/sut_throughput.py vlmlab/assets/pocket --task boxes --out ...

``letters`` asks the driving question about smooth random pictures; ``boxes`` asks where one thing is in
drawn scenes of all four strata that show it.

Each contestant has a process of its own and waits while another one works; they take turns, so that what
else the machine does meets all of them. The peer is ``transformers.pipeline`` asked one by one. ``bare`` is
what a person would write with ``transformers`` alone: the processor and ``model.generate`` on one batch.
"""

import argparse
import io
import multiprocessing
import os
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from vlmlab.core.images import encode_png, read_image
from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.core.scenes.questions import ask_question
from vlmlab.core.scenes.render.generator import make_scene_source
from vlmlab.core.scenes.strata import STRATA, draw_annotated
from vlmlab.core.seeding import rng_for
from vlmlab.core.suts.asking import AskingParams, localization_prompt
from vlmlab.core.suts.base import SutRequest
from vlmlab.core.suts.checkpoint import inspect_checkpoint
from vlmlab.core.suts.local_params import TransformersLocalParams

LEAST_A_SECOND = {"letters": 150.0, "boxes": 100.0}
"""Goals for the shipped model at the largest batch, on two cores."""

DISTINCT_SCENES = 32
PIPELINE = "pipeline, one by one"
RATIO_GOAL, OVERHEAD_GOAL = 3.0, 3.0
FEWEST_ROUNDS = 3
Asker = Callable[[], list[str]]


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


def requests_of(options: argparse.Namespace) -> list[SutRequest]:
    """Return what every contestant is asked."""
    if options.task == "boxes":
        return box_requests(options)
    domain = load_domain("driving")
    made = pictures(options.pictures, options.requests, width=options.width, height=options.height)
    return [
        SutRequest(png, ask_question(domain, ("cone",), seed=number).prompt)
        for number, png in enumerate(made)
    ]


def box_requests(options: argparse.Namespace) -> list[SutRequest]:
    """Return prompts for one thing each about drawn scenes that show it; scenes repeat after a while."""
    strata, made = list(STRATA.values()), []
    asking = AskingParams(prompt_style="json_0_1000")
    size = (options.width, options.height)
    for number in range(min(options.requests, DISTINCT_SCENES)):
        stratum = strata[number % len(strata)]
        domain = load_domain(stratum.domain)
        source = make_scene_source(domain=domain.slug, width=size[0], height=size[1], quality="fast")
        drawn = draw_annotated(stratum, domain, source, seed=1, index=number, size=size)
        prompt = localization_prompt(asking, f"the {drawn.asked[0]}")
        made.append(SutRequest(drawn.scene.image_png, prompt))
    return [made[number % len(made)] for number in range(options.requests)]


def adapter_askers(options: argparse.Namespace, requests: list[SutRequest]) -> dict[str, Asker]:
    """Return how the adapter is asked at each batch size; the weights are loaded once."""
    import torch

    from vlmlab.core.suts.local_loading import load_checkpoint
    from vlmlab.core.suts.local_memory import keep_freed_memory
    from vlmlab.core.suts.transformers_local import TransformersLocalSut

    torch.set_num_threads(options.threads)
    report = inspect_checkpoint(Path(options.checkpoint).resolve())
    base = TransformersLocalParams(
        checkpoint=str(report.folder), max_new_tokens=options.max_new_tokens, device=options.device
    )
    loaded = load_checkpoint(report, base)
    keep_freed_memory()

    def ask(sut: TransformersLocalSut) -> list[str]:
        replies = sut.generate(requests)
        failed = [reply.call_error for reply in replies if reply.is_call_error]
        if failed:
            sys.exit(f"{len(failed)} calls failed: {failed[0]}")
        return [reply.text for reply in replies]

    return {
        f"adapter, batch {size}": partial(
            ask, TransformersLocalSut(loaded, report, base.model_copy(update={"batch_size": size}))
        )
        for size in options.batch_sizes
    }


def bare_askers(options: argparse.Namespace, requests: list[SutRequest]) -> dict[str, Asker]:
    """Return how processor and ``generate`` are asked without the adapter, and ``generate`` alone."""
    import torch
    import transformers

    torch.set_num_threads(options.threads)
    device, dtype = _device_and_dtype(options)
    automatic: Any = transformers
    processor = automatic.AutoProcessor.from_pretrained(options.checkpoint, backend="pil")
    processor.tokenizer.padding_side = "left"
    model = automatic.AutoModelForImageTextToText.from_pretrained(options.checkpoint, dtype=dtype)
    model = model.to(device).eval()
    decoding = {"max_new_tokens": options.max_new_tokens, "do_sample": False}
    size = options.compared_batch
    batches = [requests[start : start + size] for start in range(0, len(requests), size)]

    def prepare(rows: list[SutRequest]) -> Any:
        inputs = processor.apply_chat_template(
            [_conversation(row) for row in rows],
            add_generation_prompt=True, tokenize=True, return_dict=True, return_tensors="pt",
            processor_kwargs={"padding": True},
        )  # fmt: skip
        return inputs.to(device, dtype=dtype)

    def answer(inputs: Any) -> list[str]:
        with torch.inference_mode():
            output = model.generate(**inputs, **decoding)
        new = output[:, inputs["input_ids"].shape[1] :]
        return [str(text) for text in processor.batch_decode(new, skip_special_tokens=True)]

    prepared = [prepare(rows) for rows in batches]
    return {
        f"bare, batch {size}": lambda: [text for rows in batches for text in answer(prepare(rows))],
        f"generate alone, batch {size}": lambda: [text for inputs in prepared for text in answer(inputs)],
    }


def pipeline_askers(options: argparse.Namespace, requests: list[SutRequest]) -> dict[str, Asker]:
    """Return how ``transformers.pipeline`` is asked one by one."""
    import torch
    import transformers

    library_logging: Any = transformers.utils.logging
    library_logging.set_verbosity_error()
    torch.set_num_threads(options.threads)
    device, dtype = _device_and_dtype(options)
    make: Any = transformers.pipeline
    asker = make("image-text-to-text", model=options.checkpoint, dtype=dtype, device=device)
    decoding = {"max_new_tokens": options.max_new_tokens, "do_sample": False}

    def ask(request: SutRequest) -> str:
        output = asker(text=_conversation(request), generate_kwargs=decoding, return_full_text=False)
        return str(output[0]["generated_text"])

    return {PIPELINE: lambda: [ask(request) for request in requests]}


def _device_and_dtype(options: argparse.Namespace) -> tuple[str, Any]:
    import torch

    device = "cuda" if torch.cuda.is_available() and options.device != "cpu" else "cpu"
    return device, torch.bfloat16 if device == "cuda" else torch.float32


def _conversation(request: SutRequest) -> list[dict[str, Any]]:
    image = Image.open(io.BytesIO(request.image_png))
    content = [{"type": "image", "image": image}, {"type": "text", "text": request.prompt}]
    return [{"role": "user", "content": content}]


MAKERS = {"adapter": adapter_askers, "bare": bare_askers, "pipeline": pipeline_askers}


def serve(line: Connection, maker: str, options: argparse.Namespace, requests: list[SutRequest]) -> None:
    """Load one contestant, warm it up, and ask it whenever its name comes down the line."""
    askers = MAKERS[maker](options, requests)
    line.send({name: ask() for name, ask in askers.items()})
    while name := line.recv():
        wall, cpu = time.perf_counter(), time.process_time()
        askers[name]()
        line.send((time.perf_counter() - wall, time.process_time() - cpu))


@dataclass(frozen=True)
class Measured:
    """Seconds of one contestant, one number a round.

    Attributes:
        name: who was asked and how.
        wall: wall seconds for all requests.
        cpu: processor seconds of all threads.
        texts: the answers.
    """

    name: str
    wall: list[float]
    cpu: list[float]
    texts: list[str]


def measure(options: argparse.Namespace) -> list[Measured]:
    """Return every contestant's times over interleaved rounds."""
    context = multiprocessing.get_context("spawn")
    rows: list[tuple[Connection, Measured]] = []
    workers, lines = [], []
    requests = requests_of(options)
    for maker in MAKERS:
        line, other = context.Pipe()
        worker = context.Process(target=serve, args=(other, maker, options, requests), daemon=True)
        worker.start()
        other.close()
        workers.append(worker)
        lines.append(line)
        rows += [(line, Measured(name, [], [], texts)) for name, texts in line.recv().items()]
    start = time.perf_counter()
    for number in range(options.repeats):
        if number >= FEWEST_ROUNDS and time.perf_counter() - start > options.seconds:
            break  # a busy machine can make a round ten times as long
        for line, row in rows:
            line.send(row.name)
            wall, cpu = line.recv()
            row.wall.append(wall)
            row.cpu.append(cpu)
    for line in lines:
        line.send("")
    for worker in workers:
        worker.join(10)
    return [row for _, row in rows]


def ratio(first: Measured, second: Measured) -> float:
    """Return the median over rounds of how many times as long the first one took."""
    return statistics.median(one / two for one, two in zip(first.wall, second.wall, strict=True))


def table(rows: list[Measured], options: argparse.Namespace) -> str:
    """Return the results as Markdown."""
    by_name = {row.name: row for row in rows}
    peer, count = by_name[PIPELINE], options.requests
    size = options.compared_batch
    ours, bare = by_name[f"adapter, batch {size}"], by_name[f"bare, batch {size}"]
    lines = [
        f"{count} requests, {len(peer.wall)} interleaved rounds, {options.threads} threads; medians.",
        "",
        f"| who | {options.task} a second | lowest and highest | CPU ms each | times the pipeline "
        "| same answers |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        rate, low, high = (count / how(row.wall) for how in (statistics.median, max, min))
        same = sum(one.strip() == two.strip() for one, two in zip(row.texts, peer.texts, strict=True))
        cpu = 1000 * statistics.median(row.cpu) / count
        lines.append(
            f"| {row.name} | {rate:.1f} | {low:.1f}, {high:.1f} | {cpu:.1f} | {ratio(peer, row):.2f} "
            f"| {same} / {count} |"
        )
    times, overhead = ratio(peer, ours), 100 * (ratio(ours, bare) - 1)
    largest = by_name[f"adapter, batch {max(options.batch_sizes)}"]
    rate, least = count / statistics.median(largest.wall), LEAST_A_SECOND[options.task]
    lines += [
        "",
        f"Times the pipeline at batch {size}: {times:.2f} (goal: at least {RATIO_GOAL:g}; "
        f"{'met' if times >= RATIO_GOAL else 'missed'}).",
        f"Adapter over bare processor and generate at batch {size}: {overhead:+.1f} % of the time "
        f"(goal: under {OVERHEAD_GOAL:g} %; {'met' if overhead < OVERHEAD_GOAL else 'missed'}).",
        f"{options.task.capitalize()} a second at batch {max(options.batch_sizes)}: {rate:.0f} (goal for the "
        f"shipped model: at least {least:g}; {'met' if rate >= least else 'missed'}).",
        f"Load of the machine at the end: {os.getloadavg()[0]:.1f}. "
        f"Answers of the adapter: {dict(Counter(ours.texts).most_common(4))}.",
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure and print one table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("checkpoint")
    parser.add_argument("--task", choices=LEAST_A_SECOND, default="letters")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--requests", type=int, default=64)
    parser.add_argument("--repeats", type=int, default=9, help="interleaved rounds")
    parser.add_argument("--seconds", type=float, default=120, help="no further round after so long")
    parser.add_argument("--batch-sizes", type=int, nargs="+", default=[1, 8, 16, 32])
    parser.add_argument("--compared-batch", type=int, default=16, help="batch of the goals; one of the sizes")
    parser.add_argument("--max-new-tokens", type=int, default=32)
    parser.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto")
    parser.add_argument("--pictures", type=Path, help="folder of pictures; default: smooth random ones")
    parser.add_argument("--width", type=int, default=448)
    parser.add_argument("--height", type=int, default=336)
    parser.add_argument("--out", type=Path, help="also write the table to this file")
    options = parser.parse_args()
    if options.compared_batch not in options.batch_sizes:
        parser.error(f"--batch-sizes must hold the compared batch, {options.compared_batch}")
    os.environ.setdefault("OMP_NUM_THREADS", str(options.threads))
    text = table(measure(options), options)
    print(text)
    if options.out:
        options.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
