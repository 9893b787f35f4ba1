"""``manage.py source``: list, set up and check picture sources from a shell; needs no broker."""

import json
from argparse import ArgumentParser
from collections.abc import Callable
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from searches.models import PictureSource
from searches.services.scene_sources import find_source
from searches.services.shell_sources import ShellSource, add_from_shell
from searches.services.source_checks import check_now
from searches.services.source_context import registrable_kinds
from searches.services.source_pages import source_lines, sources_in_order
from vlmlab.core.errors import ConfigError, VlmLabError
from vlmlab.web.numbers import write_many, write_money

FOUND_FAULT, USAGE_ERROR = 1, 2


class Command(BaseCommand):
    """Picture sources from a shell."""

    help = (
        "List, set up and check picture sources. Exit code 0: fine; 1: something that the source needs is "
        "missing; 2: wrong arguments."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the subcommands."""
        commands = parser.add_subparsers(dest="action", required=True, parser_class=ArgumentParser)
        listing = commands.add_parser("list", help="show the picture sources")
        check = commands.add_parser("check", help="look for what a source needs")
        check.add_argument("slug", help="short name of a source")
        adding = commands.add_parser("add", help="set a source up")
        adding.add_argument("slug", help="short name for the shell and for stored runs")
        adding.add_argument(
            "--kind", required=True, help=", ".join(kind.name for kind in registrable_kinds())
        )
        adding.add_argument("--name", default="", help="name in tables (default: the short name)")
        adding.add_argument("--description", default="", help="what it shows, where from")
        adding.add_argument("--dataset", default="", help="slug of the dataset of a pool")
        adding.add_argument("--key-name", default="", help="name of a stored key")
        adding.add_argument("--presence", default="", help="slug of the system that looks at the pictures")
        adding.add_argument(
            "--param", action="append", default=[], metavar="KEY=VALUE", help="a setting of the kind"
        )
        for one in (listing, check, adding):
            one.add_argument("--json", action="store_true", help="write JSON to the screen")

    def handle(self, *args: Any, **options: Any) -> None:
        """Do what the subcommand asks."""
        actions: dict[str, Callable[[dict[str, Any]], None]] = {
            "list": self._list,
            "check": self._check,
            "add": self._add,
        }
        try:
            actions[options["action"]](options)
        except ConfigError as error:
            raise CommandError(str(error), returncode=USAGE_ERROR) from error
        except VlmLabError as error:
            raise CommandError(str(error), returncode=FOUND_FAULT) from error

    def _list(self, options: dict[str, Any]) -> None:
        lines = source_lines(list(sources_in_order()))
        if options["json"]:
            self._write_json([_row(line.source) for line in lines])
            return
        if not lines:
            self.stdout.write("No picture source is set up. See `manage.py source add --help`.")
        for line in lines:
            source = line.source
            self.stdout.write(
                f"{source.slug:<24} {source.kind:<12} {line.state[1].lower()}, "
                f"{write_many(source.n_pictures, 'picture')}, {write_money(source.spend_usd)}"
            )

    def _check(self, options: dict[str, Any]) -> None:
        found = check_now(find_source(options["slug"]), by=None)
        if options["json"]:
            self._write_json({"slug": options["slug"], "found": found})
        else:
            self.stdout.write(found)

    def _add(self, options: dict[str, Any]) -> None:
        source = add_from_shell(
            ShellSource(
                slug=options["slug"],
                kind=options["kind"],
                name=options["name"],
                description=options["description"],
                dataset=options["dataset"],
                key_name=options["key_name"],
                presence=options["presence"],
                params=options["param"],
            )
        )
        if options["json"]:
            self._write_json(_row(source) | {"params": source.params})
            return
        self.stdout.write(f"{source.name} is set up. Check it with: manage.py source check {source.slug}")

    def _write_json(self, content: object) -> None:
        self.stdout.write(json.dumps(content, indent=2, ensure_ascii=False))


def _row(source: PictureSource) -> dict[str, Any]:
    return {
        "slug": source.slug,
        "name": source.name,
        "kind": source.kind,
        "dataset": source.dataset.slug if source.dataset else "",
        "is_enabled": source.is_enabled,
        "pictures": source.n_pictures,
        "refused": source.n_refusals,
        "spend_usd": source.spend_usd,
    }
