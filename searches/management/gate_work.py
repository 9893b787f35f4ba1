"""What the commands of gates share: exit codes, a time limit, files that are written at the end."""

import os
import signal
import threading
import traceback
from argparse import ArgumentTypeError
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

from django.core.management.base import BaseCommand, CommandError, SystemCheckError

from searches.management.result_files import check_option
from searches.models import SearchRun
from vlmlab.core.errors import VlmLabError

PASSED, FAILED, NOT_ENOUGH, BROKEN = 0, 1, 2, 3
"""Exit codes: pass, fail, not enough evidence, and everything that kept a verdict from being given."""

MOST_SECONDS = 1e7
AGAIN_SECONDS = 0.5

CODES = {"pass": PASSED, "fail": FAILED, "not_enough": NOT_ENOUGH}
EXIT_CODES = "Exit code 0: pass; 1: fail; 2: not enough evidence; 3: no verdict (wrong arguments, halted)."


class GateCommand(BaseCommand):
    """A command whose exit code is a verdict; wrong arguments are 3, not argparse's 2."""

    _has_begun = False

    def run_from_argv(self, argv: list[str]) -> None:
        """Run from a shell; whatever breaks leaves with 3, since Python's own 1 would be read as a fail."""
        try:
            super().run_from_argv(argv)
        except SystemExit as error:
            if error.code == 2 and not self._has_begun:  # argparse's own
                raise SystemExit(BROKEN) from error
            raise
        except KeyboardInterrupt as error:
            self.stderr.write("No verdict: it was interrupted.")
            raise SystemExit(BROKEN) from error
        except Exception as error:
            self.stderr.write(traceback.format_exc())
            self.stderr.write("No verdict: something broke, see above.")
            raise SystemExit(BROKEN) from error

    def execute(self, *args: Any, **options: Any) -> str | None:
        """Remember that the arguments could be read; a refusal of Django's own checks is no verdict."""
        self._has_begun = True
        try:
            return super().execute(*args, **options)
        except SystemCheckError as error:
            raise CommandError(str(error), returncode=BROKEN) from error

    def check_targets(self, targets: Sequence[str | None]) -> None:
        """Find out before the work what would keep its files from being written after it.

        Raises:
            CommandError: one cannot be written there.
        """
        with refused_as_broken():
            for target in targets:
                check_option(target)

    def write_file(self, target: str | None, content: str | bytes) -> None:
        """Write a file, or to the screen for ``-``; nothing without a target.

        Raises:
            CommandError: it cannot be written.
        """
        if target == "-":
            self.stdout.write(content if isinstance(content, str) else content.decode())
        elif target:
            try:
                data = content.encode() if isinstance(content, str) else content
                Path(target).write_bytes(data)
            except OSError as error:
                raise CommandError(
                    f"{target} cannot be written: {error.strerror}.", returncode=BROKEN
                ) from error

    def leave_halted(self, why: str, *, go_on: str) -> NoReturn:
        """Leave without a verdict: not everything was asked.

        Raises:
            CommandError: always.
        """
        raise CommandError(f"No verdict. {why}\nGo on with: manage.py {go_on}", returncode=BROKEN)

    def conclude(self, verdict: str, sentence: str) -> None:
        """Say the verdict and leave with its code.

        Raises:
            CommandError: it is no pass.
        """
        code = CODES.get(verdict, BROKEN)
        if code == PASSED:
            self.stderr.write(f"Pass. {sentence}")
            return
        words = {FAILED: "Fail", NOT_ENOUGH: "Not enough evidence", BROKEN: "No verdict"}[code]
        raise CommandError(f"{words}. {sentence}", returncode=code)


@contextmanager
def refused_as_broken() -> Iterator[None]:
    """Leave without a verdict where the lab refuses what is done inside.

    Raises:
        CommandError: it was refused.
    """
    try:
        yield
    except VlmLabError as error:
        raise CommandError(str(error), returncode=BROKEN) from error


def why_halted(run: SearchRun, name: str) -> str:
    """Return why a run that has not ended by itself stands where it does; ``name`` is what to call it."""
    return f"{name} is {run.get_state_display().lower()}. {run.error} {run.hint}".strip()


def some_seconds(text: str) -> float:
    """Return a time limit of the shell.

    Raises:
        ArgumentTypeError: it is no time.
    """
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0.0 < value <= MOST_SECONDS:  # not a number is neither
        raise ArgumentTypeError(f"{text!r} is no number of seconds above 0.")
    return value


@contextmanager
def time_limit(seconds: float | None) -> Iterator[None]:
    """Interrupt what happens inside after so many seconds, as Ctrl-C does: what is at work pauses.

    The interrupt comes again and again until the work ends, and is passed over where nothing inside takes it:
    it may come before the work has begun, or while what it used is put away.
    """
    if seconds is None:
        yield
        return
    is_over, is_done = threading.Event(), threading.Event()

    def interrupt() -> None:
        if not is_done.wait(seconds):
            is_over.set()
            while not is_done.is_set():
                os.kill(os.getpid(), signal.SIGINT)
                is_done.wait(AGAIN_SECONDS)

    def take(number: int, frame: FrameType | None) -> None:
        if not is_over.is_set():
            signal.default_int_handler(number, frame)

    before = signal.signal(signal.SIGINT, take)
    timer = threading.Thread(target=interrupt, daemon=True)
    timer.start()
    try:
        yield
    finally:
        is_done.set()
        timer.join()
        signal.signal(signal.SIGINT, before)
