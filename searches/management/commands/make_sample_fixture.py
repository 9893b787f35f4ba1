"""``manage.py make_sample_fixture``: turns a finished run into the sample run that the lab ships."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from searches.models import SearchRun
from searches.services.sample_data import FOLDER, dump_run
from vlmlab.core.errors import VlmLabError


class Command(BaseCommand):
    """For whoever ships a new version of the lab."""

    help = "Write a finished run with its pictures as the sample run of the lab."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the options."""
        parser.add_argument("run", type=int, help="number of the run")
        parser.add_argument("--pictures", type=int, default=40, help="most pictures to ship (40)")
        parser.add_argument("--name", default="", help="a new name for its campaign")
        parser.add_argument("--folder", type=Path, default=FOLDER, help="where to write it")

    def handle(self, *args: Any, run: int, pictures: int, name: str, folder: Path, **options: Any) -> None:
        """Write the fixture and say how large it is."""
        row = SearchRun.objects.select_related("campaign", "sut").filter(pk=run).first()
        if row is None:
            raise CommandError(f"There is no run {run}.", returncode=2)
        row.campaign.name = name or row.campaign.name
        try:
            dump_run(row, folder=folder, pictures=pictures)
        except VlmLabError as error:
            raise CommandError(str(error), returncode=2) from error
        files = [path for path in folder.rglob("*") if path.is_file()]
        size = sum(path.stat().st_size for path in files) / 1e6
        self.stdout.write(f"{len(files)} files, {size:.1f} MB in {folder}.")
