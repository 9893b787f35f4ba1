"""``manage.py run_search``: one search from the shell, start to end in this process; needs no broker."""

import json
import signal
import threading
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from searches.enums import MODALITY_METHOD, FollowUpName, RunState
from searches.management.follow_up_work import work_on as work_on_follow_up
from searches.management.most_search import add_most_arguments, algorithm_help, open_campaign, work_on
from searches.management.result_files import USAGE_ERROR, check_option, writing
from searches.models import Campaign, SearchRun
from searches.services.advance import advance_run
from searches.services.exports import run_summary
from searches.services.follow_up_shell import result_summary, result_table
from searches.services.leases import Lease
from searches.services.modality_summary import campaign_summary
from searches.services.presence import presence
from searches.services.runs import pause_run
from searches.services.shell_campaigns import check_ended
from searches.services.shell_params import read_param
from searches.services.shell_runs import claim_new_run, claim_old_run
from searches.services.slice_ends import SliceEnd
from searches.services.suts import unload_sut
from searches.services.wanted_confirmations import read_wanted, wanted_of
from vlmlab.core.errors import VlmLabError
from vlmlab.core.methods import METHOD_TITLES
from vlmlab.core.revelio.bench import ALGORITHM_NAMES, bench_config
from vlmlab.core.scenes.render.backends import EMBEDDED
from vlmlab.web.numbers import write_many

DEFAULT_ALGORITHM = "sits-minimal"
DEFAULT_BUDGET = 60
BAR_WIDTH = 30


