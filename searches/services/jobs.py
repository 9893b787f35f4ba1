"""Short work a page waits for: drawing a scene, trying a system on a picture, calibrating it."""

import json
import logging
import time
import uuid
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from django.conf import settings
from django.db import DatabaseError, connection
from django.db.models.functions import Now
from django.utils.module_loading import import_string

from searches.enums import JobKind, JobState
from searches.models import Job, Sample, User
from searches.services.blobs import store_blob
from searches.services.calibrations import do_calibration
from searches.services.dataset_making import JobGoesOn, make_dataset
from searches.services.domain_store import find_domain
from searches.services.job_queue import UNFINISHED, start_job
from searches.services.leases import JobLease, own_job
from searches.services.modality_minimal import make_minimal
from searches.services.picture_bills import billed_without_run
from searches.services.prerender import prerender
from searches.services.scene_sources import scene_source
from searches.services.seed_imports import import_seeds
from searches.services.set_settings import set_settings
from searches.services.trying import do_try
from searches.services.word_table_asking import ask_word_table
from vlmlab.core.errors import VlmLabError
from vlmlab.core.scenes.questions import ask_question
from vlmlab.core.scenes.render.backends import EMBEDDED
from vlmlab.core.seeding import derive_seed

logger = logging.getLogger(__name__)

Values = dict[str, Any]


def redraw_job(sample: Sample, *, by: User | None) -> Job:
    """Store a job that draws a picture again that was not kept; the same job serves all who ask."""
    campaign = sample.run.campaign
    config = set_settings(sample.run)
    params = {
        "domain": campaign.domain_ref,
        "concepts": sample.trial.concepts,
        "seed": sample.scene_seed,
        "width": config.image_width,
        "height": config.image_height,
    }
    if config.backend != EMBEDDED:
        params["backend"] = config.backend
    waiting = Job.objects.filter(kind=JobKind.RENDER_SCENE, params=params, state__in=UNFINISHED)
    return waiting.first() or start_job(JobKind.RENDER_SCENE, params, by=by)


def run_job(lease: JobLease) -> None:
    """Do a claimed job; what went wrong is stored in it as a sentence."""
    try:
        job = own_job(lease).first()
        if job is None:
            return
        values = _outcome(job)
        if job.kind == JobKind.PRERENDER:  # its scenes lie in the cache; nobody looks at the job again
            own_job(lease).delete()
            return
        own_job(lease).update(**{"lease_expires": None, "finished_at": Now()} | values)
    except DatabaseError as error:  # the lease runs out and the job is done again
        logger.warning("job %s: the database did not answer: %s", lease.job_id, error)
        connection.close()


def _outcome(job: Job) -> Values:
    try:
        result = _work_of(JobKind(job.kind))(job)
    except JobGoesOn as slice_end:
        values: Values = {"state": JobState.QUEUED, "owner": "", "attempts": 0, "finished_at": None}
        return values | {"result": slice_end.progress}
    except VlmLabError as error:
        return {"state": JobState.FAILED, "error": error.message, "hint": error.hint}
    except DatabaseError:
        raise
    except Exception:  # the edge of the work: a bug must not take the worker with it
        reference = uuid.uuid4().hex[:8]
        logger.exception("job %s failed, reference %s", job.pk, reference)
        hint = f"Try again; if it stays, look for {reference} in the worker's log."
        return {"state": JobState.FAILED, "error": "Something went wrong inside the lab.", "hint": hint}
    return {"state": JobState.DONE, "result": result, "error": "", "hint": ""}


def _render_scene(params: Values) -> Values:
    domain = find_domain(params["domain"])
    key = domain.canonical(params["concepts"])
    reason = domain.why_invalid(key)
    if reason is not None:
        raise VlmLabError(reason, hint="Choose concepts that can occur together.", field="concepts")
    seed = int(params["seed"])
    size = {"width": int(params["width"]), "height": int(params["height"])}
    backend = params.get("backend", EMBEDDED)
    started = time.monotonic()
    with billed_without_run(backend, scene_source(domain, backend, **size)) as source:
        scene = source.generate(key, seed=seed)
    seconds = time.monotonic() - started
    question = ask_question(domain, key, seed=derive_seed(seed, "options", *key))
    return {
        "image_sha256": store_blob(scene.image_png),
        "concepts": list(key),
        "description": json.loads(scene.description.to_json()),
        "annotations": [asdict(one) for one in scene.annotations],
        "masks": scene.masks,
        "attempt": scene.description.attempt,
        "digest": scene.description.digest,
        "backend": scene.provenance,
        "seconds": seconds,
        "question": {
            "prompt": question.prompt,
            "options": question.options,
            "expected_letter": question.expected_letter,
        },
        "decision": asdict(question.decision),
    }


def _work_of(kind: JobKind) -> Callable[[Job], Values]:
    """Return what does jobs of a kind; apps above this one name theirs in ``settings.JOB_WORK``."""
    work: Callable[[Job], Values] = _WORK[kind] if kind in _WORK else import_string(settings.JOB_WORK[kind])
    return work


_WORK: dict[JobKind, Callable[[Job], Values]] = {
    JobKind.RENDER_SCENE: lambda job: _render_scene(job.params),
    JobKind.TRY_SUT: lambda job: do_try(job.params, job=job),
    JobKind.CALIBRATE_SUT: do_calibration,
    JobKind.PRERENDER: prerender,
    JobKind.MAKE_DATASET: make_dataset,
    JobKind.IMPORT_SEEDS: import_seeds,
    JobKind.WORD_TABLE: ask_word_table,
    JobKind.MINIMIZE_CASE: make_minimal,
}
