"""``manage.py card``: decision cards of an operating envelope, as a gate for CI."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from searches import launch
from searches.enums import RunState
from searches.management.follow_up_work import work_on
from searches.management.gate_work import (
    BROKEN,
    EXIT_CODES,
    GateCommand,
    refused_as_broken,
    some_seconds,
    time_limit,
    why_halted,
)
from searches.models import Campaign
from searches.services.card_exports import card_file, card_html
from searches.services.cards import CardPage, card_page, settle_cards
from searches.services.envelope_pages import find_envelope
from searches.services.envelope_wishes import card_wish
from searches.services.pdf import print_to_pdf
from searches.services.shell_suts import find_sut
from searches.services.shell_work import free_the_dead
from vlmlab.core.errors import ConfigError


class Command(GateCommand):
    """Makes a card and leaves with its verdict."""

    help = (
        "Ask a system fresh draws from a declared operating envelope. Works in this process, and waits for "
        f"runs that a worker of the lab has taken. {EXIT_CODES}"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the options."""
        parser.add_argument("--envelope", help="short name of an operating envelope")
        parser.add_argument("--sut", help="short name of the system")
        parser.add_argument("--json", metavar="FILE", help="everything as JSON; - for the screen")
        parser.add_argument("--html", metavar="FILE", help="the card as one HTML file")
        parser.add_argument("--pdf", metavar="FILE", help="the card as PDF; needs a Chromium")
        parser.add_argument(
            "--timeout", type=some_seconds, metavar="SECONDS", help="pause it after so many seconds"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Start, work, write files, leave with the verdict."""
        self.check_targets([options["json"], options["html"], options["pdf"]])
        with refused_as_broken():
            campaign = self._campaign(options)
        with time_limit(options["timeout"]):
            work_on(campaign, self)
        settle_cards(campaign)
        page = card_page(campaign.runs.select_related("sut", "campaign").get())
        if page is None:
            raise CommandError("The card is gone.", returncode=BROKEN)
        for cell in page.cells:
            self.stderr.write(f"{cell.verdict or 'open':<12} {cell.cell.title}: {cell.sentence}")
        self._write(page, options)
        run = page.run
        if run.state != RunState.SUCCEEDED:
            self.leave_halted(why_halted(run, f"Run {run.pk}"), go_on=f"follow_up --resume {campaign.pk}")
        self.conclude(page.verdict, page.sentence)

    def _campaign(self, options: dict[str, Any]) -> Campaign:
        free_the_dead()
        envelope = find_envelope(options["envelope"] or "")
        if envelope is None:
            raise ConfigError(
                f"There is no operating envelope “{options['envelope'] or ''}”.",
                hint="Its page shows its short name.",
                field="envelope",
            )
        return launch.start_follow_up(card_wish(envelope, [find_sut(options["sut"] or "")]), by=None)

    def _write(self, page: CardPage, options: dict[str, Any]) -> None:
        self.write_file(options["json"], card_file(page, "json"))
        self.write_file(options["html"], card_html(page))
        if options["pdf"]:
            with refused_as_broken():
                self.write_file(options["pdf"], print_to_pdf(card_html(page)))
