"""``run_search --method most``: a modality campaign from the shell, worked on in this process, run by run."""

import threading
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from searches.management.progress_line import ProgressLine, bar_of
from searches.models import Campaign
from searches.services.advance import advance_run
from searches.services.modality_progress import CampaignProgress, campaign_progress
from searches.services.modality_steering import pause_campaign
from searches.services.presence import presence
from searches.services.shell_campaigns import (
    ALL_REGIMES,
    SHELL_ALGORITHMS,
    ShellCampaign,
    find_campaign,
    start_from_shell,
)
from searches.services.shell_work import is_worked_on, next_lease
from searches.services.slice_ends import SliceEnd
from vlmlab.core.errors import VlmLabError
from vlmlab.web.numbers import write_many

POLL_SECONDS = 0.5


def add_most_arguments(parser: ArgumentParser) -> None:
    """Declare the options of modality searches."""
    group = parser.add_argument_group("modality searches (--method most)")
    group.add_argument("--dataset", help="slug of a dataset of annotated pictures")
    group.add_argument("--regimes", default=ALL_REGIMES, help=f"any of {ALL_REGIMES} (default: all)")
    group.add_argument("--n-seed-images", type=int, metavar="N", help="at most (default: every picture)")
    group.add_argument("--strata", default="", help="kinds of scene, with commas (default: all)")
    group.add_argument("--replicates", type=int, default=1, help="times the grid is searched (default: 1)")


def algorithm_help() -> str:
    """Return the names of the algorithms."""
    return ", ".join(SHELL_ALGORITHMS)


def open_campaign(options: dict[str, Any], params: dict[str, str]) -> Campaign:
    """Return the campaign of the options: a new one, or one to go on with.

    Raises:
        VlmLabError: an option is missing, unknown or out of range.
    """
    if options["resume"] is not None:
        return find_campaign(options["resume"])
    for name in ("sut", "dataset"):
        if not options[name]:
            raise VlmLabError(f"--method most needs --{name}.", hint=f"Give the slug of a {_what(name)}.")
    return start_from_shell(
        ShellCampaign(
            sut_slug=options["sut"],
            dataset_slug=options["dataset"],
            algorithm=options["algorithm"] or "screen",
            regimes=options["regimes"],
            budget=options["budget"],
            strata=options["strata"],
            n_seed_images=options["n_seed_images"],
            replicates=options["replicates"],
            seed=options["seed"],
            params=params,
            name=options["name"],
        )
    )


def work_on(campaign: Campaign, *, stop: threading.Event, command: BaseCommand) -> CampaignProgress:
    """Work on the runs of a campaign one after another until none waits, or until ``stop`` is set.

    Runs that another worker has are waited for. When it is stopped, the rest of the campaign is paused.
    """
    command.stderr.write(
        f"Campaign {campaign.pk}, {write_many(campaign.runs.count(), 'run')}. Ctrl-C pauses it."
    )
    line = ProgressLine(lambda: _line(campaign_progress(campaign)), command)
    while not stop.is_set():
        lease = next_lease(campaign.runs.all())
        if lease is None:
            if not is_worked_on(campaign.runs.all()):
                break
            stop.wait(POLL_SECONDS)
            line.draw()
            continue
        with presence.hold(lease):
            end = advance_run(
                lease, slice_seconds=float("inf"), should_stop=stop.is_set, should_yield=line.draw
            )
        line.draw()
        if end == SliceEnd.DATABASE_ERROR:
            stop.wait(POLL_SECONDS)
    if stop.is_set() and campaign_progress(campaign).may_pause:
        pause_campaign(campaign, by=None)
    line.draw(is_last=True)
    return campaign_progress(campaign)


def _what(option: str) -> str:
    return "registered system, such as pocket" if option == "sut" else "dataset of annotated pictures"


def _line(progress: CampaignProgress) -> str:
    bar = bar_of(progress.n_ended, progress.n_runs)
    told = [
        f"{bar} {progress.n_ended}/{progress.n_runs} runs",
        write_many(progress.evaluations, "evaluation"),
        write_many(progress.n_baseline_failures, "baseline failure"),
    ]
    if progress.call_errors:
        told.append(write_many(progress.call_errors, "call error"))
    return ", ".join(told)
