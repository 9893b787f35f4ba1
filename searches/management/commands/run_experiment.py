"""``manage.py run_experiment``: an experiment from the shell, in this process alone; needs no broker."""

import signal
import threading
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from searches import launch
from searches.management.result_files import USAGE_ERROR, check_option, writing
from searches.models import Experiment
from searches.services.advance import advance_run
from searches.services.experiment_exports import experiment_lines
from searches.services.experiment_progress import experiment_progress
from searches.services.experiment_shell import (
    DEFAULT_ALGORITHMS,
    DEFAULT_BUDGET,
    DEFAULT_SEEDS,
    ShellExperiment,
    check_ended,
    open_experiment,
    shell_wish,
)
from searches.services.experiments import experiment_runs, pause_experiment
from searches.services.presence import presence
from searches.services.shell_params import read_param
from searches.services.shell_work import is_worked_on, next_lease
from searches.services.slice_ends import SliceEnd
from searches.services.suts import unload_sut
from vlmlab.core.errors import VlmLabError
from vlmlab.core.revelio.bench import ALGORITHM_NAMES
from vlmlab.core.revelio.experiments import AXES
from vlmlab.web.numbers import write_many

POLL_SECONDS = 2.0


class Command(BaseCommand):
    """Runs an experiment and writes its numbers as JSON."""

    help = (
        "Compare algorithms, vary one setting, or do a published table again, with all runs in this process. "
        "Exit code 0: every run ended; 1: some halted (all is kept and can be resumed); 2: wrong arguments."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the options."""
        parser.add_argument("--sut", default="", help="slugs of registered systems, with commas")
        parser.add_argument(
            "--domain", default="", help="slug of the domain (default: driving, or the preset's)"
        )
        parser.add_argument("--preset", default="", help="a table to do again, such as revelio-table-6")
        parser.add_argument(
            "--scale", type=float, default=1.0, help="part of the preset's budget, such as 0.1 (default: 1)"
        )
        parser.add_argument(
            "--algorithms",
            default="",
            help=f"with commas, of {', '.join(ALGORITHM_NAMES)} (default: {DEFAULT_ALGORITHMS})",
        )
        parser.add_argument(
            "--axis", default="", help=f"what to vary: {', '.join(AXES)}, or a setting of the search"
        )
        parser.add_argument("--values", default="", help="values of it, with commas (default: the axis' own)")
        parser.add_argument(
            "--seeds", type=int, default=DEFAULT_SEEDS, help=f"run seeds (default: {DEFAULT_SEEDS})"
        )
        parser.add_argument("--first-seed", type=int, default=0, help="the first of them (default: 0)")
        parser.add_argument(
            "--budget", type=int, help=f"inferences a run (default: {DEFAULT_BUDGET}, or the preset's)"
        )
        parser.add_argument(
            "--param", action="append", default=[], metavar="KEY=VALUE", help="a setting of every arm"
        )
        parser.add_argument("--name", default="", help="name of the experiment")
        parser.add_argument("--resume", type=int, metavar="NUMBER", help="go on with a halted one instead")
        parser.add_argument("--json", help="where the numbers are written; - for the screen")

    def handle(self, *args: Any, **options: Any) -> None:
        """Start or resume, work on every run, write the numbers."""
        try:
            check_option(options["json"])
            experiment = self._open(options)
        except VlmLabError as error:
            raise CommandError(str(error), returncode=USAGE_ERROR) from error
        stop = threading.Event()
        before = signal.signal(signal.SIGINT, lambda *_: stop.set())
        try:
            self._work(experiment, stop)
        finally:
            signal.signal(signal.SIGINT, before)
            unload_sut()
        self._write(experiment, options["json"])
        try:
            check_ended(experiment)
        except VlmLabError as error:
            raise CommandError(str(error), returncode=1) from error
        self.stderr.write("Finished: every run has ended.")

    def _open(self, options: dict[str, Any]) -> Experiment:
        if options["resume"] is not None:
            return open_experiment(options["resume"])
        wish = shell_wish(
            ShellExperiment(
                suts=options["sut"],
                domain=options["domain"],
                preset=options["preset"],
                scale=options["scale"],
                algorithms=options["algorithms"],
                axis=options["axis"],
                values=options["values"],
                n_seeds=options["seeds"],
                first_seed=options["first_seed"],
                budget=options["budget"],
                params=dict(map(read_param, options["param"])),
                name=options["name"],
            )
        )
        return launch.start_experiment(wish, by=None)

    def _work(self, experiment: Experiment, stop: threading.Event) -> None:
        total = write_many(experiment_progress(experiment).n_runs, "run")
        self.stderr.write(f"Experiment {experiment.pk}, {total}. Ctrl-C pauses it.")
        runs = experiment_runs(experiment)
        while not stop.is_set():
            lease = next_lease(runs)
            if lease is None:
                if not is_worked_on(runs):
                    break
                stop.wait(POLL_SECONDS)
                continue
            with presence.hold(lease):
                end = advance_run(lease, slice_seconds=float("inf"), should_stop=stop.is_set)
            progress = experiment_progress(experiment)
            self.stderr.write(
                f"{progress.n_ended}/{progress.n_runs} runs, {write_many(progress.n_inferences, 'inference')}"
            )
            if end == SliceEnd.DATABASE_ERROR:
                stop.wait(POLL_SECONDS)
        if stop.is_set() and experiment_progress(experiment).may_pause:
            pause_experiment(experiment, by=None)

    def _write(self, experiment: Experiment, target: str | None) -> None:
        if target is None:
            return
        text = "".join(experiment_lines(experiment, "json")) + "\n"
        if target == "-":
            self.stdout.write(text)
            return
        with writing(f"The numbers of experiment {experiment.pk}", target):
            Path(target).write_text(text, encoding="utf-8")