class Command(BaseCommand):
    """Runs a search and writes what it found as JSON."""

    help = (
        "Search a registered system for failure modes, or find out with --method most which modality breaks "
        "it, in this process. Exit code 0: finished; 1: halted or failed (the run or campaign is kept and "
        "can be resumed); 2: wrong arguments."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the options."""
        parser.add_argument(
            "--method", default="revelio", help=f"{', '.join(METHOD_TITLES)} (default: revelio)"
        )
        parser.add_argument("--sut", help="slug of a registered system, such as pocket")
        parser.add_argument("--domain", default="driving", help="slug of the domain (default: driving)")
        parser.add_argument(
            "--backend",
            default=EMBEDDED,
            help="embedded, or the slug of a picture source (default: embedded)",
        )
        parser.add_argument(
            "--algorithm",
            help=f"{', '.join(ALGORITHM_NAMES)} (default: {DEFAULT_ALGORITHM}); with --method most: "
            f"{algorithm_help()} (default: screen)",
        )
        parser.add_argument(
            "--budget",
            type=int,
            help=f"inferences (default: {DEFAULT_BUDGET}); with --method most of each run (default: that of "
            "the algorithm)",
        )
        parser.add_argument("--seed", type=int, default=0, help="run seed (default: 0)")
        parser.add_argument(
            "--param", action="append", default=[], metavar="KEY=VALUE", help="a setting of the search"
        )
        parser.add_argument("--name", default="", help="name of the campaign")
        parser.add_argument(
            "--confirm",
            default="",
            metavar="extra|share=0.3",
            help="confirm what is found, with extra inferences or a share of the budget",
        )
        parser.add_argument(
            "--resume",
            type=int,
            metavar="NUMBER",
            help="go on with a halted run instead; with --method most, a campaign",
        )
        parser.add_argument("--json", help="where the result is written; - for the screen")
        add_most_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        """Start or resume, show progress, write the result."""
        try:
            check_option(options["json"])
            if options["method"] not in METHOD_TITLES:
                raise VlmLabError(
                    f"There is no method {options['method']!r}.", hint=f"Known: {', '.join(METHOD_TITLES)}."
                )
            started = self._start(options)
        except VlmLabError as error:
            raise CommandError(str(error), returncode=USAGE_ERROR) from error
        stop = threading.Event()
        before = signal.signal(signal.SIGINT, lambda *_: stop.set())
        try:
            run = self._work(started, stop) if isinstance(started, Lease) else None
            if isinstance(started, Campaign):
                work_on(started, stop=stop, command=self)
        finally:
            signal.signal(signal.SIGINT, before)
            unload_sut()
        if run is not None:
            confirmation = self._confirm(run)
            summary = run_summary(run) | ({"confirmation": confirmation} if confirmation else {})
            self._write(summary, options["json"], what=f"run {run.pk}")
            self._conclude(run)
        elif isinstance(started, Campaign):
            self._write(campaign_summary(started), options["json"], what=f"campaign {started.pk}")
            self._conclude_campaign(started)

    def _start(self, options: dict[str, Any]) -> Lease | Campaign:
        if options["method"] == MODALITY_METHOD:
            return open_campaign(options, dict(map(read_param, options["param"])))
        return self._claim(options)

    def _claim(self, options: dict[str, Any]) -> Lease:
        if options["resume"] is not None:
            return claim_old_run(options["resume"])
        params = {"backend": options["backend"]} | dict(map(read_param, options["param"]))
        algorithm, budget = options["algorithm"] or DEFAULT_ALGORITHM, options["budget"]
        budget = DEFAULT_BUDGET if budget is None else budget
        config = bench_config(algorithm, budget=budget, params=params)
        return claim_new_run(
            sut_slug=options["sut"] or "",
            domain_slug=options["domain"],
            config=config,
            run_seed=options["seed"],
            name=options["name"] or f"{algorithm} {budget} from the shell",
            confirm=read_wanted(options["confirm"]),
        )

    def _work(self, lease: Lease, stop: threading.Event) -> SearchRun:
        self.stderr.write(f"Run {lease.run_id}. Ctrl-C pauses it.")
        end = SliceEnd.TIME_UP

        def report() -> bool:
            self._draw_bar(lease.run_id)
            return False

        with presence.hold(lease):
            end = advance_run(lease, slice_seconds=float("inf"), should_stop=stop.is_set, should_yield=report)
        self.stderr.write("")
        run = SearchRun.objects.select_related("campaign", "sut").get(pk=lease.run_id)
        if end == SliceEnd.STOPPED:
            pause_run(run, by=None)
            run.refresh_from_db()
        return run

    def _confirm(self, run: SearchRun) -> dict[str, Any]:
        """Work on the confirmation that the search wished for, and return what came of it."""
        made = run.campaign.follow_ups.filter(kind=FollowUpName.CONFIRM).order_by("pk").first()
        if made is None or wanted_of(run.campaign.plan) is None or run.state != RunState.SUCCEEDED:
            return {}
        work_on_follow_up(made, self)
        for line in result_table(made):
            self.stderr.write(line)
        return result_summary(made)

    def _draw_bar(self, run_id: int) -> None:
        row = SearchRun.objects.values("n_observations", "n_modes", "stage", "campaign__config").get(
            pk=run_id
        )
        budget = row["campaign__config"]["inference_budget"]
        filled = round(BAR_WIDTH * min(1.0, row["n_observations"] / budget))
        bar = "#" * filled + "." * (BAR_WIDTH - filled)
        modes = write_many(row["n_modes"], "failure mode")
        line = f"[{bar}] {row['n_observations']}/{budget}, {modes}, {row['stage']}"
        if self.stderr.isatty():
            self.stderr.write(f"\r{line[:110]:<110}", ending="")
            self.stderr.flush()
        else:
            self.stderr.write(line)

    def _write(self, summary: dict[str, Any], target: str | None, *, what: str) -> None:
        text = json.dumps(summary, indent=2, ensure_ascii=False) + "\n"
        if target == "-":
            self.stdout.write(text)
        elif target:
            with writing(f"The result of {what}", target):
                Path(target).write_text(text, encoding="utf-8")

    def _conclude(self, run: SearchRun) -> None:
        if run.state == RunState.SUCCEEDED:
            self.stderr.write(f"Finished: {run.ending}")
            return
        reason = f"{run.error} {run.hint}".strip() or f"It is {run.get_state_display().lower()}."
        raise CommandError(
            f"Run {run.pk} halted. {reason}\nGo on with: manage.py run_search --resume {run.pk}", returncode=1
        )

    def _conclude_campaign(self, campaign: Campaign) -> None:
        try:
            check_ended(campaign)
        except VlmLabError as error:
            raise CommandError(
                f"{error}\nGo on with: manage.py run_search --method most --resume {campaign.pk}",
                returncode=1,
            ) from error
        self.stderr.write("Finished: every run has ended.")
