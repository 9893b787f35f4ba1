"""``manage.py collect_garbage``: deletes old jobs, and pictures that nothing names any more."""

from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand

from searches.services.garbage import collect_garbage


class Command(BaseCommand):
    """Mark and sweep."""

    help = "Delete jobs that ended a week ago, and pictures that no sample, finding or job names any more."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the options."""
        parser.add_argument(
            "--grace-minutes", type=float, default=60.0, help="spare pictures touched within this time (60)"
        )

    def handle(self, *args: Any, grace_minutes: float, **options: Any) -> None:
        """Sweep once and say how many files went."""
        removed = collect_garbage(timedelta(minutes=grace_minutes))
        self.stdout.write(f"{removed} files deleted.")
