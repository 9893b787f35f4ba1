"""``manage.py report``: the report of a campaign as one HTML file."""

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from searches.management.result_files import USAGE_ERROR, check_option, writing
from searches.reports.findings import Showing
from searches.reports.reports import find_reported, report_html
from vlmlab.core.errors import VlmLabError
from vlmlab.web.numbers import write_bytes


class Command(BaseCommand):
    """Writes a report."""

    help = (
        "Write what a campaign found as one HTML file that opens without a server: figures, tables, "
        "pictures, settings, seeds, versions."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the options."""
        parser.add_argument("--campaign", type=int, required=True, metavar="NUMBER", help="its number")
        parser.add_argument(
            "--out", required=True, metavar="FILE", help="where it is written; - for the screen"
        )
        parser.add_argument("--without-notes", action="store_true", help="leave out what people wrote")
        parser.add_argument("--with-names", action="store_true", help="say who wrote a note")

    def handle(self, *args: Any, **options: Any) -> None:
        """Write the file piece by piece."""
        showing = Showing(notes=not options["without_notes"], names=options["with_names"])
        try:
            campaign = find_reported(options["campaign"])
            check_option(options["out"])
        except VlmLabError as error:
            raise CommandError(str(error), returncode=USAGE_ERROR) from error
        pieces = report_html(campaign, showing=showing)
        if options["out"] == "-":
            sys.stdout.writelines(pieces)
            return
        target = Path(options["out"])
        with writing("The report", target), target.open("w", encoding="utf-8", newline="") as file:
            file.writelines(pieces)
        self.stdout.write(f"{target}: {write_bytes(target.stat().st_size)}.")
