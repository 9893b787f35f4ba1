"""``manage.py bench_most``: run a modality search on a system on paper and write what it reports."""

import json
import sys
import time
from dataclasses import asdict
from pathlib import Path
from statistics import median_low as median
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from searches.management.most_search import algorithm_help
from searches.services.shell_campaigns import ALL_REGIMES, shell_config
from searches.services.shell_params import read_param
from vlmlab.core.errors import ConfigError, VlmLabError
from vlmlab.core.most.bench import SCRIPTED, run_bench, scripted_family
from vlmlab.core.most.landscapes import FAMILIES
from vlmlab.web.numbers import write_many

MOST_RUNS = 10_000


class Command(BaseCommand):
    """Searches a landscape instead of a system under test; needs no database, no picture and no model."""

    help = (
        "Run a modality search on a system on paper, whose sensitivity to every operator is known, in each "
        "regime and with several seeds. Writes evaluations to the first failure, evaluations in all, and the "
        "strategy of each test case; prints a summary."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the options."""
        names = ", ".join(SCRIPTED + name for name in FAMILIES)
        parser.add_argument("--sut", required=True, help=names)
        parser.add_argument("--algorithm", default="screen", help=f"{algorithm_help()} (default: screen)")
        parser.add_argument("--regimes", default=ALL_REGIMES, help=f"any of {ALL_REGIMES} (default: all)")
        parser.add_argument("--budget", type=int, help="evaluations a run (default: that of the algorithm)")
        parser.add_argument("--seed", type=int, default=0, help="of the first run (default: 0)")
        parser.add_argument("--runs", type=int, default=1, help="runs a regime, one a seed (default: 1)")
        parser.add_argument(
            "--param", action="append", default=[], metavar="KEY=VALUE", help="a setting of the search"
        )
        parser.add_argument("--json", help="where the result is written too; - for the screen, nothing else")

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the searches."""
        try:
            result = _bench(options)
            text = json.dumps(result, indent=1) + "\n"
            if options["json"] == "-":
                sys.stdout.write(text)
                return
            if options["json"]:
                Path(options["json"]).write_text(text, encoding="utf-8")
            self.stdout.write(_summary(result))
        except VlmLabError as error:
            raise CommandError(str(error)) from error
        except OSError as error:
            raise CommandError(f"The result cannot be written: {error.strerror}.") from error


def _summary(result: dict[str, Any]) -> str:
    """Return what a person wants to know of each regime: how often it failed, how fast, what it took."""
    lines = [f"{result['algorithm']} on {result['sut']}, {write_many(len(result['runs']), 'run')}"]
    by_regime: dict[str, list[dict[str, Any]]] = {}
    for one in result["runs"]:
        by_regime.setdefault(one["regime"], []).append(one)
    for regime, runs in by_regime.items():
        hits = [one["first_hit"] for one in runs if one["first_hit"] is not None]
        first = (
            f"first failure after {write_many(median(hits), 'evaluation')} (median)" if hits else "no failure"
        )
        asked = write_many(sum(one["evaluations"] for one in runs), "evaluation")
        lines.append(f"{regime:<6} {len(hits):,} of {len(runs):,} failed; {first}; {asked} in all")
        if len(runs) == 1 and hits:
            lines.append(f"       {_strategy(runs[0]['strategy'])}")
    return "\n".join(lines)


def _strategy(severities: dict[str, float]) -> str:
    return ", ".join(f"{name} {severity:.2f}" for name, severity in severities.items()) or "nothing perturbed"


def _bench(options: dict[str, Any]) -> dict[str, Any]:
    family = scripted_family(options["sut"])
    params = dict(map(read_param, options["param"]))
    config = shell_config(
        options["algorithm"], budget=options["budget"], regimes=options["regimes"], params=params
    )
    if not 1 <= options["runs"] <= MOST_RUNS:
        raise ConfigError(f"--runs must be between 1 and {MOST_RUNS:,}.")
    if options["seed"] < 0:
        raise ConfigError("--seed must not be negative.")
    results = [
        run_bench(
            config,
            algorithm=options["algorithm"],
            family=family,
            regime=regime,
            seed=options["seed"] + number,
            clock=time.perf_counter,
        )
        for regime in config.regimes
        for number in range(options["runs"])
    ]
    return {
        "sut": options["sut"],
        "algorithm": options["algorithm"],
        "config": config.model_dump(mode="json"),
        "runs": [asdict(one) for one in results],
    }
