"""``manage.py load_sample_data``: shipped models, runs, seed images, profiles, a warehouse; repeatable."""

from typing import Any

from django.core.management.base import BaseCommand

from searches.services.sample_data import load_sample_data
from searches.services.sample_follow_ups import load_follow_ups
from searches.services.sample_modality import load_profiles
from searches.services.sample_seeds import load_seeds
from searches.services.sample_warehouse import load_warehouse


class Command(BaseCommand):
    """Loads what the first day needs."""

    help = (
        "Register the shipped models, load the sample run with its follow-ups, the seed images, the "
        "sensitivity profiles and the warehouse example; what is there already stays as it is."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        """Load and say what was done."""
        for note in (
            *load_sample_data(),
            load_follow_ups(),
            load_seeds(),
            *load_profiles(),
            load_warehouse(),
        ):
            if note:
                self.stdout.write(note)
