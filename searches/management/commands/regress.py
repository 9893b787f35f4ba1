"""``manage.py regress``: a family of pinned failure modes on a newer system, as a gate for CI."""

from argparse import ArgumentParser
from typing import Any

from searches import launch
from searches.enums import RunState
from searches.management.follow_up_work import work_on
from searches.management.gate_work import (
    EXIT_CODES,
    GateCommand,
    refused_as_broken,
    some_seconds,
    time_limit,
    why_halted,
)
from searches.models import Campaign
from searches.services.family_pages import find_family
from searches.services.regression_exports import regression_file
from searches.services.regression_settling import settle_regression
from searches.services.regression_wishes import regression_wish
from searches.services.regressions import RegressionPage, find_regression, regression_page
from searches.services.runs import RESUMABLE, resume_run
from searches.services.shell_suts import find_sut
from searches.services.shell_work import free_the_dead
from vlmlab.core.errors import ConfigError
from vlmlab.core.verdicts.regress import MODE_WORDS


class Command(GateCommand):
    """Runs a regression and leaves with its verdict."""

    help = (
        "Try a system on a regression family: it and the baseline are asked the same fresh scenes. Works in "
        f"this process, and waits for runs that a worker of the lab has taken. {EXIT_CODES}"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the options."""
        parser.add_argument("--family", help="short name of a regression family")
        parser.add_argument("--sut", help="short name of the system that is tried")
        parser.add_argument("--baseline", help="short name of another baseline than the family's")
        parser.add_argument("--scenes", type=int, help="fresh scenes of each mode (default: the family's)")
        parser.add_argument(
            "--seed", type=int, help="where the scenes come from (default: scenes that were never asked)"
        )
        parser.add_argument("--junit", metavar="FILE", help="JUnit XML for CI; - for the screen")
        parser.add_argument("--json", metavar="FILE", help="everything as JSON; - for the screen")
        parser.add_argument(
            "--timeout",
            type=some_seconds,
            metavar="SECONDS",
            help="pause it after so many seconds, exit code 3",
        )
        parser.add_argument(
            "--no-wait", action="store_true", help="only queue it for the workers of the lab, exit code 0"
        )
        parser.add_argument("--resume", type=int, metavar="NUMBER", help="go on with a halted one instead")

    def handle(self, *args: Any, **options: Any) -> None:
        """Start or resume, work, write files, leave with the verdict."""
        self.check_targets([options["junit"], options["json"]])
        with refused_as_broken():
            campaign = self._campaign(options)
        if options["no_wait"]:
            self.stdout.write(f"Regression {campaign.pk} is queued: {campaign.name}.")
            return
        with time_limit(options["timeout"]):
            work_on(campaign, self)
        settle_regression(campaign)
        page = regression_page(campaign)
        self._print(page)
        self.write_file(options["json"], regression_file(page, "json"))
        self.write_file(options["junit"], regression_file(page, "xml"))
        if any(run.state != RunState.SUCCEEDED for run in page.runs) or not page.is_final:
            self.leave_halted(_halted(page), go_on=f"regress --resume {campaign.pk}")
        self.conclude(page.verdict, page.sentence)

    def _campaign(self, options: dict[str, Any]) -> Campaign:
        free_the_dead()
        if options["resume"] is not None:
            return _resumed(options["resume"])
        family = find_family(options["family"] or "")
        if family is None:
            raise ConfigError(
                f"There is no regression family “{options['family'] or ''}”.",
                hint="Its page shows its short name.",
                field="family",
            )
        baseline = find_sut(options["baseline"]) if options["baseline"] else None
        wish = regression_wish(
            family,
            candidate=find_sut(options["sut"] or ""),
            baseline=baseline,
            scenes=options["scenes"],
            run_seed=options["seed"],
        )
        return launch.start_follow_up(wish, by=None)

    def _print(self, page: RegressionPage) -> None:
        for line in page.modes:
            word = MODE_WORDS.get(line.verdict, "Not compared") if line.verdict else "Open"  # type: ignore[call-overload]  # other words are handled here
            self.stderr.write(f"{word:<20} {line.words}: {line.sentence}")


def _resumed(number: int) -> Campaign:
    campaign = find_regression(number)
    if campaign is None:
        raise ConfigError(f"There is no regression {number}.", hint="Look at the page of its family.")
    for run in campaign.runs.filter(state__in=RESUMABLE):
        resume_run(run, by=None)
    return campaign


def _halted(page: RegressionPage) -> str:
    for run in page.runs:
        if run.state != RunState.SUCCEEDED:
            return why_halted(run, f"The run on {run.sut.name}")
    return "A run of it is gone."
