"""``manage.py sut``: list, register, check and calibrate systems from a shell; needs no broker."""

import json
import os
from argparse import ArgumentParser
from collections.abc import Callable
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from searches.enums import CalibrationStatus, Queue
from searches.models import SutRecord
from searches.services.calibrations import CALLS, CalibrationState, calibrate, calibration_states
from searches.services.shell_suts import ShellRegistration, find_sut, register_from_shell
from searches.services.sut_checks import MOST_TIMED_CALLS, CheckReport, Verdicts, check_sut, verdicts_of
from searches.services.suts import unload_sut
from vlmlab.core.errors import ConfigError, VlmLabError
from vlmlab.core.suts.kinds import SUT_KINDS
from vlmlab.web.numbers import write_count, write_latency, write_many, write_money, write_percent

FOUND_FAULT, USAGE_ERROR = 1, 2
SHOWN_CHARACTERS = 160
TIMED_HELP = f"calls to time, 0 to {MOST_TIMED_CALLS} (default: %(default)s)"
ARGUMENTS = frozenset({"slug", "kind", "preset", "api_key", "name", "secret", "calls"})


class Command(BaseCommand):
    """Systems under test from a shell."""

    help = (
        "List, register, check and calibrate systems under test. Exit code 0: fine; 1: the system does not "
        "answer, or not readably; 2: wrong arguments."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the subcommands."""
        commands = parser.add_subparsers(dest="action", required=True, parser_class=ArgumentParser)
        listing = commands.add_parser("list", help="show the registered systems")
        check = commands.add_parser("check", help="connect, ask once, calibrate and time a system")
        check.add_argument("slug", help="short name of a registered system, such as pocket")
        check.add_argument(
            "--no-calibrate", action="store_true", help=f"leave out the {CALLS} calls of the calibration"
        )
        check.add_argument("--calls", type=int, default=5, help=TIMED_HELP)
        probe = commands.add_parser("calibrate", help=f"calibrate a system ({CALLS} calls)")
        probe.add_argument("slug", help="short name of a registered system")
        register = commands.add_parser("register", help="register a system")
        _declare_registration(register)
        for one in (listing, check, probe, register):
            one.add_argument("--json", action="store_true", help="write JSON to the screen")

    def handle(self, *args: Any, **options: Any) -> None:
        """Do what the subcommand asks."""
        actions: dict[str, Callable[[dict[str, Any]], None]] = {
            "list": self._list,
            "check": self._check,
            "calibrate": self._calibrate,
            "register": self._register,
        }
        try:
            actions[options["action"]](options)
        except ConfigError as error:
            raise CommandError(_in_words(error), returncode=USAGE_ERROR) from error
        except VlmLabError as error:
            raise CommandError(str(error), returncode=FOUND_FAULT) from error
        finally:
            unload_sut()

    def _list(self, options: dict[str, Any]) -> None:
        suts = list(SutRecord.objects.order_by("slug"))
        states = calibration_states(suts)
        if options["json"]:
            self._write_json([_list_row(sut, states[sut.pk]) for sut in suts])
            return
        if not suts:
            self.stdout.write("No system is registered. See `manage.py sut register --help`.")
        for sut in suts:
            off = "" if sut.is_enabled else ", switched off"
            cost = "price unknown" if sut.is_price_unknown else write_money(sut.spend_usd)
            self.stdout.write(
                f"{sut.slug:<24} {sut.kind:<18} answers: {states[sut.pk].answers_badge.label.lower()}, "
                f"{write_many(sut.n_calls, 'call')}, {cost}{off}"
            )

    def _check(self, options: dict[str, Any]) -> None:
        sut = find_sut(options["slug"])
        report = check_sut(sut, calibrates=not options["no_calibrate"], timed_calls=options["calls"])
        if options["json"]:
            self._write_json(report.as_json())
        else:
            cost = "price unknown" if sut.is_price_unknown else write_money(report.cost_usd)
            for line in [*_report_lines(report), f"Cost: {cost}."]:
                self.stdout.write(line)
        if report.call_error:
            raise CommandError(f"{report.slug} does not answer. {report.call_error}", returncode=FOUND_FAULT)
        if not report.is_good:
            raise CommandError(f"{report.slug} does not answer readably.", returncode=FOUND_FAULT)

    def _calibrate(self, options: dict[str, Any]) -> None:
        verdicts = verdicts_of(calibrate(find_sut(options["slug"]), by=None))
        if options["json"]:
            self._write_json({"slug": options["slug"], "calibration": vars(verdicts)})
        else:
            for line in _verdict_lines(verdicts):
                self.stdout.write(line)
        if verdicts.answers != CalibrationStatus.CALIBRATED:
            raise CommandError(f"{options['slug']} does not answer readably.", returncode=FOUND_FAULT)

    def _register(self, options: dict[str, Any]) -> None:
        wish = ShellRegistration(
            slug=options["slug"],
            name=options["name"],
            kind=options["kind"],
            preset=options["preset"],
            description=options["description"],
            params=options["param"],
            queue=options["queue"],
            key_name=options["key_name"],
            secret_variable=options["api_key_env"],
        )
        try:
            sut = register_from_shell(wish, environment=os.environ)
        except VlmLabError as error:
            raise CommandError(_in_words(error), returncode=USAGE_ERROR) from error
        if options["json"]:
            self._write_json({"slug": sut.slug, "kind": sut.kind, "params": sut.params})
            return
        self.stdout.write(f"{sut.name} is registered. Check it with: manage.py sut check {sut.slug}")

    def _write_json(self, content: object) -> None:
        self.stdout.write(json.dumps(content, indent=2, ensure_ascii=False))


def _list_row(sut: SutRecord, state: CalibrationState) -> dict[str, Any]:
    return {
        "slug": sut.slug,
        "name": sut.name,
        "kind": sut.kind,
        "is_enabled": sut.is_enabled,
        "answers": state.answers_badge.label,
        "boxes": state.boxes_badge.label,
        "calls": sut.n_calls,
        "call_errors": sut.n_call_errors,
        "spend_usd": sut.spend_usd,
    }


def _declare_registration(parser: ArgumentParser) -> None:
    parser.add_argument("slug", help="short name for addresses and the shell")
    parser.add_argument("--name", default="", help="name in tables (default: the short name)")
    parser.add_argument("--kind", default="", help=", ".join(SUT_KINDS))
    parser.add_argument("--preset", default="", help="a filled-in registration; a wrong name lists them all")
    parser.add_argument(
        "--param",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="a setting; dots reach inside, such as asking.convention.order=yxyx",
    )
    parser.add_argument("--description", default="", help="what it is, where from")
    parser.add_argument("--queue", default=Queue.CPU.value, choices=Queue.values, help="for checkpoints")
    parser.add_argument(
        "--api-key-env", default="", metavar="NAME", help="environment variable that holds the provider's key"
    )
    parser.add_argument(
        "--key-name", default="", help="name of a stored key, or of the one that --api-key-env brings"
    )


def _report_lines(report: CheckReport) -> list[str]:
    lines = [f"Loaded in {report.load_seconds:.1f} s, fingerprint {report.fingerprint[:12]}."]
    if report.call_error:
        return lines
    served = f" ({report.served_model})" if report.served_model else ""
    lines.append(f"Answered{served}: {_one_line(report.answer)}")
    if report.calibration is not None:
        lines += _verdict_lines(report.calibration)
    timing = report.timing
    if timing is not None and timing.median_ms is not None:
        speed = timing.letters_per_second
        pace = f", {write_count(speed)} letters a second" if speed else ""
        lines.append(
            f"An answer takes {write_latency(timing.median_ms)}, the median of "
            f"{write_many(timing.n_calls, 'call')}{pace}."
        )
    if timing is not None and timing.n_call_errors:
        lines.append(f"{write_many(timing.n_call_errors, 'timed call')} failed.")
    return lines


def _verdict_lines(verdicts: Verdicts) -> list[str]:
    answers, boxes = CalibrationStatus(verdicts.answers), CalibrationStatus(verdicts.boxes)
    lines = [
        f"Answers: {answers.label.lower()}. {verdicts.answers_sentence}",
        f"  readable {write_percent(verdicts.readable_share)}, right {write_percent(verdicts.right_share)}",
        f"Boxes: {boxes.label.lower()}. {verdicts.boxes_sentence}",
    ]
    if verdicts.n_call_errors:
        lines.append(f"{write_many(verdicts.n_call_errors, 'call')} of the calibration failed.")
    return lines


def _one_line(text: str) -> str:
    """Return the start of an answer on one line, without characters that a terminal obeys."""
    plain = "".join(sign if sign.isprintable() else " " for sign in text[: 4 * SHOWN_CHARACTERS])
    words = " ".join(plain.split())
    return words[:SHOWN_CHARACTERS] + ("…" if len(words) > SHOWN_CHARACTERS else "") if words else "(nothing)"


def _in_words(error: VlmLabError) -> str:
    is_clear = not error.field or error.field in ARGUMENTS or error.field in str(error)
    return str(error) if is_clear else f"{error.field}: {error}"
