"""Working on a follow-up in this process, run by run, for commands of the shell."""

import signal
import threading
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from searches.management.progress_line import ProgressLine, bar_of
from searches.models import Campaign
from searches.services.advance import advance_run
from searches.services.follow_up_progress import FollowUpProgress, follow_up_progress, pause_follow_up
from searches.services.presence import presence
from searches.services.shell_work import is_worked_on, next_lease
from searches.services.slice_ends import SliceEnd
from searches.services.suts import unload_sut
from vlmlab.web.numbers import write_many

POLL_SECONDS = 0.5


def add_choices(parser: ArgumentParser) -> None:
    """Declare the options that choose what a follow-up is about."""
    number: dict[str, Any] = {"type": int, "action": "append", "default": [], "metavar": "NUMBER"}
    parser.add_argument("--run", **number, help="all suspects of a run (more than once)")
    parser.add_argument("--campaign", **number, help="all suspects of a campaign (more than once)")
    parser.add_argument("--finding", **number, help="a finding (more than once)")
    parser.add_argument("--case", **number, help="a test case of a modality search (more than once)")
    text: dict[str, Any] = {"action": "append", "default": []}
    parser.add_argument("--sut", **text, metavar="SLUG", help="transfer: who is asked (more than once)")
    parser.add_argument("--pair", **text, metavar="A,B", help="interact: two concepts (more than once)")
    parser.add_argument("--base", default="", metavar="C,D", help="interact: what all four cells show")
    parser.add_argument("--param", **text, metavar="KEY=VALUE", help="a setting of the follow-up")
    parser.add_argument("--name", default="", help="name of the follow-up")


def work_on(campaign: Campaign, command: BaseCommand) -> FollowUpProgress:
    """Work on the runs of a follow-up one after another until none waits; Ctrl-C pauses what is left.

    Runs that another worker has are waited for.
    """
    stop = threading.Event()
    before = signal.signal(signal.SIGINT, lambda *_: stop.set())
    line = ProgressLine(lambda: _line(follow_up_progress(campaign)), command)
    command.stderr.write(f"Follow-up {campaign.pk}. Ctrl-C pauses it.")
    try:
        while not stop.is_set():
            lease = next_lease(campaign.runs.all())
            if lease is None:
                if not is_worked_on(campaign.runs.all()):
                    break
                line.draw()
                stop.wait(POLL_SECONDS)
                continue
            with presence.hold(lease):
                end = advance_run(
                    lease, slice_seconds=float("inf"), should_stop=stop.is_set, should_yield=line.draw
                )
            if end == SliceEnd.DATABASE_ERROR:
                break
        if stop.is_set() and follow_up_progress(campaign).may_pause:
            pause_follow_up(campaign, by=None)
    finally:
        signal.signal(signal.SIGINT, before)
        unload_sut()
    line.draw(is_last=True)
    return follow_up_progress(campaign)


def _line(progress: FollowUpProgress) -> str:
    bar = bar_of(progress.n_settled, progress.n_items)
    told = [f"{bar} {progress.n_settled}/{progress.n_items} settled"]
    told.append(write_many(progress.n_inferences, "inference"))
    if progress.n_call_errors:
        told.append(write_many(progress.n_call_errors, "call error"))
    return ", ".join(told)
