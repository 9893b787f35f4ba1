"""``manage.py bench_search``: run a search on a known landscape and write what it reports."""

import sys
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from searches.services.domain_store import shell_domain
from searches.services.shell_params import read_param
from vlmlab.core.errors import VlmLabError
from vlmlab.core.revelio.bench import ALGORITHM_NAMES, bench_config, load_oracle, oracle_space, run_bench


class Command(BaseCommand):
    """Searches an oracle instead of a system under test; built-in domains need no database."""

    help = (
        "Run a concept-set search on an oracle: an .npz file with masks (int64, bit j = j-th concept of "
        "the catalogue) and rate (float64, true failure probability). The sets searched are the valid "
        "sets of the domain that the oracle holds."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the options."""
        parser.add_argument("--oracle", required=True, help="the .npz file")
        parser.add_argument("--domain", required=True, help="slug of the domain, such as driving")
        parser.add_argument("--algorithm", required=True, help=", ".join(ALGORITHM_NAMES))
        parser.add_argument("--budget", type=int, default=1000, help="inferences (default 1000)")
        parser.add_argument("--seed", type=int, default=0, help="run seed (default 0)")
        parser.add_argument(
            "--param", action="append", default=[], metavar="KEY=VALUE", help="a setting of the search"
        )
        parser.add_argument("--json", required=True, help="where the result is written; - for the screen")

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the search."""
        try:
            params = dict(map(read_param, options["param"]))
            config = bench_config(options["algorithm"], budget=options["budget"], params=params)
            domain = shell_domain(options["domain"])
            oracle = load_oracle(Path(options["oracle"]))
            space = oracle_space(domain, config, oracle=oracle)
            result = run_bench(config, domain=domain, space=space, oracle=oracle, seed=options["seed"])
            if options["json"] == "-":
                sys.stdout.write(result.to_json() + "\n")
            else:
                Path(options["json"]).write_text(result.to_json() + "\n", encoding="utf-8")
        except VlmLabError as error:
            raise CommandError(str(error)) from error
        except OSError as error:
            raise CommandError(f"The result cannot be written: {error.strerror}.") from error
