"""``manage.py import_dataset``: pictures from a folder or a ZIP archive become a dataset."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from searches.management.seed_imports import (
    add_seed_options,
    import_seeds,
    seed_lines,
    seed_settings,
    write_refusals,
)
from searches.services.dataset_imports import ImportReport, ImportWish, import_folder, import_zip
from searches.services.seed_imports import SeedWish
from vlmlab.core.errors import ConfigError, VlmLabError
from vlmlab.web.numbers import write_many

REFUSED, USAGE_ERROR = 1, 2
SHOWN_REFUSALS = 20


PHOTOGRAPHS, SEEDS = "photographs", "seeds"


class Command(BaseCommand):
    """Imports pictures that are tagged with concepts, or annotated pictures that searches start from."""

    help = (
        "Import photographs with a COCO instances file, a table of concepts (CSV), or both; with --kind "
        "seeds annotated pictures in any known format, as seed images of modality searches. Exit code 0: "
        "stored, though rows may be refused; 1: nothing was stored; 2: wrong arguments."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the options."""
        parser.add_argument("path", type=Path, help="a folder, or a ZIP archive")
        parser.add_argument(
            "--kind",
            choices=(PHOTOGRAPHS, SEEDS),
            default=PHOTOGRAPHS,
            help=f"what they shall be (default: {PHOTOGRAPHS})",
        )
        parser.add_argument("--title", required=True, help="name of the dataset")
        parser.add_argument(
            "--domain", default="", help="slug of the domain whose concepts are meant; not of seed images"
        )
        parser.add_argument("--slug", default="", help="short name (default: made from the title)")
        parser.add_argument(
            "--mapping",
            action="append",
            default=[],
            metavar="NAME=CONCEPT",
            help="the concept that a category means, such as person=pedestrian; =- for none",
        )
        parser.add_argument("--description", default="", help="what the pictures are, where from")
        parser.add_argument("--licence", default="", help="licence of the pictures")
        parser.add_argument("--credits", default="", help="whom they are owed to; travels with exports")
        parser.add_argument("--strict", action="store_true", help="store nothing if anything is refused")
        add_seed_options(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        """Import, and say what was refused."""
        try:
            lines = self._seeds(options) if options["kind"] == SEEDS else self._photographs(options)
        except ConfigError as error:
            raise CommandError(str(error), returncode=USAGE_ERROR) from error
        except VlmLabError as error:
            raise CommandError(str(error), returncode=REFUSED) from error
        for line in lines:
            self.stdout.write(line)

    def _photographs(self, options: dict[str, Any]) -> list[str]:
        if not options["domain"]:
            raise ConfigError(
                "--domain names the domain whose concepts the photographs are tagged with.",
                hint="Give it, or --kind seeds for seed images of modality searches.",
                field="domain",
            )
        wish = ImportWish(
            title=options["title"],
            domain=options["domain"],
            mapping=dict(map(read_mapping, options["mapping"])),
            slug=options["slug"],
            description=options["description"],
            licence=options["licence"],
            credits=options["credits"],
            is_strict=options["strict"],
        )
        return report_lines(self._import(options["path"], wish))

    def _seeds(self, options: dict[str, Any]) -> list[str]:
        for name in ("domain", "mapping", "strict"):
            if options[name]:
                raise ConfigError(f"--{name} is not for --kind seeds.", field=name)
        wish = SeedWish(
            title=options["title"],
            settings=seed_settings(options),
            slug=options["slug"],
            description=options["description"],
            licence=options["licence"],
            credits=options["credits"],
        )
        dataset = import_seeds(options["path"], wish, tell=self._tell)
        if options["refused"] is not None:
            write_refusals(dataset, options["refused"])
        return list(seed_lines(dataset))

    def _import(self, path: Path, wish: ImportWish) -> ImportReport:
        if path.is_dir():
            return import_folder(path, wish, on_progress=self._tell)
        try:
            file = path.open("rb")
        except OSError as error:
            raise ConfigError(f"{path} cannot be read: {error.strerror}.") from error
        with file:
            return import_zip(file, wish, name=path.name, by=None, on_progress=self._tell)

    def _tell(self, done: int, total: int) -> None:
        if self.stderr.isatty():
            self.stderr.write(f"\r{done}/{total} pictures", ending="")
            self.stderr.flush()


def report_lines(report: ImportReport) -> list[str]:
    """Return what an import brought, as lines."""
    lines = [f"{write_many(report.n_pictures, 'picture')} stored as the dataset {report.dataset.slug}."]
    if report.refused:
        lines.append(f"{write_many(len(report.refused), 'refusal')}:")
        lines += [f"  {one}" for one in report.refused[:SHOWN_REFUSALS]]
        if len(report.refused) > SHOWN_REFUSALS:
            lines.append(
                f"  and {len(report.refused) - SHOWN_REFUSALS:,} more; the dataset's page lists them."
            )
    lines += report.remarks[:SHOWN_REFUSALS]
    return lines


def read_mapping(text: str) -> tuple[str, str]:
    """Return name and concept of ``NAME=CONCEPT``.

    Raises:
        ConfigError: there is no ``=``.
    """
    name, sign, concept = text.rpartition("=")
    if not sign or not name.strip():
        raise ConfigError(f"--mapping needs NAME=CONCEPT, got “{text}”.", field="mapping")
    return name.strip(), concept.strip()
