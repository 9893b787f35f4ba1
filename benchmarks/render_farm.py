"""Measure how long a system waits for pictures, without and with workers that draw scenes ahead.

    python benchmarks/render_farm.py [--budget 96] [--latency-ms 4000] [--out FILE]

A scripted system waits ``--latency-ms`` for each batch of 8 and computes nothing, as a remote model does; the
pictures are drawn by the embedded renderer into an empty cache. One worker advances the run; the others are
processes of their own that serve the rendering queue. The database is SQLite in a temporary folder.
"""

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
FOLDER = tempfile.TemporaryDirectory(prefix="vlmlab-bench-")
os.environ.update(
    DJANGO_SETTINGS_MODULE="vlmlab.settings",
    VLMLAB_DATA_DIR=FOLDER.name,
    VLMLAB_DATABASE_URL=f"sqlite:///{FOLDER.name}/bench.sqlite3",
    VLMLAB_BLOB_DIR=f"{FOLDER.name}/blobs",
    VLMLAB_SECRET_KEY="benchmark",
    VLMLAB_SQLITE_SYNCHRONOUS="NORMAL",
    VLMLAB_LOG_LEVEL="WARNING",
    VLMLAB_HEARTBEATS="1",
    OMP_NUM_THREADS="1",
)

import django

django.setup()

from django.conf import settings
from django.core.management import call_command

from searches.models import CachedReply, SearchRun, WorkerHeartbeat
from searches.services import prerender
from searches.services.live import forget_all
from searches.services.runs import create_campaign
from tests.factories import make_sut
from tests.searches.engine import CARELESS, advance
from vlmlab.core.revelio.config import config_from_values

SIZES = ("320x240", "448x336")


@contextmanager
def renderers(count: int) -> Iterator[None]:
    """Run processes that draw ahead, ready before the block begins."""
    command = [sys.executable, str(ROOT / "manage.py"), "worker", "--queues", "render", "--no-reaper"]
    running = [subprocess.Popen(command) for _ in range(count)]
    deadline = time.monotonic() + 60
    while WorkerHeartbeat.objects.count() < count and time.monotonic() < deadline:
        time.sleep(0.2)
    prerender.forget_renderers()
    try:
        yield
    finally:
        for process in running:
            process.send_signal(signal.SIGTERM)
        for process in running:
            process.wait(timeout=60)
        WorkerHeartbeat.objects.all().delete()
        prerender.forget_renderers()


def measure(count: int, *, algorithm: str, width: int, height: int, budget: int, latency_ms: float) -> str:
    """Return a table row for one run with ``count`` processes that draw ahead."""
    shutil.rmtree(settings.SCENE_CACHE_DIR, ignore_errors=True)
    CachedReply.objects.all().delete()
    forget_all()
    sut = make_sut(f"slow-{count}-{width}", params=CARELESS | {"latency_ms": latency_ms})
    config = config_from_values(
        {"algorithm": algorithm, "inference_budget": budget, "image_width": width, "image_height": height}
    )
    campaign = create_campaign(
        config=config, suts=[sut], domain_slug="driving", name="Farm", run_seed=3, by=None
    )
    run = campaign.runs.get()
    with renderers(count):
        started = time.perf_counter()
        advance(run, slice_seconds=0.0)
        first = run.render_seconds
        advance(run)
        seconds = time.perf_counter() - started
    run = SearchRun.objects.get(pk=run.pk)
    return (
        f"| {width} × {height} | {count} | {seconds:.0f} | {run.render_seconds:.1f} | {first:.1f} | "
        f"{run.render_seconds / seconds:.0%} | {60 * run.n_observations / seconds:.0f} |"
    )


def main() -> None:
    """Print the table, and write it to a file if one is named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--budget", type=int, default=96)
    parser.add_argument("--latency-ms", type=float, default=4000.0)
    parser.add_argument("--renderers", default="0,1,2")
    parser.add_argument("--algorithm", default="sits")
    parser.add_argument("--sizes", default=",".join(SIZES))
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    call_command("migrate", verbosity=0)
    lines = [
        f"One {options.algorithm} search of {options.budget} inferences, a batch of 8 answered in "
        f"{options.latency_ms / 1000:g} s, "
        f"{os.cpu_count()} processor cores.",
        "",
        "| Size | Drawing ahead | Seconds | System waited for pictures, s | "
        "of it before the first batch | Share | Inferences a minute |",
        "|---|---|---|---|---|---|---|",
    ]
    for size in options.sizes.split(","):
        width, height = map(int, size.split("x"))
        for count in (int(one) for one in options.renderers.split(",")):
            line = measure(
                count,
                algorithm=options.algorithm,
                width=width,
                height=height,
                budget=options.budget,
                latency_ms=options.latency_ms,
            )
            print(line, flush=True)
            lines.append(line)
    if options.out:
        options.out.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
