"""``manage.py domain``: check, add, export and list domains from a shell; needs no broker."""

import json
import sys
from argparse import ArgumentParser
from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from searches.services.domain_edits import add_domain, save_domain
from searches.services.domain_store import content_of, current_domains
from searches.services.domain_versions import find_record, version_lines
from vlmlab.core.errors import ConceptError
from vlmlab.core.scenes.domain_files import (
    FILE_FORMATS,
    CheckedDomain,
    check_domain_file,
    example_text,
    write_domain_file,
)
from vlmlab.core.scenes.domain_problems import DomainFileError
from vlmlab.core.scenes.domain_text import MAX_BYTES
from vlmlab.web.numbers import write_count, write_many

FOUND_FAULT, USAGE_ERROR = 1, 2
EXAMPLE = "example"


class Command(BaseCommand):
    """Domains from a shell."""

    help = (
        "Check, add, change, export and list domains. Exit code 0: fine; 1: the file is not valid, or "
        "refused; 2: wrong arguments."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the subcommands."""
        commands = parser.add_subparsers(dest="action", required=True, parser_class=ArgumentParser)
        listing = commands.add_parser("list", help="show every domain")
        check = commands.add_parser("check", help="check a domain file without storing it")
        add = commands.add_parser("add", help="store a new domain")
        save = commands.add_parser("save", help="store a changed file as a new version of its domain")
        for one in (check, add, save):
            one.add_argument("file", help="YAML or JSON; - reads from the pipe")
        for one in (add, save):
            one.add_argument("--note", default="", help="where it is from, or what was changed")
        export = commands.add_parser("export", help="write a domain file to the screen")
        export.add_argument("slug", help=f"short name of a domain; “{EXAMPLE}” for the example file")
        export.add_argument("--version", default="", dest="domain_version", help="default: the current one")
        export.add_argument("--format", default="yaml", choices=FILE_FORMATS)
        versions = commands.add_parser("versions", help="show the versions of a domain")
        versions.add_argument("slug", help="short name of a domain")
        for one in (listing, check):
            one.add_argument("--json", action="store_true", help="write JSON to the screen")

    def handle(self, *args: Any, **options: Any) -> None:
        """Do what the subcommand asks."""
        actions: dict[str, Callable[[dict[str, Any]], None]] = {
            "list": self._list,
            "check": self._check,
            "add": self._add,
            "save": self._save,
            "export": self._export,
            "versions": self._versions,
        }
        try:
            actions[options["action"]](options)
        except DomainFileError as error:
            self._write_problems(error.problems)
            raise CommandError("Nothing was stored.", returncode=FOUND_FAULT) from error
        except ConceptError as error:
            raise CommandError(str(error), returncode=FOUND_FAULT) from error

    def _list(self, options: dict[str, Any]) -> None:
        domains = current_domains()
        if options["json"]:
            rows = [
                {"slug": one.slug, "title": one.title, "version": one.version, "concepts": len(one.concepts)}
                for one in domains
            ]
            self.stdout.write(json.dumps(rows, indent=2, ensure_ascii=False))
            return
        for one in domains:
            counts = f"{write_many(len(one.concepts), 'concept')}, {write_many(len(one.rules), 'rule')}"
            self.stdout.write(f"{one.slug:<24} {one.version}  {one.title}: {counts}")

    def _check(self, options: dict[str, Any]) -> None:
        checked = check_domain_file(_read(options["file"]))
        sense = checked.sense
        if options["json"]:
            content = {
                "is_valid": checked.is_valid,
                "problems": [
                    {
                        "place": one.place,
                        "message": one.message,
                        "hint": one.hint,
                        "is_warning": one.is_warning,
                    }
                    for one in checked.problems
                ],
                "valid_sets": {one.size: one.valid_sets for one in sense.sizes} if sense else {},
            }
            self.stdout.write(json.dumps(content, indent=2, ensure_ascii=False))
        else:
            self._write_problems(checked.problems)
            for one in sense.sizes if sense else ():
                self.stdout.write(f"{write_count(one.valid_sets):>12} valid sets of {one.size}")
        if not checked.is_valid:
            raise CommandError(
                f"{write_many(len(checked.errors), 'problem')} must be corrected.", returncode=FOUND_FAULT
            )
        if not options["json"]:
            self.stdout.write("The file can be added.")

    def _add(self, options: dict[str, Any]) -> None:
        checked = check_domain_file(_read(options["file"]))
        row = add_domain(checked, by=None, note=options["note"] or f"From {Path(options['file']).name}")
        self._write_problems(checked.warnings)
        self.stdout.write(f"{row.title} is stored as {row.slug}@{row.version}.")

    def _save(self, options: dict[str, Any]) -> None:
        checked: CheckedDomain = check_domain_file(_read(options["file"]))
        slug = str(checked.content.get("slug", ""))
        kept = save_domain(slug, checked, base="", by=None, note=options["note"])
        self._write_problems(checked.warnings)
        self.stdout.write(f"Version {kept.number} is saved as {slug}@{kept.version}.")

    def _export(self, options: dict[str, Any]) -> None:
        if options["slug"] == EXAMPLE:
            self.stdout.write(example_text(), ending="")
            return
        content = content_of(options["slug"], options["domain_version"])
        self.stdout.write(write_domain_file(content, options["format"]), ending="")

    def _versions(self, options: dict[str, Any]) -> None:
        for line in version_lines(options["slug"], find_record(options["slug"])):
            current = ", current" if line.is_current else ""
            name = str(line.number) if line.number else "-"
            note = line.note or "no note"
            searches = write_many(line.n_searches, "search,searches")
            self.stdout.write(f"{name:>4}  {line.version}  {searches}{current}  {note}")

    def _write_problems(self, problems: Any) -> None:
        for one in problems:
            self.stdout.write(f"{'odd: ' if one.is_warning else ''}{one}")


def _read(name: str) -> bytes:
    try:
        if name == "-":
            return sys.stdin.buffer.read(MAX_BYTES + 1)
        with Path(name).open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except OSError as error:
        raise CommandError(f"{name}: {error.strerror}.", returncode=USAGE_ERROR) from error
