"""``manage.py reap``: frees the work of dead workers once, for a timetable of one's own."""

from typing import Any

from django.core.management.base import BaseCommand

from searches.launch import wake_up
from searches.services.reaper import reap


class Command(BaseCommand):
    """One round of repair."""

    help = "Free runs and jobs whose worker is gone, and wake the queues where work waits."

    def handle(self, *args: Any, **options: Any) -> None:
        """Run one round and say what it did."""
        report = reap()
        for queue in sorted(report.queues):
            wake_up(queue)
        self.stdout.write(
            f"{report.requeued} runs queued again, {report.cancelled} ended, {report.failed} failed, "
            f"{report.jobs} jobs freed."
        )
