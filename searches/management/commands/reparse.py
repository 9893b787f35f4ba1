"""``manage.py reparse``: reads every stored reply again with the readers of this version."""

import json
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import partial
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from searches.enums import LIVE_STATES, JobKind, JobState
from searches.models import Calibration, Job, SutRecord
from searches.services.concept_runs import concept_runs
from searches.services.reparse import Reparsed, reparse_run
from searches.services.reparse_asked import reparse_calibration, reparse_try
from searches.services.stored_shapes import reading_stored
from vlmlab.core.errors import VlmLabError
from vlmlab.core.replies.version import READER_VERSION
from vlmlab.web.numbers import write_many

USAGE_ERROR = 2
Task = tuple[str, Callable[[], Reparsed]]


class Command(BaseCommand):
    """Reads stored replies again and says what changed."""

    help = (
        "Read every stored reply again with the readers of this version: answers of runs, tries and "
        "calibrations. Runs that are queued or at work are refused. What a search was told never changes."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the options."""
        parser.add_argument(
            "--run", action="append", type=int, default=[], metavar="ID", help="only this run"
        )
        parser.add_argument("--sut", default="", metavar="SLUG", help="only what this system answered")
        parser.add_argument("--dry-run", action="store_true", help="report what would change, change nothing")
        parser.add_argument("--json", action="store_true", help="write the report as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        """Read, report, and fail where something was left as it is."""
        _check(options["run"], options["sut"])
        reports = []
        for what, task in _tasks(options["run"], options["sut"], is_dry=options["dry_run"]):
            try:
                with reading_stored("result", hint="Nothing of it was changed."):
                    report = task()
            except VlmLabError as error:
                report = Reparsed(what, problem=str(error))
            reports.append(report)
            if not options["json"] and (report.problem or report.n_changed or report.what.startswith("Run")):
                self.stdout.write("\n  ".join([report.sentence, *report.lines]))
        self._conclude(reports, options)

    def _conclude(self, reports: list[Reparsed], options: dict[str, Any]) -> None:
        n_read, n_changed = sum(one.n_read for one in reports), sum(one.n_changed for one in reports)
        left = [one for one in reports if one.problem]
        if options["json"]:
            content = {
                "reader_version": READER_VERSION,
                "is_dry_run": options["dry_run"],
                "read": n_read,
                "changed": n_changed,
                "reports": [asdict(one) for one in reports],
            }
            self.stdout.write(json.dumps(content, indent=1, ensure_ascii=False))
        else:
            read = write_many(n_read, "reply,replies")
            text = f"{read} read with reader {READER_VERSION}, {n_changed:,} read differently."
            self.stdout.write(f"{text} Nothing was changed: a dry run." if options["dry_run"] else text)
        if left:
            things = write_many(len(left), "thing was,things were")
            raise CommandError(f"{things} left unread: {left[0].sentence}", returncode=1)


def _check(run_ids: list[int], slug: str) -> None:
    known = set(concept_runs().filter(pk__in=run_ids).values_list("pk", flat=True))
    unknown = sorted(set(run_ids) - known)
    if unknown:
        raise CommandError(f"There is no run {unknown[0]}. Look at the list of runs.", returncode=USAGE_ERROR)
    if slug and not SutRecord.objects.filter(slug=slug).exists():
        raise CommandError(f"There is no system called “{slug}”.", returncode=USAGE_ERROR)


def _tasks(run_ids: list[int], slug: str, *, is_dry: bool) -> Iterator[Task]:
    """Yield everything to be read; without ids, runs that go on are not named at all."""
    runs = concept_runs().order_by("pk")
    runs = runs.filter(pk__in=run_ids) if run_ids else runs.exclude(state__in=LIVE_STATES)
    if slug:
        runs = runs.filter(sut__slug=slug)
    for pk in runs.values_list("pk", flat=True):
        yield f"Run {pk}", partial(reparse_run, pk, is_dry=is_dry)
    if run_ids:
        return
    calibrations = Calibration.objects.order_by("pk")
    tries = Job.objects.filter(kind=JobKind.TRY_SUT, state=JobState.DONE).order_by("created_at")
    if slug:
        calibrations, tries = calibrations.filter(sut__slug=slug), tries.filter(params__sut=slug)
    for pk in calibrations.values_list("pk", flat=True):
        yield f"Calibration {pk}", partial(reparse_calibration, pk, is_dry=is_dry)
    for job in tries.values_list("pk", flat=True):
        yield f"Try {job}", partial(reparse_try, job, is_dry=is_dry)
