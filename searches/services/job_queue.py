"""Stores short jobs for the next free worker."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.db import transaction

from searches.enums import JobKind, JobState, Queue
from searches.models import Job, User
from searches.services.audit import record

AUDIT_VERBS = {
    JobKind.RENDER_SCENE: "asked for a scene",
    JobKind.TRY_SUT: "asked a system",
    JobKind.CALIBRATE_SUT: "asked to calibrate",
    JobKind.MAKE_DATASET: "asked for a dataset",
    JobKind.IMPORT_SEEDS: "uploaded seed images",
    JobKind.WORD_TABLE: "asked for a word table",
    JobKind.MINIMIZE_CASE: "asked to make minimal",
    JobKind.MAKE_STUDY: "asked for the cases of a study",
    JobKind.ASK_STUDY_CASES: "asked systems again on the cases of a study",
}
UNFINISHED = (JobState.QUEUED, JobState.RUNNING)
AUDITED = ("sut", "domain", "concepts", "seed", "image_sha256", "mode", "dataset", "case", "study")


@transaction.atomic
def start_job(
    kind: JobKind,
    params: Mapping[str, Any],
    *,
    by: User | None,
    queue: Queue = Queue.CPU,
    group: UUID | None = None,
) -> Job:
    """Store a job for the next free worker."""
    job = Job.objects.create(kind=kind, params=dict(params), queue=queue, created_by=by, group=group)
    record(by, AUDIT_VERBS[kind], job, after={name: params[name] for name in AUDITED if name in params})
    return job
