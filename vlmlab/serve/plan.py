"""What the supervisor is told to run; handed over in the environment, because a broker's URL is a secret."""

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from vlmlab.serve.broker import Broker

MANAGE = str(Path(__file__).resolve().parents[2] / "manage.py")
PLAN_VARIABLE = "VLMLAB_UP_PLAN"


@dataclass(frozen=True)
class Part:
    """One supervised process.

    Attributes:
        name: as messages call it.
        command: program and arguments.
        environment: added to the supervisor's own.
        descriptors: open files that the process inherits.
        is_once: ends by itself and is not started again.
        done_file: written when a part that runs once ended well.
        grace_seconds: how long it may take to stop.
        starts_after: what must be ready before: ``queue`` (its socket is there) or ``web`` (it answers).
    """

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    descriptors: tuple[int, ...] = ()
    is_once: bool = False
    done_file: str = ""
    grace_seconds: float = 5.0
    starts_after: str = ""


@dataclass(frozen=True)
class Plan:
    """Everything a supervisor needs to know."""

    address: str
    health_url: str
    parts: tuple[Part, ...]
    queue_socket: str = ""
    runtime_dir: str = ""
    notes: tuple[str, ...] = ()


def worker_part(broker: Broker, *, queues: str, concurrency: int) -> Part:
    """Return the worker: Celery with threads and the timetable inside, or the one that polls."""
    quiet = {
        "VLMLAB_SQLITE_SYNCHRONOUS": "NORMAL",
        "VLMLAB_BROKER_URL": broker.url,
        # One arena instead of one a core: threads of a worker otherwise hold memory they do not use.
        "MALLOC_ARENA_MAX": "2",
        # Celery warns a root account for the sake of pickled messages; ours are JSON.
        "PYTHONWARNINGS": "ignore:You're running the worker",
    }
    if not broker.url:
        polling = (sys.executable, MANAGE, "worker", "--queues", queues)
        return Part("worker", polling, quiet, grace_seconds=20.0)
    command = (
        sys.executable, "-m", "celery", "-q", "-A", "vlmlab.celery", "worker",
        "-P", "threads", "-c", str(concurrency),
        "-Q", queues, "-n", "lab@%h", "--loglevel", "WARNING",
        "--without-gossip", "--without-mingle", "--without-heartbeat",
    )  # fmt: skip
    return Part(
        "worker", command, {**quiet, "VLMLAB_TIMETABLE": "1"}, grace_seconds=20.0, starts_after="queue"
    )


def renderer_parts(count: int) -> list[Part]:
    """Return workers that draw scenes ahead; they poll, because their wishes are withdrawn all the time."""
    quiet = {"VLMLAB_SQLITE_SYNCHRONOUS": "NORMAL", "MALLOC_ARENA_MAX": "2", "OMP_NUM_THREADS": "1"}
    command = (sys.executable, MANAGE, "worker", "--queues", "render", "--no-reaper")
    return [
        Part(f"renderer {number}", command, quiet, grace_seconds=5.0, starts_after="web")
        for number in range(1, count + 1)
    ]


def lab_parts(
    broker: Broker,
    *,
    descriptor: int,
    queues: str,
    concurrency: int,
    renderers: int,
    sample_data_mark: Path | None,
) -> tuple[Part, ...]:
    """Return queue, web, workers and, on a first start, the loading of sample data, in order of start."""
    web_environment = {"VLMLAB_BROKER_URL": broker.url, "MALLOC_ARENA_MAX": "2"}
    parts = [
        Part(
            "web", (sys.executable, "-m", "vlmlab.serve.web", str(descriptor)), web_environment, (descriptor,)
        ),
        worker_part(broker, queues=queues, concurrency=concurrency),
        *renderer_parts(renderers),
    ]
    if broker.command:
        parts.insert(0, Part("queue", broker.command))
    if sample_data_mark is not None and not sample_data_mark.exists():
        command = (sys.executable, MANAGE, "load_sample_data")
        parts.append(
            Part(
                "sample data",
                command,
                web_environment,
                is_once=True,
                done_file=str(sample_data_mark),
                starts_after="web",
            )
        )
    return tuple(parts)


def write_plan(plan: Plan) -> None:
    """Put a plan where the supervisor that replaces this process finds it."""
    os.environ[PLAN_VARIABLE] = json.dumps(asdict(plan))


def read_plan() -> Plan:
    """Take the plan out of the environment, so that no child inherits it."""
    values = json.loads(os.environ.pop(PLAN_VARIABLE))
    parts = tuple(
        Part(**{**part, "command": tuple(part["command"]), "descriptors": tuple(part["descriptors"])})
        for part in values.pop("parts")
    )
    return Plan(**{**values, "notes": tuple(values["notes"]), "parts": parts})
