"""``manage.py make_sample_fixture``: turns runs, calibrations, datasets, profiles into what the lab ships."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from searches.models import Campaign, Dataset, SearchRun
from searches.services.datasets import find_dataset
from searches.services.sample_calibration import dump_calibration
from searches.services.sample_data import FOLDER, dump_run
from searches.services.sample_follow_ups import FOLLOW_UP_FOLDER, dump_follow_ups
from searches.services.sample_modality import PROFILE_FOLDER, dump_campaign
from searches.services.sample_seeds import SEED_FOLDER, dump_seeds
from searches.services.shell_suts import find_sut
from vlmlab.core.errors import VlmLabError

USAGE_ERROR = 2


class Command(BaseCommand):
    """For whoever ships a new version of the lab."""

    help = (
        "Write a finished run with its pictures, the newest calibration of a system, a dataset drawn from "
        "scenes, the follow-ups of a run, or a finished modality campaign as sample data."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the options."""
        parser.add_argument("run", type=int, nargs="?", help="number of the run")
        parser.add_argument(
            "--calibration", metavar="SLUG", help="system whose newest calibration is written"
        )
        parser.add_argument("--seeds", metavar="SLUG", help="dataset that is written as the seed images")
        parser.add_argument("--campaign", type=int, help="number of the modality campaign that is written")
        parser.add_argument("--follow-ups", type=int, help="number of the run whose follow-ups are written")
        parser.add_argument("--slug", default="profile", help="folder of that campaign (profile)")
        parser.add_argument("--pictures", type=int, default=40, help="most pictures to ship (40)")
        parser.add_argument("--name", default="", help="a new name for its campaign")
        parser.add_argument("--folder", type=Path, default=FOLDER, help="where to write it")

    def handle(
        self,
        *args: Any,
        run: int | None,
        calibration: str | None,
        seeds: str | None,
        campaign: int | None,
        follow_ups: int | None,
        slug: str,
        pictures: int,
        name: str,
        folder: Path,
        **options: Any,
    ) -> None:
        """Write the fixture and say how large it is."""
        if all(one is None for one in (run, calibration, seeds, campaign, follow_ups)):
            raise CommandError(
                "Give the number of a run, --calibration SLUG, --seeds SLUG, --campaign NUMBER or "
                "--follow-ups RUN.",
                returncode=USAGE_ERROR,
            )
        try:
            if calibration is not None:
                dump_calibration(find_sut(calibration), folder=folder)
            if seeds is not None:
                dump_seeds(_dataset(seeds), folder=folder / SEED_FOLDER.name)
            if campaign is not None:
                target = folder / PROFILE_FOLDER.name / slug
                dump_campaign(_campaign(campaign, name), folder=target, pictures=pictures)
            if follow_ups is not None:
                target = folder / FOLLOW_UP_FOLDER.name
                dump_follow_ups(_run(follow_ups, ""), folder=target, pictures=pictures)
            if run is not None:
                dump_run(_run(run, name), folder=folder, pictures=pictures)
        except VlmLabError as error:
            raise CommandError(str(error), returncode=USAGE_ERROR) from error
        files = [path for path in folder.rglob("*") if path.is_file()]
        size = sum(path.stat().st_size for path in files) / 1e6
        self.stdout.write(f"{len(files)} files, {size:.1f} MB in {folder}.")


def _dataset(slug: str) -> Dataset:
    row = find_dataset(slug)
    if row is None:
        raise CommandError(f"There is no dataset “{slug}”.", returncode=USAGE_ERROR)
    return row


def _campaign(number: int, name: str) -> Campaign:
    row = Campaign.objects.select_related("dataset").filter(pk=number).first()
    if row is None:
        raise CommandError(f"There is no campaign {number}.", returncode=USAGE_ERROR)
    row.name = name or row.name
    return row


def _run(number: int, name: str) -> SearchRun:
    row = SearchRun.objects.select_related("campaign", "sut").filter(pk=number).first()
    if row is None:
        raise CommandError(f"There is no run {number}.", returncode=USAGE_ERROR)
    row.campaign.name = name or row.campaign.name
    return row
