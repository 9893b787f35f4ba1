"""``manage.py up``: start the whole lab on this machine."""

import os
import shutil
import sys
import tempfile
from argparse import ArgumentTypeError
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connections

from searches.enums import Queue
from searches.services.people import first_admin, renew_link
from vlmlab.core.errors import VlmLabError
from vlmlab.serve.broker import Broker, check_broker_url, find_broker, silent_broker
from vlmlab.serve.guards import check_exposure, open_port, take_lock
from vlmlab.serve.plan import Plan, lab_parts, write_plan
from vlmlab.serve.preparation import prepare_database, prepare_static_files

SUPERVISOR = "vlmlab.serve.supervisor"
MOST_RENDERERS = 4


class Command(BaseCommand):
    """Prepares everything, then turns into the supervisor, which needs no Django and stays small."""

    help = "Start the lab: queue, web site and worker, with everything they need."
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the options."""
        parser.add_argument(
            "--host", default="127.0.0.1", help="address to listen on (default: this machine only)"
        )
        parser.add_argument("--port", type=port_number, default=8000)
        parser.add_argument(
            "--queues", type=queue_names, default="cpu,api,gpu", help="queues this machine's worker serves"
        )
        parser.add_argument("--concurrency", type=thread_count, default=2, help="threads of the worker")
        parser.add_argument(
            "--renderers",
            type=renderer_count,
            default=default_renderers(),
            help="processes that draw scenes ahead, while a system still answers (default: one "
            "for each processor core, at most 4)",
        )
        parser.add_argument("--no-queue", action="store_true", help="start no queue server; the worker polls")
        parser.add_argument(
            "--no-sample-data", action="store_true", help="do not load sample data on a first start"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Check, prepare, and become the supervisor."""
        try:
            self._start(**options)
        except VlmLabError as error:
            raise CommandError(str(error)) from error
        except OSError as error:  # a disk that is full or may not be written, met anywhere on the way
            raise CommandError(f"The lab cannot start: {storage_sentence(error)}") from error

    def _start(self, *, host: str, port: int, no_queue: bool, **options: Any) -> None:
        check_exposure(
            host,
            is_debug=settings.DEBUG,
            has_generated_key=settings.SECRET_KEY.startswith(settings.GENERATED_KEY_PREFIX),
        )
        check_broker_url(settings.BROKER_URL)
        address = f"http://{host}:{port}"
        lock = take_lock(settings.DATA_DIR / "up.lock", address)
        listener = open_port(host, port)
        runtime_dir = new_runtime_dir(Path(tempfile.gettempdir()))
        broker = find_broker(settings.BROKER_URL, runtime_dir=runtime_dir, may_start=not no_queue)
        prepare_database()
        if prepare_static_files():
            self.stdout.write("Static files collected.")
        mark = None if options["no_sample_data"] else settings.DATA_DIR / "sample_data_loaded"
        plan = Plan(
            address=address,
            health_url=f"http://{reachable(host)}:{port}/healthz",
            runtime_dir=str(runtime_dir),
            queue_socket=str(runtime_dir / "queue.sock") if broker.command else "",
            notes=tuple(_notes(broker, address)),
            parts=lab_parts(
                broker,
                descriptor=listener.fileno(),
                queues=options["queues"],
                concurrency=options["concurrency"],
                renderers=options["renderers"],
                sample_data_mark=mark,
            ),
        )
        os.set_inheritable(lock, True)
        os.set_inheritable(listener.fileno(), True)
        become_supervisor(plan)


def _notes(broker: Broker, address: str) -> list[str]:
    admin = first_admin()
    silence = silent_broker(broker.url) if broker.kind == "configured" else None
    notes = [silence or broker.sentence]
    if admin.last_login is None:
        notes.append(f"Sign in as {admin.username} (works once): {address}{renew_link(admin, by=None)}")
    else:
        notes.append(f"A new sign-in link: {_python()} manage.py sign_in_link")
    return notes


def _python() -> Path:
    """Return this interpreter as people type it beside ``manage.py``."""
    path = Path(sys.executable)
    return path.relative_to(settings.BASE_DIR) if path.is_relative_to(settings.BASE_DIR) else path


def become_supervisor(plan: Plan) -> None:
    """Replace this process; lock and listening socket live on in it."""
    write_plan(plan)
    connections.close_all()
    sys.stdout.flush()
    sys.stderr.flush()
    os.chdir(settings.BASE_DIR)
    os.execv(sys.executable, [sys.executable, "-m", SUPERVISOR])  # noqa: S606 - our own module


def new_runtime_dir(parent: Path) -> Path:
    """Return a new folder for sockets, only for this account; folders of dead labs are taken away.

    It is not in the data folder: the path of a socket may have about 100 characters only.
    """
    for folder in parent.glob("vlmlab-*-*"):
        pid = folder.name.split("-")[1]
        is_ours = pid.isdigit() and folder.is_dir() and folder.stat().st_uid == os.getuid()
        if is_ours and not is_process(int(pid)):
            shutil.rmtree(folder, ignore_errors=True)
    return Path(tempfile.mkdtemp(prefix=f"vlmlab-{os.getpid()}-", dir=parent))


def is_process(pid: int) -> bool:
    """Whether a process of this number runs."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def reachable(host: str) -> str:
    """Return the address under which this machine reaches itself when it listens on ``host``."""
    return {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, host)  # noqa: S104 - compared, not bound


def storage_sentence(error: OSError) -> str:
    """Return what went wrong with a file and what to do."""
    place = f" ({error.filename})" if error.filename else ""
    return (
        f"{error.strerror or error}{place}. Make room, or name another folder that can be written in "
        "VLMLAB_DATA_DIR."
    )


def default_renderers() -> int:
    """Return how many processes draw ahead on this machine; they step aside for everything else."""
    return min(MOST_RENDERERS, os.cpu_count() or 1)


def renderer_count(text: str) -> int:
    """Read how many processes shall draw ahead.

    Raises:
        ArgumentTypeError: it is not a number from 0 to 64.
    """
    if not text.isdecimal() or int(text) > 64:
        raise ArgumentTypeError(f"“{text}” is not a number of processes: give a number from 0 to 64")
    return int(text)


def queue_names(text: str) -> str:
    """Read the names of queues, separated by commas.

    Raises:
        ArgumentTypeError: one of them is not a queue, or there is none.
    """
    names = [name.strip() for name in text.split(",") if name.strip()]
    unknown = [name for name in names if name not in Queue.values]
    if unknown or not names:
        wrong = f"“{unknown[0]}” is not a queue" if unknown else "no queue is named"
        raise ArgumentTypeError(f"{wrong}: give some of {', '.join(Queue.values)}, separated by commas")
    return ",".join(names)


def thread_count(text: str) -> int:
    """Read how many threads the worker has.

    Raises:
        ArgumentTypeError: it is not a number from 1 to 64.
    """
    if not text.isdecimal() or not 0 < int(text) <= 64:
        raise ArgumentTypeError(f"“{text}” is not a number of threads: give a number from 1 to 64")
    return int(text)


def port_number(text: str) -> int:
    """Read a port.

    Raises:
        ArgumentTypeError: it is not a number from 1 to 65535.
    """
    if not text.isdecimal() or not 0 < int(text) < 65536:
        raise ArgumentTypeError(f"“{text}” is not a port: give a number from 1 to 65535")
    return int(text)
