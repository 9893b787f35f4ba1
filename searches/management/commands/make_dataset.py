"""``manage.py make_dataset``: an annotated dataset from scenes, drawn in this process; needs no broker."""

import signal
import threading
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from searches.enums import DatasetOrigin, DatasetState
from searches.models import Dataset
from searches.services.dataset_making import make_pictures
from searches.services.datasets import checked_recipe, create_dataset, find_dataset, making_job, recipe_of
from searches.services.job_queue import UNFINISHED
from vlmlab.core.errors import VlmLabError
from vlmlab.core.scenes.strata import STRATA

USAGE_ERROR = 2
NEWS_EVERY = 10


class Command(BaseCommand):
    """Makes a dataset; with the short name of one that was cut short, it goes on."""

    help = (
        "Draw annotated pictures of scenes into a dataset, in this process. The same seed and settings make "
        "the same pictures. Exit code 0: complete; 1: cut short (give --slug to go on); 2: wrong arguments."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the options."""
        parser.add_argument("--title", default="", help="what people find it by")
        parser.add_argument("--slug", default="", help="short name; one that was cut short goes on")
        parser.add_argument("--n", type=int, default=100, help="pictures in all (default: 100)")
        parser.add_argument("--seed", type=int, default=0, help="same seed, same pictures (default: 0)")
        parser.add_argument(
            "--strata", default=",".join(STRATA), help=f"kinds of scene (default: {','.join(STRATA)})"
        )
        parser.add_argument("--size", default="448x336", help="WIDTHxHEIGHT in pixels (default: 448x336)")
        parser.add_argument("--backend", default="embedded", help="embedded, or a picture source")

    def handle(self, *args: Any, **options: Any) -> None:
        """Make it, or go on; show progress."""
        stop = threading.Event()
        before = signal.signal(signal.SIGINT, lambda *_: stop.set())
        try:
            try:
                dataset = self._wanted(options)
            except VlmLabError as error:
                raise CommandError(str(error), returncode=USAGE_ERROR) from error
            self._make(dataset, stop)
        except VlmLabError as error:
            raise CommandError(str(error)) from error
        finally:
            signal.signal(signal.SIGINT, before)

    def _wanted(self, options: dict[str, Any]) -> Dataset:
        found = find_dataset(options["slug"]) if options["slug"] else None
        if found is not None and found.origin == DatasetOrigin.SCENES and found.state != DatasetState.READY:
            job = making_job(found)
            if job is not None and job.state in UNFINISHED:
                raise VlmLabError(f"A worker draws {found.slug} already.", hint="Stop it on its page first.")
            Dataset.objects.filter(pk=found.pk).update(state=DatasetState.MAKING, error="")
            return found
        width, _, height = options["size"].partition("x")
        recipe = checked_recipe(
            n=options["n"],
            seed=options["seed"],
            strata=tuple(filter(None, options["strata"].split(","))),
            width=width,
            height=height,
            backend=options["backend"],
        )
        title = options["title"] or options["slug"]
        return create_dataset(recipe, title=title, slug=options["slug"], by=None)

    def _make(self, dataset: Dataset, stop: threading.Event) -> None:
        self.stderr.write(f"Dataset {dataset.slug}. Ctrl-C stops it; what is drawn is kept.")
        for progress in make_pictures(dataset):
            done = progress.drawn + progress.refused
            if done % NEWS_EVERY == 0 or done == progress.total:
                self.stderr.write(f"{done} of {progress.total}")
            if stop.is_set():
                raise VlmLabError(
                    f"Stopped after {done} of {progress.total} pictures.",
                    hint=f"Go on with: manage.py make_dataset --slug {dataset.slug}",
                )
        dataset.refresh_from_db()
        recipe = recipe_of(dataset)
        if dataset.error or recipe is None:
            raise VlmLabError(dataset.error or "The dataset is gone.")
        for order, why in sorted(recipe.refused.items()):
            self.stderr.write(f"{recipe.place(order)[0]} {recipe.place(order)[1] + 1}: {why}")
        self.stdout.write(f"{dataset.slug}: {dataset.n_pictures} pictures, digest {recipe.digest}")
