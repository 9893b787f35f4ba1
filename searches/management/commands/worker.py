"""``manage.py worker``: works through the run table without a broker, on any platform."""

import logging
import os
import signal
import threading
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from searches.enums import Queue
from searches.services.suts import unload_sut
from searches.services.work import run_forever

logger = logging.getLogger(__name__)

POLITENESS = 10


class Command(BaseCommand):
    """Polls for runs and jobs until it is asked to stop."""

    help = "Work on queued runs and jobs, polling the database (no broker needed). Stop it with Ctrl-C."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the options."""
        parser.add_argument(
            "--queues", default="cpu,api", help="comma-separated: cpu, gpu, api, render (default: cpu,api)"
        )
        parser.add_argument(
            "--no-reaper", action="store_true", help="do not repair what other workers left behind"
        )

    def handle(self, *args: Any, queues: str, no_reaper: bool, **options: Any) -> None:
        """Work until SIGTERM or Ctrl-C; the batch in hand is finished or put back first."""
        wanted = [name.strip() for name in queues.split(",") if name.strip()]
        unknown = sorted(set(wanted) - set(Queue.values))
        if unknown or not wanted:
            raise CommandError(f"Unknown queue: {', '.join(unknown) or 'none given'}.", returncode=2)
        stop = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
        if wanted == [Queue.RENDER]:
            step_aside()
        logger.info("worker polls %s", ", ".join(wanted))
        run_forever(wanted, stop=stop, reaps=not no_reaper)
        unload_sut()


def step_aside() -> None:
    """Let every other process go first: what is drawn ahead may turn out to be drawn in vain."""
    if hasattr(os, "nice"):  # not on Windows
        os.nice(POLITENESS)
