"""``manage.py follow_up``: confirm, ablate, probe, test pairs, or carry findings over, from the shell."""

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from searches import launch
from searches.management.follow_up_work import add_choices, work_on
from searches.management.result_files import USAGE_ERROR, check_option, writing
from searches.models import Campaign
from searches.services.follow_up_shell import (
    MAKERS,
    ShellFollowUp,
    check_ended,
    find_follow_up,
    result_summary,
    result_table,
    wish_from_shell,
)
from searches.services.shell_params import read_param
from vlmlab.core.errors import VlmLabError


class Command(BaseCommand):
    """Starts a follow-up of findings, and works on it where it shall wait."""

    help = (
        "Ask fresh scenes of what a search suspects. Without --wait it is queued for the workers of the lab. "
        "Exit code 0: queued, or with --wait finished; 1: halted or failed (it is kept and can be resumed); "
        "2: wrong arguments."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the options."""
        parser.add_argument("kind", nargs="?", default="", help=f"one of {', '.join(MAKERS)}")
        add_choices(parser)
        parser.add_argument(
            "--accept-changed-system",
            action="store_true",
            help="also ask a system that is not the one any more that the findings are of",
        )
        parser.add_argument("--wait", action="store_true", help="work on it in this process until it ends")
        parser.add_argument(
            "--resume", type=int, metavar="NUMBER", help="go on with a halted follow-up instead, and wait"
        )
        parser.add_argument("--json", help="with --wait: where the result is written; - for the screen")

    def handle(self, *args: Any, **options: Any) -> None:
        """Start or resume, wait if asked to, and print what is known."""
        try:
            check_option(options["json"])
            campaign = self._campaign(options)
        except VlmLabError as error:
            raise CommandError(str(error), returncode=USAGE_ERROR) from error
        if not (options["wait"] or options["resume"] is not None):
            self.stdout.write(f"Follow-up {campaign.pk} is queued: {campaign.name}.")
            return
        work_on(campaign, self)
        self._write(campaign, options["json"])
        try:
            check_ended(campaign)
        except VlmLabError as error:
            raise CommandError(
                f"{error}\nGo on with: manage.py follow_up --resume {campaign.pk}", returncode=1
            ) from error

    def _campaign(self, options: dict[str, Any]) -> Campaign:
        if options["resume"] is not None:
            return find_follow_up(options["resume"])
        wish = ShellFollowUp(
            kind=options["kind"],
            runs=options["run"],
            campaigns=options["campaign"],
            findings=options["finding"],
            cases=options["case"],
            suts=options["sut"],
            pairs=options["pair"],
            base=options["base"],
            params=dict(map(read_param, options["param"])),
            name=options["name"],
            accepts_changed_system=options["accept_changed_system"],
        )
        return launch.start_follow_up(wish_from_shell(wish), by=None)

    def _write(self, campaign: Campaign, target: str | None) -> None:
        text = json.dumps(result_summary(campaign), indent=2, ensure_ascii=False) + "\n"
        if target == "-":
            self.stdout.write(text)
            return
        for line in result_table(campaign):
            self.stdout.write(line)
        if target:
            with writing(f"The result of follow-up {campaign.pk}", target):
                Path(target).write_text(text, encoding="utf-8")
