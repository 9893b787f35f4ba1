"""``manage.py disclosure``: a package for the maker of a system as one ZIP."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from searches.enums import FindingState
from searches.management.result_files import USAGE_ERROR, check_target, writing
from searches.services.disclosures import DisclosureWish, disclosure_zip
from searches.services.shell_suts import find_sut
from vlmlab.core.errors import VlmLabError
from vlmlab.web.numbers import write_bytes


class Command(BaseCommand):
    """Writes a package."""

    help = "Write findings of a system with pictures, prompts, answers and method as a ZIP for its maker."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the options."""
        parser.add_argument("--sut", required=True, help="short name of the system")
        parser.add_argument("--out", required=True, metavar="FILE", help="where the ZIP is written")
        parser.add_argument(
            "--state",
            action="append",
            choices=FindingState.values,
            help="which findings go in (more than once; confirmed)",
        )
        parser.add_argument("--without-pictures", action="store_true", help="leave the pictures out")
        parser.add_argument("--with-notes", action="store_true", help="put in what people wrote")
        parser.add_argument("--with-names", action="store_true", help="with the notes: also who wrote them")
        parser.add_argument("--contact", default="", help="whom the receiver may write to")

    def handle(self, *args: Any, **options: Any) -> None:
        """Write the file piece by piece."""
        wish = DisclosureWish(
            states=tuple(options["state"] or [FindingState.CONFIRMED]),
            pictures=not options["without_pictures"],
            notes=options["with_notes"],
            names=options["with_notes"] and options["with_names"],
            contact=options["contact"],
        )
        target = Path(options["out"])
        try:
            with writing("The package", target):
                check_target(target)
                pieces = disclosure_zip(find_sut(options["sut"]), wish)
                with target.open("wb") as file:
                    file.writelines(pieces)
        except VlmLabError as error:
            raise CommandError(str(error), returncode=USAGE_ERROR) from error
        self.stdout.write(f"{target}: {write_bytes(target.stat().st_size)}.")
