"""Measures how many concept sets of a domain become a picture, and names what stands in the way."""

import json
import sys
import time
from argparse import ArgumentParser, BooleanOptionalAction
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from searches.management.sizes import picture_size
from searches.services.domain_store import shell_domain
from searches.services.scene_sources import scene_source
from vlmlab.core.errors import GenerationError, VlmLabError
from vlmlab.core.scenes.concepts import Domain, Key
from vlmlab.core.scenes.render.backends import EMBEDDED
from vlmlab.core.scenes.render.presence_report import (
    MAX_ATTEMPTS,
    Blame,
    PresenceReport,
    SetResult,
    SetToCheck,
    check_set,
    draw_sets,
    presence_report,
)
from vlmlab.core.scenes.samplers import SAMPLERS

Check = Callable[[SetToCheck], SetResult]
SHOWN_SETS = 20


class Command(BaseCommand):
    """``manage.py check_scenes --domain driving --sets 500 [--seed N] [--max-size K] [--json FILE]``."""

    help = (
        "Draw random valid concept sets of each size and tell how many become a picture within "
        f"{MAX_ATTEMPTS} layouts. Goals: 99 % of the sets of up to 3 concepts, 95 % of larger ones."
    )
    requires_system_checks: list[str] = []  # a built-in domain with the embedded renderer needs no database

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the options."""
        parser.add_argument("--domain", default="driving", help="slug of the domain (default driving)")
        parser.add_argument("--sets", type=int, default=500, help="sets in all (default 500)")
        parser.add_argument("--seed", type=int, default=1, help="of the random draw (default 1)")
        parser.add_argument("--max-size", type=int, default=None, help="largest size of a set")
        parser.add_argument("--backend", default=EMBEDDED, help="embedded, or the slug of a picture source")
        parser.add_argument("--size", default="320x240", help="WIDTHxHEIGHT of a picture, where one is made")
        parser.add_argument(
            "--presence-only",
            action=BooleanOptionalAction,
            default=True,
            help="only check what a picture would show; with --no-presence-only each is drawn as well",
        )
        parser.add_argument("--json", default="", help="file for the result; - for the screen")
        parser.add_argument("--strict", action="store_true", help="fail when a size misses its goal")

    def handle(self, *args: Any, **options: Any) -> None:
        """Check the sets and write the report."""
        width, height = picture_size(options["size"])
        if options["sets"] < 1:
            raise CommandError("--sets: at least 1.")
        started = time.perf_counter()
        try:
            domain = shell_domain(options["domain"])
            sets = draw_sets(
                domain, count=options["sets"], seed=options["seed"], max_size=options["max_size"]
            )
            is_quick = options["presence_only"] and options["backend"] == EMBEDDED
            check = (
                _quick_check(domain)
                if is_quick
                else _drawing_check(domain, options["backend"], width, height)
            )
            results = [
                self._told(check(one), domain, number=number, total=len(sets))
                for number, one in enumerate(sets, 1)
            ]
        except VlmLabError as error:
            raise CommandError(str(error)) from error
        seconds = time.perf_counter() - started
        report = presence_report(domain, results)
        if options["json"] == "-":
            self.stdout.write(_as_json(report, seconds))
        else:
            self.stdout.write(_as_text(report, domain, seconds))
        if options["json"] not in ("", "-"):
            try:
                Path(options["json"]).write_text(_as_json(report, seconds) + "\n", encoding="utf-8")
            except OSError as error:
                raise CommandError(f"The result cannot be written: {error.strerror}.") from error
        if options["strict"] and not report.meets_goals:
            sys.exit(1)

    def _told(self, result: SetResult, domain: Domain, *, number: int, total: int) -> SetResult:
        """Show how far it is, on the error stream."""
        if not result.is_drawn:
            self.stderr.write(f"{number}/{total} {_labels(domain, result.key)}: {result.reasons[-1]}")
        elif number % 50 == 0 or number == total:
            self.stderr.write(f"{number}/{total}")
        return result


def _quick_check(domain: Domain) -> Check:
    """Return the check of the embedded renderer that draws nothing."""
    # Imported here: the renderer brings Embree, which the web process must never load.
    from vlmlab.core.scenes.render.embedded import EmbeddedBackend

    if domain.draws_as not in SAMPLERS:
        raise GenerationError(
            f"The embedded renderer has no world for the domain {domain.title}.",
            hint="Name a picture source with --backend.",
        )
    backend = EmbeddedBackend()
    sample = SAMPLERS[domain.draws_as]
    return lambda one: check_set(one, domain=domain, sample=sample, fault=backend.fault)


def _drawing_check(domain: Domain, backend: str, width: int, height: int) -> Check:
    """Return a check that makes each picture, as a run would."""
    source = scene_source(domain, backend, width=width, height=height)

    def check(one: SetToCheck) -> SetResult:
        try:
            scene = source.generate(one.key, seed=one.seed)
        except GenerationError as error:
            return SetResult(one.key, one.seed, MAX_ATTEMPTS, is_drawn=False, reasons=(error.message,))
        return SetResult(one.key, one.seed, scene.description.attempt + 1, is_drawn=True)

    return check


def _as_text(report: PresenceReport, domain: Domain, seconds: float) -> str:
    lines = [f"{domain.title} ({report.domain_ref}), {seconds:.0f} s"]
    lines.append("size  valid sets  checked  drawn    rate  95 % interval    goal  attempts")
    for row in report.rows:
        interval = f"{row.likely.low:.1%} to {row.likely.high:.1%}"
        lines.append(
            f"{row.size:>4}  {row.valid_sets:>10}  {row.checked:>7}  {row.drawn:>5}  {row.rate:>6.1%}  "
            f"{interval:<15}  {row.goal:>4.0%}{' ' if row.meets_goal else '!'}  {row.mean_attempts:>8.2f}"
        )
    lines.append("The interval is Wilson's; the JSON has the exact one as well. ! = the goal is missed.")
    if report.reasons:
        lines += ["", "Why layouts were rejected:"]
        lines += [f"{count:>6}  {reason}" for reason, count in report.reasons]
    for title, blamed in (("concepts", report.concepts), ("pairs", report.pairs)):
        if blamed:
            lines += ["", f"Sets without a picture, by {title}:"]
            lines += [_blame_line(domain, one) for one in blamed]
    if report.failed:
        lines += ["", "Sets without a picture:"]
        lines += [f"  {_labels(domain, one.key)}: {one.reasons[-1]}" for one in report.failed[:SHOWN_SETS]]
    return "\n".join(lines)


def _blame_line(domain: Domain, blame: Blame) -> str:
    return f"{blame.failed:>6} of {blame.checked}  {_labels(domain, blame.concepts)}"


def _labels(domain: Domain, key: Key) -> str:
    return " + ".join(domain.concept(one).label for one in key)


def _as_json(report: PresenceReport, seconds: float) -> str:
    content = asdict(report) | {"seconds": round(seconds, 1), "meets_goals": report.meets_goals}
    for row, shown in zip(report.rows, content["rows"], strict=True):
        shown |= {"rate": row.rate, "meets_goal": row.meets_goal}
    return json.dumps(content, indent=1)
