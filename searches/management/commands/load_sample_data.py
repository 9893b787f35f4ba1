"""``manage.py load_sample_data``: the shipped model and a sample run; may be repeated."""

from typing import Any

from django.core.management.base import BaseCommand

from searches.services.sample_data import load_sample_data


class Command(BaseCommand):
    """Loads what the first day needs."""

    help = "Register the shipped model and load the sample run; what is there already stays as it is."

    def handle(self, *args: Any, **options: Any) -> None:
        """Load and say what was done."""
        for note in load_sample_data():
            self.stdout.write(note)
